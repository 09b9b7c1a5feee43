"""Shared files on a real mongod: what was uploaded comes back whole, or not at all."""

import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterator
from io import BytesIO, StringIO
from typing import Any

import pytest
from bson import ObjectId
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st
from pymongo.database import Database
from rest_framework.test import APIClient

from apps.common.scopes import Scope
from apps.delivery.errors import (
    InvalidSharedFile,
    RangeNotSatisfiable,
    SharedFileCut,
    SharedFileDamaged,
    SharedFileNotFound,
    SharedFileQuotaReached,
)
from apps.delivery.files.names import ByteRange, checked_name, parsed_range
from apps.delivery.files.store import CHUNKS, FILES, PIECE_BYTES, UPLOADS, FileStore, Upload
from apps.delivery.services import shared_files
from apps.delivery.services.usage_accounts import issue_app_token

from .rows import make_app

pytestmark = pytest.mark.mongo
FILES_URL = "/api/v1/files/"
THREE_CHUNKS = os.urandom(2 * PIECE_BYTES + 100)
PLENTY = {"quota_bytes": 10**9, "max_seconds": 60.0}


@pytest.fixture
def store(database: Database[Any]) -> FileStore:
    made = FileStore(database)
    made.ensure_indexes()
    return made


def pieces(content: bytes, size: int = 100_000) -> Iterator[bytes]:
    yield from (content[start : start + size] for start in range(0, len(content), size))


def put(store: FileStore, content: bytes = THREE_CHUNKS, **fields: Any) -> Any:
    wish = Upload(**{"app": "loja", "name": "a.bin", "length": len(content), **fields})
    return store.upload(wish, pieces(content), **PLENTY)


def test_what_was_uploaded_comes_back_with_its_checksum(store: FileStore) -> None:
    file = put(store)
    assert b"".join(store.read(file)) == THREE_CHUNKS
    assert file.sha256 == hashlib.sha256(THREE_CHUNKS).hexdigest()
    assert put(store, b"").length == 0
    assert b"".join(store.read(put(store, b""))) == b""


@pytest.mark.parametrize(
    "span", [(0, 0), (PIECE_BYTES - 1, PIECE_BYTES), (100, 2 * PIECE_BYTES + 99), (5, 9)]
)
def test_a_range_is_read_alone(store: FileStore, span: tuple[int, int]) -> None:
    first, last = span
    read = b"".join(store.read(put(store), ByteRange(first, last)))
    assert read == THREE_CHUNKS[first : last + 1]


def test_a_new_upload_is_a_new_version(store: FileStore) -> None:
    first, second = put(store, b"one"), put(store, b"two")
    assert first.id != second.id
    assert store.latest("loja", "a.bin") == second
    assert b"".join(store.read(first)) == b"one"


def test_report_28_an_upload_cut_half_way_leaves_nothing(
    database: Database[Any], store: FileStore
) -> None:
    def cut() -> Iterator[bytes]:
        yield THREE_CHUNKS[: PIECE_BYTES + 10]
        raise SharedFileCut("gone")

    with pytest.raises(SharedFileCut):
        store.upload(Upload("loja", "a", len(THREE_CHUNKS)), cut(), **PLENTY)
    for name in (FILES, CHUNKS, UPLOADS):
        assert database[name].count_documents({}) == 0


def test_report_28_a_killed_upload_is_swept_and_files_are_not(
    database: Database[Any], store: FileStore
) -> None:
    kept = put(store)
    killed = ObjectId()
    database[CHUNKS].insert_many([{"files_id": killed, "n": n, "data": b"x"} for n in (0, 1)])
    database[UPLOADS].insert_one({"_id": killed, "app": "loja", "bytes": 9})
    assert store.sweep(older_than_seconds=3600) == 0
    assert store.sweep(older_than_seconds=-10) == 2
    assert database[UPLOADS].count_documents({}) == 0
    assert b"".join(store.read(kept)) == THREE_CHUNKS


def test_report_28_deleting_a_file_of_three_chunks_leaves_none_at_once(
    database: Database[Any], store: FileStore
) -> None:
    store.delete("loja", put(store).id)
    assert database[CHUNKS].count_documents({}) == 0
    with pytest.raises(SharedFileNotFound):
        store.delete("loja", str(ObjectId()))


