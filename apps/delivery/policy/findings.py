"""The shape of what the rules report."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from apps.delivery.comparison import ObjectKey


class Severity(StrEnum):
    """An error stops a deployment; a warning is shown with the plan."""

    ERROR = "error"
    WARNING = "warning"


class Problem(NamedTuple):
    """What one rule sees at one field of one object."""

    rule: str
    path: str
    message: str
    fix: str
    severity: Severity = Severity.ERROR


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem with the object that has it. `rule` is stable, `path` is empty for the whole."""

    key: ObjectKey
    rule: str
    path: str
    message: str
    fix: str
    severity: Severity

    def __str__(self) -> str:
        place = f"{self.key.kind}/{self.key.name}"
        return f"{self.severity}: {place} {self.path}: {self.message} {self.fix} [{self.rule}]"
