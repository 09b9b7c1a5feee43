"""What the catalogue's front shows: collections by intent, creators, recommendations. Pure.

Source: the marketplace service of OmniZap 2.2.5 (vectors `d_marketplace`). The names of the
collections are those of its API.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from apps.stickers.scoring import n6

MIN_LIMIT, MAX_LIMIT = 4, 50
MIN_CREATORS, MAX_CREATORS = 5, 200
HOT_FROM_SCORE, LIKED_FROM = 0.65, 12
UNKNOWN_PUBLISHER = "Unknown"
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Entry:
    """A pack as the front knows it."""

    pack_id: str
    publisher: str = ""
    updated_at: datetime | None = None
    like_count: int = 0
    dislike_count: int = 0
    open_count: int = 0
    ranking_score: float = 0.0
    pack_score: float = 0.0
    trend_score: float = 0.0
    is_trending: bool = False
    nsfw_level: str = "safe"
    tags: Sequence[str] = ()

    @property
    def is_safe(self) -> bool:
        """Whether it may be shown to anybody unasked."""
        return self.nsfw_level == "safe"


@dataclass(frozen=True, slots=True)
class Creator:
    """A publisher's packs taken together."""

    publisher: str
    creator_score: float
    packs_count: int
    total_likes: int
    total_opens: int
    avg_pack_score: float
    top_pack: str


@dataclass(slots=True)
class _Group:
    publisher: str
    entries: list[Entry] = field(default_factory=list)


def intent_of(*, is_trending: bool, pack_score: float, like_count: int) -> str:
    """The one collection that names a pack best."""
    if is_trending:
        return "crescendo_agora"
    if pack_score >= HOT_FROM_SCORE:
        return "em_alta"
    return "mais_curtidos" if like_count >= LIKED_FROM else "novos"


def intent_collections(entries: Sequence[Entry], *, limit: int = 18) -> dict[str, list[str]]:
    """Five collections of pack ids. All but the growing ones hold safe packs alone."""
    most = max(MIN_LIMIT, min(MAX_LIMIT, limit))
    safe = [entry for entry in entries if entry.is_safe]
    growing = [entry for entry in entries if entry.is_trending]
    orders = {
        "em_alta": sorted(safe, key=lambda entry: -entry.ranking_score),
        "novos": sorted(safe, key=lambda entry: entry.updated_at or BEGINNING, reverse=True),
        "crescendo_agora": sorted(growing, key=lambda entry: -entry.trend_score),
        "mais_curtidos": sorted(safe, key=lambda entry: -entry.like_count),
        "melhor_avaliados": sorted(safe, key=lambda e: e.dislike_count - e.like_count),
    }
    return {name: [entry.pack_id for entry in found[:most]] for name, found in orders.items()}


def creator_score(*, avg_pack_score: float, total_likes: int, total_opens: int) -> float:
    """What creators are ranked by."""
    return n6(0.45 * avg_pack_score + 0.0008 * total_likes + 0.00015 * total_opens)


def creator_ranking(entries: Sequence[Entry], *, limit: int = 50) -> list[Creator]:
    """Publishers by the mean score of their packs and what visitors did with them.

    Names that differ in case or in blanks around them are one publisher, named as met first.
    """
    groups: dict[str, _Group] = {}
    for entry in entries:
        name = entry.publisher.strip() or UNKNOWN_PUBLISHER
        groups.setdefault(name.casefold(), _Group(name)).entries.append(entry)
    ranked = sorted(map(_creator, groups.values()), key=lambda creator: -creator.creator_score)
    return ranked[: max(MIN_CREATORS, min(MAX_CREATORS, limit))]


def tag_affinity(viewed: Mapping[str, int], tags_of: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """How often a viewer met each tag: packs by interactions, each counting at least once."""
    affinity: dict[str, int] = {}
    for pack_id, interactions in viewed.items():
        for tag in tags_of.get(pack_id, ()):
            name = tag.strip().lower()
            affinity[name] = affinity.get(name, 0) + max(1, interactions)
    return affinity


def recommendations(
    entries: Sequence[Entry],
    affinity: Mapping[str, int],
    *,
    exclude: Sequence[str] = (),
    limit: int = 18,
) -> list[str]:
    """Safe packs that the viewer has not met, by score, shared tags and trend."""
    known = set(exclude)
    open_to = [entry for entry in entries if entry.is_safe and entry.pack_id not in known]
    open_to.sort(key=lambda entry: -_appeal(entry, affinity))
    most = max(MIN_LIMIT, min(MAX_LIMIT, limit))
    return [entry.pack_id for entry in open_to[:most]]


def _appeal(entry: Entry, affinity: Mapping[str, int]) -> float:
    shared = sum(affinity.get(tag.strip().lower(), 0) for tag in entry.tags)
    return 0.7 * entry.pack_score + 0.04 * shared + 0.2 * entry.trend_score


def _creator(group: _Group) -> Creator:
    mean = n6(sum(entry.pack_score for entry in group.entries) / len(group.entries))
    likes = sum(entry.like_count for entry in group.entries)
    opens = sum(entry.open_count for entry in group.entries)
    return Creator(
        publisher=group.publisher,
        creator_score=creator_score(avg_pack_score=mean, total_likes=likes, total_opens=opens),
        packs_count=len(group.entries),
        total_likes=likes,
        total_opens=opens,
        avg_pack_score=mean,
        top_pack=max(group.entries, key=lambda entry: entry.pack_score).pack_id,
    )
