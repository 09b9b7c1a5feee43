"""Whether this process lives, and whether the platform can do its work now.

Apps add their own readiness checks with `register`: a function that returns a few figures to show,
or raises `Unready` with a reason for the operator.
"""

import logging
from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.db import connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

logger = logging.getLogger(__name__)

Check = Callable[[], Mapping[str, Any]]


class Unready(Exception):
    """A part does not work; the message tells the operator what and since when."""


_checks: dict[str, Check] = {}


def register(name: str, check: Check) -> None:
    """Add a readiness check; a second one of the same name replaces the first."""
    _checks[name] = check


@never_cache
@require_safe
def live(request: HttpRequest) -> JsonResponse:
    """200 while the process answers at all; nothing else is asked."""
    return JsonResponse({"status": "live"})


@never_cache
@require_safe
def ready(request: HttpRequest) -> JsonResponse:
    """200 when every check passes, else 503; each check shows its figures or its reason."""
    results = {name: _run(name, check) for name, check in sorted(_checks.items())}
    is_ready = all(result["ok"] for result in results.values())
    body = {"status": "ready" if is_ready else "unready", "checks": results}
    return JsonResponse(body, status=200 if is_ready else 503)


def _run(name: str, check: Check) -> dict[str, Any]:
    try:
        return {"ok": True, **check()}
    except Unready as reason:
        return {"ok": False, "reason": str(reason)}
    except Exception as error:
        logger.warning("health.check_failed", extra={"check": name}, exc_info=error)
        return {"ok": False, "reason": type(error).__name__}


def check_database() -> Mapping[str, Any]:
    """The default database answers a query."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return {"vendor": connection.display_name}


def check_cache() -> Mapping[str, Any]:
    """The shared cache takes and gives a value; only asked when one is configured."""
    if not settings.REDIS_URL:
        return {"backend": "local"}
    cache.set("health", "1", timeout=5)
    if cache.get("health") != "1":
        raise Unready("Redis does not give back what was stored.")
    return {"backend": "redis"}


register("database", check_database)
register("cache", check_cache)
