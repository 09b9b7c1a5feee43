"""The pure half of the secrets contract; a value never shows in a message."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.delivery.errors import CoreSecretsLost, InvalidMongoUri, InvalidPullSecret
from apps.delivery.policy import check_objects
from apps.delivery.secrets import (
    CoreSecretsStep,
    core_secrets_step,
    pull_secret_copy,
    random_secret,
    secret_manifest,
    secrets_checksum,
    validate_mongo_uri,
)

CONFIG = base64.b64encode(json.dumps({"auths": {"registry.example": {"auth": "eA=="}}}).encode())
SOURCE = {
    "apiVersion": "v1",
    "kind": "Secret",
    "type": "kubernetes.io/dockerconfigjson",
    "metadata": {"name": "ghcr-oon", "namespace": "registry", "uid": "1", "resourceVersion": "7"},
    "data": {".dockerconfigjson": CONFIG.decode()},
}
HOME = {"namespace": "loja-main", "app_code": "loja"}


def test_generated_values_are_long_and_never_the_same():
    values = {random_secret() for _ in range(100)}
    assert len(values) == 100
    assert all(len(value) >= 43 and value.isascii() for value in values)


@given(st.dictionaries(st.text(), st.text()), st.dictionaries(st.text(), st.text()))
def test_the_checksum_stands_for_the_values(one, other):
    checksums = [secrets_checksum(data, key=b"k") for data in (one, dict(reversed(one.items())))]
    assert checksums[0] == checksums[1]
    assert (secrets_checksum(other, key=b"k") == checksums[0]) is (one == other)
    assert secrets_checksum(one, key=b"other") != checksums[0]


@pytest.mark.parametrize(
    ("has_secret", "is_marked", "step"),
    [
        (False, False, CoreSecretsStep.CREATE),
        (True, False, CoreSecretsStep.MARK),
        (True, True, CoreSecretsStep.KEEP),
    ],
)
def test_an_apps_key_is_created_once(has_secret, is_marked, step):
    assert core_secrets_step(has_secret=has_secret, is_marked=is_marked) is step


def test_a_key_that_has_vanished_is_never_replaced_in_silence():
    with pytest.raises(CoreSecretsLost, match="backup"):
        core_secrets_step(has_secret=False, is_marked=True)


def test_a_secret_holds_encoded_data_and_passes_the_rules():
    secret = secret_manifest("oon-runtime", values={"MONGODB_URI": "mongodb://x/y"}, **HOME)
    assert base64.b64decode(secret["data"]["MONGODB_URI"]) == b"mongodb://x/y"
    assert "stringData" not in secret
    assert check_objects([secret], {}) == []


def test_a_copied_pull_secret_leaves_its_past_behind():
    copy = pull_secret_copy(SOURCE, **HOME)
    assert copy["metadata"] == {
        "name": "ghcr-oon",
        "namespace": "loja-main",
        "labels": {"app.kubernetes.io/name": "loja", "app.kubernetes.io/managed-by": "pombo"},
    }
    assert copy["data"] == SOURCE["data"]
    assert check_objects([copy], {}) == []


@pytest.mark.parametrize(
    "change",
    [
        {"type": "Opaque"},
        {"data": {}},
        {"data": None},
        {"data": {".dockerconfigjson": "not base64"}},
        {"data": {".dockerconfigjson": "bm8ganNvbg=="}},
        {"data": {".dockerconfigjson": "e30="}},
    ],
)
def test_credentials_that_no_kubelet_can_read_are_not_copied(change):
    with pytest.raises(InvalidPullSecret):
        pull_secret_copy({**SOURCE, **change}, **HOME)


@pytest.mark.parametrize(
    ("uri", "hosts", "database", "username"),
    [
        ("mongodb://localhost/loja", ("localhost",), "loja", ""),
        (
            "mongodb://u:p%40ss@a:27017,b:27018/loja?replicaSet=rs0",
            ("a:27017", "b:27018"),
            "loja",
            "u",
        ),
        ("mongodb://[::1]:27017/loja", ("[::1]:27017",), "loja", ""),
        ("mongodb+srv://u%3Ax:p@db.cluster.example/loja", ("db.cluster.example",), "loja", "u:x"),
    ],
)
def test_a_connection_string_tells_where_it_points(uri, hosts, database, username):
    target = validate_mongo_uri(uri)
    assert (target.hosts, target.database, target.username) == (hosts, database, username)


@pytest.mark.parametrize(
    "uri",
    [
        "",
        None,
        "mysql://u:hunter2@a/b",
        "mongodb://u:hunter2@a",
        "mongodb://u:hunter2@a/",
        "mongodb://u:hun@ter2@a/b",
        "mongodb://u:hunter2@a/b.c",
        "mongodb://u:hunter2@a:0/b",
        "mongodb://u:hunter2@a:70000/b",
        "mongodb://u:hunter2@/b",
        "mongodb://u:hunter2@a,,c/b",
        "mongodb://u:hunter2@a b/c",
        "mongodb://u:hunter2@a/b\n",
        "mongodb://u:hunter2@a/b?tlsInsecure=true",
        "mongodb+srv://u:hunter2@a.example.com:27017/b",
        "mongodb+srv://u:hunter2@a.b/c",
        "mongodb+srv://u:hunter2@a.b.c,d.e.f/g",
    ],
)
def test_another_string_is_refused_without_repeating_it(uri):
    with pytest.raises(InvalidMongoUri) as caught:
        validate_mongo_uri(uri)
    assert "hunter2" not in str(caught.value)
    assert "hunter2" not in json.dumps(caught.value.details)


@given(st.text())
def test_any_text_is_read_or_refused(text):
    try:
        target = validate_mongo_uri("mongodb://" + text)
    except InvalidMongoUri:
        target = None
    assert target is None or target.database
