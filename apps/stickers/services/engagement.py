"""What visitors do with packs: counter, event row and domain event in one transaction.

The pack's row of counters is locked first, so visitors of one pack count one after another and what
is read after that is the truth: an actor has at most one opinion of a pack, whoever asks at once.
"""

from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F

from apps.common.dialects import retry_deadlocks
from apps.common.fields import now_seconds
from apps.outbox.services import publish
from apps.stickers.choices import Interaction
from apps.stickers.models import InteractionEvent, PackEngagement, StickerPack

COUNTER_OF = {
    Interaction.OPEN: "open_count",
    Interaction.LIKE: "like_count",
    Interaction.DISLIKE: "dislike_count",
}
OPINIONS = (Interaction.LIKE, Interaction.DISLIKE)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
PRUNE_BATCH = 5_000


def record_interaction(
    pack: StickerPack,
    interaction: Interaction,
    *,
    actor_key: str,
    now: datetime,
    address_key: str = "",
    source: str = "web",
) -> bool:
    """Count an open, like or dislike; tells whether it counted.

    An actor likes or dislikes a pack once, and the second opinion takes the place of the first.
    Opens count a few times an hour for each actor, opinions for a limited number of visitors of an
    address each day: a loop of requests moves nothing.
    """
    return retry_deadlocks(
        partial(
            _record,
            pack,
            interaction,
            actor_key=actor_key,
            now=now,
            address_key=address_key,
            source=source,
        )
    )


def withdraw_opinion(pack: StickerPack, interaction: Interaction, *, actor_key: str) -> bool:
    """Take an actor's like or dislike back; tells whether there was one."""
    return retry_deadlocks(partial(_withdraw, pack, interaction, actor_key=actor_key))


def prune_opens(*, now: datetime) -> int:
    """Delete opens that no score looks at any more; opinions stay, for they can be taken back."""
    old = now - timedelta(days=settings.INTERACTION_RETENTION_DAYS)
    opens = InteractionEvent.objects.filter(created_at__lt=old, interaction=Interaction.OPEN)
    deleted = 0
    while ids := list(opens.order_by("created_at").values_list("pk", flat=True)[:PRUNE_BATCH]):
        deleted += InteractionEvent.objects.filter(pk__in=ids).delete()[0]
    return deleted


@transaction.atomic
def _record(
    pack: StickerPack,
    interaction: Interaction,
    *,
    actor_key: str,
    now: datetime,
    address_key: str,
    source: str,
) -> bool:
    _lock_counters(pack)
    done = InteractionEvent.objects.filter(pack=pack, actor_key=actor_key)
    if interaction == Interaction.OPEN:
        recent = done.filter(interaction=interaction, created_at__gt=now - HOUR).count()
        if recent >= settings.ENGAGEMENT_OPENS_PER_HOUR:
            return False
    else:
        if done.filter(interaction=interaction).exists():
            return False
        if address_key and _visitors_of(pack, address_key, now) >= (
            settings.ENGAGEMENT_VISITORS_PER_ADDRESS
        ):
            return False
        for other in OPINIONS:
            _take_back(pack, other, actor_key)
    _count(pack, interaction, now=now)
    InteractionEvent.objects.create(
        pack=pack,
        interaction=interaction,
        actor_key=actor_key or None,
        session_key=address_key or None,
        source=source[:32],
        created_at=now,
    )
    _publish(pack, interaction)
    return True


@transaction.atomic
def _withdraw(pack: StickerPack, interaction: Interaction, *, actor_key: str) -> bool:
    _lock_counters(pack)
    if not _take_back(pack, interaction, actor_key):
        return False
    _publish(pack, f"un{interaction}")
    return True


def _lock_counters(pack: StickerPack) -> None:
    """Lock the pack's counters, made if need be."""
    PackEngagement.objects.get_or_create(pack=pack)
    PackEngagement.objects.select_for_update().get(pack=pack)


def _visitors_of(pack: StickerPack, address_key: str, now: datetime) -> int:
    events = InteractionEvent.objects.filter(
        pack=pack, session_key=address_key, interaction__in=OPINIONS, created_at__gt=now - DAY
    )
    return events.values("actor_key").distinct().count()


def _take_back(pack: StickerPack, interaction: Interaction, actor_key: str) -> int:
    """Delete an actor's opinion and uncount it; adopted rows may hold the same one twice."""
    done = InteractionEvent.objects.filter(pack=pack, interaction=interaction, actor_key=actor_key)
    deleted: int = done.delete()[0]
    if deleted:
        column = COUNTER_OF[interaction]
        counters = PackEngagement.objects.filter(pk=pack.pk)
        # Unsigned columns refuse to go below nothing.
        counters.filter(**{f"{column}__gte": deleted}).update(
            **{column: F(column) - deleted}, updated_at=now_seconds()
        )
    return deleted


def _count(pack: StickerPack, interaction: Interaction, *, now: datetime) -> None:
    changes: dict[str, Any] = {COUNTER_OF[interaction]: F(COUNTER_OF[interaction]) + 1}
    if interaction == Interaction.OPEN:
        changes["last_opened_at"] = now
    PackEngagement.objects.filter(pk=pack.pk).update(
        **changes, last_interacted_at=now, updated_at=now_seconds()
    )


def _publish(pack: StickerPack, action: str) -> None:
    payload = {"action": str(action), "pack_id": pack.pk}
    publish("ENGAGEMENT_RECORDED", "sticker_pack", pack.pk, payload, priority=55)
