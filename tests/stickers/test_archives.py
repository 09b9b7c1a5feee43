"""Packs are read from folders and archives, and nothing leads out of them."""

import contextlib
import json
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.stickers import archives, errors
from tests.stickers.factories import webp_bytes

CONTENTS = {
    "sticker_packs": [
        {
            "identifier": "1",
            "name": "Cups",
            "publisher": "Ana",
            "tray_image_file": "tray.png",
            "stickers": [
                {"image_file": "a.webp", "emojis": ["☕"], "accessibility_text": "A cup."},
                {"image_file": "b.webp"},
            ],
        }
    ]
}


def make_folder(path: Path, contents: object = CONTENTS) -> Path:
    (path / "1").mkdir()
    (path / archives.CONTENTS_NAME).write_text(json.dumps(contents))
    for name in ("tray.png", "a.webp", "b.webp"):
        (path / "1" / name).write_bytes(webp_bytes(name))
    return path


def make_zip(path: Path, entries: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return path


def test_a_folder_gives_its_packs_with_emojis_and_labels(tmp_path: Path) -> None:
    (pack,) = archives.read_packs(make_folder(tmp_path))
    assert (pack.name, pack.publisher, len(pack.stickers)) == ("Cups", "Ana", 2)
    assert (pack.stickers[0].emojis, pack.stickers[0].label) == (("☕",), "A cup.")
    assert pack.stickers[0].data == webp_bytes("a.webp")


def test_a_wastickers_file_gives_its_pack(tmp_path: Path) -> None:
    entries = {"title.txt": b"Cups\n", "author.txt": b"Ana", "1.webp": b"x", "icon.png": b"y"}
    (pack,) = archives.read_packs(make_zip(tmp_path / "p.wastickers", entries))
    assert (pack.name, pack.publisher, pack.tray) == ("Cups", "Ana", b"y")


@pytest.mark.parametrize(
    "name", ["../evil.webp", "/etc/evil.webp", "a/../../evil.webp", "..\\evil.webp", "C:\\evil"]
)
def test_a_name_that_leads_out_refuses_the_whole_archive(tmp_path: Path, name: str) -> None:
    entries = {"title.txt": b"t", "author.txt": b"a", "1.webp": b"x", name: b"x"}
    with pytest.raises(errors.ArchiveRefused, match="leads out"):
        archives.read_packs(make_zip(tmp_path / "p.wastickers", entries))


def test_a_folder_cannot_name_files_outside_itself(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    contents = json.loads(json.dumps(CONTENTS))
    contents["sticker_packs"][0]["stickers"][0]["image_file"] = "../../secret"
    folder = tmp_path / "pack"
    folder.mkdir()
    with pytest.raises(errors.ArchiveRefused):
        archives.read_packs(make_folder(folder, contents))


def test_too_many_files_are_refused(tmp_path: Path) -> None:
    entries = {f"{number}.webp": b"" for number in range(archives.MAX_ENTRIES + 1)}
    with pytest.raises(errors.ArchiveRefused, match="Too many"):
        archives.read_packs(make_zip(tmp_path / "p.zip", entries))


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "bomb.wastickers"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("1.webp", bytes(archives.MAX_TOTAL_BYTES + 1))
    with pytest.raises(errors.ArchiveRefused, match="Too much"):
        archives.read_packs(path)


@pytest.mark.parametrize("contents", [{}, {"sticker_packs": [{}]}, [], {"sticker_packs": "x"}])
def test_contents_of_another_form_are_refused(tmp_path: Path, contents: object) -> None:
    with pytest.raises(errors.ArchiveRefused, match="known form"):
        archives.read_packs(make_folder(tmp_path, contents))


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "pack.wastickers"
    file.write_bytes(b"not a zip")
    with pytest.raises(errors.ArchiveRefused):
        archives.read_packs(file)


def test_a_file_beside_contents_json_is_found_and_a_missing_one_named(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    (folder / "1" / "b.webp").rename(folder / "b.webp")
    assert len(archives.read_packs(folder)[0].stickers) == 2
    (folder / "b.webp").unlink()
    with pytest.raises(errors.ArchiveFileMissing) as refused:
        archives.read_packs(folder)
    assert refused.value.details == {"name": "b.webp"}


def test_a_damaged_directory_is_refused(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "p.wastickers", {"title.txt": b"t", "1.webp": b"x"})
    path.write_bytes(path.read_bytes().replace(b"PK\x01\x02", b"PK\x00\x00", 1))
    with pytest.raises(errors.ArchiveRefused, match="damaged"):
        archives.read_packs(path)


def test_contents_nested_without_end_are_refused(tmp_path: Path) -> None:
    (tmp_path / archives.CONTENTS_NAME).write_text("[" * 100_000)
    with pytest.raises(errors.ArchiveRefused, match="known form"):
        archives.read_packs(tmp_path)


@given(damage=st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), max_size=6))
@settings(max_examples=400, deadline=None)
def test_whatever_is_damaged_an_archive_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, damage: list[tuple[int, int]]
) -> None:
    path = tmp_path_factory.mktemp("zip") / "p.wastickers"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("title.txt", "author.txt", "1.webp", "2.webp"):
            archive.writestr(name, name.encode() * 20)
    data = bytearray(path.read_bytes())
    for place, value in damage:
        data[place % len(data)] = value
    path.write_bytes(data)
    with contextlib.suppress(errors.ArchiveRefused):
        archives.read_packs(path)
