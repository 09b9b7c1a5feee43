"""Who did something, without keeping who it was; and who is a program that says so. Pure."""

import hashlib
import hmac
import re

KEY_LENGTH = 32
# Crawlers, link previews and scripts name themselves so; what hides is held by the limits.
_ROBOTS = re.compile(
    r"[a-z]bot/|\bbot\b|crawl|spider|slurp|preview|externalhit|facebot|whatsapp/|telegram|discord"
    r"|python-requests|python-urllib|aiohttp|httpx|curl/|wget/|go-http-client|okhttp"
    r"|lighthouse|monitor|uptime",
    re.IGNORECASE,
)


def actor_key(identity: str, *, secret: str) -> str:
    """A stable name for a visitor that cannot be turned back into their address or phone."""
    return hmac.new(secret.encode(), identity.encode(), hashlib.sha256).hexdigest()[:KEY_LENGTH]


def is_robot(user_agent: str) -> bool:
    """Whether a client says that it is a program; one that says nothing is not taken for one."""
    return _ROBOTS.search(user_agent) is not None
