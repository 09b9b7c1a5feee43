"""Desired against live objects by meaning: what an apply would change, and what others have set.

Pure functions on plain dicts; plan, fleet and drift use them. Equal are `2000m` and `2`, lists in
another order where Kubernetes sees none, and what the server adds by itself. Values of secrets
never leave this package.
"""

from apps.delivery.comparison.changes import (
    MASK,
    Action,
    Change,
    ChangeKind,
    ObjectDiff,
    ObjectKey,
    object_key,
)
from apps.delivery.comparison.compare import compare, compare_all
from apps.delivery.comparison.masking import masked
from apps.delivery.comparison.text import diff_lines

__all__ = [
    "MASK",
    "Action",
    "Change",
    "ChangeKind",
    "ObjectDiff",
    "ObjectKey",
    "compare",
    "compare_all",
    "diff_lines",
    "masked",
    "object_key",
]
