"""The adapter to Central: signed calls with a time-out. Nothing else calls it.

Calls carry the headers of Standard Webhooks (webhook-id, webhook-timestamp, webhook-signature),
so that Central can tell them from anybody else's and drop repeats by their id.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import requests
from django.conf import settings
from standardwebhooks import Webhook

from apps.delivery.errors import CentralNotConfigured, CentralRefused, CentralUnreachable

_TIMEOUT_SECONDS = (5.0, 15.0)
_MAX_ANSWER_BYTES = 1_000_000
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})


def is_configured() -> bool:
    """Whether there is a Central to talk to."""
    return bool(settings.CENTRAL_URL and settings.CENTRAL_SIGNING_SECRET)


def call(
    method: str,
    path: str,
    body: Mapping[str, Any] | None = None,
    *,
    call_id: str,
    now: datetime,
) -> dict[str, Any]:
    """One signed call; the decoded answer.

    `call_id` is the same for every repeat of a call. Raises CentralNotConfigured,
    CentralUnreachable when it may work later, CentralRefused when it will not.
    """
    if not is_configured():
        raise CentralNotConfigured("Set CENTRAL_URL and CENTRAL_SIGNING_SECRET.")
    text = "" if body is None else json.dumps(body)
    headers = _signed(call_id, text, now) | {"Content-Type": "application/json"}
    try:
        answer = requests.request(
            method,
            f"{settings.CENTRAL_URL.rstrip('/')}{path}",
            data=text or None,
            headers=headers,
            timeout=_TIMEOUT_SECONDS,
            allow_redirects=False,
        )
    except requests.RequestException as error:
        raise CentralUnreachable(f"Central does not answer ({type(error).__name__}).") from error
    return _decoded(answer)


def _signed(call_id: str, text: str, now: datetime) -> dict[str, str]:
    signature = Webhook(settings.CENTRAL_SIGNING_SECRET).sign(call_id, now, text)
    return {
        "webhook-id": call_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": signature,
    }


def _decoded(answer: requests.Response) -> dict[str, Any]:
    if answer.status_code in _PASSING:
        raise CentralUnreachable(f"Central answers {answer.status_code}.")
    if not answer.ok or answer.is_redirect:
        raise CentralRefused(f"Central answers {answer.status_code}.")
    if not answer.content:
        return {}
    if len(answer.content) > _MAX_ANSWER_BYTES:
        raise CentralRefused("Central's answer is too long.")
    try:
        found = answer.json()
    except ValueError as error:
        raise CentralRefused("Central's answer is no JSON.") from error
    if not isinstance(found, dict):
        raise CentralRefused("Central's answer is no object.")
    return found
