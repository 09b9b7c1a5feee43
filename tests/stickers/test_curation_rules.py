"""Automatic packs by rule: who may come in, who leaves, and that a plan settles."""

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.stickers.curation.noise import fnv1a, noise
from apps.stickers.curation.planning import make_plan, summarize
from apps.stickers.curation.rules import Mode, Reason, Rules, Verdict
from apps.stickers.curation.scanning import Candidate, judge
from apps.stickers.curation.states import PackState, Plan, Scene

RULES = Rules()


def candidate(
    name: str, *, label: str = "cartoon", second: str = "smile", **values: Any
) -> Candidate:
    """A good sticker whose picture is like no other's."""
    rng = random.Random(name)
    defaults: dict[str, Any] = {
        "is_animated": False,
        "width": 512,
        "height": 512,
        "size_bytes": 20_000,
        "confidence": 0.7,
        "entropy": 0.6,
        "margin": 0.4,
        "affinity": 0.7,
        "scores": {label: 0.7, second: 0.25, "other": 0.05},
        "shape": rng.getrandbits(63),
        "colour": tuple(rng.randrange(256) for _part in range(4)),
    }
    return Candidate(name, **defaults | values)


def crowd(count: int, prefix: str = "c", **values: Any) -> list[Candidate]:
    return [candidate(f"{prefix}{number:04}", **values) for number in range(count)]


def plan(
    candidates: list[Candidate],
    packs: list[PackState] | None = None,
    *,
    mode: Mode = Mode.ADDITIONS,
    rules: Rules = RULES,
    room: dict[str, int] | None = None,
) -> Plan:
    room = {"auto@pombo": 50} if room is None else room
    return make_plan(Scene(candidates, packs or [], room, mode), rules)


def carried_out(packs: list[PackState], made: Plan) -> list[PackState]:
    """The packs after a plan."""
    after = {pack.pack_id: pack for pack in packs}
    for number, change in enumerate(made.packs):
        pack_id = change.pack_id or f"new-{len(packs)}-{number}"
        if change.status == "archived":
            after.pop(pack_id)
            continue
        after[pack_id] = PackState(
            pack_id, change.theme_key, change.volume, change.owner, change.items, change.status
        )
    return list(after.values())


def pack(items: list[str], theme: str = "cartoon:smile", **values: Any) -> PackState:
    return PackState(
        **{"pack_id": "p1", "theme_key": theme, "volume": 1, "owner": "auto@pombo", "items": ()}
        | {"items": tuple(items)}
        | values
    )


def reasons(made: Plan, verdict: Verdict) -> set[Reason]:
    return {decision.reason for decision in made.decisions if decision.verdict is verdict}


def removed(made: Plan) -> dict[str | None, Reason]:
    return {d.asset_id: d.reason for d in made.decisions if d.verdict is Verdict.REMOVED}


# -- the scan


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"width": 191}, Reason.TOO_SMALL),
        ({"size_bytes": 6143}, Reason.TOO_LIGHT),
        ({"scores": {"cartoon": 0.9, "blurry image": 0.83}}, Reason.BLURRY),
        ({"scores": {"blurry image": 0.5}}, Reason.NO_THEME),
        ({"scores": {"cartoon": 0.25}, "confidence": 0.1, "affinity": 0.0, "entropy": 2.4,
          "is_ambiguous": True, "margin": 0.0}, Reason.LOW_SCORE),
        ({"is_allowed": False}, Reason.NOT_PUBLIC),
    ],
)  # fmt: skip
def test_a_poor_sticker_is_refused_with_the_rule(values: dict[str, Any], reason: Reason) -> None:
    (judged,) = judge([candidate("a", **values)], RULES)
    assert judged.refusal is reason


def test_a_sticker_between_two_themes_is_not_taken_for_either() -> None:
    even = [candidate(f"e{n}", scores={"a": 0.41, "b": 0.41, "c": 0.41}) for n in range(40)]
    refusals = [one.refusal for one in judge(even, RULES)]
    assert refusals.count(Reason.UNSURE_THEME) > 10
    clear = [candidate(f"c{n}", scores={"a": 0.8, "b": 0.2}) for n in range(40)]
    assert {one.refusal for one in judge(clear, RULES)} == {None}


