"""Roles and states of people and tokens."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Role(models.TextChoices):
    """What a member of staff may do; each is a Django group of the same name."""

    VIEWER = "viewer", _("viewer")
    OPERATOR = "operator", _("operator")
    OWNER = "owner", _("owner")
