"""Reservations: units held before they are used, so that no burst crosses a hard limit.

Holding is one conditional UPDATE of the counter; the database decides who still fits. A reservation
that is used becomes the usage event of the same id, so an app that lost it can report the event
itself and is still counted once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.db import IntegrityError, transaction
from django.db.models import F, Sum

from apps.common.dialects import retry_deadlocks
from apps.delivery import errors
from apps.delivery.choices import ReservationStatus
from apps.delivery.models import UsageEvent, UsageMetric, UsageReservation, UsageTotal
from apps.delivery.services.usage_alerts import Counted, raise_alerts
from apps.delivery.services.usage_counters import (
    ensure_totals,
    find_metric,
    lock_totals,
    terms_of,
)
from apps.delivery.usage.events import UsageReport, broken_rule
from apps.delivery.usage.periods import local_day, period_of

MAX_HOLD_SECONDS = 86_400
_EXPIRED_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class Ask:
    """Units that an app wants to hold."""

    app_code: str
    metric_code: str
    reservation_id: str
    quantity: int
    hold_seconds: int
    subject: str = ""

    @property
    def report(self) -> UsageReport:
        """The event that the reservation becomes."""
        return self.report_of(self.quantity)

    def report_of(self, quantity: int) -> UsageReport:
        """The event when so much was used in the end."""
        return UsageReport(
            self.app_code, self.metric_code, self.reservation_id, quantity, subject=self.subject
        )


def reserve(ask: Ask, *, now: datetime) -> UsageReservation:
    """Hold units of the present period, or raise; the same ask again gives the same reservation.

    Raises UsageLimitReached, ReservationConflict, UsageEventRefused, UsageMetricNotFound.
    """
    if refusal := broken_rule(ask.report):
        raise errors.UsageEventRefused(f"Refused: {refusal}.", details={"reason": str(refusal)})
    metric = find_metric(ask.app_code, ask.metric_code)
    period = period_of(now, ZoneInfo(metric.app.time_zone), metric.app.billing_day)
    key = (metric.pk, period.first_day)
    total_id = ensure_totals([key])[key]

    def hold() -> UsageReservation | None:
        return _found(metric, ask) or _hold(metric, total_id, ask, now)

    held = _once_more_on_collision(hold)
    if held is None and expire_reservations(now=now, total_id=total_id):
        held = _once_more_on_collision(hold)
    if held is None:
        raise _limit_reached(metric, total_id, ask)
    return held


def commit(
    app_code: str, metric_code: str, reservation_id: str, *, now: datetime, used: int | None = None
) -> UsageReservation:
    """Turn a held reservation into usage, of all it holds or less; a second commit does nothing.

    Raises ReservationNotFound, ReservationEnded, ReservationConflict, UsageEventConflict.
    """
    metric = find_metric(app_code, metric_code)
    total_id = _total_of(metric, reservation_id)
    return retry_deadlocks(lambda: _commit(metric, total_id, reservation_id, used, now))


def release(app_code: str, metric_code: str, reservation_id: str) -> UsageReservation:
    """Give held units back; a second release does nothing.

    Raises ReservationNotFound, ReservationEnded when it was used.
    """
    metric = find_metric(app_code, metric_code)
    total_id = _total_of(metric, reservation_id)
    return retry_deadlocks(lambda: _release(metric, total_id, reservation_id))


def expire_reservations(*, now: datetime, total_id: int | None = None) -> int:
    """Give back what was held too long, of one counter or of all; tells how many."""
    due = UsageReservation.objects.filter(status=ReservationStatus.HELD, expires_at__lte=now)
    if total_id is not None:
        due = due.filter(total_id=total_id)
    ids = list(due.order_by("expires_at").values_list("total_id", flat=True)[:_EXPIRED_AT_ONCE])
    return sum(
        retry_deadlocks(lambda pk=pk: _expire(pk, now))  # type: ignore[misc]
        for pk in sorted(set(ids))
    )


def _once_more_on_collision(
    hold: Callable[[], UsageReservation | None],
) -> UsageReservation | None:
    """Two asks of one id at once: the loser's row collides, and its second look finds the other."""
    try:
        return retry_deadlocks(hold)
    except IntegrityError:
        return retry_deadlocks(hold)


def _found(metric: UsageMetric, ask: Ask) -> UsageReservation | None:
    rows = UsageReservation.objects.filter(metric=metric, reservation_id=ask.reservation_id)
    found = rows.first()
    if found is not None and (found.quantity, found.subject) != (ask.quantity, ask.subject):
        raise errors.ReservationConflict(
            "This id holds another amount.", details={"quantity": found.quantity}
        )
    if found is not None and found.status in {
        ReservationStatus.EXPIRED,
        ReservationStatus.RELEASED,
    }:
        raise _ended(found)
    return found


