"""Plans: what a release would change in an environment, shown before anything happens."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings

from apps.delivery import planning
from apps.delivery.comparison import Action, compare
from apps.delivery.desired import desired_objects
from apps.delivery.errors import PlanOutdated
from apps.delivery.kube.cluster import FIELD_MANAGER, Cluster
from apps.delivery.kube.errors import AdmissionDenied, FieldConflict, ObjectMissing, ObjectRefused
from apps.delivery.kube.ownership import CLIENT_SIDE_MANAGERS, as_adopted
from apps.delivery.kube.resources import ObjectKey, key_of
from apps.delivery.manifests import membership_labels
from apps.delivery.models import DeploymentPlan, Environment, Release
from apps.delivery.planning import Plan, PlannedChange
from apps.delivery.policy import Finding
from apps.delivery.queries import preview_findings
from apps.delivery.services.secrets import live_checksum

Manifest = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Survey:
    """What an environment should hold and what it holds."""

    desired: Sequence[Manifest]
    live: Mapping[ObjectKey, Manifest]
    members: Sequence[Manifest]

    @property
    def fingerprint(self) -> str:
        """Binds a plan to this survey."""
        members = {key_of(member): member for member in self.members}
        return planning.fingerprint(self.desired, {**members, **self.live})


def make_plan(
    environment: Environment, release: Release, *, cluster: Cluster, actor: str, now: datetime
) -> DeploymentPlan:
    """Look at the cluster, work out every change, and keep the plan for a while.

    Nothing is changed; objects that differ are tried out by a server-side dry run.
    Raises ClusterUnreachable, DeliveryContextError, EmptyRender.
    """
    survey = survey_environment(environment, release, cluster=cluster)
    plan = plan_of(survey, cluster=cluster, namespace=environment.namespace)
    findings = preview_findings(survey.desired)
    return DeploymentPlan.objects.create(
        environment=environment,
        release=release,
        changes=[change.as_json() for change in plan.changes],
        findings=[_finding_as_json(finding) for finding in findings],
        fingerprint=plan.fingerprint,
        actor=actor,
        created_at=now,
        expires_at=now + timedelta(seconds=settings.DELIVERY_PLAN_SECONDS),
    )


def survey_environment(environment: Environment, release: Release, *, cluster: Cluster) -> Survey:
    """Read what is there, by name for what is wanted and by label for what is left over."""
    checksum = live_checksum(cluster, environment.namespace)
    desired = desired_objects(environment, release, secrets_checksum=checksum)
    found = {key_of(each): cluster.get(key_of(each)) for each in desired}
    live = {key: each for key, each in found.items() if each is not None}
    members = live_members(environment, cluster=cluster)
    return Survey(planning.in_apply_order(desired), live, members)


def live_members(environment: Environment, *, cluster: Cluster) -> list[Manifest]:
    """The objects in the environment's namespace that carry the app's membership labels."""
    labels = membership_labels(environment.app.code)
    selector = ",".join(f"{name}={value}" for name, value in labels.items())
    namespace = environment.namespace
    kinds = planning.PRUNED_KINDS
    return [o for k in kinds for o in cluster.list_all(k, namespace=namespace, labels=selector)]


def plan_of(survey: Survey, *, cluster: Cluster, namespace: str) -> Plan:
    """All changes: creations and changes in the order of application, then deletions."""
    is_home_there = any(key.kind == "Namespace" for key in survey.live)
    changes = [
        _try_out(cluster, wanted, survey.live.get(key_of(wanted)), is_home_there=is_home_there)
        for wanted in survey.desired
    ]
    deletions = planning.to_prune(survey.desired, survey.members, namespace=namespace)
    return Plan((*changes, *deletions), survey.fingerprint)


def _try_out(
    cluster: Cluster, wanted: Manifest, live: Manifest | None, *, is_home_there: bool
) -> PlannedChange:
    """One object: compared locally, and by a dry run when it differs.

    In a namespace that is still to be created every dry run would answer 404, so none is made.
    """
    seen = as_adopted(live, FIELD_MANAGER) if live is not None else None
    change = planning.planned(key_of(wanted), compare(wanted, seen))
    if change.action is Action.UNCHANGED:
        return change
    if not is_home_there and wanted["kind"] != "Namespace":
        return change
    try:
        cluster.apply(wanted, is_dry_run=True)
    except FieldConflict as conflict:
        others = [o for o in conflict.owners if o.manager not in CLIENT_SIDE_MANAGERS]
        return replace(change, conflicts=tuple((o.manager, o.field) for o in others))
    except (ObjectRefused, AdmissionDenied, ObjectMissing) as refusal:
        return replace(change, problems=(refusal.message,))
    return change


def _finding_as_json(finding: Finding) -> dict[str, str]:
    return {
        "severity": finding.severity.value,
        "object": f"{finding.key.kind} {finding.key.name}",
        "path": finding.path,
        "rule": finding.rule,
        "message": finding.message,
        "fix": finding.fix,
    }


def check_still_true(plan: DeploymentPlan, *, cluster: Cluster) -> None:
    """Raise PlanOutdated when the cluster or the app is no longer as the plan saw it.

    A plan that waited for another deployment of its environment is judged by what it would do now:
    anything but a deletion that nobody was shown is as good as confirmed.
    """
    environment = plan.environment
    survey = survey_environment(environment, plan.release, cluster=cluster)
    if survey.fingerprint == plan.fingerprint:
        return
    between = environment.deployments.filter(finished_at__gte=plan.created_at)
    now = plan_of(survey, cluster=cluster, namespace=environment.namespace)
    unseen = _deletions(now) - _deletions(read_plan(plan))
    if unseen or now.problems or not between.exists():
        raise PlanOutdated(
            "The cluster or the app changed after the plan was made; make a new one.",
            details={"deletions": sorted(key.short for key in unseen)},
        )


def _deletions(plan: Plan) -> set[ObjectKey]:
    return {change.key for change in plan.changes if change.action is Action.DELETE}


def read_plan(plan: DeploymentPlan) -> Plan:
    """The stored plan as a value."""
    changes = tuple(planning.change_from_json(stored) for stored in plan.changes)
    return Plan(changes, plan.fingerprint)
