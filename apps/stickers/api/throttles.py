"""Limits of the public endpoints, counted by address in fixed windows.

DRF's own throttle keeps the time of every request in one list and rewrites it at each; a counter
costs the same however high the rate is.
"""

import time
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle, UserRateThrottle

from apps.whatsapp_auth.people import client_address


class AddressThrottle(SimpleRateThrottle):
    """So many requests of one address in a window; tokens have a rate of their own."""

    setting = "API_RATE_ANONYMOUS"

    def __init__(self) -> None:
        self.rate = getattr(settings, self.setting)
        number, seconds = self.parse_rate(self.rate)
        self.most, self.seconds = int(number or 0), int(seconds or 60)

    def get_cache_key(self, request: Request | HttpRequest, view: Any) -> str:
        """One counter for each address, limit and window."""
        window = int(time.time() // self.seconds)
        address = client_address(getattr(request, "_request", request))
        return f"throttle:{self.setting}:{address}:{window}"

    def allow_request(self, request: Request | HttpRequest, view: Any) -> bool:
        """Count the request and say whether it is within the limit."""
        if getattr(request, "auth", None) is not None:
            return True
        key = self.get_cache_key(request, view)
        if self.cache.add(key, 1, self.seconds):
            return bool(self.most >= 1)
        try:
            return bool(self.cache.incr(key) <= self.most)
        except ValueError:  # the window ended in between
            return True

    def wait(self) -> float:
        """Seconds until the next window."""
        return float(self.seconds - time.time() % self.seconds)


class EngagementThrottle(AddressThrottle):
    """Opens, likes and dislikes."""

    setting = "ENGAGEMENT_RATE"


class ReportThrottle(AddressThrottle):
    """Reports of packs."""

    setting = "REPORT_RATE"


class CallerThrottle(UserRateThrottle):
    """The rate of tokens and signed-in people; visitors are counted by their address."""

    def get_cache_key(self, request: Request, view: Any) -> str | None:
        """No counter for visitors."""
        if not (request.user and request.user.is_authenticated):
            return None
        key: str | None = super().get_cache_key(request, view)
        return key
