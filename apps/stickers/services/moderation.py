"""Reports of visitors and what moderators decide about them.

A decision locks the pack, answers all its open reports, is kept with who and why, and is told to
the author by an event: all in one transaction.
"""

from collections.abc import Iterable
from datetime import datetime

from django.db import IntegrityError, transaction

from apps.outbox.services import publish
from apps.stickers import errors
from apps.stickers.choices import Outcome, ReportReason
from apps.stickers.models import ModerationDecision, PackModeration, PackReport, StickerPack
from apps.stickers.services.editing import delete_pack
from apps.stickers.services.packs import lock_pack
from apps.stickers.texts import clean_text

TEXT_LIMIT, WHY_LIMIT = 500, 255


def report_pack(
    pack: StickerPack, *, reason: ReportReason, text: str, actor_key: str, now: datetime
) -> PackReport:
    """Keep a complaint for the moderators; an actor has at most one open report of a pack.

    Raises ReportAlreadyOpen.
    """
    try:
        with transaction.atomic():
            return PackReport.objects.create(
                pack=pack,
                actor_key=actor_key,
                open_key=f"{pack.pk}:{actor_key}",
                reason=reason,
                text=clean_text(text, limit=TEXT_LIMIT),
                created_at=now,
            )
    except IntegrityError as error:
        raise errors.ReportAlreadyOpen from error


@transaction.atomic
def decide(
    pack_key: str, outcome: Outcome, *, reason: str, moderator: str, now: datetime
) -> ModerationDecision:
    """Decide about a pack and answer its open reports.

    Raises PackNotFound, InvalidText without a reason, NothingToDecide where all of it holds
    already: a second click does nothing.
    """
    why = clean_text(reason, limit=WHY_LIMIT)
    if not why:
        raise errors.InvalidText("reason", limit=WHY_LIMIT)
    pack = lock_pack(pack_key, owner_jid=None)
    answered = PackReport.objects.filter(pack=pack, outcome=Outcome.OPEN).update(
        outcome=outcome, decided_at=now, open_key=None
    )
    is_changed = _carry_out(pack, outcome)
    if not is_changed and not answered:
        raise errors.NothingToDecide
    decision = ModerationDecision.objects.create(
        pack=pack,
        outcome=outcome,
        reason=why,
        report_count=answered,
        moderator=moderator,
        decided_at=now,
    )
    _tell(pack, decision)
    return decision


def decide_each(
    pack_keys: Iterable[str], outcome: Outcome, *, reason: str, moderator: str, now: datetime
) -> int:
    """Decide about several packs, each in its own transaction; tells about how many.

    Those that are already so, or gone, are passed over.
    """
    count = 0
    for pack_key in list(pack_keys):
        try:
            decide(pack_key, outcome, reason=reason, moderator=moderator, now=now)
        except (errors.NothingToDecide, errors.PackNotFound):
            continue
        count += 1
    return count


def _carry_out(pack: StickerPack, outcome: Outcome) -> bool:
    """Do what was decided; tells whether anything changed."""
    if outcome == Outcome.REMOVED:
        delete_pack(pack.pack_key, owner_jid=None)
        return True
    state, _is_new = PackModeration.objects.get_or_create(pack=pack)
    before = (state.is_hidden, state.is_sensitive)
    if outcome == Outcome.HIDDEN:
        state.is_hidden = True
    elif outcome == Outcome.SENSITIVE:
        state.is_sensitive = True
    elif outcome == Outcome.RESTORED:
        state.is_hidden = state.is_sensitive = False
    if before == (state.is_hidden, state.is_sensitive):
        return False
    state.save()
    payload = {"action": "moderated", "pack_id": pack.pk}
    publish("PACK_UPDATED", "sticker_pack", pack.pk, payload, priority=65)
    return True


def _tell(pack: StickerPack, decision: ModerationDecision) -> None:
    """Authors hear of what was done to their packs; that nothing was, needs no notice."""
    if decision.outcome == Outcome.DISMISSED:
        return
    payload = {
        "pack_id": pack.pk,
        "pack_key": pack.pack_key,
        "owner_jid": pack.owner_jid,
        "outcome": str(decision.outcome),
        "reason": decision.reason,
    }
    publish("PACK_MODERATED", "sticker_pack", pack.pk, payload, priority=65)
