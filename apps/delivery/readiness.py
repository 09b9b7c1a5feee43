"""Whether process jobs flow, and whether they would survive a restart."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from pymongo.errors import PyMongoError

from apps.common.health import Unready
from apps.delivery import mongodb
from apps.delivery.process_jobs import inspection
from apps.delivery.services.process_jobs import claimable_models

IN_MEMORY: dict[str, Any] = {
    "queue": "memory",
    "survives_restart": False,
    "hint": "Process jobs will not survive a restart: set MONGODB_URI.",
}


def check_process_jobs() -> Mapping[str, Any]:
    """Unready when MongoDB does not answer, or the oldest due job has waited for too long."""
    if not mongodb.is_configured():
        return IN_MEMORY
    try:
        seconds = inspection.oldest_due_seconds(mongodb.shared_database(), claimable_models())
    except PyMongoError as error:
        raise Unready("MongoDB does not answer; see MONGODB_URI.") from error
    if seconds > settings.PROCESS_JOBS_OVERDUE_SECONDS:
        raise Unready(
            f"The oldest due process job has waited {seconds:.0f} s; is a worker running?"
        )
    return {"queue": "mongodb", "survives_restart": True, "oldest_due_seconds": seconds}
