"""Trying a transaction again when another one stood in its way."""

from collections.abc import Callable
from typing import TypeVar

from django.db import IntegrityError, OperationalError, connection

from apps.common.dialects import RETRYABLE_MYSQL_ERRORS, retry_deadlocks

Result = TypeVar("Result")
MAX_ATTEMPTS = 5


def retry_on_conflict(work: Callable[[], Result]) -> Result:
    """Run a whole transaction, again when it lost against another; five rounds at most.

    Beside deadlocks that is the insert of a key which another transaction made meanwhile: the next
    try finds its row. Many that want one phone at once need more rounds than a usual deadlock.
    Inside an outer transaction there is one only, since that is lost as a whole.
    """
    attempts = 1 if connection.in_atomic_block else MAX_ATTEMPTS
    for _attempt in range(attempts - 1):
        try:
            return retry_deadlocks(work)
        except IntegrityError:
            continue
        except OperationalError as error:
            if error.args[0] not in RETRYABLE_MYSQL_ERRORS:
                raise
    return retry_deadlocks(work)