@pytest.mark.parametrize(
    "fields", [{"length": 5}, {"length": len(THREE_CHUNKS) + 1}, {"sha256": "0" * 64}]
)
def test_another_length_or_checksum_than_said_stores_nothing(
    database: Database[Any], store: FileStore, fields: dict[str, Any]
) -> None:
    with pytest.raises(SharedFileCut):
        put(store, **fields)
    assert database[CHUNKS].count_documents({}) == database[FILES].count_documents({}) == 0


@pytest.mark.parametrize("damage", ["change", "remove"])
def test_a_damaged_file_never_arrives_complete(
    database: Database[Any], store: FileStore, damage: str
) -> None:
    file = put(store)
    if damage == "change":
        chunk = {"$set": {"data": THREE_CHUNKS[:PIECE_BYTES]}}
        database[CHUNKS].update_one({"n": 1}, chunk)
    else:
        database[CHUNKS].delete_one({"n": 2})
    got = bytearray()

    def read() -> None:
        for piece in store.read(file):
            got.extend(piece)

    with pytest.raises(SharedFileDamaged):
        read()
    assert len(got) < len(THREE_CHUNKS)


def test_two_chunks_of_one_number_cannot_be(database: Database[Any], store: FileStore) -> None:
    indexes = database[CHUNKS].index_information().values()
    assert [i["unique"] for i in indexes if i["key"] == [("files_id", 1), ("n", 1)]] == [True]


def test_uploads_at_once_never_pass_the_quota_together(store: FileStore) -> None:
    barrier, outcomes = threading.Barrier(6), []

    def upload(number: int) -> None:
        barrier.wait()
        try:
            wish = Upload("loja", f"{number}", 1000)
            store.upload(wish, [bytes(1000)], quota_bytes=2500, max_seconds=60)
        except SharedFileQuotaReached:
            outcomes.append("refused")
        else:
            outcomes.append("stored")

    threads = [threading.Thread(target=upload, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count("stored") <= 2
    assert store.used_bytes("loja") == 1000 * outcomes.count("stored")
    assert store.used_bytes("other") == 0


@pytest.mark.parametrize("name", ["", "/a", "a//b", "../a", "a/..", "a\\b", "a\nb", "x" * 256])
def test_odd_names_are_refused(name: str) -> None:
    with pytest.raises(InvalidSharedFile):
        checked_name(name)


@given(st.integers(1, 50), st.integers(0, 60), st.integers(0, 60))
def test_a_parsed_range_lies_within_the_file(length: int, first: int, last: int) -> None:
    for header in (f"bytes={first}-{last}", f"bytes={first}-", f"bytes=-{last}"):
        try:
            found = parsed_range(header, length)
        except RangeNotSatisfiable:
            continue
        assert found is None or 0 <= found.first <= found.last < length
    assert parsed_range("bytes=0-1,3-4", length) is None


@pytest.fixture
def api(db: None, mongo: Database[Any]) -> APIClient:
    """The app `loja` with a token of its own."""
    return client_of("loja")


def client_of(code: str) -> APIClient:
    scopes = (Scope.FILES_READ, Scope.FILES_WRITE)
    _token, secret = issue_app_token(make_app(code), scopes=scopes)
    return APIClient(HTTP_AUTHORIZATION=f"Bearer {secret}")


def send(api: APIClient, content: bytes, name: str = "a.bin", **headers: str) -> Any:
    return api.generic(
        "POST", f"{FILES_URL}?name={name}", content, content_type="text/html", **headers
    )


def test_an_app_uploads_lists_reads_and_deletes(api: APIClient) -> None:
    made = send(api, THREE_CHUNKS, HTTP_X_CONTENT_SHA256=hashlib.sha256(THREE_CHUNKS).hexdigest())
    assert made.status_code == 201, made.content
    row = made.json()
    assert (row["app"], row["length"], row["content_type"]) == (
        "loja",
        len(THREE_CHUNKS),
        "text/html",
    )
    assert api.get(FILES_URL, {"prefix": "a"}).json()["results"] == [row]
    assert api.get(FILES_URL, {"name": "b"}).json()["results"] == []
    content = f"{FILES_URL}{row['id']}/content/"
    whole = api.get(content)
    assert b"".join(whole.streaming_content) == THREE_CHUNKS
    assert whole["content-type"] == "application/octet-stream"  # not the page it claims to be
    assert api.delete(f"{FILES_URL}{row['id']}/").status_code == 204
    assert api.get(content).status_code == 404


def test_a_range_over_http(api: APIClient) -> None:
    content = f"{FILES_URL}{send(api, b'0123456789').json()['id']}/content/"
    part = api.get(content, HTTP_RANGE="bytes=2-4")
    assert (part.status_code, b"".join(part.streaming_content)) == (206, b"234")
    assert part["content-range"] == "bytes 2-4/10"
    tail = api.get(content, HTTP_RANGE="bytes=-3")
    assert b"".join(tail.streaming_content) == b"789"
    beyond = api.get(content, HTTP_RANGE="bytes=10-")
    assert (beyond.status_code, beyond["content-range"]) == (416, "bytes */10")


def test_an_app_reaches_only_its_own_files(api: APIClient) -> None:
    stranger, file = client_of("outra"), send(api, b"secret").json()
    for address in (f"{FILES_URL}{file['id']}/", f"{FILES_URL}{file['id']}/content/"):
        assert stranger.get(address).status_code == 404
        assert stranger.get(address, {"app": "loja"}).status_code == 403
    assert stranger.delete(f"{FILES_URL}{file['id']}/").status_code == 404
    assert stranger.get(FILES_URL).json()["count"] == 0


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"HTTP_X_CONTENT_SHA256": "0" * 64}, "shared_file_cut"),
        ({"HTTP_X_CONTENT_SHA256": "odd"}, "invalid_shared_file"),
        ({"name": "../etc"}, "invalid_shared_file"),
        ({"CONTENT_LENGTH": ""}, "invalid_shared_file"),
    ],
)
def test_a_wrong_upload_is_refused_with_a_reason(
    api: APIClient, change: dict[str, str], code: str
) -> None:
    answer = send(api, b"content", **change)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)
    assert api.get(FILES_URL).json()["count"] == 0


