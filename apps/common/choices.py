"""States shared by every leased queue."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class LeaseStatus(models.TextChoices):
    """The life of a row in a leased queue; `failed` means dead until redriven or discarded."""

    PENDING = "pending", _("pending")
    PROCESSING = "processing", _("processing")
    COMPLETED = "completed", _("completed")
    FAILED = "failed", _("failed")
