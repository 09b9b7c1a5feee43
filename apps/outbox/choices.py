"""States of events and what operators do with dead letters."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.common.choices import LeaseStatus

__all__ = ["LeaseStatus", "RedriveAction"]


class RedriveAction(models.TextChoices):
    """What was decided about a dead letter."""

    REDRIVE = "redrive", _("redriven")
    EDIT = "edit", _("edited and redriven")
    DISCARD = "discard", _("discarded")
