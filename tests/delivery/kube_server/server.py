"""The HTTP side: routes, bodies, watches as chunks, and faults that tests ask for."""

import contextlib
import json
import sys
import threading
import urllib.parse
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

import yaml

from . import lists, patches, statuses, writes
from .apply import Manager
from .controllers import Controllers
from .kinds import BY_PATH, GROUPS, Kind
from .kubelet import Kubelet
from .statuses import RefusedError
from .store import Store
from .writes import Written

Object = dict[str, Any]
_DISCOVERY = Path(__file__).parents[2] / "data" / "kube" / "00-discovery.json"
_DROP = -1


class KubeServer:
    """A cluster on a free port of this machine; a context manager.

    `fail_next(code)` makes the next requests fail, `drop_next()` cuts their connections,
    `calls` counts requests by method and resource, `kubelet.behaviours` makes images misbehave.
    """

    def __init__(
        self,
        *,
        ready_seconds: float = 0.02,
        stop_seconds: float = 0.02,
        runs_controllers: bool = True,
    ) -> None:
        self.store = Store()
        self.kubelet = Kubelet(ready_seconds=ready_seconds, stop_seconds=stop_seconds)
        self.calls: Counter[str] = Counter()
        self.tokens = {"admin": True}
        self._faults: list[tuple[int, int | None]] = []
        self._runs_controllers = runs_controllers
        self._is_open = False
        self._cuts = 0
        self._http: ThreadingHTTPServer | None = None
        self._threads: list[threading.Thread] = []

    @property
    def url(self) -> str:
        assert self._http is not None
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Self:
        self._is_open = True
        self._http = _Server(("127.0.0.1", 0), _handler_for(self))
        self._start(lambda: self._http and self._http.serve_forever(poll_interval=0.05))
        if self._runs_controllers:
            self._start(self._control)
        return self

    def __exit__(self, *_: object) -> None:
        self._is_open = False
        with self.store.changed:
            self.store.changed.notify_all()
        if self._http is not None:
            self._http.shutdown()
            self._http.server_close()
        for thread in self._threads:
            thread.join(timeout=5)

    def fail_next(self, code: int, *, times: int = 1, retry_after: int | None = None) -> None:
        """Answer the next requests with this status code."""
        self._faults += [(code, retry_after)] * times

    def drop_next(self, *, times: int = 1) -> None:
        """Close the connection of the next requests without an answer."""
        self._faults += [(_DROP, None)] * times

    def cut_watches(self) -> None:
        """End every open watch in the middle of its stream."""
        self._cuts += 1
        with self.store.changed:
            self.store.changed.notify_all()

    def until_cut(self) -> Callable[[], bool]:
        """Whether a watch opened now may go on; breaks the connection when it may not."""
        cuts = self._cuts

        def goes_on() -> bool:
            if self._cuts != cuts:
                raise ConnectionResetError
            return self._is_open

        return goes_on

    def take_fault(self) -> tuple[int, int | None] | None:
        """The fault that the present request meets, if any."""
        return self._faults.pop(0) if self._faults else None

    def _start(self, target: Any) -> None:
        thread = threading.Thread(target=target, daemon=True)
        thread.start()
        self._threads.append(thread)

    def _control(self) -> None:
        controllers = Controllers(self.store, kubelet_=self.kubelet)
        while self._is_open:
            seen = self.store.version
            is_busy = controllers.step()
            with self.store.changed:
                if self.store.version == seen:
                    self.store.changed.wait(0.01 if is_busy else 0.5)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no news; a fault of ours is."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Request:
    """A parsed request: which resource, which object, with what."""

    def __init__(self, method: str, target: str) -> None:
        parts = urllib.parse.urlsplit(target)
        self.method = method
        self.path = parts.path
        self.query = dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))
        self.namespace, self.name, self.subresource = "", "", ""
        self.kind = self._route([p for p in parts.path.split("/") if p])

    def _route(self, parts: list[str]) -> Kind | None:
        if not parts or parts[0] not in {"api", "apis"} or len(parts) < 3:
            return None
        group, rest = ("", parts[1:]) if parts[0] == "api" else (parts[1], parts[2:])
        version, rest = rest[0], rest[1:]
        if (group, version) not in GROUPS or not rest:
            return None
        if rest[0] == "namespaces" and len(rest) > 2:
            self.namespace, rest = rest[1], rest[2:]
        kind = BY_PATH.get((group, version, rest[0]))
        if kind is None:
            message = "the server could not find the requested resource"
            raise RefusedError(404, message, details={})
        self.name, self.subresource = (*rest[1:], "", "")[:2]
        return kind


def _handler_for(server: KubeServer) -> type[BaseHTTPRequestHandler]:
    class Handler(_Handler):
        kube = server

    return Handler


