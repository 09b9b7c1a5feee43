"""A classifier service for tests: a real HTTP server that answers what it is told to."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

GOOD = {
    "model_name": "clip-test",
    "category": "anime illustration",
    "confidence": 0.91,
    "entropy": 0.4,
    "confidence_margin": 0.7,
    "nsfw_score": 0.02,
    "is_nsfw": False,
    "all_scores": {"cartoon": 0.09, "anime illustration": 0.91},
    "top_labels": [{"label": "anime illustration", "score": 0.91, "logit": 3.2}],
    "affinity_weight": 0.8,
    "ambiguous": False,
    "llm_subtags": ["anime hero", "Anime Hero", "smile"],
    "llm_style_traits": ["flat"],
    "llm_emotions": ["joy"],
    "llm_pack_suggestions": ["Anime heroes"],
    "similar_images": [{"asset_id": "a", "similarity": 0.5}],
}


@dataclass(slots=True)
class ClassifierServer:
    """What the service was asked, and what it says: a function of the number of the request."""

    answer: Callable[[int, bytes], tuple[int, Any]] = lambda _number, _body: (200, GOOD)
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    url: str = ""
    drips: bool = False
    stopped: threading.Event = field(default_factory=threading.Event)


def always(status: int, answer: Any) -> Callable[[int, bytes], tuple[int, Any]]:
    """The same answer to everything."""
    return lambda _number, _body: (status, answer)


@contextmanager
def classifier_server() -> Iterator[ClassifierServer]:
    """The service while the block runs."""
    service = ClassifierServer()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(service))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    service.url = f"http://127.0.0.1:{server.server_port}/classify"
    try:
        yield service
    finally:
        service.stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(service: ClassifierServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            service.bodies.append(body)
            service.headers.append(dict(self.headers))
            status, answer = service.answer(len(service.bodies), body)
            raw = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self._write(raw)

        def _write(self, raw: bytes) -> None:
            if not service.drips:
                self.wfile.write(raw)
                return
            for byte in raw:
                if service.stopped.wait(0.02):
                    return
                self.wfile.write(bytes([byte]))
                self.wfile.flush()

        def handle(self) -> None:
            with suppress(ConnectionError):
                super().handle()

        def log_message(self, *args: Any) -> None:
            """Say nothing."""

    return Handler
