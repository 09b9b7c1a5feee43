"""Automatic packs as they are and as they shall be. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.stickers.curation.rules import Decision, Mode, Reason
from apps.stickers.curation.scanning import Candidate

BUILDING, READY, ARCHIVED = "building", "ready", "archived"


@dataclass(frozen=True, slots=True)
class PackState:
    """An automatic pack as it is: its stickers in order, and what an operator said of it."""

    pack_id: str
    theme_key: str
    volume: int
    owner: str
    items: tuple[str, ...]
    status: str = BUILDING
    version: int = 1
    is_paused: bool = False
    is_approved: bool = False


@dataclass(frozen=True, slots=True)
class PackPlan:
    """An automatic pack as it shall be; without `pack_id` it is new."""

    pack_id: str | None
    theme_key: str
    volume: int
    owner: str
    items: tuple[str, ...]
    status: str
    version: int = 0
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything a plan is made from."""

    candidates: Sequence[Candidate]
    packs: Sequence[PackState]
    # How many more packs each owner of the pool may have, in the order of the pool.
    owner_room: Mapping[str, int]
    mode: Mode


@dataclass(frozen=True, slots=True)
class Plan:
    """The packs that change, and every decision with its reason."""

    packs: tuple[PackPlan, ...]
    decisions: tuple[Decision, ...]


@dataclass(slots=True)
class Draft:
    """A pack while its plan is being made."""

    state: PackState | None
    theme_key: str
    volume: int
    owner: str
    items: list[str]
    is_archived: bool = False
    has_extras: bool = False
    archive_reason: Reason = Reason.TOO_FEW

    @property
    def pack_id(self) -> str | None:
        """The pack that is there, if any."""
        return self.state.pack_id if self.state else None


def draft_of(state: PackState) -> Draft:
    """A draft that changes nothing yet."""
    return Draft(state, state.theme_key, state.volume, state.owner, list(state.items))


def fullest_first(drafts: Sequence[Draft]) -> list[Draft]:
    """Drafts by how much they hold; equals by volume and id."""
    return sorted(drafts, key=lambda draft: (-len(draft.items), draft.volume, draft.pack_id or ""))
