"""What delivery refuses, one class per case.

InvalidInput ── DeliveryContextError   a field of a context breaks a rule
             ── InvalidQuantity        text that is no Kubernetes quantity
             ── InvalidMongoUri        a connection string that no app should get
             ── InvalidPullSecret      registry credentials that no kubelet can read
Conflict     ── CoreSecretsLost        the app's key is gone and must not be made anew
"""

from typing import Any

from apps.common.errors import (
    Conflict,
    Forbidden,
    InvalidInput,
    LimitReached,
    NotFound,
    Unavailable,
)

_SHOWN_CHARACTERS = 80


class DeliveryContextError(InvalidInput):
    """A field of the delivery context breaks a rule; `field` names it."""

    code = "invalid_delivery_context"

    def __init__(self, field: str, problem: str, *, value: Any = None) -> None:
        shown = repr(value)[:_SHOWN_CHARACTERS]
        super().__init__(f"{field}: {problem}", details={"field": field, "value": shown})
        self.field = field
        self.problem = problem


class InvalidQuantity(InvalidInput):
    """Text that the API server refuses as a resource quantity."""

    code = "invalid_quantity"


class InvalidMongoUri(InvalidInput):
    """A MongoDB connection string that no app should get; the message never repeats it."""

    code = "invalid_mongo_uri"


class InvalidPullSecret(InvalidInput):
    """Registry credentials that the kubelet could not read."""

    code = "invalid_pull_secret"


class NameNeverChanges(InvalidInput):
    """A code or namespace names objects in the cluster; a new one would leave them behind."""

    code = "name_never_changes"

    def __init__(self, field: str) -> None:
        super().__init__(f"{field} never changes.", details={"field": field})
        self.field = field


class NotOnPlatform(InvalidInput):
    """An environment's host must lie below a domain of the platform."""

    code = "not_on_platform"


class PlatformHost(InvalidInput):
    """The host lies below a domain of the platform, so no customer can bring it."""

    code = "platform_host"


class EnvironmentNotFound(NotFound):
    """No environment has this namespace."""

    code = "environment_not_found"


class DomainLimitReached(LimitReached):
    """The environment already has as many custom domains as it may have."""

    code = "domain_limit_reached"


class NameTaken(Conflict):
    """A code, namespace or host that another app has; `details` names the field."""

    code = "name_taken"

    def __init__(self, field: str, value: str) -> None:
        super().__init__(f"{field} {value!r} is taken.", details={"field": field, "value": value})
        self.field = field


class CoreSecretsLost(Conflict):
    """The app had a secrets key and it is gone; a new one would orphan what it encrypted."""

    code = "core_secrets_lost"


class EmptyRender(Conflict):
    """The renderer returned nothing for an app; that never means "delete everything"."""

    code = "empty_render"

    def __init__(self) -> None:
        super().__init__("The render is empty, so nothing is applied and nothing is deleted.")


class InvalidDigest(InvalidInput):
    """The image of a release is not named by its sha256 digest."""

    code = "invalid_digest"


class ReleaseNotFound(NotFound):
    """The app has no release of this number."""

    code = "release_not_found"


class PlanExpired(Conflict):
    """The plan is too old to be confirmed; make a new one."""

    code = "plan_expired"


class PlanOutdated(Conflict):
    """The cluster or the app changed after the plan was made; make a new one."""

    code = "plan_outdated"


class PlanBlocked(Conflict):
    """The plan has problems that the cluster would refuse; `details["problems"]` names them."""

    code = "plan_blocked"


class NothingToChange(Conflict):
    """The cluster already is as the release wants it."""

    code = "nothing_to_change"


class NothingToRollBack(Conflict):
    """No deployment is under way, or there is no earlier release that worked."""

    code = "nothing_to_roll_back"


class DeploymentNotFound(NotFound):
    """There is no deployment with this id."""

    code = "deployment_not_found"


class CannotCancel(Conflict):
    """The deployment has already touched the cluster, or is over."""

    code = "cannot_cancel"


class DeploymentLeaseLost(Conflict):
    """Another worker has taken over the deployment; this one must stop."""

    code = "deployment_lease_lost"


class ClusterNotConfigured(Unavailable):
    """No cluster is configured: set KUBE_URL, KUBECONFIG, or run inside a cluster."""

    code = "cluster_not_configured"


class CentralNotConfigured(Unavailable):
    """There is no Central to talk to: set CENTRAL_URL and CENTRAL_SIGNING_SECRET."""

    code = "central_not_configured"


class CentralUnreachable(Unavailable):
    """Central does not answer, or says that it cannot just now."""

    code = "central_unreachable"


class CentralRefused(Conflict):
    """Central refuses the call, or answers what cannot be understood."""

    code = "central_refused"


class DatabaseUnreachable(Unavailable):
    """The MongoDB server that apps get their databases from does not answer."""

    code = "database_unreachable"


class InvalidSelector(InvalidInput):
    """A job's selectors or context hold a value that a key cannot tell from others."""

    code = "invalid_selector"

    def __init__(self, type_name: str) -> None:
        super().__init__(f"A value of type {type_name} cannot be part of a process job.")


