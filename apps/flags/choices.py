"""Kinds of changes to a flag, and the life of a planned one."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class ChangeAction(models.TextChoices):
    """What happened to a flag."""

    CREATED = "created", _("created")
    CHANGED = "changed", _("changed")
    DELETED = "deleted", _("deleted")
    KILLED = "killed", _("killed")
    REVIVED = "revived", _("revived")
    TARGETED = "targeted", _("targeted")
    REVERTED = "reverted", _("reverted")
    STEPPED = "stepped", _("rollout step")
    PLANNED = "planned", _("rollout planned")
    PAUSED = "paused", _("rollout paused")
    RESUMED = "resumed", _("rollout resumed")
    ABORTED = "aborted", _("rollout aborted")


class StepStatus(models.TextChoices):
    """The life of a rollout step; only pending and paused ones can still move."""

    PENDING = "pending", _("pending")
    PAUSED = "paused", _("paused")
    APPLIED = "applied", _("applied")
    ABORTED = "aborted", _("aborted")


OPEN_STATES = (StepStatus.PENDING, StepStatus.PAUSED)