@transaction.atomic
def _hold(metric: UsageMetric, total_id: int, ask: Ask, now: datetime) -> UsageReservation | None:
    """The counter first: its row lock makes asks of one counter take turns."""
    terms = terms_of([metric]).get(metric.pk)
    ceiling = terms.ceiling if terms else None
    counter = UsageTotal.objects.annotate(taken=F("used") + F("reserved")).filter(pk=total_id)
    if ceiling is not None and ask.quantity > 0:
        counter = counter.filter(taken__lte=ceiling - ask.quantity)
    if not counter.update(reserved=F("reserved") + ask.quantity):
        return None
    return UsageReservation.objects.create(
        total_id=total_id,
        metric=metric,
        reservation_id=ask.reservation_id,
        quantity=ask.quantity,
        subject=ask.subject,
        expires_at=now + timedelta(seconds=ask.hold_seconds),
        created_at=now,
    )


def _total_of(metric: UsageMetric, reservation_id: str) -> int:
    rows = UsageReservation.objects.filter(metric=metric, reservation_id=reservation_id)
    total_id = rows.values_list("total_id", flat=True).first()
    if total_id is None:
        raise errors.ReservationNotFound("There is no such reservation.")
    return total_id


def _locked(
    metric: UsageMetric, total_id: int, reservation_id: str
) -> tuple[UsageTotal, UsageReservation]:
    """The counter, then the reservation: the order of all writers."""
    total = next(iter(lock_totals([total_id]).values()))
    row = UsageReservation.objects.select_for_update().get(
        metric=metric, reservation_id=reservation_id
    )
    return total, row


@transaction.atomic
def _commit(
    metric: UsageMetric, total_id: int, reservation_id: str, used: int | None, now: datetime
) -> UsageReservation:
    total, row = _locked(metric, total_id, reservation_id)
    units = row.quantity if used is None else used
    if not 0 <= units <= row.quantity:
        raise errors.ReservationConflict(
            "More was used than the reservation holds.", details={"quantity": row.quantity}
        )
    report = UsageReport(metric.app.code, metric.code, reservation_id, units, subject=row.subject)
    known = UsageEvent.objects.filter(metric=metric, event_id=reservation_id).first()
    if known is not None and known.digest != report.digest:
        raise errors.UsageEventConflict("This id was used for something else.")
    if row.status == ReservationStatus.COMMITTED:
        return row
    if row.status != ReservationStatus.HELD:
        raise _ended(row)
    counted = 0 if known else units
    if known is None:
        _write_event(metric, total, row, report, now)
    UsageTotal.objects.filter(pk=total.pk).update(
        used=F("used") + counted,
        reserved=F("reserved") - row.quantity,
        event_count=F("event_count") + (0 if known else 1),
    )
    terms = terms_of([metric]).get(metric.pk)
    raise_alerts([Counted(metric, total.period, total.used + counted, terms)], now=now)
    return _end(row, ReservationStatus.COMMITTED)


def _write_event(
    metric: UsageMetric,
    total: UsageTotal,
    row: UsageReservation,
    report: UsageReport,
    now: datetime,
) -> None:
    """The usage belongs to the period and day in which it was reserved."""
    UsageEvent.objects.create(
        metric=metric,
        event_id=row.reservation_id,
        digest=report.digest,
        quantity=report.quantity,
        subject=row.subject,
        period=total.period,
        day=local_day(row.created_at, ZoneInfo(metric.app.time_zone)),
        occurred_at=row.created_at,
        received_at=now,
    )


@transaction.atomic
def _release(metric: UsageMetric, total_id: int, reservation_id: str) -> UsageReservation:
    total, row = _locked(metric, total_id, reservation_id)
    if row.status == ReservationStatus.COMMITTED:
        raise _ended(row)
    if row.status == ReservationStatus.HELD:
        _lower_reserved(total.pk, row.quantity)
        _end(row, ReservationStatus.RELEASED)
    return row


@transaction.atomic
def _expire(total_id: int, now: datetime) -> int:
    lock_totals([total_id])
    due = UsageReservation.objects.filter(
        total_id=total_id, status=ReservationStatus.HELD, expires_at__lte=now
    )
    units = due.aggregate(units=Sum("quantity"))["units"] or 0
    count = due.update(status=ReservationStatus.EXPIRED)
    _lower_reserved(total_id, int(units))
    return count


def _lower_reserved(total_id: int, units: int) -> None:
    UsageTotal.objects.filter(pk=total_id).update(reserved=F("reserved") - units)


def _end(row: UsageReservation, status: ReservationStatus) -> UsageReservation:
    row.status = status
    row.save(update_fields=["status"])
    return row


def _ended(row: UsageReservation) -> errors.ReservationEnded:
    return errors.ReservationEnded(
        f"The reservation is {row.status}.", details={"status": str(row.status)}
    )


def _limit_reached(metric: UsageMetric, total_id: int, ask: Ask) -> errors.UsageLimitReached:
    total = UsageTotal.objects.get(pk=total_id)
    details = {
        "app": ask.app_code,
        "metric": ask.metric_code,
        "quantity": ask.quantity,
        "used": total.used,
        "reserved": total.reserved,
    }
    return errors.UsageLimitReached(f"{metric.code}: the plan has no room.", details=details)
