"""The test API server answers as the recordings of a real Kubernetes 1.36 server do."""

import json
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

import pytest

from .kube_server import KubeServer, quantities, recordings
from .kube_server.recordings import Exchange, comparable

SECURITY = "pod-security.kubernetes.io/"
RESTRICTED = {f"{SECURITY}{mode}": "restricted" for mode in ("enforce", "warn", "audit")}
LABELS = {"loja-09": RESTRICTED, "loja-09b": {f"{SECURITY}enforce": "restricted"}}


def send(url: str, exchange: Exchange, known: dict[str, str]) -> tuple[int, Any, list[str]]:
    """Send a recorded request; opaque values are replaced by those of this run."""
    request = exchange.request
    query = urllib.parse.urlencode(request.get("query") or {})
    body = request.get("body")
    text = body if isinstance(body, str) else json.dumps(body)
    for recorded, present in known.items():
        text = text.replace(f'"{recorded}"', f'"{present}"')
    made = urllib.request.Request(  # noqa: S310 - the test's own server on loopback
        f"{url}{request['path']}?{query}",
        method=request["method"],
        data=None if body is None else text.encode(),
        headers={"Content-Type": request.get("contentType") or "application/json"},
    )
    try:
        with urllib.request.urlopen(made) as answer:  # noqa: S310 - the same
            warnings = answer.headers.get_all("Warning") or []
            return answer.status, decoded(answer.read().decode()), warnings
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, decoded(refused.read().decode()), []


def decoded(raw: str) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return raw


def post(server: KubeServer, path: str, body: dict[str, Any]) -> Any:
    request = {"method": "POST", "path": path, "body": body}
    return send(server.url, Exchange(0, "", (), request, {}), {})[1]


def make_namespace(server: KubeServer, name: str) -> None:
    metadata = {"name": name, "labels": LABELS.get(name, {})}
    post(server, "/api/v1/namespaces", {"kind": "Namespace", "metadata": metadata})


def pair(known: dict[str, str], recorded: Any, present: Any) -> None:
    """Remember which id and version of this run stand for the recorded ones."""
    if isinstance(recorded, dict) and isinstance(present, dict):
        for name in ("uid", "resourceVersion"):
            was = recorded.get("metadata", {}).get(name)
            if was:
                known[was] = present.get("metadata", {}).get(name, was)


def replay(server: KubeServer, scenario: str, numbers: set[int] | None = None) -> None:
    known: dict[str, str] = {}
    for exchange in recordings.exchanges(scenario):
        if numbers is None or exchange.number in numbers:
            code, body, warnings = send(server.url, exchange, known)
            assert_as_recorded(scenario, exchange, code, body, warnings)
            pair(known, exchange.response.get("body"), body)


def assert_as_recorded(
    scenario: str, exchange: Exchange, code: int, body: Any, warnings: list[str]
) -> None:
    expected, trimmed = exchange.response, exchange.trimmed
    where = f"{scenario} {exchange.number}: {exchange.note}"
    assert code == expected["status"], f"{where}\n{body}"
    assert comparable(body, trimmed) == comparable(expected.get("body"), trimmed), where
    assert warnings == (expected["headers"].get("Warning") or []), where


@pytest.mark.parametrize(
    ("scenario", "namespaces"),
    [
        ("00-discovery", []),
        ("01-apply-create", []),
        ("03-apply-change-remove", ["loja-03"]),
        ("04-apply-conflict", ["loja-04"]),
        ("05-client-side-apply-migration", ["loja-05"]),
        ("06-dry-run", ["loja-06"]),
        ("07-validation", ["loja-07"]),
        ("17-quantities", ["loja-17"]),
        ("19-secret-string-data", ["loja-19"]),
        ("20-apply-preconditions", ["loja-20"]),
    ],
)
def test_answers_as_recorded(scenario: str, namespaces: list[str]) -> None:
    with KubeServer(runs_controllers=False) as server:
        for name in namespaces:
            make_namespace(server, name)
        replay(server, scenario)


def test_pod_security_warns_and_refuses_as_recorded() -> None:
    with KubeServer(runs_controllers=False) as server:
        for name in ("loja-09", "loja-09b", "loja-09c"):
            make_namespace(server, name)
        replay(server, "09-pod-security", {0, 1, 5, 7, 9, 10})


def test_a_quota_that_is_used_up_refuses_as_recorded() -> None:
    with KubeServer(runs_controllers=False) as server:
        make_namespace(server, "loja-08")
        replay(server, "08-quota", {0, 1})
        first = recordings.exchange("08-quota", 7).request["body"]
        first = first | {"metadata": first["metadata"] | {"name": "first"}}
        post(server, "/api/v1/namespaces/loja-08/pods", first)
        replay(server, "08-quota", {7})


def test_lists_and_continue_tokens_answer_as_recorded() -> None:
    with KubeServer(runs_controllers=False) as server:
        make_namespace(server, "loja-14")
        for index in range(200):
            label = {"n": str(index)} if index == 1 else {"n": "0"}
            metadata = {"name": f"c{index:03}", "labels": label}
            body = {"kind": "ConfigMap", "metadata": metadata, "data": {"i": str(index)}}
            post(server, "/api/v1/namespaces/loja-14/configmaps", body)
        replay(server, "14-list-watch", {0, 8, 18, 21, 24, 31})
        page = recordings.exchange("14-list-watch", 3)
        _, body, _ = send(server.url, page, {})
        assert body["metadata"]["remainingItemCount"] == 198
        assert [item["metadata"]["name"] for item in body["items"]] == ["c000", "c001"]


def test_versions_that_are_too_old_answer_as_recorded() -> None:
    with KubeServer(runs_controllers=False) as server:
        make_namespace(server, "loja-14")
        server.store.compact()
        replay(server, "14-list-watch", {36, 37})
        watch = recordings.exchange("14-list-watch", 33)
        _, event, _ = send(server.url, watch, {})
        assert comparable(event["object"]) == comparable(watch.response["events"][0]["object"])


def test_deletes_answer_as_recorded() -> None:
    with KubeServer(runs_controllers=False) as server:
        make_namespace(server, "loja-15")
        deployment = recordings.exchange("04-apply-conflict", 0).request["body"]
        metadata = {"name": "fundo"}
        path = "/apis/apps/v1/namespaces/loja-15/deployments"
        made = post(server, path, deployment | {"metadata": metadata})
        uid = made["metadata"]["uid"]
        known = {"d17fd579-440d-4aef-a95d-1a37fc866024": uid}
        for number in (0, 1, 3, 4, 5, 6, 18):
            exchange = recordings.exchange("15-delete", number)
            code, body, warnings = send(server.url, exchange, known)
            assert_as_recorded("15-delete", exchange, code, body, warnings)


def test_a_namespace_that_goes_away_takes_nothing_new() -> None:
    with KubeServer(runs_controllers=False) as server:
        make_namespace(server, "loja-15")
        replay(server, "15-delete", {21, 22, 23, 24})


def test_quantities_are_stored_in_canonical_form() -> None:
    rows = recordings.document("17-quantities")["table"]["rows"]
    for resource, written, read in rows:
        if not read.startswith("500"):
            assert quantities.canonical(written, is_cpu=resource == "cpu") == read, written
