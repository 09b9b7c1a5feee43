"""The last check of a rollout: the host answers as a visitor would see it."""

import http.client
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings

from apps.delivery.services.leases import Hold

_TIMEOUT_SECONDS = 5.0
_PAUSE_SECONDS = 0.5
_USER_AGENT = "pombo-delivery/1"


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why the host does not pass yet; final when the time is over."""

    message: str
    is_final: bool


def deadline(hold: Hold) -> datetime:
    """Until when the host has to answer."""
    return hold.clock() + timedelta(seconds=settings.DELIVERY_VERIFY_SECONDS)


def wait_http(hold: Hold, *, seconds: float) -> Trouble | None:
    """Ask the host until it answers 2xx; None then. Raises DeploymentLeaseLost."""
    template = settings.DELIVERY_HEALTH_URL
    if not template:
        hold.note("verification left out", "DELIVERY_HEALTH_URL is empty.")
        return None
    url = template.format(hostname=hold.deployment.environment.hostname)
    until = time.monotonic() + seconds
    while True:
        hold.keep()
        problem = ask(url)
        if problem is None:
            return None
        end = hold.deployment.deadline_at
        if end is not None and hold.clock() >= end:
            return Trouble(f"{url}: {problem}", is_final=True)
        if time.monotonic() >= until:
            return Trouble(f"{url}: {problem}", is_final=False)
        time.sleep(_PAUSE_SECONDS)


def ask(url: str) -> str | None:
    """One request; None for 2xx, otherwise what went wrong."""
    # The address is built from a setting and a checked host name, never from a caller's text.
    request = urllib.request.Request(url, headers={"User-Agent": _USER_AGENT})  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS):  # noqa: S310
            return None
    except urllib.error.HTTPError as refusal:
        with refusal:
            return f"answers {refusal.code}"
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        return f"does not answer ({reason})"