@pytest.mark.parametrize(
    ("values", "theme"),
    [
        ({}, "cartoon:smile"),
        ({"is_animated": True}, "cartoon:smile+animated"),
        ({"nsfw_score": 0.78}, "nsfw-explicit"),
        ({"nsfw_score": 0.4}, "nsfw-suggestive"),
        ({"is_nsfw": True}, "nsfw-suggestive"),
        ({"cluster_slug": "gatos-fofos"}, "gatos-fofos:cartoon"),
        ({"scores": {"anime illustration": 0.9}, "words": ("Ação",)}, "anime:acao"),
    ],
)
def test_a_theme_is_sensitive_content_then_cluster_then_label(
    values: dict[str, Any], theme: str
) -> None:
    assert judge([candidate("a", **values)], RULES)[0].theme_key == theme


def test_better_stickers_score_higher_and_scores_stay_in_bounds() -> None:
    weak, good = judge([candidate("a", confidence=0.4, affinity=0.3), candidate("a")], RULES)
    assert 0 <= weak.robust_score < good.robust_score <= 1.2


def test_the_noise_is_fnv_1a_and_the_same_for_ever() -> None:
    assert [int(value) for value in fnv1a(["", "a", "foobar"])] == [
        0x811C9DC5,
        0xE40C292C,
        0xBF9CF968,
    ]
    assert fnv1a(["foo"], "bar")[0] == fnv1a(["foobar"])[0]
    spread = noise([str(n) for n in range(500)], ":0")
    assert -1 <= spread.min() < -0.8 < 0.8 < spread.max() <= 1
    assert abs(float(np.mean(spread))) < 0.1


# -- packs


def test_a_group_becomes_a_pack_ready_from_twenty() -> None:
    (made,) = plan(crowd(25)).packs
    assert (made.status, len(made.items), made.volume) == ("ready", 25, 1)
    (small,) = plan(crowd(12)).packs
    assert small.status == "building"
    assert reasons(plan(crowd(11)), Verdict.REFUSED) == {Reason.GROUP_TOO_SMALL}


def test_a_pack_never_mixes_still_and_animated() -> None:
    mixed = crowd(15) + crowd(15, "m", is_animated=True)
    themes = {made.theme_key: len(made.items) for made in plan(mixed).packs}
    assert themes == {"cartoon:smile": 15, "cartoon:smile+animated": 15}


def test_near_copies_come_in_once() -> None:
    ones = crowd(20)
    copies = [candidate(f"x{n}", shape=one.shape, colour=one.colour) for n, one in enumerate(ones)]
    made = plan(ones + copies)
    assert len(made.packs[0].items) == 20
    assert Reason.NEAR_COPY in reasons(made, Verdict.REFUSED)


def test_without_fingerprints_equal_scores_count_as_copies() -> None:
    assert plan(crowd(20, shape=None)).packs == ()


def test_what_finds_no_room_is_outranked_and_the_best_are_in() -> None:
    made = plan(crowd(40))
    judged = {one.candidate.asset_id: one.robust_score for one in judge(crowd(40), RULES)}
    (only,) = made.packs
    best = sorted(judged, key=lambda asset: (-judged[asset], asset))[:30]
    assert list(only.items) == best
    assert reasons(made, Verdict.REFUSED) == {Reason.OUTRANKED}


def test_a_second_volume_opens_when_allowed_and_the_first_is_full() -> None:
    made = plan(crowd(45), rules=Rules(packs_per_theme=2))
    assert [len(one.items) for one in made.packs] == [30]
    after = carried_out([], made)
    (second,) = plan(crowd(45), after, rules=Rules(packs_per_theme=2)).packs
    assert (second.volume, len(second.items)) == (2, 15)


