"""Periodic work of sign-in."""

from django.utils import timezone

from apps.whatsapp_auth.services import retention


def prune_identities() -> None:
    """Every hour: forget sessions, links, audit lines and mappings past their period."""
    retention.prune(now=timezone.now())
