"""Run web server and worker together under Pombo's own supervisor: `python -m config.run`.

The web server drains first, then the worker. Both add their metrics up through one folder. `PORT`
chooses where the pages are served (8000). Where the mongod of the development requirements is
installed and MONGODB_URI is not set, a server of our own runs beside them.
"""

import os
import shutil
import signal
import sys
from pathlib import Path

from apps.common import env
from apps.delivery import mongod
from apps.delivery.supervisor import ChildSpec, supervise

BASE_DIR = Path(__file__).resolve().parent.parent
GRACE_MS = 20_000


def main() -> int:
    """Start everything, print where to go, and wait for Ctrl-C."""
    port = os.environ.get("PORT", "8000")
    shared_env = {"PROMETHEUS_MULTIPROC_DIR": str(_fresh_folder(BASE_DIR / "var" / "prometheus"))}
    databases = []
    if _wants_mongod():
        database_port = mongod.free_port()
        shared_env["MONGODB_URI"] = mongod.address_of(database_port)
        databases.append(_mongod(database_port))
    print(_welcome(f"http://127.0.0.1:{port}"), flush=True)  # noqa: T201 (the command's output)
    return supervise(
        proxy=ChildSpec("web", _web_command(port), cwd=BASE_DIR, env=shared_env),
        # The whole group hears the signal; of SIGINT the cluster takes heed and its children none.
        backend=ChildSpec("worker", _manage("qcluster"), signal.SIGINT, BASE_DIR, shared_env),
        extra=databases,
        grace_ms=GRACE_MS,
    )


def _wants_mongod() -> bool:
    """Whether there is a mongod to run, and nobody named another one."""
    env.read_env_file(os.environ.get("ENV_FILE", str(BASE_DIR / ".env")))
    is_named = os.environ.get("MONGODB_URI") or os.environ.get("DJANGO_MONGODB_URI")
    return not is_named and mongod.binary() is not None


def _mongod(port: int) -> ChildSpec:
    command = [sys.executable, "-m", "apps.delivery.mongod", "var/mongod", str(port)]
    return ChildSpec("mongod", command, cwd=BASE_DIR)


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
