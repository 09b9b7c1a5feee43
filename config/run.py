"""Run web server and worker together under Pombo's own supervisor: `python -m config.run`.

The web server drains first, then the worker. Both add their metrics up through one folder. `PORT`
chooses where the pages are served (8000).
"""

import os
import shutil
import signal
import sys
from pathlib import Path

from apps.delivery.supervisor import ChildSpec, supervise

BASE_DIR = Path(__file__).resolve().parent.parent
GRACE_MS = 20_000


def main() -> int:
    """Start everything, print where to go, and wait for Ctrl-C."""
    port = os.environ.get("PORT", "8000")
    shared_env = {"PROMETHEUS_MULTIPROC_DIR": str(_fresh_folder(BASE_DIR / "var" / "prometheus"))}
    print(_welcome(f"http://127.0.0.1:{port}"), flush=True)  # noqa: T201 (the command's output)
    return supervise(
        proxy=ChildSpec("web", _web_command(port), cwd=BASE_DIR, env=shared_env),
        # The whole group hears the signal; of SIGINT the cluster takes heed and its children none.
        backend=ChildSpec("worker", _manage("qcluster"), signal.SIGINT, BASE_DIR, shared_env),
        grace_ms=GRACE_MS,
    )


def _web_command(port: str) -> list[str]:
    options = ["--bind", f"127.0.0.1:{port}", "--workers", "2", "--threads", "4"]
    return [sys.executable, "-m", "gunicorn", "config.wsgi", *options, "--log-level", "warning"]


def _manage(command: str) -> list[str]:
    return [sys.executable, "manage.py", command]


def _fresh_folder(path: Path) -> Path:
    """An empty folder: figures of processes that are gone would be counted for ever."""
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path


def _welcome(address: str) -> str:
    places = {
        "Catalogue": "/",
        "Admin": "/admin/",
        "API": "/api/v1/docs",
        "Health": "/health/ready",
        "Metrics": "/metrics",
    }
    lines = [f"  {name:<10}{address}{path}" for name, path in places.items()]
    return "\n".join(["", "Pombo is running; Ctrl-C stops it.", *lines, ""])


if __name__ == "__main__":
    sys.exit(main())
