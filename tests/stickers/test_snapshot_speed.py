"""The array form of the formulas equals the plain one, and costs the same queries for any set."""

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from django.db import close_old_connections, connection, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.stickers import bulk_scoring, scoring
from apps.stickers.bulk_scoring import PackRow, StickerColumns, round_six, score_packs
from apps.stickers.models import AssetClassification, PackScoreSnapshot, StickerPack
from apps.stickers.services import snapshots
from tests.stickers.factories import make_pack

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LABELS = ("cartoon", "animation", "blurry image", "low quality compressed image", "nsfw content")

numbers = st.one_of(st.floats(0, 1), st.integers(0, 1), st.sampled_from(["0.5", None, "x"]))
scores = st.one_of(st.none(), st.dictionaries(st.sampled_from(LABELS), numbers))
stickers = st.fixed_dictionaries(
    {
        "width": st.sampled_from([None, 0, 96, 512]),
        "height": st.sampled_from([None, 512]),
        "size_bytes": st.integers(0, 100_000),
        "all_scores": scores,
        "category": st.sampled_from([None, "", *LABELS]),
        "nsfw_score": st.one_of(st.none(), st.floats(0, 1)),
        "is_nsfw": st.booleans(),
    }
)
packs = st.lists(
    st.tuples(st.lists(stickers, max_size=5), *[st.integers(0, 400)] * 5, st.integers(-3, 400)),
    min_size=1,
    max_size=6,
)

weights = st.one_of(
    st.none(), st.dictionaries(st.sampled_from(list(scoring.WEIGHT_BOUNDS)), st.floats(0, 2))
)


def columns_of(drawn: list[Any]) -> StickerColumns:
    rows = [(place, row) for place, pack in enumerate(drawn) for row in pack[0]]
    return StickerColumns(
        np.array([place for place, _row in rows], dtype=np.int64),
        *(
            np.array([row[name] or 0 for _place, row in rows], dtype=float)
            for name in ("width", "height", "size_bytes")
        ),
        scores=[row["all_scores"] for _place, row in rows],
        categories=[row["category"] for _place, row in rows],
        nsfw_scores=[row["nsfw_score"] for _place, row in rows],
        is_nsfw=[row["is_nsfw"] for _place, row in rows],
    )


def plainly(pack: Any, weights: Any) -> tuple[dict[str, Any], list[str]]:
    """What the pure formulas say of one pack."""
    items, likes, opens, dislikes, horizon, baseline, days = pack
    known = [item for item in items if item["all_scores"] is not None]
    summary = scoring.pack_summary(known, [str(place) for place, _item in enumerate(items)])
    signals = scoring.pack_signals(
        pack={"items": [{"asset": i} for i in items], "updated_at": NOW - timedelta(days=days)},
        engagement={"like_count": likes, "open_count": opens, "dislike_count": dislikes},
        pack_classification=summary,
        item_classifications=known,
        interaction_stats={"open_horizon": horizon, "open_baseline": baseline},
        scoring_weights=weights,
        now=NOW,
    )
    return signals, summary.get("tags", [])


@settings(max_examples=150, deadline=None)
@given(drawn=packs, cells=st.sampled_from([1, bulk_scoring.MAX_CELLS]), weights=weights)
def test_many_packs_at_once_score_as_each_alone(
    drawn: list[Any], cells: int, weights: dict[str, Any] | None
) -> None:
    rows = [
        PackRow("p", NOW - timedelta(days=pack[6]), *pack[1:6]) for pack in drawn
    ]  # likes, opens, dislikes, horizon, baseline
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bulk_scoring, "MAX_CELLS", cells)
        found = score_packs(rows, columns_of(drawn), now=NOW, scoring_weights=weights)
    for pack, got in zip(drawn, found, strict=True):
        signals, tags = plainly(pack, weights)
        assert got.tags == tags
        assert got.sticker_count == len(pack[0])
        assert set(got.signals) == set(signals)
        for name, value in signals.items():
            expected = pytest.approx(value, abs=1.01e-6) if isinstance(value, float) else value
            assert got.signals[name] == expected, name


@given(st.lists(st.floats(-50, 50), min_size=1))
def test_arrays_round_as_single_numbers_do(values: list[float]) -> None:
    assert round_six(np.array(values)).tolist() == [scoring.n6(value) for value in values]


