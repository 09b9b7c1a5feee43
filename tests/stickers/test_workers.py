"""From an upload to a ranked pack, by the same functions that workers run."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
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
from apps.stickers.task_requests import normalize_task
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


def test_two_packs_of_two_kinds_differ_and_are_told_byte_for_byte_again() -> None:
    """As with WhatsApp's own two sample packs (docs/classification.md)."""
    packs = [[webp_bytes(n) for n in range(5)], [webp_bytes(n, frames=3) for n in range(5)]]
    categories = []
    for pictures in packs:
        first, again = ([PixelClassifier().classify(data) for data in pictures] for _ in range(2))
        assert [repr(one).encode() for one in first] == [repr(one).encode() for one in again]
        rows = [{"category": one.category, "all_scores": one.all_scores} for one in first]
        categories.append(scoring.pack_summary(rows, [str(n) for n in range(5)])["category"])
    assert categories == ["cartoon", "animation"]


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


# -- asking for tasks

TASK_VECTORS = json.loads((Path(__file__).parent.parent / "data/outbox_vectors.json").read_text())[
    "vectors"
]["d_enqueue_task"]
ARGUMENTS = {
    "priority": "priority",
    "maxAttempts": "max_attempts",
    "payload": "payload",
    "idempotencyKey": "idempotency_key",
}


@pytest.mark.parametrize("vector", TASK_VECTORS, ids=lambda v: str(v["input"]))
def test_a_request_is_normalised_as_the_original_does(vector: dict[str, Any]) -> None:
    given = {
        ARGUMENTS[name]: vector["input"][name] for name in ARGUMENTS if name in vector["input"]
    }
    request = normalize_task(vector["input"]["taskType"], **given)
    row = vector["output"]["row"]
    assert (request is not None) == vector["output"]["returned"]
    if request is None:
        return
    assert (request.task_type, request.priority) == (row["task_type"], row["priority"])
    assert request.max_attempts == row["max_attempts"]
    assert request.payload == json.loads(row["payload_json"])
    # Where normalising changes a key, Pombo's own rule keeps different keys apart (DESIGN 5).
    key = str(request.idempotency_key) if request.idempotency_key else None
    assert key == row["idempotency_key"] or str(key).startswith(f"{row['idempotency_key']}~")


def test_an_unknown_type_asks_for_nothing() -> None:
    assert not worker_tasks.enqueue_task("other")
    assert not WorkerTask.objects.exists()


def test_a_given_key_holds_when_its_task_is_done() -> None:
    assert worker_tasks.enqueue_task(CLASSIFY, idempotency_key="nightly:1")
    worker_tasks.run_tasks(CLASSIFY, now=NOW)
    assert not worker_tasks.enqueue_task(CLASSIFY, idempotency_key="nightly:1")
    assert worker_tasks.enqueue_task(CLASSIFY)


def test_q7_a_second_request_raises_the_priority_and_leaves_the_pause() -> None:
    worker_tasks.enqueue_task(CLASSIFY, priority=10)
    later = timezone.now() + timedelta(hours=1)
    WorkerTask.objects.update(scheduled_at=later)
    worker_tasks.enqueue_task(CLASSIFY, priority=90)
    worker_tasks.enqueue_task(CLASSIFY, priority=20)
    task = WorkerTask.objects.get()
    assert task.priority == 90
    assert task.scheduled_at > timezone.now() + timedelta(minutes=50)


def test_e8_completed_tasks_are_pruned_and_dead_ones_stay() -> None:
    old = timezone.now() - timedelta(days=8)
    for status in ("completed", "failed"):
        WorkerTask.objects.create(task_type="rebuild_cycle", status=status, processed_at=old)
    worker_tasks.enqueue_task(CLASSIFY)
    worker_tasks.run_tasks(CLASSIFY, now=timezone.now())
    kept = WorkerTask.objects.filter(task_type="rebuild_cycle")
    assert [task.status for task in kept] == ["failed"]
