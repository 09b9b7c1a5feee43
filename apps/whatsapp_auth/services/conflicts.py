"""Trying a transaction again when another one stood in its way."""

from collections.abc import Callable
from typing import TypeVar

from django.db import IntegrityError, OperationalError, connection

Result = TypeVar("Result")
MAX_ATTEMPTS = 5
# Deadlock and lock wait timeout of MySQL, serialisation failure and deadlock of PostgreSQL.
CONFLICT_CODES = frozenset({1213, 1205, "40001", "40P01"})


def retry_on_conflict(work: Callable[[], Result]) -> Result:
    """Run a whole transaction, again when it lost against another; at most five times.

    Two inserts of one key are such a case: the second try finds the first one's row. Inside an
    outer transaction there is no second try, since that one is lost as a whole.
    """
    attempts = 1 if connection.in_atomic_block else MAX_ATTEMPTS
    for _attempt in range(attempts - 1):
        try:
            return work()
        except IntegrityError:
            continue
        except OperationalError as error:
            if not _is_conflict(error):
                raise
    return work()


def _is_conflict(error: OperationalError) -> bool:
    codes = {getattr(error.__cause__, "sqlstate", None), *error.args[:1]}
    return bool(codes & CONFLICT_CODES)
