"""Step 3: stickers of one theme, without near copies, as groups ranked by worth. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np

from apps.stickers.curation.rules import Decision, Reason, Rules, Verdict
from apps.stickers.curation.scanning import Judged
from apps.stickers.fingerprints import MAX_COLOUR_DISTANCE, MAX_DISTANCE
from apps.stickers.scoring import clamp, cohesion_score, n6, pair_similarities


@dataclass(frozen=True, slots=True)
class Group:
    """The stickers of a theme, best first, and what the group is worth."""

    theme_key: str
    members: tuple[Judged, ...]
    score: float
    duplicate_rate: float


def group_by_theme(
    judged: Iterable[Judged],
    *,
    incumbents: Mapping[str, str],
    held: AbstractSet[str],
    rules: Rules,
) -> tuple[list[Group], list[Decision]]:
    """Groups of accepted stickers, best first, and why others were left out.

    `incumbents` maps stickers to the theme of the automatic pack that holds them; they come first,
    so that a pack keeps what it has. `held` are themes that have a pack, whatever their size.
    """
    decisions: list[Decision] = []
    by_theme: dict[str, list[Judged]] = defaultdict(list)
    for one in judged:
        if one.candidate.asset_id in incumbents:
            by_theme[incumbents[one.candidate.asset_id]].append(one)
        elif one.refusal is None:
            by_theme[one.theme_key].append(one)
        else:
            decisions.append(_refuse(one, one.refusal))
    groups = []
    for theme_key, ones in sorted(by_theme.items()):
        group, left_out = _group(theme_key, ones, incumbents=incumbents, rules=rules)
        decisions += left_out
        if len(group.members) < rules.min_items and theme_key not in held:
            decisions += [_refuse(one, Reason.GROUP_TOO_SMALL) for one in group.members]
        else:
            groups.append(group)
    groups.sort(key=lambda group: (-group.score, group.theme_key))
    return groups, decisions


def limit_groups(
    groups: Sequence[Group], *, held: AbstractSet[str], rules: Rules
) -> tuple[list[Group], list[Decision]]:
    """Groups of themes that have a pack, and the best of the others up to the dynamic limit."""
    limit = max(rules.min_group_limit, rules.group_limit_base - len(held))
    new = [group for group in groups if group.theme_key not in held]
    beyond = {group.theme_key for group in new[limit:]}
    decisions = [
        Decision(Verdict.SKIPPED, Reason.GROUP_LIMIT, group.theme_key, score=group.score)
        for group in new[limit:]
    ]
    return [group for group in groups if group.theme_key not in beyond], decisions


def near_matrix(ones: Sequence[Judged], rules: Rules) -> np.ndarray:
    """Which stickers look the same: by fingerprint where both have one, else by their scores."""
    count = len(ones)
    near = np.zeros((count, count), dtype=bool)
    upper = np.triu_indices(count, 1)
    near[upper] = pair_similarities([one.candidate.scores for one in ones]) >= rules.duplicate_from
    near |= near.T
    known = np.array([one.candidate.shape is not None for one in ones])
    shapes = np.array([one.candidate.shape or 0 for one in ones], dtype=np.uint64)
    colours = np.array(
        [one.candidate.colour or (0, 0, 0, 0) for one in ones], dtype=np.int16
    ).reshape(count, 4)
    distance = np.bitwise_count(shapes[:, None] ^ shapes[None, :])
    hue = np.abs(colours[:, None] - colours[None, :]).max(axis=2)
    by_print = (distance <= MAX_DISTANCE) & (hue <= MAX_COLOUR_DISTANCE)
    result: np.ndarray = np.where(known[:, None] & known[None, :], by_print, near)
    return result


def cohesion(ones: Sequence[Judged]) -> float:
    """How alike stickers are in what they show, from 0 to 1."""
    return cohesion_score(len(ones), pair_similarities([one.candidate.scores for one in ones]))


def _group(
    theme_key: str, ones: list[Judged], *, incumbents: Mapping[str, str], rules: Rules
) -> tuple[Group, list[Decision]]:
    ones.sort(
        key=lambda one: (
            one.candidate.asset_id not in incumbents,
            -one.robust_score,
            one.candidate.asset_id,
        )
    )
    decisions = [_refuse(one, Reason.OUTRANKED) for one in ones[rules.members_per_group :]]
    ones = ones[: rules.members_per_group]
    near = near_matrix(ones, rules)
    kept: list[int] = []
    for place, one in enumerate(ones):
        if near[place, kept].any() and one.candidate.asset_id not in incumbents:
            decisions.append(_refuse(one, Reason.NEAR_COPY))
        else:
            kept.append(place)
    members = tuple(ones[place] for place in kept)
    duplicate_rate = 1 - len(members) / len(ones)
    score = _score(members, duplicate_rate, rules)
    return Group(theme_key, members, score, duplicate_rate), decisions


def _score(members: Sequence[Judged], duplicate_rate: float, rules: Rules) -> float:
    """What a group is worth: how sure, how alike, how good, how many."""
    if not members:
        return 0.0
    candidates = [one.candidate for one in members]
    confidence = _mean(c.confidence for c in candidates)
    together = 0.45 * _strongest_share([list(one.tags)[1:] for one in members]) + 0.55 * cohesion(
        members
    )
    trait = _strongest_share([c.traits for c in candidates])
    volume = min(1.0, len(members) / rules.target_size)
    return n6(
        confidence
        * (0.55 + 0.45 * together + 0.1 * trait)
        * _mean(one.quality for one in members)
        * (0.75 + 0.25 * volume + 0.12 * _mean(c.margin for c in candidates))
        * max(0.65, 1 - 0.8 * duplicate_rate)
        * (1 + 0.18 * clamp(_mean(c.affinity for c in candidates), 0, 1))
        * max(0.45, 1 - min(0.35, 0.09 * _mean(c.entropy for c in candidates)))
    )


def _strongest_share(words: Sequence[Sequence[str]]) -> float:
    """The share of members that have the most common word."""
    counts = Counter(word for own in words for word in set(own))
    return max(counts.values(), default=0) / len(words)


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)


def _refuse(one: Judged, reason: Reason) -> Decision:
    return Decision(
        Verdict.REFUSED,
        reason,
        one.theme_key,
        asset_id=one.candidate.asset_id,
        score=one.robust_score,
    )
