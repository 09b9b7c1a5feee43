"""What a cluster can answer instead of an object, one class per case.

DomainError
├── InvalidInput
│   └── ObjectRefused        the object itself is wrong; sending it again changes nothing
├── NotFound
│   └── ObjectMissing
├── Forbidden
│   ├── AccessDenied         Pombo's account lacks a right, or its token is not accepted
│   └── AdmissionDenied      quota, Pod Security or a namespace that goes away
├── Conflict
│   ├── FieldConflict        another manager owns fields with other values
│   ├── ObjectChanged        the object is no longer the version that was read
│   └── ObjectExists
└── Unavailable
    └── ClusterUnreachable   no answer, or none that helps, after all attempts
"""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.common import errors


@dataclass(frozen=True, slots=True)
class OwnedField:
    """A field that another manager owns, as the server names both."""

    manager: str
    field: str


class ObjectRefused(errors.InvalidInput):
    """The object breaks a rule of the API; `details["causes"]` names the fields."""

    code = "object_refused"


class ObjectMissing(errors.NotFound):
    """The object, or its namespace, is not there."""

    code = "object_missing"


class AccessDenied(errors.Forbidden):
    """The cluster does not accept the token, or does not let this account do it."""

    code = "cluster_access_denied"


class AdmissionDenied(errors.Forbidden):
    """The object is well formed, but a quota or policy of the cluster keeps it out."""

    code = "admission_denied"


class FieldConflict(errors.Conflict):
    """Other managers own fields that the object sets to another value; `owners` names them."""

    code = "field_conflict"

    def __init__(self, message: str, owners: Sequence[OwnedField]) -> None:
        shown = [{"manager": owner.manager, "field": owner.field} for owner in owners]
        super().__init__(message, details={"conflicts": shown})
        self.owners = tuple(owners)


class ObjectChanged(errors.Conflict):
    """Somebody else wrote the object after it was read."""

    code = "object_changed"


class ObjectExists(errors.Conflict):
    """An object with this name is already there."""

    code = "object_exists"


class ClusterUnreachable(errors.Unavailable):
    """The cluster does not answer, or answers that it cannot, after all attempts."""

    code = "cluster_unreachable"


class VersionExpired(errors.Conflict):
    """The version to go on from is no longer kept (410): list again and start from there."""

    code = "version_expired"
