"""Names of shared files and ranges of their bytes; pure."""

import re
from dataclasses import dataclass

from apps.delivery.errors import InvalidSharedFile, RangeNotSatisfiable

MAX_NAME_LENGTH = 255
_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x1f\x7f\\]")


@dataclass(frozen=True, slots=True)
class ByteRange:
    """From the first byte up to and including the last one."""

    first: int
    last: int

    @property
    def length(self) -> int:
        """How many bytes that are."""
        return self.last - self.first + 1


def checked_name(name: str) -> str:
    """A relative path such as `reports/may.pdf`. Raises InvalidSharedFile."""
    parts = name.split("/")
    is_odd = _CONTROL.search(name) or any(part in {"", ".", ".."} for part in parts)
    if is_odd or len(name) > MAX_NAME_LENGTH:
        raise InvalidSharedFile(
            f"A name is a relative path of at most {MAX_NAME_LENGTH} characters.",
            details={"field": "name"},
        )
    return name


def parsed_range(header: str, length: int) -> ByteRange | None:
    """The range that a Range header asks for; None for the whole file, as for several ranges.

    Raises RangeNotSatisfiable.
    """
    found = _RANGE.fullmatch(header.strip())
    if found is None or found.groups() == ("", ""):
        return None
    first, last = found.groups()
    if not first:  # the last so many bytes
        wanted = ByteRange(max(0, length - int(last)), length - 1)
    else:
        wanted = ByteRange(int(first), min(int(last or length), length - 1))
    if last and first and int(last) < int(first):
        return None  # no range at all, says RFC 9110
    if wanted.length < 1:
        raise RangeNotSatisfiable("The range lies outside of the file.", details={"length": length})
    return wanted
