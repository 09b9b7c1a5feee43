"""What operators decide about process jobs, and the log of it."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from django.db import transaction
from pymongo.database import Database

from apps.delivery import mongodb
from apps.delivery.choices import ProcessJobActionKind
from apps.delivery.models import ProcessJobAction
from apps.delivery.process_jobs import operations
from apps.delivery.process_jobs.inspection import JobRow

Operation = Callable[[Database[dict[str, Any]], Iterable[str]], list[JobRow]]

OPERATIONS: Final[Mapping[ProcessJobActionKind, Operation]] = {
    ProcessJobActionKind.RETRY: operations.retry,
    ProcessJobActionKind.RUN_NOW: operations.run_now,
    ProcessJobActionKind.CANCEL: operations.cancel,
    ProcessJobActionKind.DISCARD: operations.discard,
}


@transaction.atomic
def act(
    kind: ProcessJobActionKind, job_ids: Iterable[str], *, actor: str, reason: str
) -> list[JobRow]:
    """Do it to the jobs that are in a state for it, and log those; a second time does nothing.

    Raises MongodbNotConfigured, MongodbUnreachable, ProcessJobNotFound for what is no id.
    """
    with mongodb.answering() as database:
        changed = OPERATIONS[kind](database, job_ids)
    ProcessJobAction.objects.bulk_create(
        ProcessJobAction(
            job_id=job.id,
            model_name=job.model[:120],
            selectors=job.selectors,
            action=kind,
            actor=actor,
            reason=reason[:255],
        )
        for job in changed
    )
    return changed
