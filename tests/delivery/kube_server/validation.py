"""The 422 refusals that the tests drive, with the causes a real server gives."""

import json
import re
from collections.abc import Iterator
from typing import Any

from . import quantities
from .kinds import Kind
from .statuses import invalid

Object = dict[str, Any]
Cause = tuple[str, str, str]
_SUBDOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")


def check(kind: Kind, live: Object | None, new: Object) -> None:
    """Raise RefusedError with 422 when the object breaks a rule."""
    causes = [*_metadata(kind, new), *_immutable(kind, live, new)]
    if kind.name == "Deployment":
        causes += _deployment(new["spec"])
    elif kind.name == "Pod":
        causes += _containers(new["spec"], "spec")
    elif kind.name == "Ingress":
        causes += _ingress(new["spec"])
    if causes:
        raise invalid(kind, new["metadata"]["name"], causes)


def _bad(field: str, value: Any, why: str) -> Cause:
    shown = json.dumps(value, separators=(",", ":"), sort_keys=True)
    return ("FieldValueInvalid", f"Invalid value: {shown}: {why}", field)


def _metadata(kind: Kind, new: Object) -> Iterator[Cause]:
    metadata = new["metadata"]
    if not re.fullmatch(_SUBDOMAIN, metadata["name"]) and kind.name != "Event":
        yield _bad("metadata.name", metadata["name"], _SUBDOMAIN_RULE)
    for value in metadata.get("labels", {}).values():
        if len(value) > 63:
            yield _bad("metadata.labels", value, "must be no more than 63 bytes")


def _immutable(kind: Kind, live: Object | None, new: Object) -> Iterator[Cause]:
    if live is None:
        return
    uid = new["metadata"].get("uid")
    if uid and uid != live["metadata"]["uid"]:
        yield from [_bad("metadata.uid", uid, "field is immutable")] * 2
    if kind.name == "Deployment" and live["spec"]["selector"] != new["spec"]["selector"]:
        yield _bad("spec.selector", new["spec"]["selector"], "field is immutable")
    if kind.name == "Secret" and live["type"] != new["type"]:
        yield _bad("type", new["type"], "field is immutable")
    if kind.name == "Secret" and live.get("immutable") and live.get("data") != new.get("data"):
        why = "Forbidden: field is immutable when `immutable` is set"
        yield ("FieldValueForbidden", why, "data")


def _deployment(spec: Object) -> Iterator[Cause]:
    if spec["replicas"] < 0:
        yield _bad("spec.replicas", spec["replicas"], "must be greater than or equal to 0")
    labels = spec["template"].get("metadata", {}).get("labels", {})
    wanted = spec["selector"].get("matchLabels", {})
    if not wanted.items() <= labels.items():
        why = "`selector` does not match template `labels`"
        yield _bad("spec.template.metadata.labels", labels, why)
    rolling = spec["strategy"].get("rollingUpdate", {})
    if rolling.get("maxUnavailable") == 0 == rolling.get("maxSurge"):
        field = "spec.strategy.rollingUpdate.maxUnavailable"
        yield _bad(field, 0, "may not be 0 when `maxSurge` is 0")
    yield from _containers(spec["template"]["spec"], "spec.template.spec")


def _containers(spec: Object, prefix: str) -> Iterator[Cause]:
    if not spec.get("containers"):
        yield ("FieldValueRequired", "Required value", f"{prefix}.containers")
    for index, container in enumerate(spec.get("containers", [])):
        path = f"{prefix}.containers[{index}]"
        if not container.get("image"):
            yield ("FieldValueRequired", "Required value", f"{path}.image")
        if (policy := container["imagePullPolicy"]) not in _PULL_POLICIES:
            known = ", ".join(json.dumps(name) for name in _PULL_POLICIES)
            why = f"Unsupported value: {json.dumps(policy)}: supported values: {known}"
            yield ("FieldValueNotSupported", why, f"{path}.imagePullPolicy")
        if len(container.get("lifecycle", {}).get("preStop", {})) > 1:
            why = "Forbidden: may not specify more than 1 handler type"
            yield ("FieldValueForbidden", why, f"{path}.lifecycle.preStop.sleep")
        yield from _amounts(container["resources"], f"{path}.resources.requests")


def _amounts(resources: Object, field: str) -> Iterator[Cause]:
    for name, amount in sorted(resources.get("requests", {}).items()):
        limit = resources.get("limits", {}).get(name)
        if limit and quantities.value_of(amount) > quantities.value_of(limit):
            yield _bad(field, amount, f"must be less than or equal to {name} limit of {limit}")


def _ingress(spec: Object) -> Iterator[Cause]:
    for index, rule in enumerate(spec.get("rules", [])):
        if re.fullmatch(r"[\d.]+", rule.get("host", "")):
            field = f"spec.rules[{index}].host"
            yield _bad(field, rule["host"], "must be a DNS name, not an IP address")
