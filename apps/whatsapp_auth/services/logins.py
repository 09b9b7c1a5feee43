"""Signing in: a genuine link, a Google account, and at most one holder of each phone.

Everything that a sign-in changes is one transaction: the link is used up, an earlier holder lets go
of the phone, the account takes it, the session opens. Sign-ins for one phone take turns on its
guard row, so any number of them at once leave exactly one holder.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q

from apps.common.errors import DomainError
from apps.whatsapp_auth import errors, login_links, queries
from apps.whatsapp_auth.choices import LoginOutcome, NoticeKind
from apps.whatsapp_auth.jids import mask_jid, phone_variants
from apps.whatsapp_auth.models import (
    AccountNotice,
    GoogleSession,
    GoogleUser,
    LinkUse,
    PhoneGuard,
)
from apps.whatsapp_auth.oidc import GoogleAccount
from apps.whatsapp_auth.services import audit, links, sessions
from apps.whatsapp_auth.services.conflicts import retry_on_conflict

REPEAT_WINDOW = timedelta(seconds=60)
TAKE_OVER = "take_over"
CHANGE_PHONE = "change_phone"


@dataclass(frozen=True, slots=True)
class VerifiedLink:
    """A link that is genuine and fresh: whose it is and when it was written."""

    digits: str
    seconds: int

    @property
    def owner_jid(self) -> str:
        """The address under which its phone owns things."""
        return login_links.to_owner_jid(self.digits)

    @property
    def link_id(self) -> str:
        """Its name in the table of used links."""
        return login_links.link_id(self.digits, self.seconds)


@dataclass(frozen=True, slots=True)
class SignInPlan:
    """What signing in would change, masked, as the person sees it before agreeing."""

    masked_phone: str
    email: str
    previous_phone: str = ""
    holder_email: str = ""

    @property
    def changes(self) -> str:
        """The changes that need consent, as one word for the form; '' when there are none."""
        wanted = ((CHANGE_PHONE, self.previous_phone), (TAKE_OVER, self.holder_email))
        return "+".join(name for name, value in wanted if value)


@dataclass(frozen=True, slots=True)
class SignIn:
    """A finished sign-in: the session and its token, and what it changed."""

    opened: sessions.OpenedSession
    plan: SignInPlan


def verify_link(payload: Any, *, now: datetime) -> VerifiedLink:
    """The link in a payload. Raises LoginLinkRequired without one, LoginLinkInvalid otherwise."""
    result = login_links.resolve_owner(payload, links.link_config(), now)
    if not result.has_payload:
        raise errors.LoginLinkRequired
    if not result.verified:
        raise errors.LoginLinkInvalid(result.reason or login_links.Refusal.MISSING_SIGNATURE)
    hint = login_links.extract_login_hint(payload)
    return VerifiedLink(login_links.to_phone_digits(hint["wa"]), int(hint["wa_ts"]))


def preview_sign_in(account: GoogleAccount, payload: Any, *, now: datetime) -> SignInPlan:
    """What `sign_in` would do, changing nothing. Raises what it would raise, but for consent."""
    link = verify_link(payload, now=now)
    guard = PhoneGuard.objects.filter(phone=links.guard_key(link.digits)).first()
    _refuse_void_link(guard, link)
    _refuse_banned(account, link)
    _refuse_foreign_use(link, account, now=now)
    return _plan(account, link, list(queries.accounts_of_phone(link.digits)), _own_row(account))


def sign_in(
    account: GoogleAccount,
    payload: Any,
    *,
    confirmed_changes: str = "",
    address: str = "",
    now: datetime,
) -> SignIn:
    """Use the link up and open a session for the account.

    `confirmed_changes` is the `changes` of the plan that the person agreed to. Raises
    TooManyAttempts, LoginLinkRequired, LoginLinkInvalid, LoginLinkRevoked, LoginLinkUsed, Banned,
    AmbiguousPhone and ConfirmationNeeded; every outcome leaves a line in the audit.
    """
    audit.refuse_too_many_attempts(address, now=now)
    phone = ""
    try:
        link = verify_link(payload, now=now)
        phone = link.digits
        links.ensure_guard(phone)
        return retry_on_conflict(
            lambda: _sign_in(account, link, confirmed_changes, address=address, now=now)
        )
    except DomainError as error:
        audit.record(error.code, phone=phone, google_sub=account.sub, address=address, now=now)
        raise


@transaction.atomic
def _sign_in(
    account: GoogleAccount, link: VerifiedLink, confirmed: str, *, address: str, now: datetime
) -> SignIn:
    guard = links.lock_phone(link.digits)
    _refuse_void_link(guard, link)
    _refuse_banned(account, link)
    holders = list(queries.accounts_of_phone(link.digits).select_for_update())
    own = _own_row(account, lock=True)
    plan = _plan(account, link, holders, own)
    if current := _repeated(link, account, now=now):
        return SignIn(sessions.renew_token(current), plan)
    if plan.changes != confirmed:
        raise errors.ConfirmationNeeded(plan.changes)
    LinkUse.objects.create(link_id=link.link_id, google_sub=account.sub, used_at=now)
    for holder in holders:
        if holder.google_sub != account.sub:
            _let_go(holder, plan, now=now)
    user = _take_phone(account, own, link, plan, now=now)
    opened = sessions.open_session(user, now=now)
    _record(plan, account, link, address=address, now=now)
    return SignIn(opened, plan)


def _refuse_void_link(guard: PhoneGuard | None, link: VerifiedLink) -> None:
    void_before = guard.links_void_before if guard else None
    if void_before is not None and link.seconds <= void_before.timestamp():
        raise errors.LoginLinkRevoked


def _refuse_banned(account: GoogleAccount, link: VerifiedLink) -> None:
    if queries.active_ban(google_sub=account.sub, email=account.email, owner_jid=link.owner_jid):
        raise errors.Banned


def _refuse_foreign_use(link: VerifiedLink, account: GoogleAccount, *, now: datetime) -> bool:
    """Whether this account used the link a moment ago. Raises LoginLinkUsed for any other use."""
    use = LinkUse.objects.filter(link_id=link.link_id).first()
    if use is None:
        return False
    if use.google_sub != account.sub or now - use.used_at > REPEAT_WINDOW:
        raise errors.LoginLinkUsed
    return True


def _repeated(link: VerifiedLink, account: GoogleAccount, *, now: datetime) -> GoogleSession | None:
    """The session that the same request opened a moment ago, when it was sent twice."""
    if not _refuse_foreign_use(link, account, now=now):
        return None
    own = sessions.living_sessions(now=now).filter(
        google_user_id=account.sub, owner_phone__in=phone_variants(link.digits)
    )
    current = own.first()
    if current is None:
        raise errors.LoginLinkUsed
    return current


def _own_row(account: GoogleAccount, *, lock: bool = False) -> GoogleUser | None:
    """The account's row. Raises AccountRefused when only the letters' case differs (MySQL)."""
    rows = GoogleUser.objects.select_for_update() if lock else GoogleUser.objects
    own: GoogleUser | None = rows.filter(pk=account.sub).first()
    if own is not None and own.google_sub != account.sub:
        raise errors.AccountRefused("subject")
    return own


def _plan(
    account: GoogleAccount, link: VerifiedLink, holders: list[GoogleUser], own: GoogleUser | None
) -> SignInPlan:
    if len(holders) > 1:
        raise errors.AmbiguousPhone
    others = [holder for holder in holders if holder.google_sub != account.sub]
    own_phone = _phone_of(own)
    has_moved = own_phone and own_phone not in phone_variants(link.digits)
    return SignInPlan(
        masked_phone=mask_jid(link.digits) or "",
        email=account.email,
        previous_phone=(mask_jid(own_phone) or "") if has_moved else "",
        holder_email=mask_email(others[0].email) if others else "",
    )


def _phone_of(user: GoogleUser | None) -> str:
    """The digits of an account's phone address, '' for other owners."""
    return login_links.to_phone_digits(user.owner_jid) if user and "@" in user.owner_jid else ""


