"""From an upload to a ranked pack, by the same functions that workers run."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.outbox.models import OutboxEvent
from apps.outbox.services import drain
from apps.stickers import scoring
from apps.stickers.choices import Interaction, WorkerTaskType
from apps.stickers.classifier import PixelClassifier
from apps.stickers.models import (
    AssetClassification,
    PackScoreSnapshot,
    StickerAsset,
    StickerPack,
    WorkerTask,
    WorkerTaskDeadLetter,
)
from apps.stickers.services import engagement, snapshots, worker_tasks
from apps.stickers.services.classification import classify_pending
from apps.stickers.storage import local_file
from tests.stickers.factories import make_pack, webp_bytes

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
CLASSIFY = WorkerTaskType.CLASSIFICATION_CYCLE

pytestmark = pytest.mark.django_db


def run_everything() -> None:
    """What the workers do, one after another."""
    drain(10)
    worker_tasks.run_tasks(CLASSIFY, now=timezone.now())
    drain(10)


def test_e5_an_upload_ends_ranked_and_every_event_is_completed() -> None:
    pack = make_pack(stickers=3)
    run_everything()
    snapshot = PackScoreSnapshot.objects.get(pack=pack)
    assert (snapshot.sticker_count, snapshot.tags[0]) == (3, "cartoon")
    assert set(OutboxEvent.objects.values_list("status", flat=True)) == {"completed"}


def test_e7_many_uploads_ask_for_one_classification() -> None:
    make_pack(stickers=5)
    drain(10)
    assert WorkerTask.objects.count() == 1


def test_a_thousand_likes_refresh_a_pack_a_handful_of_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pack = make_pack(stickers=1)
    run_everything()
    refreshed: list[int] = []
    original = snapshots.refresh_snapshots

    def counting(ids: Any, *, now: datetime) -> int:
        refreshed.append(len(list(ids)))
        return original(ids, now=now)

    monkeypatch.setattr(snapshots, "refresh_snapshots", counting)
    for number in range(1000):
        engagement.record_interaction(
            pack, Interaction.LIKE, actor_key=f"visitor-{number}", now=timezone.now()
        )
    drain(30)
    assert len(refreshed) <= 6
    score = PackScoreSnapshot.objects.get(pack=pack).engagement_score
    assert float(score) == scoring.engagement_score({"like_count": 1000})


def test_what_arrives_while_a_task_runs_runs_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[int] = []

    def cycle(now: datetime) -> None:
        runs.append(1)
        if len(runs) == 1:
            assert worker_tasks.enqueue_task(CLASSIFY)
            assert not worker_tasks.enqueue_task(CLASSIFY)

    monkeypatch.setitem(worker_tasks.CYCLES, CLASSIFY, cycle)  # type: ignore[arg-type]
    worker_tasks.enqueue_task(CLASSIFY)
    assert worker_tasks.run_tasks(CLASSIFY, now=NOW) == 2
    assert len(runs) == 2


def test_w1_a_failing_cycle_is_tried_again_and_ends_as_a_dead_letter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(now: datetime) -> None:
        raise RuntimeError("no model")

    monkeypatch.setitem(worker_tasks.CYCLES, CLASSIFY, broken)  # type: ignore[arg-type]
    worker_tasks.enqueue_task(CLASSIFY)
    for _attempt in range(5):
        WorkerTask.objects.filter(status="pending").update(scheduled_at=NOW)
        worker_tasks.run_tasks(CLASSIFY, now=NOW)
    letter = WorkerTaskDeadLetter.objects.get()
    assert (letter.attempts, letter.last_error) == (5, "RuntimeError: no model")
    assert worker_tasks.redrive([letter.task_id]) == [letter.task_id]
    assert not WorkerTaskDeadLetter.objects.exists()


def test_w5_a_cycle_that_takes_long_holds_up_no_other() -> None:
    for task_type in (WorkerTaskType.REBUILD_CYCLE, CLASSIFY):
        worker_tasks.enqueue_task(task_type)
    rebuilding = worker_tasks.TASK_QUEUE.claim(1, lease_seconds=60, group="rebuild_cycle")
    assert rebuilding is not None
    assert worker_tasks.run_tasks(CLASSIFY, now=timezone.now()) == 1


def test_a_sticker_without_a_file_is_not_tried_for_ever() -> None:
    make_pack(stickers=1)
    local_file(StickerAsset.objects.get()).unlink()
    assert classify_pending(now=NOW).unreadable == 1
    assert AssetClassification.objects.get().category == "invalid image"
    assert classify_pending(now=NOW).classified == 0


def test_the_built_in_classifier_tells_motion_and_repeats_itself() -> None:
    still, moving = webp_bytes("a"), webp_bytes("a", frames=4)
    classifier = PixelClassifier()
    assert classifier.classify(still).category != "animation"
    assert classifier.classify(moving).category == "animation"
    assert classifier.classify(moving) == classifier.classify(moving)
    assert sum(classifier.classify(still).all_scores.values()) == pytest.approx(1, abs=1e-5)


def test_an_unpublished_pack_leaves_the_ranking() -> None:
    pack = make_pack(stickers=1)
    run_everything()
    StickerPack.objects.filter(pk=pack.pk).update(status="draft")
    snapshots.refresh_snapshots([pack.pk], now=timezone.now())
    assert not PackScoreSnapshot.objects.exists()


def test_a_rebuild_fills_gaps_first_and_renews_the_stale(settings: Any) -> None:
    fresh, stale, missing = (make_pack(name=name) for name in ("fresh", "stale", "missing"))
    snapshots.refresh_snapshots([fresh.pk], now=NOW)
    snapshots.refresh_snapshots([stale.pk], now=NOW - timedelta(hours=7))
    assert snapshots.refresh_stale(now=NOW, limit=1) == 1
    assert PackScoreSnapshot.objects.filter(pack=missing).exists()
    assert snapshots.refresh_stale(now=NOW) == 1
    assert PackScoreSnapshot.objects.get(pack=stale).refreshed_at == NOW


def test_a_refresh_takes_the_same_queries_for_one_pack_and_for_twenty() -> None:
    packs = [make_pack(stickers=1) for _number in range(20)]
    snapshots.refresh_snapshots([pack.pk for pack in packs], now=NOW)
    counts = []
    for number in (1, 20):
        with CaptureQueriesContext(connection) as queries:
            snapshots.refresh_snapshots([pack.pk for pack in packs[:number]], now=NOW)
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_a_snapshot_equals_the_formula_at_its_time() -> None:
    pack = make_pack(stickers=2)
    run_everything()
    snapshot = PackScoreSnapshot.objects.get(pack=pack)
    classified = AssetClassification.objects.order_by("asset__pack_items__position")
    rows = [
        {"category": c.category, "all_scores": c.all_scores, "nsfw_score": 0.0, "is_nsfw": False}
        for c in classified
    ]
    pack.refresh_from_db()
    expected = scoring.pack_signals(
        pack={
            "items": [
                {"asset": {"width": 512, "height": 512, "size_bytes": a.size_bytes}}
                for a in StickerAsset.objects.order_by("pack_items__position")
            ],
            "updated_at": pack.updated_at,
        },
        pack_classification=scoring.pack_summary(rows, ["a", "b"]),
        item_classifications=rows,
        now=snapshot.refreshed_at,
    )
    assert float(snapshot.ranking_score) == pytest.approx(expected["ranking_score"], abs=2e-6)
