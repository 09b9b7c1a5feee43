"""A subscriber of webhooks: a real HTTP server on a free port that keeps what it got."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Subscriber:
    """What arrived, and what is answered: the next status of the list, then 200."""

    url: str = ""
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)


@contextmanager
def subscriber() -> Iterator[Subscriber]:
    """Listen while the block runs."""
    kept = Subscriber()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            kept.bodies.append(self.rfile.read(int(self.headers["content-length"])))
            kept.headers.append({name.lower(): value for name, value in self.headers.items()})
            self.send_response(kept.statuses.pop(0) if kept.statuses else 200)
            self.send_header("location", "http://127.0.0.1:1/elsewhere")
            self.end_headers()
            self.wfile.write(b"thanks")

        def log_message(self, *_words: object) -> None:
            """Tests are quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    kept.url = f"http://127.0.0.1:{server.server_port}/hook"
    try:
        yield kept
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
