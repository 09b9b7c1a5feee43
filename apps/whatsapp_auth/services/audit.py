"""The sign-in audit: one line for every outcome, and the limits that are counted on it."""

import logging
from datetime import datetime, timedelta

from django.conf import settings

from apps.whatsapp_auth import errors
from apps.whatsapp_auth.choices import LoginOutcome
from apps.whatsapp_auth.digests import audit_digest
from apps.whatsapp_auth.models import LoginEvent

LIMIT_WINDOW = timedelta(minutes=15)
# Outcomes that do not count as a refused attempt of an address.
WELCOME_OUTCOMES = (*LoginOutcome.values, errors.ConfirmationNeeded.code)

logger = logging.getLogger(__name__)


def record(
    outcome: str,
    *,
    phone: str = "",
    google_sub: str = "",
    address: str = "",
    actor: str = "",
    now: datetime,
) -> None:
    """Write one line. Phone, account and address are kept as keyed digests only."""
    LoginEvent.objects.create(
        occurred_at=now,
        outcome=outcome,
        phone_digest=audit_digest(phone),
        account_digest=audit_digest(google_sub),
        address_digest=audit_digest(address),
        actor=actor[:120],
    )
    logger.info("whatsapp_auth.login_event", extra={"outcome": outcome, "actor": actor})


def refuse_too_many_links(phone: str, *, now: datetime) -> None:
    """Raise TooManyLinks when the phone has had its share in the last quarter of an hour."""
    issued = LoginEvent.objects.filter(
        phone_digest=audit_digest(phone),
        outcome=LoginOutcome.LINK_ISSUED,
        occurred_at__gt=now - LIMIT_WINDOW,
    )
    if issued.count() >= settings.LOGIN_LINKS_PER_PHONE:
        raise errors.TooManyLinks


def refuse_too_many_attempts(address: str, *, now: datetime) -> None:
    """Raise TooManyAttempts when the address was refused too often in that time."""
    if not address:
        return
    refused = LoginEvent.objects.filter(
        address_digest=audit_digest(address), occurred_at__gt=now - LIMIT_WINDOW
    ).exclude(outcome__in=WELCOME_OUTCOMES)
    if refused.count() >= settings.LOGIN_ATTEMPTS_PER_ADDRESS:
        raise errors.TooManyAttempts
