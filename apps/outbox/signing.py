"""Signatures of webhooks by the Standard Webhooks specification. The one user of its library."""

import base64
import secrets
from collections.abc import Sequence
from datetime import datetime

from standardwebhooks.webhooks import Webhook

SECRET_PREFIX = "whsec_"  # noqa: S105 (the prefix of secrets, none itself)
SECRET_BYTES = 32


def new_secret() -> str:
    """A fresh secret as subscribers keep it."""
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def signed_headers(
    message_id: str, body: bytes, signers: Sequence[str], *, now: datetime
) -> dict[str, str]:
    """The three headers; one signature for each secret, so that either side may rotate first."""
    text = body.decode()
    signatures = [Webhook(secret).sign(message_id, now, text) for secret in signers]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(signatures),
    }
