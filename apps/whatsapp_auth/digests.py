"""Names for people and secrets that can be found again but not read back."""

import hashlib
import hmac

from django.conf import settings

SESSION_DIGEST_BYTES = 18
SESSION_REF_LENGTH = 12
_AUDIT_LABEL = b"pombo.audit.v1"
_LOGIN_LINK_LABEL = b"pombo.login-link.v1"


def audit_digest(value: str) -> str:
    """A keyed digest of a phone, account or address: 32 hex, '' for ''. Useless without the key."""
    if not value:
        return ""
    key = hmac.digest(settings.SECRET_KEY.encode(), _AUDIT_LABEL, "sha256")
    return hmac.new(key, value.encode(), hashlib.sha256).hexdigest()[:32]


def session_digest(token: str) -> str:
    """What is stored of a session token: 36 lower-case hex, which fits its column."""
    return hashlib.blake2b(token.encode(), digest_size=SESSION_DIGEST_BYTES).hexdigest()


def development_link_secret() -> str:
    """A link secret derived from the site's key; it cannot be rotated on its own."""
    return hmac.new(settings.SECRET_KEY.encode(), _LOGIN_LINK_LABEL, hashlib.sha256).hexdigest()
