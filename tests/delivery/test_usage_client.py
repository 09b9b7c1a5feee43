"""The client for apps: retries under stable ids, keeps what it could not tell, needs nothing."""

import ast
import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from apps.delivery.models import UsageEvent
from apps.delivery.services.usage_accounts import issue_app_token
from apps.delivery.usage import client as client_module
from apps.delivery.usage.client import UsageClient, UsageError, UsageUnavailable

from .usage_rows import NOW, make_metric, total


class Stub:
    """A server that answers as told and remembers what it heard; None cuts the connection."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, Any] | None] = []
        self.heard: list[Any] = []
        stub = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                stub.heard.append(json.loads(self.rfile.read(length)))
                answer = stub.answers.pop(0) if stub.answers else (200, accepted(stub.heard[-1]))
                if answer is None:
                    return
                status, body = answer
                content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_arguments: Any) -> None:
                """Keep the tests quiet."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"


def accepted(body: Any) -> dict[str, Any]:
    return {"results": [{"id": e["id"], "status": "accepted"} for e in body["events"]]}


def problem(code: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": "x", "details": {}}}


@pytest.fixture
def stub() -> Iterator[Stub]:
    running = Stub()
    yield running
    running.server.shutdown()
    running.server.server_close()


def client_of(stub: Stub, **options: Any) -> UsageClient:
    return UsageClient(stub.url, "token", pause_seconds=0.001, **options)


def test_it_needs_nothing_but_the_standard_library() -> None:
    tree = ast.parse(Path(client_module.__file__).read_text())
    names = {
        (node.module if isinstance(node, ast.ImportFrom) else node.names[0].name).split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert names <= sys.stdlib_module_names


def test_a_lost_answer_is_asked_for_again_with_the_same_body(stub: Stub) -> None:
    stub.answers = [
        None,
        (503, problem("unavailable")),
        (502, "<html>"),
        (429, problem("throttled")),
    ]
    client = client_of(stub)
    client.report("orders", 3, event_id="order-7", occurred_at=NOW)
    assert client.flush() == 1
    assert len(stub.heard) == 5
    assert all(body == stub.heard[0] for body in stub.heard)
    assert client.flush() == 0


def test_what_could_not_be_told_is_kept_in_order(stub: Stub) -> None:
    stub.answers = [(503, problem("unavailable"))] * 2
    client = client_of(stub, retries=1)
    first = client.report("orders")
    with pytest.raises(UsageUnavailable):
        client.flush()
    second = client.report("orders")
    assert client.flush() == 2
    assert [event["id"] for event in stub.heard[-1]["events"]] == [first, second]


def test_a_refusal_of_the_call_is_not_repeated(stub: Stub) -> None:
    stub.answers = [(403, problem("other_app"))]
    client = client_of(stub)
    client.report("orders")
    with pytest.raises(UsageError) as refused:
        client.flush()
    assert (refused.value.status, refused.value.code, len(stub.heard)) == (403, "other_app", 1)


def test_refused_events_are_told_and_not_kept(stub: Stub) -> None:
    told: list[tuple[str, str]] = []
    client = client_of(stub, on_refused=lambda event, why: told.append((event["id"], why)))
    stub.answers = [(207, {"results": [{"id": "a", "status": "too_late"}]})]
    client.report("orders", event_id="a", occurred_at=NOW)
    client.flush()
    assert (told, client.refused_count, client.flush()) == ([("a", "too_late")], 1, 0)


def test_a_full_batch_leaves_by_itself(stub: Stub) -> None:
    client = client_of(stub)
    for _number in range(client_module.BATCH_SIZE + 1):
        client.report("orders")
    assert [len(body["events"]) for body in stub.heard] == [client_module.BATCH_SIZE]


def test_threads_share_a_client_without_losing_events(stub: Stub) -> None:
    client = client_of(stub)
    threads = [
        threading.Thread(target=lambda: [client.report("orders") for _ in range(400)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    client.flush()
    ids = [event["id"] for body in stub.heard for event in body["events"]]
    assert (len(ids), len(set(ids))) == (1600, 1600)


def test_an_own_id_needs_the_time_of_what_happened(stub: Stub) -> None:
    with pytest.raises(ValueError, match="occurred_at"):
        client_of(stub).report("orders", event_id="order-7")


@pytest.mark.django_db(transaction=True)
def test_it_speaks_with_the_real_api(live_server: Any) -> None:
    app = make_metric(included=10, on_limit="block").app
    _token, secret = issue_app_token(app)
    client = UsageClient(live_server.url, secret, pause_seconds=0.01)
    now = timezone.now()
    for _repeat in range(2):
        client.report("orders", 4, event_id="order-1", occurred_at=now)
        client.flush()
    assert (UsageEvent.objects.count(), client.refused_count) == (1, 0)
    assert client.check("orders", 6)
    held = client.reserve("orders", 6)
    assert held is not None
    assert client.reserve("orders", 1) is None
    client.commit("orders", held, used=2)
    other = client.reserve("orders", 4)
    client.release("orders", str(other))
    assert (total().used, total().reserved) == (6, 0)
    with pytest.raises(UsageError):
        client.commit("orders", "nobody's")