def test_new_themes_are_limited_and_the_best_come_first() -> None:
    rules = Rules(group_limit_base=3)
    ones = [one for n in range(5) for one in crowd(12, f"g{n}", label=f"label {n}")]
    made = plan(ones, rules=rules)
    assert len(made.packs) == 3
    assert Reason.GROUP_LIMIT in reasons(made, Verdict.SKIPPED)


@pytest.mark.parametrize(
    ("rules", "room", "reason"),
    [
        (Rules(max_packs=0), None, Reason.PACK_LIMIT),
        (Rules(), {"a": 0}, Reason.OWNERS_FULL),
        (Rules(), {}, Reason.OWNERS_FULL),
        (Rules(max_additions=10), None, Reason.BUDGET),
    ],
)
def test_limits_stand_in_the_way_and_are_named(
    rules: Rules, room: dict[str, int] | None, reason: Reason
) -> None:
    made = plan(crowd(20), rules=rules, room=room)
    assert made.packs == ()
    assert reason in reasons(made, Verdict.SKIPPED)


def test_packs_go_to_the_owner_with_most_room() -> None:
    ones = [one for n in range(3) for one in crowd(12, f"g{n}", label=f"label {n}")]
    made = plan(ones, room={"a": 2, "b": 3})
    assert sorted(one.owner for one in made.packs) == ["a", "b", "b"]


def test_the_budget_of_additions_holds_over_all_packs() -> None:
    ones = [one for n in range(3) for one in crowd(20, f"g{n}", label=f"label {n}")]
    made = plan(ones, rules=Rules(max_additions=35))
    assert sum(len(one.added) for one in made.packs) == 35


def test_a_pack_is_filled_from_its_theme() -> None:
    ones = crowd(25)
    (made,) = plan(ones, [pack([one.asset_id for one in ones[:15]])]).packs
    assert (len(made.added), len(made.items), made.status) == (10, 25, "ready")


def test_rebuild_adds_nothing() -> None:
    ones = crowd(25)
    made = plan(ones, [pack([one.asset_id for one in ones[:15]])], mode=Mode.REBUILD)
    assert all(not one.added for one in made.packs)
    assert Verdict.ADDED not in {decision.verdict for decision in made.decisions}


# -- who leaves


def test_sensitive_and_private_stickers_leave_at_once_whatever_the_budget() -> None:
    ones = [*crowd(20), candidate("nsfw", nsfw_score=0.9), candidate("private", is_allowed=False)]
    made = plan(ones, [pack([one.asset_id for one in ones])], rules=Rules(max_removals=0))
    assert removed(made) == {"nsfw": Reason.SENSITIVE, "private": Reason.NOT_PUBLIC}


def test_a_sticker_leaves_only_for_a_clearly_stronger_theme() -> None:
    near = candidate("near", scores={"horror": 0.5, "cartoon": 0.3})
    far = candidate("far", scores={"horror": 0.8, "cartoon": 0.2})
    ones = [*crowd(20), near, far]
    made = plan(ones, [pack([one.asset_id for one in ones])])
    assert removed(made) == {"far": Reason.MOVED_THEME}


def test_a_rebuild_takes_out_what_a_pack_would_not_take_today() -> None:
    ones = crowd(20)
    blurry = candidate("blurry", scores={"cartoon": 0.7, "blurry image": 0.9})
    copy = candidate("copy", shape=ones[0].shape, colour=ones[0].colour, confidence=0.3)
    scene = [*ones, blurry, copy]
    packs = [pack([one.asset_id for one in scene])]
    assert removed(plan(scene, packs)) == {}
    found = removed(plan(scene, packs, mode=Mode.REBUILD))
    assert found == {"blurry": Reason.BLURRY, "copy": Reason.NEAR_COPY}


def test_the_removal_budget_holds_and_a_rebuilt_pack_waits_for_the_rest() -> None:
    ones = crowd(22) + crowd(4, "w", size_bytes=100)
    packs = [pack([one.asset_id for one in ones], status="ready")]
    made = plan(ones, packs, mode=Mode.REBUILD, rules=Rules(max_removals=3))
    (only,) = made.packs
    assert (len(only.removed), only.status) == (3, "building")
    (rest,) = plan(ones, carried_out(packs, made), mode=Mode.REBUILD).packs
    assert (len(rest.removed), rest.status) == (1, "ready")


