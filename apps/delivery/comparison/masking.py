"""Keeping secret values out of everything that is shown."""

import copy
import re
from typing import Any, Final

from apps.delivery.comparison.changes import MASK, Path

_SECRET_DATA: Final = ("data", "stringData")
_SECRET_NAME: Final = re.compile(
    r"(?i)(?:^|[_-])(?:secret|token|password|passwd|pwd|key|credentials?|uri|dsn)(?:$|[_-])"
)


def is_secret(kind: str, path: Path) -> bool:
    """True for the values of a Secret and for variables whose name says that they hold one."""
    if kind == "Secret":
        return path[0] in _SECRET_DATA
    return len(path) > 2 and path[-3] == "env" and path[-1] == "value" and is_telling_name(path[-2])  # noqa: PLR2004


def masked(manifest: dict[str, Any]) -> dict[str, Any]:
    """A copy that may be shown: names of secret values stay, the values do not."""
    shown = copy.deepcopy(manifest)
    if shown.get("kind") == "Secret":
        for field in _SECRET_DATA:
            if shown.get(field):
                shown[field] = dict.fromkeys(shown[field], MASK)
        # kubectl keeps a whole copy of the object, values included, in this annotation.
        annotations = (shown.get("metadata") or {}).get("annotations") or {}
        annotations.pop("kubectl.kubernetes.io/last-applied-configuration", None)
    _mask_variables(shown)
    return shown


def _mask_variables(node: Any) -> None:
    """Mask telling variables in every `env` list beneath."""
    if isinstance(node, list):
        for item in node:
            _mask_variables(item)
    elif isinstance(node, dict):
        for variable in node.get("env") or ():
            if (
                isinstance(variable, dict)
                and "value" in variable
                and is_telling_name(variable.get("name"))
            ):
                variable["value"] = MASK
        for child in node.values():
            _mask_variables(child)


def is_telling_name(name: Any) -> bool:
    """True for a name such as API_TOKEN or [MONGODB_URI]."""
    return _SECRET_NAME.search(str(name).strip("[]")) is not None
