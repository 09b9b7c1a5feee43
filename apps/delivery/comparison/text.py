"""A difference as lines that people read, with one sign in front as in a patch."""

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from apps.delivery.comparison.changes import Action, Change, ChangeKind, ObjectDiff

_SHOWN_CHARACTERS: Final = 160
_ACTION_SIGNS: Final = {
    Action.CREATE: "+",
    Action.UPDATE: "~",
    Action.DELETE: "-",
    Action.UNCHANGED: "=",
}


class DiffLine(NamedTuple):
    """`sign` is +, -, ~, = or ? (somebody else's); `text` never holds a secret value."""

    sign: str
    text: str

    def __str__(self) -> str:
        return f"{self.sign} {self.text}"


def diff_lines(diff: ObjectDiff) -> Iterator[DiffLine]:
    """The object with its action, then each field, indented."""
    place = f" ({diff.key.namespace})" if diff.key.namespace else ""
    yield DiffLine(
        _ACTION_SIGNS[diff.action], f"{diff.key.kind} {diff.key.name}{place}: {diff.action}"
    )
    for change in diff.changes:
        yield _line(change)


def _line(change: Change) -> DiffLine:
    """One field."""
    path = f"  {change.dotted_path}"
    if change.kind is ChangeKind.ADDED:
        return DiffLine("+", f"{path}: {_shown(change.desired)}")
    if change.kind is ChangeKind.CHANGED:
        return DiffLine("~", f"{path}: {_shown(change.live)} → {_shown(change.desired)}")
    sign = "-" if change.kind is ChangeKind.REMOVED else "?"
    return DiffLine(sign, f"{path}: {_shown(change.live)}")


def _shown(value: Any) -> str:
    """Compact JSON, cut where it is long."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[: _SHOWN_CHARACTERS - 1]}…"
