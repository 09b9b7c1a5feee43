"""Recalculations that an app does itself: a signed call with the fence number and a time-out."""

import ipaddress
import json
import time
import uuid
from collections.abc import Mapping
from datetime import datetime
from http import HTTPStatus
from typing import Any, Final

from bson import json_util
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from apps.delivery.errors import RecalculationFailed, RecalculationRefused
from apps.delivery.models import App, RemoteRunner
from apps.delivery.process_jobs import Run, current_run
from apps.outbox import guarded_http
from apps.outbox.signing import new_secret, signed_headers

FENCE_HEADER: Final = "pombo-fence"
_KNOWN_SECONDS: Final = 5.0
# The app will never do it: wrong input, unknown, or gone for good.
_NEVER: Final = (HTTPStatus.BAD_REQUEST, HTTPStatus.GONE, HTTPStatus.UNPROCESSABLE_ENTITY)


class _KnownModels:
    """The active models, remembered for a moment: every claim asks."""

    def __init__(self) -> None:
        self._models: frozenset[str] = frozenset()
        self._read_at = -_KNOWN_SECONDS

    def get(self) -> frozenset[str]:
        """The models, at most a few seconds old."""
        if time.monotonic() - self._read_at >= _KNOWN_SECONDS:
            rows = RemoteRunner.objects.filter(is_active=True)
            self._models = frozenset(rows.values_list("model_name", flat=True))
            self._read_at = time.monotonic()
        return self._models

    def clear(self) -> None:
        """Read them anew at the next question."""
        self._read_at = -_KNOWN_SECONDS


known_models = _KnownModels()


@transaction.atomic
def declare(
    app: App, model_name: str, url: str, *, timeout_seconds: int, actor: str
) -> RemoteRunner:
    """Let jobs of a model be run by calling an app; the secret that signs is shown once."""
    runner = RemoteRunner(
        app=app,
        model_name=model_name,
        url=url,
        secret=new_secret(),
        timeout_seconds=timeout_seconds,
        created_by=actor,
    )
    runner.full_clean()
    runner.save()
    transaction.on_commit(known_models.clear)
    return runner


def withdraw(runner: RemoteRunner) -> None:
    """Call the app no more; jobs of its model wait."""
    runner.delete()
    known_models.clear()


def active_models() -> frozenset[str]:
    """The models that apps recalculate."""
    return known_models.get()


def find(model_name: str) -> RemoteRunner | None:
    """The active runner of a model, if an app has declared one."""
    if model_name not in known_models.get():
        return None
    return RemoteRunner.objects.filter(model_name=model_name, is_active=True).first()


def call(runner: RemoteRunner, selectors: Any, access_context: Mapping[str, Any] | None) -> None:
    """Ask the app to recalculate, and wait for its answer.

    The fence number grows with every claim of the target: an app stores it with its result and
    refuses a smaller one. Raises RecalculationFailed, which is tried again, and
    RecalculationRefused, which is not.
    """
    body = _body(current_run(), selectors, access_context)
    headers = _headers(runner, body, now=timezone.now())
    allowed = [ipaddress.ip_network(text) for text in settings.PROCESS_JOB_ALLOWED_NETWORKS]
    try:
        answer = guarded_http.post(
            runner.url, body, headers, allowed=allowed, read_seconds=runner.timeout_seconds
        )
    except guarded_http.AddressForbidden as error:
        raise RecalculationRefused(str(error)) from error
    except guarded_http.Unreachable as error:
        raise RecalculationFailed(f"{runner.model_name}: {error}") from error
    if answer.status_code in _NEVER:
        raise RecalculationRefused(f"The app answered {answer.status_code}: {answer.text}")
    if not 200 <= answer.status_code < 300:  # noqa: PLR2004 (the range is the name)
        raise RecalculationFailed(f"The app answered {answer.status_code}: {answer.text}")


def _body(run: Run, selectors: Any, access_context: Mapping[str, Any] | None) -> bytes:
    fields = {
        "model": run.model_name,
        "selectors": selectors,
        "accessContext": access_context,
        "target": run.target,
        "fence": run.fence,
        "attempt": run.attempts,
    }
    return json.dumps(fields, default=json_util.default, separators=(",", ":")).encode()


def _headers(runner: RemoteRunner, body: bytes, *, now: datetime) -> dict[str, str]:
    run = current_run()
    return {
        "content-type": "application/json",
        "user-agent": "Pombo process jobs",
        FENCE_HEADER: str(run.fence),
        **signed_headers(f"job_{uuid.uuid4().hex}", body, [runner.secret], now=now),
    }
