"""Cursors of the worker cycles: each is a row, and whoever holds its lock is alone with it."""

from django.db import connection, transaction

from apps.stickers.models import CycleCursor


def lock_cursor(name: str) -> CycleCursor:
    """The cursor of that name, locked until the caller's transaction ends."""
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("A cursor is locked within a transaction.")
    if not CycleCursor.objects.filter(pk=name).exists():
        _create(name)
    return CycleCursor.objects.select_for_update().get(pk=name)


def _create(name: str) -> None:
    """Write the row for the first time.

    Two callers at once take turns, since both write: ignoring a conflict would take a shared lock,
    and two of those deadlock over the exclusive one.
    """
    has_targets = connection.features.supports_update_conflicts_with_target
    CycleCursor.objects.bulk_create(
        [CycleCursor(name=name)],
        update_conflicts=True,
        update_fields=["position"],
        unique_fields=["name"] if has_targets else None,
    )
