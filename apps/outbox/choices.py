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


class Outcome(models.TextChoices):
    """What came of one request to a webhook's subscriber."""

    DELIVERED = "delivered", _("delivered")
    REFUSED = "refused", _("refused")
    UNREACHABLE = "unreachable", _("unreachable")
    FORBIDDEN = "forbidden", _("address not allowed")
