"""Closed lists of delivery, as they stand in columns and forms.

Profiles and modes repeat the names of `profiles.py` for their translated labels; a test holds them
together.
"""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Profile(models.TextChoices):
    """What one replica may use."""

    SMALL = "small", _("small")
    MEDIUM = "medium", _("medium")
    LARGE = "large", _("large")


class PerformanceMode(models.TextChoices):
    """How many MongoDB connections an app's replica holds."""

    MIN = "min", _("minimal (4 connections)")
    NORMAL = "normal", _("normal (8 connections)")
    ULTRA = "ultra", _("ultra (16 connections)")


class PodSecurity(models.TextChoices):
    """The Pod Security level that the cluster enforces on an app's namespace."""

    RESTRICTED = "restricted", _("restricted")
    BASELINE = "baseline", _("baseline (adopted apps)")


class DomainStatus(models.TextChoices):
    """How far a custom domain has come."""

    ADDED = "added", _("waiting for DNS")
    VERIFIED = "verified", _("DNS verified")
    ISSUING = "issuing", _("certificate being issued")
    ACTIVE = "active", _("active")
    FAILING = "failing", _("failing")


class DeploymentPhase(models.TextChoices):
    """Where a deployment stands; the moves between them are in `rollout_state`."""

    QUEUED = "queued", _("queued")
    PLANNED = "planned", _("planned")
    APPLYING = "applying", _("applying")
    PROGRESSING = "progressing", _("rolling out")
    VERIFYING = "verifying", _("verifying")
    ROLLING_BACK = "rolling_back", _("rolling back")
    SUCCEEDED = "succeeded", _("succeeded")
    ROLLED_BACK = "rolled_back", _("rolled back")
    FAILED = "failed", _("failed")
    CANCELLED = "cancelled", _("cancelled")


class DeploymentKind(models.TextChoices):
    """What a deployment was asked for."""

    DEPLOY = "deploy", _("deploy")
    ROLLBACK = "rollback", _("roll back")
    RESTART = "restart", _("restart with new secrets")
    DOMAINS = "domains", _("change of domains")


class StepStatus(models.TextChoices):
    """How a step ended."""

    DONE = "done", _("done")
    NOTE = "note", _("note")
    FAILED = "failed", _("failed")


class HealthStatus(models.TextChoices):
    """How an environment did at the last look."""

    HEALTHY = "healthy", _("healthy")
    DEGRADED = "degraded", _("degraded")
    PROGRESSING = "progressing", _("rolling out")
    MISSING = "missing", _("missing")
    UNKNOWN = "unknown", _("unknown")


class OnLimit(models.TextChoices):
    """What happens when the included amount of a metric is used up."""

    BLOCK = "block", _("block")
    AUTO_ADDON = "auto_addon", _("charge for more")


class OverageMode(models.TextChoices):
    """What the price of more use buys."""

    UNIT = "unit", _("each unit")
    BLOCK = "block", _("each block begun")


class ReservationStatus(models.TextChoices):
    """The life of a reservation; only a held one can still move."""

    HELD = "held", _("held")
    COMMITTED = "committed", _("used")
    RELEASED = "released", _("given back")
    EXPIRED = "expired", _("expired")


class AlertKind(models.TextChoices):
    """Which line usage reached."""

    PERCENT = "percent", _("share of the included amount")
    SOFT_LIMIT = "soft_limit", _("soft limit")


class ProcessJobActionKind(models.TextChoices):
    """What an operator did to a process job."""

    RETRY = "retry", _("sent back")
    RUN_NOW = "run_now", _("made due")
    CANCEL = "cancel", _("cancelled")
    DISCARD = "discard", _("discarded")
