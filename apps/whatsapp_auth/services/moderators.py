"""Moderators of the former panel become members of staff with a role.

The old table stays as it is. Its passwords are not taken over: each new user gets one from an
owner.
"""

from collections.abc import Collection
from dataclasses import dataclass

from django.contrib.auth.models import Group, User
from django.db import transaction

from apps.whatsapp_auth.choices import Role
from apps.whatsapp_auth.models import Moderator

MAX_USERNAME_LENGTH = 150


@dataclass(frozen=True, slots=True)
class ImportReport:
    """How many became users, and how many were users or ended before."""

    created_count: int
    skipped_count: int


@transaction.atomic
def import_moderators(google_subs: Collection[str]) -> ImportReport:
    """Make staff users with the operator's role of moderators that are still active."""
    chosen = Moderator.objects.filter(pk__in=google_subs)
    active = {row.email.lower()[:MAX_USERNAME_LENGTH]: row for row in chosen if not row.revoked_at}
    known = set(User.objects.filter(username__in=active).values_list("username", flat=True))
    role = Group.objects.get(name=Role.OPERATOR)
    new = {name: row for name, row in active.items() if name not in known}
    for username, moderator in new.items():
        user = User.objects.create_user(
            username, moderator.email, first_name=(moderator.name or "")[:150], is_staff=True
        )
        user.groups.add(role)
    return ImportReport(len(new), len(google_subs) - len(new))