def mask_email(email: str | None) -> str:
    """An address for people who may not read it: one letter and the domain."""
    name, at, domain = (email or "").partition("@")
    return f"{name[:1]}***{at}{domain}"


def _let_go(holder: GoogleUser, plan: SignInPlan, *, now: datetime) -> None:
    """The earlier holder keeps the account without a phone, is signed out and will be told."""
    sessions.end_sessions(Q(google_user_id=holder.google_sub), now=now)
    GoogleUser.objects.filter(pk=holder.google_sub).update(
        owner_jid=phoneless_owner(holder.google_sub), owner_phone=None, updated_at=now
    )
    AccountNotice.objects.create(
        google_sub=holder.google_sub,
        kind=NoticeKind.PHONE_TAKEN_OVER,
        masked_phone=plan.masked_phone,
        created_at=now,
    )


def phoneless_owner(google_sub: str) -> str:
    """The owner address of an account without a phone, as older data has it."""
    return f"g{google_sub}@google.oauth"


def _take_phone(
    account: GoogleAccount,
    own: GoogleUser | None,
    link: VerifiedLink,
    plan: SignInPlan,
    *,
    now: datetime,
) -> GoogleUser:
    """Write the account with its phone; sessions for a former phone of it end.

    Under another spelling of its own number an account stays what it is, with all it owns.
    """
    if plan.previous_phone:
        sessions.end_sessions(Q(google_user_id=account.sub), now=now)
    user = own or GoogleUser(google_sub=account.sub)
    if plan.previous_phone or not _phone_of(own):
        user.owner_jid = link.owner_jid
    user.owner_phone = login_links.to_phone_digits(user.owner_jid)
    user.email = account.email
    user.name = account.name or None
    user.picture_url = account.picture_url or None
    user.last_login_at = user.last_seen_at = now
    user.save(force_insert=own is None)
    return user


def _record(
    plan: SignInPlan, account: GoogleAccount, link: VerifiedLink, *, address: str, now: datetime
) -> None:
    outcomes = [LoginOutcome.SIGNED_IN]
    if plan.holder_email:
        outcomes.append(LoginOutcome.PHONE_TAKEN_OVER)
    if plan.previous_phone:
        outcomes.append(LoginOutcome.PHONE_CHANGED)
    for outcome in outcomes:
        audit.record(outcome, phone=link.digits, google_sub=account.sub, address=address, now=now)
