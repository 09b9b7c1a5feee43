"""What visitors do with packs: counter, event row and domain event in one transaction."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F

from apps.common.fields import now_seconds
from apps.outbox.services import publish
from apps.stickers.choices import Interaction
from apps.stickers.models import InteractionEvent, PackEngagement, StickerPack

COUNTER_OF = {
    Interaction.OPEN: "open_count",
    Interaction.LIKE: "like_count",
    Interaction.DISLIKE: "dislike_count",
}


@transaction.atomic
def record_interaction(
    pack: StickerPack,
    interaction: Interaction,
    *,
    actor_key: str,
    now: datetime,
    session_key: str = "",
    source: str = "web",
) -> bool:
    """Count an open, like or dislike; tells whether it counted.

    An actor likes or dislikes a pack once; opens count each time.
    """
    counters = _locked_counters(pack)
    if interaction != Interaction.OPEN and _has_done(pack, interaction, actor_key):
        return False
    changes: dict[str, Any] = {COUNTER_OF[interaction]: F(COUNTER_OF[interaction]) + 1}
    if interaction == Interaction.OPEN:
        changes["last_opened_at"] = now
    PackEngagement.objects.filter(pk=counters.pk).update(
        **changes, last_interacted_at=now, updated_at=now_seconds()
    )
    InteractionEvent.objects.create(
        pack=pack,
        interaction=interaction,
        actor_key=actor_key or None,
        session_key=session_key or None,
        source=source[:32],
    )
    payload = {"action": str(interaction), "pack_id": pack.pk}
    publish("ENGAGEMENT_RECORDED", "sticker_pack", pack.pk, payload, priority=55)
    return True


def _locked_counters(pack: StickerPack) -> PackEngagement:
    """The pack's counters, made if need be; the lock lets two visitors count one after another."""
    PackEngagement.objects.get_or_create(pack=pack)
    return PackEngagement.objects.select_for_update().get(pack=pack)


def _has_done(pack: StickerPack, interaction: Interaction, actor_key: str) -> bool:
    return InteractionEvent.objects.filter(
        pack=pack, interaction=interaction, actor_key=actor_key
    ).exists()