@pytest.mark.parametrize(("value", "rounded"), [(0.0078125, 0.007813), (0.1234565, 0.123456)])
def test_halves_in_arrays_round_as_javascript_does(value: float, rounded: float) -> None:
    assert round_six(np.array([value]))[0] == rounded


@pytest.mark.django_db
def test_s1_a_batch_takes_eight_queries_whatever_it_holds() -> None:
    made = [make_pack(stickers=1) for _number in range(12)]
    snapshots.refresh_snapshots([pack.pk for pack in made], now=NOW)
    for number in (1, 12):
        with CaptureQueriesContext(connection) as queries:
            snapshots.refresh_snapshots([pack.pk for pack in made[:number]], now=NOW)
        asked = [row["sql"] for row in queries if "SAVEPOINT" not in row["sql"]]
        assert len(asked) == 8


@pytest.mark.django_db
def test_s3_packs_that_may_not_be_ranked_lose_their_snapshot() -> None:
    made = {name: make_pack(name=name, stickers=1) for name in ("private", "draft", "archived")}
    kept = make_pack(name="kept", stickers=1)
    ids = [kept.pk, *(pack.pk for pack in made.values())]
    snapshots.refresh_snapshots(ids, now=NOW)
    StickerPack.objects.filter(pk=made["private"].pk).update(visibility="private")
    StickerPack.objects.filter(pk=made["draft"].pk).update(status="draft")
    StickerPack.objects.filter(pk=made["archived"].pk).update(pack_status="archived")
    snapshots.refresh_snapshots(ids, now=NOW)
    assert list(PackScoreSnapshot.objects.values_list("pk", flat=True)) == [kept.pk]


@pytest.mark.django_db
def test_s2_the_stalest_come_first_and_a_second_run_goes_on_with_the_rest() -> None:
    made = [make_pack(name=f"p{number}", stickers=1) for number in range(4)]
    for hours, pack in enumerate(made, start=7):
        snapshots.refresh_snapshots([pack.pk], now=NOW - timedelta(hours=hours))
    assert snapshots.refresh_stale(now=NOW, limit=2) == 2
    renewed = PackScoreSnapshot.objects.filter(refreshed_at=NOW).values_list("pk", flat=True)
    assert set(renewed) == {made[3].pk, made[2].pk}
    assert snapshots.refresh_stale(now=NOW, limit=9) == 2
    assert snapshots.refresh_stale(now=NOW, limit=9) == 0


@pytest.mark.django_db(transaction=True)
@pytest.mark.mysql
def test_many_batches_are_refreshed_on_several_connections(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(snapshots, "BATCH_SIZE", 2)
    made = [make_pack(stickers=1) for _number in range(7)]
    threads: set[int] = set()
    original = snapshots.pack_scores

    def noting(*args: Any, **kwargs: Any) -> Any:
        threads.add(threading.get_ident())
        return original(*args, **kwargs)

    monkeypatch.setattr(snapshots, "pack_scores", noting)
    assert snapshots.refresh_snapshots([pack.pk for pack in made], now=NOW) == 7
    assert PackScoreSnapshot.objects.count() == 7
    assert len(threads) == 2


@pytest.mark.django_db(transaction=True)
@pytest.mark.mysql
def test_a_late_refresh_does_not_overwrite_a_newer_with_older_inputs() -> None:
    """It waits for the row, and reads what holds after that; not what held when it was asked."""
    pack = make_pack(stickers=1)
    snapshots.refresh_snapshots([pack.pk], now=NOW)
    started = threading.Event()

    def late() -> None:
        close_old_connections()
        started.set()
        snapshots.refresh_snapshots([pack.pk], now=NOW + timedelta(seconds=1))
        connection.close()

    thread = threading.Thread(target=late)
    with transaction.atomic():
        PackScoreSnapshot.objects.select_for_update().get(pk=pack.pk)
        thread.start()
        started.wait(5)
        AssetClassification.objects.create(asset=pack.cover_sticker, is_nsfw=True)
    thread.join(10)
    assert PackScoreSnapshot.objects.get(pk=pack.pk).nsfw_level == "suggestive"
