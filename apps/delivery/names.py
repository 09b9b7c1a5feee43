"""Names that Kubernetes and DNS accept, and how other text becomes one without collisions."""

import hashlib
import ipaddress
import re
from typing import Final

MAX_LABEL_LENGTH: Final = 63
MAX_HOST_LENGTH: Final = 253
_MIN_HOST_LENGTH: Final = 4
_DIGEST_LENGTH: Final = 10

_DNS_LABEL: Final = re.compile(r"[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?")
_LABEL_VALUE: Final = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_HOST_PART: Final = r"(?!-)[a-z0-9-]{1,63}(?<!-)"
_HOST: Final = re.compile(rf"{_HOST_PART}(?:\.{_HOST_PART})+")
# What an encoded name ends with. Plain text of this shape is encoded too: otherwise it could be
# chosen to equal the encoding of somebody else's text.
_ENCODED_END: Final = re.compile(rf"[-.][0-9a-f]{{{_DIGEST_LENGTH}}}\Z")

# Words that YAML 1.1 readers turn into booleans or null when somebody writes them unquoted.
YAML_WORDS: Final = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


def is_dns_label(text: str) -> bool:
    """True for an RFC 1035 label: what a Service may be called in every cluster version."""
    return _DNS_LABEL.fullmatch(text) is not None


def is_label_value(text: str) -> bool:
    """True for the value of a Kubernetes label."""
    return text == "" or _LABEL_VALUE.fullmatch(text) is not None


def is_host(text: str) -> bool:
    """True for a lower-case DNS name of at least two labels that is no IP address."""
    if not _MIN_HOST_LENGTH <= len(text) <= MAX_HOST_LENGTH or _HOST.fullmatch(text) is None:
        return False
    return not _is_address(text)


def dns_label(text: str, *, max_length: int = MAX_LABEL_LENGTH) -> str:
    """The text itself where it is a DNS label, else a readable label that only it has."""
    if is_dns_label(text) and len(text) <= max_length and not _is_risky(text):
        return text
    slug = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    slug = slug if slug[:1].isalpha() else f"x-{slug}"
    return _with_digest(slug, text, max_length=max_length)


def kubernetes_label_value(text: str) -> str:
    """The text itself where it is a label value, else a readable value that only it has."""
    if text and is_label_value(text) and not _is_risky(text):
        return text
    slug = re.sub(r"[^A-Za-z0-9_.]+", "-", text).strip("-_.") or "x"
    return _with_digest(slug, text, max_length=MAX_LABEL_LENGTH)


def _with_digest(slug: str, text: str, *, max_length: int) -> str:
    """Shorten the slug and append a digest of the whole text."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_LENGTH]
    return f"{slug[: max_length - _DIGEST_LENGTH - 1].rstrip('-_.')}-{digest}"


def _is_risky(text: str) -> bool:
    """True for text that must be encoded although its characters are fine."""
    return _ENCODED_END.search(text) is not None or text in YAML_WORDS


def _is_address(text: str) -> bool:
    """True for an IPv4 address, also in the short forms that browsers still read as one."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return text.rpartition(".")[2].isdecimal()
    return True
