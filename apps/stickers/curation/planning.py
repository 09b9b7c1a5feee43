"""Steps 1, 4 and 6: what each automatic pack shall hold, within all budgets. Pure.

The same scene gives the same plan, and the plan of a scene that has been carried out is empty: so
a run that changes packs never makes the next run change them again (E7).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from apps.stickers.curation.grouping import (
    Group,
    cohesion,
    group_by_theme,
    limit_groups,
    near_matrix,
)
from apps.stickers.curation.rules import (
    NSFW_THEMES,
    Decision,
    Mode,
    Reason,
    Rules,
    Verdict,
)
from apps.stickers.curation.scanning import ANIMATED, Judged, judge
from apps.stickers.curation.states import (
    ARCHIVED,
    BUILDING,
    READY,
    Draft,
    PackPlan,
    Plan,
    Scene,
    draft_of,
    fullest_first,
)

# What may not wait for a budget.
URGENT = frozenset({Reason.SENSITIVE, Reason.NOT_PUBLIC})
MAX_THEMES, MAX_MERGED = 1000, 2000


def make_plan(scene: Scene, rules: Rules) -> Plan:
    """What one run shall change, and why it leaves the rest."""
    return _Planner(scene, rules).plan()


@dataclass(slots=True)
class _Planner:
    """The state of one planning: drafts, budgets and decisions."""

    scene: Scene
    rules: Rules
    decisions: list[Decision] = field(default_factory=list)
    drafts: dict[str, list[Draft]] = field(default_factory=dict)
    known: dict[str, Judged] = field(default_factory=dict)
    room: dict[str, int] = field(default_factory=dict)
    additions_left: int = 0
    removals_left: int = 0
    packs_left: int = 0

    def plan(self) -> Plan:
        """Consolidate, clean, fill, and compare with what is there."""
        rules, scene = self.rules, self.scene
        self.known = {one.candidate.asset_id: one for one in judge(list(scene.candidates), rules)}
        self.room = dict(scene.owner_room)
        self.additions_left, self.removals_left = rules.max_additions, rules.max_removals
        self.packs_left = rules.max_packs - len(scene.packs)
        paused = self._open_drafts()
        self._keep_the_fullest()
        self._clean()
        if scene.mode is Mode.ADDITIONS:
            self._add(paused)
        self._drop_the_small()
        plans = []
        for draft in self._all_drafts():
            if plan := self._finished(draft):
                plans.append(plan)
                self._decide_about_pack(draft, plan)
        return Plan(tuple(plans), tuple(self.decisions))

    def _open_drafts(self) -> set[str]:
        """Drafts of the packs by theme, without themes that an operator paused."""
        paused = {pack.theme_key for pack in self.scene.packs if pack.is_paused}
        by_theme: dict[str, list[Draft]] = defaultdict(list)
        for pack in self.scene.packs:
            if pack.theme_key in paused:
                self._decide(Verdict.SKIPPED, Reason.PAUSED, pack.theme_key, pack_id=pack.pack_id)
            else:
                by_theme[pack.theme_key].append(draft_of(pack))
        self.drafts = {key: fullest_first(ones) for key, ones in sorted(by_theme.items())}
        return paused

    # -- 1: one anchor for each theme

    def _keep_the_fullest(self) -> None:
        """Archive packs beyond the limit of their theme, and small ones beside a fuller one.

        Before additions they give their stickers to the fullest, the anchor, as far as it has room.
        """
        merged = 0
        for drafts in list(self.drafts.values())[:MAX_THEMES]:
            anchor, *others = drafts
            for place, draft in enumerate(others, 2):
                if place <= self.rules.packs_per_theme and len(draft.items) >= self.rules.min_items:
                    continue
                if self.scene.mode is Mode.ADDITIONS and merged < MAX_MERGED:
                    merged += self._merge(anchor, draft)
                draft.is_archived = True
                draft.archive_reason = Reason.BEYOND_LIMIT
            for volume, draft in enumerate((d for d in drafts if not d.is_archived), 1):
                draft.volume = volume

    def _merge(self, anchor: Draft, draft: Draft) -> int:
        free = self.rules.target_size - len(anchor.items)
        moved = [asset for asset in draft.items if asset not in anchor.items][: max(0, free)]
        anchor.items += moved
        for asset_id in moved:
            self._decide(
                Verdict.ADDED,
                Reason.MERGED,
                anchor.theme_key,
                asset_id=asset_id,
                pack_id=anchor.pack_id,
            )
        return len(moved)

    # -- 4 and 6: what leaves, what comes

    def _clean(self) -> None:
        """Take out what no longer belongs; what is urgent at once, the rest within the budget."""
        seen: set[str] = set()
        for draft in self._all_drafts():
            if draft.is_archived:
                continue
            reasons = self._unfit(draft, seen)
            for asset_id in list(draft.items):
                reason = reasons.get(asset_id)
                if reason is None:
                    seen.add(asset_id)
                elif reason in URGENT or self.removals_left > 0:
                    self.removals_left -= reason not in URGENT
                    draft.items.remove(asset_id)
                    self._decide(
                        Verdict.REMOVED,
                        reason,
                        draft.theme_key,
                        asset_id=asset_id,
                        pack_id=draft.pack_id,
                    )
                else:
                    draft.has_extras = True

    def _unfit(self, draft: Draft, seen: set[str]) -> dict[str, Reason]:
        """The stickers of a pack that should leave it in this run."""
        ones = [self.known[asset] for asset in draft.items if asset in self.known]
        must = {
            one.candidate.asset_id: reason
            for one in ones
            if (reason := _must_leave(one, draft.theme_key, self.rules))
        }
        must |= {asset: Reason.NEAR_COPY for asset in draft.items if asset in seen} | must
        rest = [one for one in ones if one.candidate.asset_id not in must]
        may = _may_leave(rest, self.rules)
        is_loose = cohesion(rest) < self.rules.rebuild_below_cohesion
        if self.scene.mode is Mode.REBUILD or is_loose:
            return may | must
        return must

    def _add(self, paused: set[str]) -> None:
        """Fill packs with the best of their themes, and found packs of new themes."""
        incumbents = {
            asset_id: draft.theme_key for draft in self._all_drafts() for asset_id in draft.items
        }
        resting = {
            item for pack in self.scene.packs if pack.theme_key in paused for item in pack.items
        }
        open_ones = (
            one
            for one in self.known.values()
            if one.theme_key not in paused and one.candidate.asset_id not in resting
        )
        held = set(self.drafts)
        groups, refused = group_by_theme(
            open_ones, incumbents=incumbents, held=held, rules=self.rules
        )
        groups, skipped = limit_groups(groups, held=held, rules=self.rules)
        self.decisions += refused + skipped
        for group in groups:
            fresh = [one for one in group.members if one.candidate.asset_id not in incumbents]
            self._fill(group, fresh)

    def _fill(self, group: Group, fresh: list[Judged]) -> None:
        """Put a theme's new stickers into its packs, then into one more pack if that is due."""
        drafts = [draft for draft in self.drafts.get(group.theme_key, []) if not draft.is_archived]
        for draft in drafts:
            free = max(0, min(self.rules.target_size - len(draft.items), self.additions_left))
            self._put(draft, fresh[:free])
            fresh = fresh[free:]
        if fresh and self._may_found(group, drafts, fresh):
            draft = self._found(group.theme_key, volume=len(drafts) + 1)
            count = min(self.rules.target_size, self.additions_left)
            self._put(draft, fresh[:count])
            fresh = fresh[count:]
        reason = Reason.OUTRANKED if self.additions_left else Reason.BUDGET
        for one in fresh:
            self._decide(
                Verdict.REFUSED,
                reason,
                group.theme_key,
                asset_id=one.candidate.asset_id,
                score=one.robust_score,
            )

    def _may_found(self, group: Group, drafts: Sequence[Draft], fresh: Sequence[Judged]) -> bool:
        """Whether a new pack is due; when something stands in its way, say what."""
        is_full = all(len(draft.items) >= self.rules.target_size for draft in drafts)
        if len(drafts) >= self.rules.packs_per_theme or not is_full:
            return False
        if len(fresh) < self.rules.min_items:
            return False
        hurdle = None
        if self.packs_left <= 0:
            hurdle = Reason.PACK_LIMIT
        elif max(self.room.values(), default=0) <= 0:
            hurdle = Reason.OWNERS_FULL
        elif self.additions_left < self.rules.min_items:
            hurdle = Reason.BUDGET
        if hurdle:
            self._decide(Verdict.SKIPPED, hurdle, group.theme_key, score=group.score)
        return hurdle is None

    def _found(self, theme_key: str, *, volume: int) -> Draft:
        """A new pack on the owner with most room; the first of equals in the pool."""
        owner = max(self.room, key=lambda name: self.room[name])
        self.room[owner] -= 1
        self.packs_left -= 1
        draft = Draft(None, theme_key, volume, owner, [])
        self.drafts.setdefault(theme_key, []).append(draft)
        return draft

    def _put(self, draft: Draft, ones: Iterable[Judged]) -> None:
        for one in ones:
            draft.items.append(one.candidate.asset_id)
            self.additions_left -= 1
            self._decide(
                Verdict.ADDED,
                Reason.FITS,
                draft.theme_key,
                asset_id=one.candidate.asset_id,
                pack_id=draft.pack_id,
                score=one.robust_score,
            )

    # -- the end

    def _drop_the_small(self) -> None:
        for draft in self._all_drafts():
            if len(draft.items) < self.rules.min_items:
                draft.is_archived = True

    def _finished(self, draft: Draft) -> PackPlan | None:
        """The plan of a draft, None when nothing changes."""
        items = () if draft.is_archived else tuple(sorted(draft.items, key=self._rank))
        status = self._status(draft)
        state = draft.state
        if state is None and draft.is_archived:
            return None
        before = state.items if state else ()
        if state and (state.items, state.status, state.volume) == (items, status, draft.volume):
            return None
        return PackPlan(
            pack_id=draft.pack_id,
            theme_key=draft.theme_key,
            volume=draft.volume,
            owner=draft.owner,
            items=items,
            status=status,
            version=state.version if state else 0,
            added=tuple(asset for asset in items if asset not in before),
            removed=tuple(asset for asset in before if asset not in items),
        )

    def _status(self, draft: Draft) -> str:
        if draft.is_archived:
            return ARCHIVED
        is_approved = draft.state is not None and draft.state.is_approved
        if self.rules.needs_approval and not is_approved:
            return BUILDING
        is_full = len(draft.items) >= self.rules.ready_items
        is_clean = not (draft.has_extras and self.scene.mode is Mode.REBUILD)
        return READY if is_full and is_clean else BUILDING

    def _rank(self, asset_id: str) -> tuple[float, str]:
        one = self.known.get(asset_id)
        return (-one.robust_score if one else 0.0, asset_id)

    def _decide_about_pack(self, draft: Draft, plan: PackPlan) -> None:
        """What happens to a pack, in one decision."""
        if plan.pack_id is None:
            reason = Reason.NEW_THEME if plan.volume == 1 else Reason.NEXT_VOLUME
            self._decide(Verdict.CREATED, reason, plan.theme_key)
        elif plan.status == ARCHIVED:
            self._decide(
                Verdict.ARCHIVED, draft.archive_reason, plan.theme_key, pack_id=plan.pack_id
            )
        else:
            self._decide(Verdict.CHANGED, Reason.CONTENTS, plan.theme_key, pack_id=plan.pack_id)

    def _all_drafts(self) -> list[Draft]:
        return [draft for drafts in self.drafts.values() for draft in drafts]

    def _decide(
        self,
        verdict: Verdict,
        reason: Reason,
        theme_key: str,
        *,
        asset_id: str | None = None,
        pack_id: str | None = None,
        score: float | None = None,
    ) -> None:
        self.decisions.append(Decision(verdict, reason, theme_key, asset_id, pack_id, score))


