"""The adapter to the Kubernetes client library: one request in, one answer out.

Nothing else imports `kubernetes` (30 MiB and a third of a second), and this module does so only
when a client is made. Objects stay plain dicts.
"""

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import urllib3

from . import answers
from .errors import ClusterUnreachable

if TYPE_CHECKING:
    from kubernetes.client import ApiClient, Configuration

_JSON = "application/json"
_Sleep = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class ClusterConfig:
    """How to reach a cluster: an address and a token, a kubeconfig file, or the pod's own account.

    Times are in seconds; `max_attempts` counts the first one too.
    """

    url: str = ""
    token: str = field(default="", repr=False)
    ca_file: str = ""
    kubeconfig: str = ""
    context: str = ""
    connect_seconds: float = 5.0
    read_seconds: float = 30.0
    max_attempts: int = 6
    first_delay_seconds: float = 0.5
    max_delay_seconds: float = 8.0


class KubeClient:
    """Sends requests with time-outs, and again when the refusal is a passing one.

    Safe for threads: it holds no state but the library's connection pool.
    """

    def __init__(
        self, config: ClusterConfig, *, sleep: _Sleep = time.sleep, rng: random.Random | None = None
    ) -> None:
        self.config = config
        self._api = _connect(config)
        self._sleep = sleep
        self._rng = rng or random.Random()  # noqa: S311 - jitter guards nothing

    def close(self) -> None:
        """Give back the connections."""
        self._api.rest_client.close()

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        content_type: str = _JSON,
    ) -> Any:
        """The decoded body of the answer.

        Raises the errors of `apps.delivery.kube.errors`; ClusterUnreachable only after all
        attempts. Sending again is safe for everything but POST, which is sent again only when the
        server said that it did nothing (429, 503).
        """
        attempt = 0
        while True:
            attempt += 1
            try:
                refusal = self._attempt(method, path, query or {}, body, content_type)
            except urllib3.exceptions.HTTPError as error:
                if method == "POST" or attempt >= self.config.max_attempts:
                    raise ClusterUnreachable(f"The cluster does not answer: {error}") from error
                self._wait(attempt, None)
                continue
            if not isinstance(refusal, answers.Answer):
                return refusal
            if attempt >= self.config.max_attempts or not _may_repeat(method, refusal):
                raise answers.error_for(refusal)
            self._wait(attempt, refusal.retry_after_seconds)

    @contextmanager
    def lines(
        self, path: str, *, query: Mapping[str, str], read_seconds: float
    ) -> Iterator[Iterator[str]]:
        """The lines of an answer that stays open (a watch). One attempt; the caller resumes.

        Raises urllib3's HTTPError when the connection breaks while lines are read.
        """
        response = self._send("GET", path, query, None, _JSON, read_seconds).response
        try:
            if response.status >= HTTPStatus.BAD_REQUEST:
                body = _decoded(response.data)
                answer = answers.read_answer(response.status, body, None)
                raise answers.error_for(answer)
            yield _split_lines(response)
        finally:
            response.close()
            response.release_conn()

    def pause(self) -> None:
        """Wait as before a second attempt."""
        self._wait(1, None)

    def _attempt(
        self, method: str, path: str, query: Mapping[str, str], body: Any, content_type: str
    ) -> Any:
        sent = self._send(method, path, query, body, content_type, self.config.read_seconds)
        response = sent.response
        decoded = _decoded(response.data)
        if response.status < HTTPStatus.BAD_REQUEST:
            return decoded
        return answers.read_answer(response.status, decoded, response.headers.get("Retry-After"))

    def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        body: Any,
        content_type: str,
        read_seconds: float,
    ) -> Any:
        headers = {"Content-Type": content_type, "Accept": _JSON, "User-Agent": "pombo/1"}
        parts = self._api.param_serialize(
            method,
            path,
            query_params=list(query.items()),
            header_params=headers,
            body=body,
            auth_settings=["BearerToken"],
        )
        timeout = (self.config.connect_seconds, read_seconds)
        return self._api.call_api(*parts, _request_timeout=timeout)

    def _wait(self, attempt: int, retry_after_seconds: float | None) -> None:
        ceiling = min(
            self.config.max_delay_seconds, self.config.first_delay_seconds * 2 ** (attempt - 1)
        )
        jittered = ceiling * (0.5 + self._rng.random() / 2)
        self._sleep(max(jittered, min(retry_after_seconds or 0.0, 30.0)))


def _may_repeat(method: str, refusal: answers.Answer) -> bool:
    if method == "POST":
        return refusal.status in {429, 503}
    return answers.is_passing(refusal)


def _connect(config: ClusterConfig) -> "ApiClient":
    from kubernetes.client import ApiClient  # noqa: PLC0415 - see the module's docstring

    configuration = _configuration(config)
    # Retries are this module's own: the library's would repeat what must not be repeated.
    configuration.retries = False
    return ApiClient(configuration)


def _configuration(config: ClusterConfig) -> "Configuration":
    from kubernetes import config as loader  # noqa: PLC0415
    from kubernetes.client import Configuration  # noqa: PLC0415

    configuration = Configuration()
    if config.url:
        configuration.host = config.url.rstrip("/")
        configuration.ssl_ca_cert = config.ca_file or None
        if config.token:
            configuration.api_key = {"authorization": config.token}
            configuration.api_key_prefix = {"authorization": "Bearer"}
    elif config.kubeconfig:
        loader.load_kube_config(  # type: ignore[no-untyped-call]  # the library has no types
            config_file=config.kubeconfig,
            context=config.context or None,
            client_configuration=configuration,
        )
    else:
        loader.load_incluster_config(  # type: ignore[no-untyped-call]  # the same
            client_configuration=configuration
        )
    return configuration


def _decoded(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return raw.decode(errors="replace")


def _split_lines(response: Any) -> Iterator[str]:
    rest = b""
    for chunk in response.stream(amt=None):
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            if line.strip():
                yield line.decode()
