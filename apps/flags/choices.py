"""Kinds of changes to a flag."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class ChangeAction(models.TextChoices):
    """What happened to a flag."""

    CREATED = "created", _("created")
    CHANGED = "changed", _("changed")
    DELETED = "deleted", _("deleted")
