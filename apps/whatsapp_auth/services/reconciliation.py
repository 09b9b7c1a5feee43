"""Moving what was kept under a LID to the phone behind it, in the transaction that learnt of it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime

from apps.outbox.events import NewEvent
from apps.outbox.services import publish_many
from apps.whatsapp_auth import queries
from apps.whatsapp_auth.jids import base_jid
from apps.whatsapp_auth.login_links import to_owner_jid, to_phone_digits
from apps.whatsapp_auth.models import GoogleSession, GoogleUser
from apps.whatsapp_auth.services import links

IDENTITY_RECONCILED = "IDENTITY_RECONCILED"
AGGREGATE_TYPE = "whatsapp_identity"


def move_identities(moves: Mapping[str, str], *, now: datetime) -> None:
    """Move accounts from LIDs to phone addresses and tell other apps, in the caller's transaction.

    The event carries every form of the LID. An account stays where it is when another one holds the
    phone: only a verified login link decides between two accounts.
    """
    accounts = GoogleUser.objects.select_for_update().filter(owner_jid__in=moves)
    for account in accounts.order_by("google_sub"):
        _move_account(account, moves[account.owner_jid], now=now)
    forms: dict[tuple[str, str], set[str]] = defaultdict(set)
    for lid, jid in moves.items():
        forms[base_jid(lid), jid].add(lid)
    publish_many(
        NewEvent(
            IDENTITY_RECONCILED,
            AGGREGATE_TYPE,
            lid,
            {"lid": lid, "jid": jid, "lids": sorted({lid, *lids})},
        )
        for (lid, jid), lids in forms.items()
    )


def void_links_of(jids: Iterable[str], *, now: datetime) -> None:
    """Void open links of phones that lost their LID: the number may be somebody else's now."""
    phones = sorted(filter(None, map(to_phone_digits, jids)))
    if phones:
        links.void_links(phones, now=now)


def _move_account(account: GoogleUser, jid: str, *, now: datetime) -> None:
    digits = to_phone_digits(jid)
    if not digits or queries.accounts_of_phone(digits).exists():
        return
    values = {"owner_jid": to_owner_jid(digits), "owner_phone": digits, "updated_at": now}
    GoogleUser.objects.filter(pk=account.pk).update(**values)
    GoogleSession.objects.filter(google_user=account).update(**values)