class _Handler(BaseHTTPRequestHandler):
    kube: KubeServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 65_536

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Quiet."""

    def _answer_any(self) -> None:
        try:
            if not self._meets_fault():
                self._answer()
        except RefusedError as refusal:
            headers = {"Retry-After": str(refusal.retry_after)} if refusal.retry_after else {}
            self._send(refusal.code, refusal.body, headers)

    do_GET = do_POST = do_PUT = _answer_any  # noqa: N815 - names that http.server calls
    do_PATCH = do_DELETE = _answer_any  # noqa: N815 - the same

    def _meets_fault(self) -> bool:
        fault = self.kube.take_fault()
        if fault is None:
            return False
        self._read()
        code, retry_after = fault
        if code == _DROP:
            self.close_connection = True
            self.connection.close()
            return True
        raise RefusedError(code, "fault asked for by the test", retry_after=retry_after)

    def _answer(self) -> None:
        body = self._read()
        request = _Request(self.command, self.path)
        self._authorise(request)
        if request.kind is None:
            self._discover(request.path)
            return
        self.kube.calls[f"{request.method} {request.kind.plural}"] += 1
        if request.method == "GET" and not request.name:
            self._list_or_watch(request, request.kind)
            return
        written = self._object(request, request.kind, body)
        warnings = [("Warning", "299 - " + json.dumps(text)) for text in written.warnings]
        self._send(written.code, written.body, dict(warnings))

    def _authorise(self, request: _Request) -> None:
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if not token or request.path in {"/version", "/readyz"} or self.kube.tokens.get(token):
            return
        raise RefusedError(401, "Unauthorized")

    def _object(self, request: _Request, kind: Kind, body: str) -> Written:
        store, place = self.kube.store, (request.namespace, request.name)
        match request.method:
            case "GET":
                return Written(200, self._live(kind, *place), [])
            case "POST":
                return writes.create(
                    store, kind, request.namespace, json.loads(body), request.query, self._agent()
                )
            case "DELETE":
                options = json.loads(body) if body else {}
                gone = writes.delete(store, kind, *place, options, request.query)
                return Written(200, gone, [])
            case "PATCH" if not request.name:
                message = "the server does not allow this method on the requested resource"
                raise RefusedError(405, message, details={})
            case _:
                return self._patch_or_put(request, kind, body)

    def _patch_or_put(self, request: _Request, kind: Kind, body: str) -> Written:
        content = self.headers.get("Content-Type", "").partition(";")[0]
        store, place = self.kube.store, (request.namespace, request.name)
        if content == "application/apply-patch+yaml":
            wanted = next(iter(yaml.safe_load_all(body)), None)
            return writes.apply_patch(store, kind, *place, wanted, request.query)
        if content not in patches.CONTENT_TYPES:
            raise RefusedError(415, "415: Unsupported Media Type", details={})
        if "force" in request.query:
            why = "Forbidden: may not be specified for non-apply patch"
            raise statuses.bad_options("PatchOptions", "FieldValueForbidden", why, "force")
        with store.changed:
            live = self._live(kind, *place)
            new = patches.patched(content, live, json.loads(body))
            me = Manager(request.query.get("fieldManager", self._agent()), "Update")
            return writes.edit(store, kind, live, new, request.query, me)

    def _live(self, kind: Kind, namespace: str, name: str) -> Object:
        found = self.kube.store.get(kind, namespace, name)
        if found is None:
            raise statuses.not_found(kind, name)
        return {"kind": kind.name, "apiVersion": kind.api_version, **found}

    def _agent(self) -> str:
        return self.headers.get("User-Agent", "unknown").partition("/")[0]

    def _list_or_watch(self, request: _Request, kind: Kind) -> None:
        store = self.kube.store
        if request.query.get("watch") != "true":
            self._send(200, lists.page(store, kind, request.namespace, request.query), {})
            return
        self.kube.calls[f"WATCH {kind.plural}"] += 1
        namespace, query = request.namespace, request.query
        self._stream(lists.watch(store, kind, namespace, query, self.kube.until_cut()))

    def _stream(self, events: Iterator[Object]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.close_connection = True
        with contextlib.suppress(ConnectionError):
            for event in events:
                self._chunk(json.dumps(event).encode() + b"\n")
            self._chunk(b"")

    def _chunk(self, payload: bytes) -> None:
        self.wfile.write(f"{len(payload):x}\r\n".encode() + payload + b"\r\n")
        self.wfile.flush()

    def _discover(self, path: str) -> None:
        for exchange in json.loads(_DISCOVERY.read_text())["exchanges"]:
            if exchange["request"]["path"] == path and exchange["response"]["status"] == 200:
                self._send(200, exchange["response"]["body"], {})
                return
        self._send(404, "404 page not found\n", {})

    def _read(self) -> str:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()

    def _send(self, code: int, body: Any, headers: dict[str, str]) -> None:
        is_text = isinstance(body, str)
        payload = (body if is_text else json.dumps(body)).encode()
        self.send_response(code)
        self.send_header("Content-Type", "text/plain" if is_text else "application/json")
        self.send_header("Content-Length", str(len(payload)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(payload)
        self.wfile.flush()
