"""All rules over all objects."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from apps.delivery.comparison import object_key
from apps.delivery.infra import Infra, as_infra
from apps.delivery.policy.capacity import capacity_problems
from apps.delivery.policy.findings import Finding, Problem, Severity
from apps.delivery.policy.immutable import immutable_problems
from apps.delivery.policy.metadata import metadata_problems
from apps.delivery.policy.network import network_problems
from apps.delivery.policy.objects import Neighbours
from apps.delivery.policy.pod_security import security_problems
from apps.delivery.policy.resources import resource_problems
from apps.delivery.policy.schema import knows, schema_problems
from apps.delivery.policy.secret_data import secret_problems
from apps.delivery.policy.workloads import workload_problems


def check_objects(
    objects: Sequence[Mapping[str, Any]],
    infra: Mapping[str, Any] | Infra,
    *,
    live: Iterable[Mapping[str, Any]] = (),
) -> list[Finding]:
    """Everything that is wrong with the objects, seen together, errors first.

    Our own rules look only at objects whose shape the schema accepts, and at kinds it knows. `live`
    objects tell which changes can never be made.
    """
    version = as_infra(infra).version
    existing = {object_key(item): item for item in live}
    findings = []
    sound = []
    for manifest in objects:
        problems = list(schema_problems(manifest, version))
        findings += _findings(manifest, problems)
        if not problems and knows(manifest, version):
            sound.append(manifest)
    neighbours = Neighbours(sound)
    for manifest in sound:
        findings += _findings(manifest, _own_problems(manifest, neighbours))
        if (found := existing.get(object_key(manifest))) is not None:
            findings += _findings(manifest, immutable_problems(manifest, found))
    return sorted(findings, key=lambda finding: finding.severity is Severity.WARNING)


def errors_of(findings: Iterable[Finding]) -> list[Finding]:
    """Those that stop a deployment."""
    return [finding for finding in findings if finding.severity is Severity.ERROR]


def _own_problems(manifest: Mapping[str, Any], neighbours: Neighbours) -> Iterator[Problem]:
    """The rules beyond the schema."""
    yield from metadata_problems(manifest)
    yield from workload_problems(manifest)
    yield from resource_problems(manifest, neighbours)
    yield from capacity_problems(manifest, neighbours)
    yield from network_problems(manifest, neighbours)
    yield from security_problems(manifest, neighbours)
    yield from secret_problems(manifest)


def _findings(manifest: Mapping[str, Any], problems: Iterable[Problem]) -> list[Finding]:
    """Problems with the object that has them."""
    key = object_key(manifest)
    return [
        Finding(key, item.rule, item.path, item.message, item.fix, item.severity)
        for item in problems
    ]
