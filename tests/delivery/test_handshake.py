"""The handshake with Central, against a small Central on loopback that checks signatures."""

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook, WebhookVerificationError

from apps.delivery.central_texts import MAX_FAILURE_LENGTH, cleaned
from apps.delivery.errors import CentralRefused, CentralUnreachable, EnvironmentNotFound
from apps.delivery.kube.cluster import Cluster
from apps.delivery.models import Environment, Release
from apps.delivery.services import handshake
from apps.outbox.models import OutboxEvent

from .kube_server import KubeServer
from .rollouts import BAD, GOOD, Host, drive, queue

pytestmark = pytest.mark.django_db(transaction=True)
SECRET = base64.b64encode(b"a secret of thirty-two bytes, ok").decode()
CONTEXT = {
    "appCode": "loja",
    "namespace": "loja-main",
    "hostname": "loja.apps.example",
    "imageRepository": "registry.example/team/loja",
    "releaseId": "r-7",
    "replicas": 2,
    "resourceProfile": "medium",
    "somethingNew": True,
}


class Central:
    """Answers from a table and keeps what it was told; unsigned calls get 401."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {"/delivery/releases/r-7/context": CONTEXT}
        self.status = 200
        self.calls: list[tuple[str, str, Any]] = []
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


def _handler_of(central: Central) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            text = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            status, body = central.status, central.answers.get(self.path, {})
            try:
                Webhook(SECRET).verify(text, dict(self.headers), json_parse=False)
            except WebhookVerificationError:
                status = 401
            told = json.loads(text) if text else None
            central.calls.append((self.command, self.path, told))
            payload = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        do_GET = do_POST = _answer  # noqa: N815 - names that http.server calls

        def log_message(self, *_: object) -> None:
            """Quiet."""

    return Handler


@pytest.fixture
def central(settings: Any) -> Iterator[Central]:
    running = Central()
    settings.CENTRAL_URL, settings.CENTRAL_SIGNING_SECRET = running.url, SECRET
    yield running
    running.close()


def take(digest: str = GOOD) -> Release:
    return handshake.take_release("r-7", digest, actor="central", now=timezone.now())


def test_a_context_comes_by_release_id(central: Central) -> None:
    context = handshake.fetch_context("r-7", now=timezone.now())
    assert (context.app_code, context.replicas, context.resource_profile) == ("loja", 2, "medium")


def test_a_call_with_another_key_is_refused(central: Central, settings: Any) -> None:
    settings.CENTRAL_SIGNING_SECRET = base64.b64encode(b"x" * 32).decode()
    with pytest.raises(CentralRefused, match="401"):
        handshake.fetch_context("r-7", now=timezone.now())


def test_an_outage_of_central_may_pass(central: Central) -> None:
    central.status = 503
    with pytest.raises(CentralUnreachable):
        handshake.fetch_context("r-7", now=timezone.now())


def test_a_context_of_another_release_is_refused(central: Central) -> None:
    central.answers["/delivery/releases/r-8/context"] = CONTEXT
    with pytest.raises(CentralRefused, match="another release"):
        handshake.fetch_context("r-8", now=timezone.now())


def test_a_release_is_taken_once(central: Central, environment: Environment) -> None:
    release = take()
    assert (release.config["replicas"], release.external_id) == (2, "r-7")
    assert take() == release
    assert len(central.calls) == 1


def test_a_release_of_an_unknown_app_is_refused(central: Central, db: None) -> None:
    with pytest.raises(EnvironmentNotFound):
        take()


def finish(environment: Environment, cluster: Cluster, digest: str) -> None:
    deployment = drive(queue(environment, take(digest), cluster), cluster)
    event = OutboxEvent.objects.get(event_type="DEPLOYMENT_FINISHED")
    assert (event.aggregate_id, event.max_attempts) == (str(deployment.pk), 3)
    handshake.report(deployment.pk, now=timezone.now())


def test_a_success_reports_infrastructure_and_image(
    central: Central, environment: Environment, cluster: Cluster, host: Host
) -> None:
    finish(environment, cluster, GOOD)
    image = f"registry.example/team/loja@{GOOD}"
    told = {"infraVersion": "1", "imageRef": image}
    assert central.calls[-1] == ("POST", "/delivery/releases/r-7/result", told)


def test_a_failure_reports_its_code_and_a_clean_text(
    central: Central,
    environment: Environment,
    cluster: Cluster,
    server: KubeServer,
    host: Host,
) -> None:
    server.kubelet.behaviours[BAD] = "crash"
    finish(environment, cluster, BAD)
    method, path, told = central.calls[-1]
    assert (method, path) == ("POST", "/delivery/releases/r-7/failure")
    assert told["code"] == "crash_loop"
    assert "exit code 1" in told["message"]


def test_a_member_is_activated(central: Central, environment: Environment) -> None:
    central.answers["/delivery/members/activate"] = {"active": True}
    answer = handshake.activate_member(environment, "m-1", now=timezone.now())
    assert answer == {"active": True}
    assert central.calls[-1][2] == {"appCode": "loja", "memberId": "m-1"}


def test_releases_and_members_come_over_the_api(
    central: Central, environment: Environment, api_as: Any
) -> None:
    central.answers["/delivery/members/activate"] = {"active": True}
    client = api_as("delivery:write")
    body = {"release_id": "r-7", "image_digest": GOOD}
    taken = client.post("/api/v1/delivery/releases/take/", body, format="json")
    assert (taken.status_code, taken.data["config"]["replicas"]) == (201, 2)
    member = {"environment": "loja-main", "member_id": "m-1"}
    answer = client.post("/api/v1/delivery/members/", member, format="json")
    assert answer.data == {"answer": {"active": True}}


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("line\nbreak\tand  blanks", "line break and blanks"),
        ("mongodb://root:s3cret@db/loja failed", "mongodb://…@db/loja failed"),
        ("Authorization: Bearer abc.def", "Authorization: Bearer …"),
        ("DB_PASSWORD=hunter2 is wrong", "DB_PASSWORD=… is wrong"),
        ("OON_SECRETS_KEY_TOKEN: abc", "OON_SECRETS_KEY_TOKEN: …"),
    ],
)
def test_failure_texts_hold_no_credentials(text: str, clean: str) -> None:
    assert cleaned(text) == clean


@given(st.text(max_size=2000))
def test_a_cleaned_text_is_one_short_line_and_stays_so(text: str) -> None:
    once = cleaned(text)
    assert len(once) <= MAX_FAILURE_LENGTH
    assert len(once.splitlines()) <= 1
    assert cleaned(once) == once
