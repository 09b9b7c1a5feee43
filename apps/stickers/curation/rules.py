"""The rules of automatic packs, and the words in which their decisions are told. Pure."""

from dataclasses import dataclass
from enum import StrEnum

NSFW_THEMES = ("nsfw-explicit", "nsfw-suggestive")


class Mode(StrEnum):
    """Adding what is new, or putting in order what is there."""

    ADDITIONS = "additions"
    REBUILD = "rebuild"


class Verdict(StrEnum):
    """What was decided about a sticker or a pack."""

    ADDED = "added"
    REMOVED = "removed"
    REFUSED = "refused"
    CREATED = "created"
    CHANGED = "changed"
    ARCHIVED = "archived"
    SKIPPED = "skipped"


class Reason(StrEnum):
    """Why."""

    # of stickers
    FITS = "fits"
    TOO_SMALL = "too_small"
    TOO_LIGHT = "too_light"
    BLURRY = "blurry"
    NO_THEME = "no_theme"
    WEAK_THEME = "weak_theme"
    LOW_SCORE = "low_score"
    UNSURE_THEME = "unsure_theme"
    NEAR_COPY = "near_copy"
    OUTRANKED = "outranked"
    SENSITIVE = "sensitive"
    NOT_PUBLIC = "not_public"
    MOVED_THEME = "moved_theme"
    LOW_COHESION = "low_cohesion"
    MERGED = "merged"
    # of groups and packs
    GROUP_TOO_SMALL = "group_too_small"
    GROUP_LIMIT = "group_limit"
    PACK_LIMIT = "pack_limit"
    OWNERS_FULL = "owners_full"
    BUDGET = "budget"
    NEW_THEME = "new_theme"
    NEXT_VOLUME = "next_volume"
    CONTENTS = "contents"
    BEYOND_LIMIT = "beyond_limit"
    TOO_FEW = "too_few"
    PAUSED = "paused"
    CHANGED_MEANWHILE = "changed_meanwhile"


@dataclass(frozen=True, slots=True)
class Rules:
    """The figures of behaviour notes 6.5; those that operators may change come from settings."""

    target_size: int = 30
    min_items: int = 12
    ready_items: int = 20
    packs_per_theme: int = 1
    max_packs: int = 300
    packs_per_owner: int = 50
    max_additions: int = 300
    max_removals: int = 120
    passes: int = 3
    uses_clusters: bool = True
    needs_approval: bool = False
    # What a sticker must be.
    min_side: int = 192
    min_size_bytes: int = 6 * 1024
    max_blur: float = 0.82
    top_tags: int = 3
    tag_from: float = 0.2
    explicit_from: float = 0.78
    suggestive_from: float = 0.4
    # What its votes must be.
    jitter: float = 0.15
    min_score: float = 0.3
    min_acceptance: float = 0.5
    min_dominance: float = 0.55
    move_in_from: float = 0.12
    move_out_from: float = 0.22
    # Groups.
    duplicate_from: float = 0.985
    members_per_group: int = 300
    group_limit_base: int = 30
    min_group_limit: int = 3
    rebuild_below_cohesion: float = 0.56


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision with its reason: about a sticker, or (without `asset_id`) about a pack."""

    verdict: Verdict
    reason: Reason
    theme_key: str = ""
    asset_id: str | None = None
    pack_id: str | None = None
    score: float | None = None
