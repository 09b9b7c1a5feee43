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
