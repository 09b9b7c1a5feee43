"""Addresses of this site for links sent elsewhere: a safe path, and the origin of a base URL.

The rules are those of the URL standard that browsers and Node follow, so that a link built here and
one built by a bot are the same text.
"""

import re
from urllib.parse import quote

import idna

from apps.common.parsing import js_trim

DEFAULT_PATH = "/login/"
MAX_PORT = 65535

_ORIGIN = re.compile(r"(https?|ftp|wss?):[/\\]*([^/\\?#]*)", re.IGNORECASE)
_AUTHORITY = re.compile(
    r"(?P<host>\[[0-9a-f:.]+\]|[^\s\[\]:%^|<>@]+)(?::(?P<port>[0-9]{0,5}))?", re.IGNORECASE
)
_DEFAULT_PORTS = {"http": 80, "https": 443, "ftp": 21, "ws": 80, "wss": 443}
# Browsers drop these anywhere in an address, so a check made before that could be walked around.
_DROPPED_BY_BROWSERS = str.maketrans("", "", "\t\r\n")


def normalize_path(path: str) -> str:
    """One slash at either end: browsers read a second or a back slash as another host."""
    path = js_trim(path.translate(_DROPPED_BY_BROWSERS)).lstrip("/\\")
    if not path:
        return DEFAULT_PATH
    return f"/{path}" if path.endswith("/") else f"/{path}/"


def encode_path(path: str) -> str:
    """The path as a browser sends it: percent-encoded, dot segments resolved."""
    segments: list[str] = []
    for segment in path.removeprefix("/").replace("\\", "/").split("/"):
        if segment == "..":
            segments = segments[:-1]
        elif segment != ".":
            segments.append(segment)
    return "/" + quote("/".join(segments).lstrip("/"), safe="/%:@!$&'()*+,;=~-._|[]")


def origin_of(base_url: str) -> str | None:
    """Scheme, host and port of a URL, or None when it has no host (`mailto:`, `host:8080`)."""
    match = _ORIGIN.match(js_trim(base_url.translate(_DROPPED_BY_BROWSERS)))
    if match is None:
        return None
    scheme, authority = match[1].lower(), match[2].rpartition("@")[2]
    host, port = _host_and_port(authority)
    if not host:
        return None
    return f"{scheme}://{host}" + (f":{port}" if port not in {None, _DEFAULT_PORTS[scheme]} else "")


def _host_and_port(authority: str) -> tuple[str, int | None]:
    """Host in its ASCII form and port if given; host '' when either is not valid."""
    match = _AUTHORITY.fullmatch(authority)
    port = int(match["port"]) if match and match["port"] else None
    if match is None or (port or 0) > MAX_PORT:
        return "", None
    return _ascii_host(match["host"].lower()), port


def _ascii_host(host: str) -> str:
    """The host as DNS knows it, or '' when it cannot be one."""
    if host.isascii():
        return host
    try:
        return idna.encode(host, uts46=True).decode()
    except idna.IDNAError:
        return ""
