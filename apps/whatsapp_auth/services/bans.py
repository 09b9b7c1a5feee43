"""Keeping people out: a ban ends their sessions in the same transaction."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from apps.whatsapp_auth import errors, queries
from apps.whatsapp_auth.jids import normalize_jid
from apps.whatsapp_auth.login_links import to_owner_jid
from apps.whatsapp_auth.models import Ban
from apps.whatsapp_auth.services import sessions


@dataclass(frozen=True, slots=True)
class BanReport:
    """The ban, whether it is a new one, and how many sessions it ended."""

    ban: Ban
    is_new: bool
    ended_session_count: int


@transaction.atomic
def ban_person(
    *,
    google_sub: str = "",
    email: str = "",
    owner: str = "",
    reason: str = "",
    actor: str = "",
    now: datetime,
) -> BanReport:
    """Keep somebody out by account, e-mail address, or phone or other address.

    An active ban on exactly these names is kept, its sessions are ended all the same; a ban on some
    of them does not stand in the way of another. Raises NothingToBan.
    """
    names = {
        "google_sub": google_sub.strip() or None,
        "email": email.strip().lower() or None,
        "owner_jid": _owner_address(owner.strip()) or None,
    }
    if not any(names.values()):
        raise errors.NothingToBan
    same = Ban.objects.select_for_update().filter(**names, revoked_at=None).first()
    ban = same or Ban.objects.create(
        **names, reason=reason[:255] or None, created_by_email=actor[:255] or None
    )
    ended = sessions.end_sessions(_matching(ban), now=now)
    return BanReport(ban, is_new=same is None, ended_session_count=ended)


def revoke_bans(ids: list[str], *, now: datetime) -> int:
    """Lift the bans of these ids; tells how many were active."""
    return Ban.objects.filter(pk__in=ids, revoked_at=None).update(revoked_at=now, updated_at=now)


def _owner_address(owner: str) -> str:
    """Digits and phone addresses in their usual form, other addresses normalised."""
    return to_owner_jid(owner) or normalize_jid(owner)


def _matching(ban: Ban) -> Q:
    """The sessions of everybody whom the ban names."""
    people = Q(pk__in=[])
    if ban.google_sub:
        people |= Q(google_user_id=ban.google_sub)
    if ban.email:
        people |= Q(email=ban.email) | Q(google_user__email=ban.email)
    if ban.owner_jid:
        people |= Q(owner_jid__in=queries.owner_jids_of(ban.owner_jid))
    return people