class ProcessTransactionRequired(Conflict):
    """A job was given a MongoDB session that has no transaction under way."""

    code = "OON_PROCESS_TRANSACTION_REQUIRED"


class LeaseLost(Conflict):
    """The worker no longer holds its process job; whatever it writes now must change nothing."""

    code = "lease_lost"


class ProcessJobIndexConflict(Conflict):
    """An index of the queue exists with other options; drop it, and it is made anew."""

    code = "process_job_index_conflict"

    def __init__(self, collection: str, keys: Any) -> None:
        named = ", ".join(name for name, _order in keys)
        super().__init__(
            f"{collection} has another index on {named}; drop it.",
            details={"collection": collection, "keys": named},
        )


class ProcessJobNotFound(NotFound):
    """There is no process job of this id; perhaps it is done."""

    code = "process_job_not_found"


class ProcessJobMoved(Conflict):
    """The job is not in the state that the decision is about."""

    code = "process_job_moved"


class NoProcessRunner(InvalidInput):
    """Nothing here can run jobs of this model."""

    code = "no_process_runner"

    def __init__(self, model_name: str) -> None:
        super().__init__(
            f"No runner is registered for the model {model_name!r}.", details={"model": model_name}
        )


class AccessRevoked(Forbidden):
    """The person for whom a job was enqueued may no longer do what it does."""

    code = "access_revoked"


class RecalculationFailed(Unavailable):
    """The app did not answer the call that was to recalculate, or refused it for now."""

    code = "recalculation_failed"


class RecalculationRefused(InvalidInput):
    """The app answered that it will never do this recalculation."""

    code = "recalculation_refused"


class MongodbNotConfigured(Unavailable):
    """What was asked for needs MongoDB: set MONGODB_URI."""

    code = "mongodb_not_configured"


class MongodbUnreachable(Unavailable):
    """MongoDB does not answer; try again later."""

    code = "mongodb_unreachable"


class SharedFileNotFound(NotFound):
    """The app has no shared file of this id or name."""

    code = "shared_file_not_found"


class InvalidSharedFile(InvalidInput):
    """A name, length or checksum that breaks a rule; nothing was stored."""

    code = "invalid_shared_file"


class SharedFileCut(InvalidInput):
    """The upload ended early, or is not what its checksum says; nothing was stored."""

    code = "shared_file_cut"


class SharedFileDamaged(Conflict):
    """What is stored is not what was uploaded; read a copy from a backup."""

    code = "shared_file_damaged"


class SharedFileQuotaReached(LimitReached):
    """The app's shared files would take more room than it has."""

    code = "shared_file_quota_reached"


class RangeNotSatisfiable(InvalidInput):
    """The asked range lies outside of the file."""

    code = "range_not_satisfiable"


class InvalidAppManifest(InvalidInput):
    """`central.app.json` breaks rules; `details["issues"]` lists every one."""

    code = "invalid_app_manifest"


class MongodFailed(Unavailable):
    """The mongod of the development requirements is missing or does not start."""

    code = "mongod_failed"


class UsageMetricNotFound(NotFound):
    """The app declares no metric of this code."""

    code = "usage_metric_not_found"

    def __init__(self, app_code: str, metric_code: str) -> None:
        details = {"app": app_code, "metric": metric_code}
        super().__init__(f"{app_code} declares no metric {metric_code!r}.", details=details)


class UsageEventRefused(InvalidInput):
    """A usage event breaks a rule; `details` says which."""

    code = "usage_event_refused"


class UsageEventConflict(Conflict):
    """The event id was used before, for something else."""

    code = "event_conflict"


class UsageLimitReached(LimitReached):
    """The plan has no room for so much more of the metric."""

    code = "usage_limit_reached"


class ReservationConflict(Conflict):
    """The reservation id was used before, for another amount."""

    code = "reservation_conflict"


class ReservationEnded(Conflict):
    """The reservation is no longer held."""

    code = "reservation_ended"


class ReservationNotFound(NotFound):
    """There is no reservation of this id."""

    code = "reservation_not_found"


class ContradictoryPlan(InvalidInput):
    """The terms of a plan contradict themselves; `details["problems"]` lists how."""

    code = "contradictory_plan"


class UnknownTimeZone(InvalidInput):
    """The time zone is not in the IANA database."""

    code = "unknown_time_zone"


class OtherApp(Forbidden):
    """The caller speaks for another app."""

    code = "other_app"


class TooManyEvents(InvalidInput):
    """A batch holds more events than one request may."""

    code = "too_many_events"


class AppNotNamed(InvalidInput):
    """The caller may touch several apps and did not say which."""

    code = "app_not_named"


class AppNotFound(NotFound):
    """No app has this code."""

    code = "app_not_found"

    def __init__(self, app_code: str) -> None:
        super().__init__(f"There is no app {app_code!r}.", details={"app": app_code})


class UsageEventsPruned(Conflict):
    """The events of the period were deleted by age; its counter stands alone."""

    code = "usage_events_pruned"
