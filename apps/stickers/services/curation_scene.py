"""Reading everything that a plan of automatic packs is made from, in a constant number of queries.

A sticker may be shown in an automatic pack when somebody shows it publicly, or when it was never in
anybody's pack. What only private, unlisted or deleted packs hold stays with its owner.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.conf import settings
from django.db.models import Count, Exists, OuterRef, QuerySet

from apps.stickers.choices import PackStatus, Visibility
from apps.stickers.curation.rules import Mode, Rules
from apps.stickers.curation.scanning import Candidate
from apps.stickers.curation.states import PackState, Scene
from apps.stickers.models import StickerAsset, StickerPack, StickerPackItem

_COLUMNS = (
    "pk",
    "is_animated",
    "width",
    "height",
    "size_bytes",
    "is_allowed",
    "classification__confidence",
    "classification__entropy",
    "classification__confidence_margin",
    "classification__nsfw_score",
    "classification__is_nsfw",
    "classification__affinity_weight",
    "classification__ambiguous",
    "classification__all_scores",
    "classification__llm_subtags",
    "classification__llm_style_traits",
    "classification__semantic_cluster_slug",
    "classification__similar_images",
    "fingerprint__shape",
    "fingerprint__colour",
)


def current_rules() -> Rules:
    """The rules with what operators changed in the settings."""
    return Rules(
        target_size=settings.CURATION_TARGET_SIZE,
        min_items=settings.CURATION_MIN_ITEMS,
        ready_items=settings.CURATION_READY_ITEMS,
        packs_per_theme=settings.CURATION_PACKS_PER_THEME,
        max_packs=settings.CURATION_MAX_PACKS,
        packs_per_owner=settings.CURATION_PACKS_PER_OWNER,
        max_additions=settings.CURATION_MAX_ADDITIONS,
        max_removals=settings.CURATION_MAX_REMOVALS,
        passes=settings.CURATION_PASSES,
        uses_clusters=settings.CURATION_USES_CLUSTERS,
        needs_approval=settings.CURATION_NEEDS_APPROVAL,
    )


def read_scene(mode: Mode, rules: Rules) -> Scene:
    """Automatic packs with their stickers, and the newest stickers that may join them."""
    packs = _packs()
    held = {asset_id for pack in packs for asset_id in pack.items}
    classified = _classified()
    rows = list(classified.filter(pk__in=held).values_list(*_COLUMNS)) if held else []
    if mode is Mode.ADDITIONS:
        newest = classified.filter(is_allowed=True).order_by("-created_at", "-pk")
        found = newest.values_list(*_COLUMNS)[: settings.CURATION_SCAN_LIMIT]
        rows += [row for row in found if row[0] not in held]
    rows.sort(key=lambda row: row[0])
    return Scene(
        candidates=[_candidate(row) for row in rows],
        packs=packs,
        owner_room=_owner_room(rules),
        mode=mode,
    )


def auto_packs() -> QuerySet[StickerPack]:
    """Automatic packs that are there."""
    return StickerPack.objects.filter(
        is_auto_pack=True, deleted_at=None, pack_theme_key__isnull=False
    )


def _packs() -> list[PackState]:
    packs = list(auto_packs().select_related("auto_control").order_by("pk"))
    items: dict[str, list[str]] = defaultdict(list)
    rows = StickerPackItem.objects.filter(pack__in=auto_packs()).order_by("pack_id", "position")
    for pack_id, sticker_id in rows.values_list("pack_id", "sticker_id"):
        items[pack_id].append(sticker_id)
    return [_state(pack, items[pack.pk]) for pack in packs]


def _state(pack: StickerPack, items: Iterable[str]) -> PackState:
    control = getattr(pack, "auto_control", None)
    return PackState(
        pack_id=pack.pk,
        theme_key=pack.pack_theme_key or "",
        volume=pack.pack_volume or 1,
        owner=pack.owner_jid,
        items=tuple(items),
        status=pack.pack_status,
        version=pack.version,
        is_paused=bool(control and control.is_paused),
        is_approved=bool(control and control.is_approved),
    )


def _classified() -> QuerySet[Any]:
    """Classified stickers, each with whether an automatic pack may show it."""
    own = StickerPackItem.objects.filter(sticker=OuterRef("pk"), pack__is_auto_pack=False)
    public = own.filter(
        pack__deleted_at=None,
        pack__visibility=Visibility.PUBLIC,
        pack__status=PackStatus.PUBLISHED,
    )
    rows = StickerAsset.objects.filter(classification__isnull=False)
    return rows.annotate(is_allowed=~Exists(own) | Exists(public))


def _owner_room(rules: Rules) -> Mapping[str, int]:
    """How many more packs each owner of the pool may have, in its order."""
    owners = settings.CURATION_OWNERS
    packs = StickerPack.objects.filter(owner_jid__in=owners, deleted_at=None)
    counts = dict(packs.values_list("owner_jid").annotate(Count("pk")).order_by())
    return {owner: rules.packs_per_owner - counts.get(owner, 0) for owner in owners}


def _candidate(row: Sequence[Any]) -> Candidate:
    value = dict(zip(_COLUMNS, row, strict=True))
    of = {name.removeprefix("classification__"): found for name, found in value.items()}
    return Candidate(
        asset_id=of["pk"],
        is_animated=of["is_animated"],
        width=of["width"] or 0,
        height=of["height"] or 0,
        size_bytes=of["size_bytes"],
        confidence=float(of["confidence"] or 0),
        entropy=float(of["entropy"] or 0),
        margin=float(of["confidence_margin"] or 0),
        nsfw_score=float(of["nsfw_score"] or 0),
        is_nsfw=of["is_nsfw"],
        affinity=float(of["affinity_weight"] or 0),
        is_ambiguous=of["ambiguous"],
        scores=_numbers(of["all_scores"]),
        words=_texts(of["llm_subtags"]),
        traits=_texts(of["llm_style_traits"]),
        cluster_slug=of["semantic_cluster_slug"] or "",
        max_similarity=_most_similar(of["similar_images"]),
        shape=int(of["fingerprint__shape"], 16) if of["fingerprint__shape"] else None,
        colour=tuple(bytes.fromhex(of["fingerprint__colour"] or "")),
        is_allowed=of["is_allowed"],
    )


def _numbers(scores: Any) -> dict[str, float]:
    """The scores of a row that another program may have written."""
    if not isinstance(scores, dict):
        return {}
    return {
        label: float(score)
        for label, score in scores.items()
        if isinstance(score, float | int) and not isinstance(score, bool)
    }


def _texts(words: Any) -> tuple[str, ...]:
    found = words if isinstance(words, list) else ()
    return tuple(word for word in found if isinstance(word, str))


def _most_similar(similar: Any) -> float:
    entries = similar if isinstance(similar, list) else ()
    values = [
        entry.get("similarity", entry.get("score")) for entry in entries if isinstance(entry, dict)
    ]
    numbers = [float(v) for v in values if isinstance(v, float | int)]
    return min(1.0, max(numbers, default=0.0))
