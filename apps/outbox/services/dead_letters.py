"""What operators do with dead letters: send back, mend and send back, or discard. All is logged."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from apps.outbox import errors, waking
from apps.outbox.choices import LeaseStatus, RedriveAction
from apps.outbox.event_types import check_payload
from apps.outbox.models import HandlerState, OutboxEvent, RedriveLog
from apps.outbox.queue import EVENT_QUEUE
from apps.outbox.registry import registered
from apps.outbox.services import handler_states
from apps.outbox.tracing import with_trace, without_trace


@transaction.atomic
def redrive(
    ids: Sequence[int], *, actor: str, reason: str, handler: str | None = None
) -> list[int]:
    """Send dead letters back in id order with fresh attempts; tells which ones moved.

    A second call moves nothing. With `handler` only that one runs again, the others count as done.
    """
    letters = _dead(ids)
    moved = EVENT_QUEUE.redrive([letter.pk for letter in letters])
    chosen = [letter for letter in letters if letter.pk in set(moved)]
    if handler is not None:
        for letter in chosen:
            _leave_only(letter, handler)
    _log(chosen, RedriveAction.REDRIVE, actor=actor, reason=reason)
    waking.wake_on_commit()
    return moved


@transaction.atomic
def edit_and_redrive(
    event_id: int,
    payload: Mapping[str, Any],
    *,
    actor: str,
    reason: str,
    handler: str | None = None,
) -> OutboxEvent:
    """Replace a dead letter's payload and send it back; the log keeps the former payload.

    With `handler` only that one runs again, the others count as done.
    Raises DeadLetterNotFound when the event is not (or no longer) dead, InvalidPayload where a
    declared type's schema is broken.
    """
    letters = _dead([event_id])
    if not letters:
        raise errors.DeadLetterNotFound(event_id)
    (letter,) = letters
    _log(letters, RedriveAction.EDIT, actor=actor, reason=reason, keep_payload=True)
    check_payload(letter.event_type, payload)
    _former, trace = without_trace(letter.payload)
    letter.payload = with_trace(dict(payload), trace)
    letter.save(update_fields=["payload", "updated_at"])
    EVENT_QUEUE.redrive([event_id])
    if handler is not None:
        _leave_only(letter, handler)
    waking.wake_on_commit()
    letter.refresh_from_db()
    return letter


@transaction.atomic
def discard(ids: Sequence[int], *, actor: str, reason: str) -> list[int]:
    """Delete dead letters for good, with a reason; tells which ones went."""
    letters = _dead(ids)
    _log(letters, RedriveAction.DISCARD, actor=actor, reason=reason, keep_payload=True)
    HandlerState.objects.filter(event_id__in=[letter.pk for letter in letters]).delete()
    return EVENT_QUEUE.discard([letter.pk for letter in letters])


def _dead(ids: Sequence[int]) -> list[OutboxEvent]:
    dead = OutboxEvent.objects.select_for_update().filter(pk__in=ids, status=LeaseStatus.FAILED)
    return list(dead.order_by("pk"))


def _leave_only(letter: OutboxEvent, chosen: str) -> None:
    """Count every other handler of the event as done, and the chosen one as not."""
    wanting = {handler.name for handler in registered() if handler.takes(letter.event_type)}
    HandlerState.objects.filter(event_id=letter.pk).delete()
    handler_states.remember({letter.pk: wanting - {chosen}})


def _log(
    letters: Sequence[OutboxEvent],
    action: RedriveAction,
    *,
    actor: str,
    reason: str,
    keep_payload: bool = False,
) -> None:
    RedriveLog.objects.bulk_create(
        RedriveLog(
            event_id=letter.pk,
            event_type=letter.event_type,
            action=action,
            actor=actor,
            reason=reason,
            last_error=letter.last_error or "",
            payload_before=letter.payload if keep_payload else None,
        )
        for letter in letters
    )