def test_unclassified_stickers_stay() -> None:
    assert removed(plan(crowd(15), [pack([f"c{n:04}" for n in range(15)] + ["unknown"])])) == {}


# -- consolidation, pausing, approval


def test_small_packs_give_their_stickers_to_the_fullest() -> None:
    ones = crowd(25)
    names = [one.asset_id for one in ones]
    packs = [pack(names[:15], volume=3), pack(names[15:], pack_id="p2", volume=1)]
    made = {change.pack_id: change for change in plan(ones, packs).packs}
    assert (made["p1"].volume, len(made["p1"].items), made["p1"].status) == (1, 25, "ready")
    assert (made["p2"].status, made["p2"].items) == ("archived", ())


def test_a_pack_that_stays_too_small_is_archived() -> None:
    ones = crowd(8)
    made = plan(ones, [pack([one.asset_id for one in ones])])
    assert [change.status for change in made.packs] == ["archived"]
    assert reasons(made, Verdict.ARCHIVED) == {Reason.TOO_FEW}


def test_a_paused_theme_is_left_as_it_is() -> None:
    ones = crowd(40)
    made = plan(ones, [pack([one.asset_id for one in ones[:5]], is_paused=True)])
    assert made.packs == ()
    assert reasons(made, Verdict.SKIPPED) == {Reason.PAUSED}


def test_a_pack_waits_for_approval_when_that_is_asked_for() -> None:
    rules = Rules(needs_approval=True)
    (made,) = plan(crowd(25), rules=rules).packs
    assert made.status == "building"
    (waiting,) = carried_out([], plan(crowd(25), rules=rules))
    approved = PackState(
        waiting.pack_id, waiting.theme_key, 1, waiting.owner, waiting.items, is_approved=True
    )
    (ready,) = plan(crowd(25), [approved], rules=rules).packs
    assert ready.status == "ready"


# -- the whole


@settings(max_examples=25, deadline=None)
@given(
    sizes=st.lists(st.integers(0, 40), min_size=1, max_size=4),
    limits=st.tuples(st.integers(1, 3), st.integers(0, 60), st.integers(0, 10)),
    seed=st.integers(0, 1000),
)
def test_e7_a_plan_that_was_carried_out_settles(
    sizes: list[int], limits: tuple[int, int, int], seed: int
) -> None:
    rules = Rules(packs_per_theme=limits[0], max_additions=limits[1], max_removals=limits[2])
    rng = random.Random(seed)
    ones = [
        candidate(
            f"{seed}-{group}-{n}",
            label=f"label {group}",
            size_bytes=rng.choice([100, 20_000]),
            confidence=rng.random(),
            is_allowed=rng.random() > 0.1,
        )
        for group, size in enumerate(sizes)
        for n in range(size)
    ]
    packs: list[PackState] = []
    for _run in range(12):
        for mode in (Mode.ADDITIONS, Mode.REBUILD):
            packs = carried_out(packs, plan(ones, packs, mode=mode, rules=rules))
    for mode in (Mode.ADDITIONS, Mode.REBUILD):
        assert plan(ones, packs, mode=mode, rules=rules).packs == ()
    held = [item for one in packs for item in one.items]
    assert len(held) == len(set(held))
    assert all(12 <= len(one.items) <= 30 for one in packs)


def test_the_same_scene_gives_the_same_plan_in_any_order() -> None:
    ones = crowd(60) + crowd(30, "h", label="horror")
    mixed = random.Random(7).sample(ones, len(ones))
    assert plan(ones).packs == plan(mixed).packs


def test_a_summary_counts_every_decision() -> None:
    made = plan(crowd(40))
    assert summarize(made.decisions) == {
        "added:fits": 30,
        "created:new_theme": 1,
        "refused:outranked": 10,
    }
