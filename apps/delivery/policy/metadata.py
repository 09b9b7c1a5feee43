"""Names, labels and annotations, as the API server accepts them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from apps.delivery.manifests.metadata import POD_SECURITY_LABEL
from apps.delivery.names import MAX_HOST_LENGTH, MAX_LABEL_LENGTH, is_label_value
from apps.delivery.policy.findings import Problem
from apps.delivery.policy.objects import labels_of, pods_of

POD_SECURITY_LEVELS: Final = ("privileged", "baseline", "restricted")
_LABEL: Final = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?")
_SUBDOMAIN: Final = re.compile(
    r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*"
)
_KEY_NAME: Final = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_LABEL_KINDS: Final = frozenset({"Namespace", "Service"})


def metadata_problems(manifest: Mapping[str, Any]) -> Iterator[Problem]:
    """The object's own metadata, and that of the pods it makes."""
    metadata = manifest.get("metadata") or {}
    yield from _name_problems(manifest["kind"], metadata)
    yield from _map_problems(metadata, "metadata")
    pods = pods_of(manifest)
    if pods is not None and manifest["kind"] != "Pod":
        yield from _map_problems(pods.metadata, f"{pods.path.removesuffix('.spec')}.metadata")
    if manifest["kind"] == "Namespace":
        yield from _level_problems(metadata)


def is_label(name: str) -> bool:
    """True for an RFC 1123 label."""
    return _LABEL.fullmatch(name) is not None


def is_subdomain(name: str) -> bool:
    """True for an RFC 1123 subdomain."""
    return len(name) <= MAX_HOST_LENGTH and _SUBDOMAIN.fullmatch(name) is not None


def _name_problems(kind: str, metadata: Mapping[str, Any]) -> Iterator[Problem]:
    """Namespaces and Services become part of DNS names, the others are less narrow."""
    name = str(metadata.get("name") or "")
    is_valid = is_label(name) if kind in _LABEL_KINDS else is_subdomain(name)
    if not is_valid:
        limit = MAX_LABEL_LENGTH if kind in _LABEL_KINDS else MAX_HOST_LENGTH
        fix = f"Use at most {limit} lower-case letters, digits and hyphens."
        yield Problem("name", "metadata.name", f"{name!r} is no valid name.", fix)
    namespace = metadata.get("namespace")
    if namespace is not None and not is_label(str(namespace)):
        fix = f"Use at most {MAX_LABEL_LENGTH} lower-case letters, digits and hyphens."
        yield Problem("name", "metadata.namespace", f"{namespace!r} is no valid name.", fix)


def _map_problems(metadata: Mapping[str, Any], path: str) -> Iterator[Problem]:
    """Keys of labels and annotations, and values of labels."""
    for field in ("labels", "annotations"):
        for key in metadata.get(field) or {}:
            # Annotation keys are compared in lower case, label keys as they stand.
            if not _is_key(key.lower() if field == "annotations" else key):
                fix = "Write a name of at most 63 characters, or prefix/name."
                yield Problem("label-key", f"{path}.{field}", f"{key!r} is no valid key.", fix)
    for key, value in labels_of(metadata).items():
        if not is_label_value(str(value)):
            message = f"{value!r} is no valid value of {key}."
            fix = "Encode it, see kubernetes_label_value; the full text fits an annotation."
            yield Problem("label-value", f"{path}.labels", message, fix)


def _is_key(key: str) -> bool:
    """True for a qualified name."""
    prefix, slash, name = key.rpartition("/")
    is_prefix = is_subdomain(prefix) if slash else True
    return is_prefix and _KEY_NAME.fullmatch(name) is not None


def _level_problems(metadata: Mapping[str, Any]) -> Iterator[Problem]:
    """Pod Security levels that exist."""
    for key, value in labels_of(metadata).items():
        mode = key.removeprefix(POD_SECURITY_LABEL)
        if mode in ("enforce", "audit", "warn") and value not in POD_SECURITY_LEVELS:
            message = f"{value!r} is no Pod Security level."
            fix = f"Use one of {', '.join(POD_SECURITY_LEVELS)}."
            yield Problem("pod-security-level", f"metadata.labels[{key}]", message, fix)
