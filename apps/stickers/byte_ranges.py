"""The `Range` header of HTTP (RFC 9110, section 14), for one range of bytes. Pure."""

import re

_RANGE = re.compile(r"bytes=(\d*)-(\d*)", re.ASCII)


def parse_range(header: str, length: int) -> slice | None:
    """The wanted part of so many bytes; None when there is no range that can be served.

    Several ranges, other units and unsatisfiable ranges are answered with the whole, as the RFC
    allows.
    """
    match = _RANGE.fullmatch(header.strip())
    if not match or not (match[1] or match[2]):
        return None
    if not match[1]:
        start, stop = max(0, length - int(match[2])), length
    else:
        start = int(match[1])
        stop = min(length, int(match[2]) + 1) if match[2] else length
    return slice(start, stop) if start < stop else None