def _must_leave(one: Judged, theme_key: str, rules: Rules) -> Reason | None:
    """Why a sticker leaves a pack of this theme in any run; None when it may stay."""
    theme = theme_key.removesuffix(ANIMATED)
    if not one.candidate.is_allowed:
        return Reason.NOT_PUBLIC
    if one.is_sensitive and theme != one.theme_key.removesuffix(ANIMATED):
        return Reason.SENSITIVE
    if one.candidate.is_animated != theme_key.endswith(ANIMATED):
        return Reason.MOVED_THEME
    if one.theme_key == theme_key:
        return None
    if theme in NSFW_THEMES:
        return Reason.MOVED_THEME
    distance = one.theme_score - one.score_in(theme_key)
    return Reason.MOVED_THEME if distance >= rules.move_out_from else None


def _may_leave(ones: Sequence[Judged], rules: Rules) -> dict[str, Reason]:
    """Stickers that a pack would not take today: refused ones, and copies of better ones."""
    reasons = {one.candidate.asset_id: one.refusal for one in ones if one.refusal}
    ranked = sorted(
        (one for one in ones if not one.refusal),
        key=lambda one: (-one.robust_score, one.candidate.asset_id),
    )
    near = near_matrix(ranked, rules)
    kept: list[int] = []
    for place, one in enumerate(ranked):
        if near[place, kept].any():
            reasons[one.candidate.asset_id] = Reason.NEAR_COPY
        else:
            kept.append(place)
    return reasons


def summarize(decisions: Iterable[Decision]) -> Mapping[str, int]:
    """How many decisions there were of each kind, as `verdict:reason`."""
    counts: dict[str, int] = defaultdict(int)
    for decision in decisions:
        counts[f"{decision.verdict}:{decision.reason}"] += 1
    return dict(sorted(counts.items()))
