"""django-q2, the runner of background work.

Retries, leases and dead letters are kept in our own tables, so the runner is told never to deliver
a task twice: one attempt, failures acknowledged, no catching up, no prefetching.
"""

from typing import Any

from apps.common import env
from config.settings.base import MONGODB_URI, REDIS_URL

env.section("Workers")
WORKER_PROCESSES = env.env_int(
    "WORKER_PROCESSES", 2, low=2, high=32, help="Processes per cluster; one always stays free."
)
WORKER_TASK_TIMEOUT_SECONDS = env.env_int(
    "WORKER_TASK_TIMEOUT_SECONDS", 300, low=60, high=3600, help="After this a task is killed."
)
_SHARED = {
    "workers": WORKER_PROCESSES,
    "timeout": WORKER_TASK_TIMEOUT_SECONDS,
    "retry": 2 * (WORKER_TASK_TIMEOUT_SECONDS + 3),
    "max_attempts": 1,
    "ack_failures": True,
    "catch_up": False,
    "bulk": 1,
    "queue_limit": WORKER_PROCESSES,
    "save_limit": -1,
}
DEDICATED_CLUSTERS = ("classification", "curation", "rebuild")
# With MongoDB one process more stays on process jobs, so that the others keep their room.
_CLUSTER_PROCESSES = WORKER_PROCESSES + bool(MONGODB_URI)
Q_CLUSTER: dict[str, Any] = {
    "name": "pombo",
    **_SHARED,
    "workers": _CLUSTER_PROCESSES,
    "queue_limit": _CLUSTER_PROCESSES,
    "label": "django-q2",
    "ALT_CLUSTERS": {name: {**_SHARED} for name in DEDICATED_CLUSTERS},
}
if REDIS_URL:
    Q_CLUSTER["redis"] = REDIS_URL
else:
    Q_CLUSTER["orm"] = "default"
    Q_CLUSTER["poll"] = 0.2
# MariaDB keeps django-q2's nullable unique constraint like any other; the warning is about MySQL 5.
SILENCED_SYSTEM_CHECKS = ["models.W037"]
