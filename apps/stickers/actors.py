"""Who did something, without keeping who it was. Pure."""

import hashlib
import hmac

KEY_LENGTH = 32


def actor_key(identity: str, *, secret: str) -> str:
    """A stable name for a visitor that cannot be turned back into their address or phone."""
    return hmac.new(secret.encode(), identity.encode(), hashlib.sha256).hexdigest()[:KEY_LENGTH]