def test_limits_come_from_the_settings(api: APIClient, settings: Any) -> None:
    settings.SHARED_FILES_QUOTA_BYTES = 10
    assert send(api, b"12345678").status_code == 201
    full = send(api, b"12345678")
    assert (full.status_code, full.json()["error"]["code"]) == (429, "shared_file_quota_reached")
    settings.SHARED_FILES_MAX_BYTES = 3
    assert send(api, b"1234").json()["error"]["code"] == "invalid_shared_file"


@pytest.mark.django_db
def test_without_mongodb_everything_answers_503(
    api_as: Callable[..., APIClient], settings: Any
) -> None:
    settings.MONGODB_URI = ""
    api = api_as("files:read", "files:write")
    for answer in (api.get(FILES_URL), send(api, b"x", name="a&app=loja")):
        assert (answer.status_code, answer.json()["error"]["code"]) == (
            503,
            "mongodb_not_configured",
        )


def test_the_django_storage_keeps_its_contract(mongo: Database[Any]) -> None:
    storage = storages["shared"]
    name = storage.save("reports/may.txt", ContentFile(b"may"))
    other = storage.save("reports/may.txt", ContentFile("in letters: é"))
    assert name == "reports/may.txt" != other
    with storage.open(name) as file:
        assert (file.read(), file.size) == (b"may", 3)
    assert storage.listdir("") == (["reports"], [])
    assert len(storage.listdir("reports")[1]) == 2
    assert storage.get_created_time(name) == storage.get_modified_time(name)
    assert "/content/?app=pombo" in storage.url(name)
    storage.delete(name)
    assert not storage.exists(name)
    with pytest.raises(SharedFileNotFound):
        storage.open(name)


def test_the_shared_files_command_lists_measures_and_sweeps(mongo: Database[Any]) -> None:
    shared_files.upload(Upload("loja", "a", 3), BytesIO(b"abc"))

    def run(*words: str) -> Any:
        out = StringIO()
        call_command("shared_files", *words, "--json", stdout=out)
        return json.loads(out.getvalue())

    assert [row["name"] for row in run("list", "loja")] == ["a"]
    assert run("usage", "loja")[0]["used"] == 3
    assert run("sweep") == [{"swept_chunks": 0}]


def test_the_command_names_what_is_missing(settings: Any) -> None:
    settings.MONGODB_URI = ""
    with pytest.raises(CommandError, match="MONGODB_URI"):
        call_command("shared_files", "sweep")
