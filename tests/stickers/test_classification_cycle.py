"""The classification cycle: new, asked-for and doubtful stickers, each with its turn."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from apps.outbox.models import OutboxEvent
from apps.stickers.choices import LeaseStatus, ReprocessReason
from apps.stickers.classifier import Classification, PixelClassifier
from apps.stickers.errors import ClassifierMisconfigured, ClassifierUnavailable
from apps.stickers.models import (
    AssetClassification,
    AssetFingerprint,
    CategoryDrift,
    ReprocessTask,
    StickerAsset,
)
from apps.stickers.queries import current_weights
from apps.stickers.services import drift, reprocess_requests, reprocessing
from apps.stickers.services.assets import store_asset
from apps.stickers.services.classification import classify_pending
from apps.stickers.services.classification_cycle import run_cycle, search_candidates
from apps.stickers.services.classifiers import current_classifier
from apps.stickers.services.reprocess_requests import enqueue_reprocess
from apps.stickers.services.semantic_pass import judge_doubtful
from tests.stickers.classifier_server import GOOD, ClassifierServer, always, classifier_server
from tests.stickers.factories import OWNER, sticker_image

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
MODEL_UPGRADE = ReprocessReason.MODEL_UPGRADE

pytestmark = pytest.mark.django_db


@pytest.fixture
def service(settings: Any) -> Iterator[ClassifierServer]:
    with classifier_server() as server:
        settings.CLASSIFIER_URL = server.url
        settings.CLASSIFIER_ATTEMPTS = 1
        settings.CLASSIFIER_TIMEOUT_SECONDS = 2.0
        yield server


def make_asset() -> StickerAsset:
    return store_asset(sticker_image(), owner_jid=OWNER)


def make_classified(**values: Any) -> AssetClassification:
    """A classified sticker that nobody touched for a month."""
    row = AssetClassification.objects.create(
        asset=make_asset(),
        **{"category": "meme", "confidence": 0.9, "affinity_weight": 0.9, "nsfw_score": 0.0}
        | values,
    )
    AssetClassification.objects.filter(pk=row.pk).update(updated_at=NOW - timedelta(days=30))
    return row


def events() -> int:
    return OutboxEvent.objects.filter(event_type="STICKER_CLASSIFIED").count()


# -- pending


def test_the_service_fills_every_column_of_the_contract(service: ClassifierServer) -> None:
    asset = make_asset()
    run_cycle(now=NOW)
    row = AssetClassification.objects.get(asset=asset)
    missing = [name for name in reprocess_requests.SIGNALS if getattr(row, name) is None]
    assert missing == []
    assert (row.provider, row.category) == ("clip", "anime illustration")
    assert row.semantic_cluster_slug == "anime-heroes"
    assert (row.llm_subtags, row.image_hash) == (["anime hero", "smile"], asset.sha256)
    assert AssetFingerprint.objects.filter(asset=asset).exists()


def test_what_the_service_cannot_read_gets_a_fallback_row(service: ClassifierServer) -> None:
    make_asset()
    service.answer = always(422, {})
    assert classify_pending(now=NOW).unreadable == 1
    row = AssetClassification.objects.get()
    assert (row.category, row.confidence, row.ambiguous) == ("invalid image", 0, True)


def test_one_bad_sticker_neither_stops_nor_starves_the_others(service: ClassifierServer) -> None:
    bad = make_asset()
    good = [make_asset() for _number in range(5)]
    service.answer = lambda _number, body: (500, {}) if bad.pk.encode() in body else (200, GOOD)
    report = classify_pending(now=NOW, limit=6)
    assert (report.classified, report.postponed) == (5, 1)
    assert AssetClassification.objects.filter(asset__in=good).count() == 5
    task = ReprocessTask.objects.get()
    assert (task.asset_id, task.priority, task.reason) == (bad.pk, 95, "MODEL_UPGRADE")
    assert classify_pending(now=NOW).classified == 0


def test_a_service_that_is_down_fails_the_cycle_but_not_the_other_passes(
    service: ClassifierServer,
) -> None:
    for _number in range(9):
        make_asset()
    doubtful = make_classified(llm_subtags=["horror ghost"], ambiguous=True)
    service.answer = always(503, {})
    with pytest.raises(ClassifierUnavailable):
        run_cycle(now=NOW)
    assert ReprocessTask.objects.exclude(asset=doubtful.asset).count() == 3
    doubtful.refresh_from_db()
    assert doubtful.llm_subtags == ["horror_ghost"]


def test_a_wrong_token_fails_the_cycle_and_charges_nobody(service: ClassifierServer) -> None:
    row = make_classified()
    make_asset()
    enqueue_reprocess([row.pk], MODEL_UPGRADE)
    service.answer = always(401, {})
    with pytest.raises(ClassifierMisconfigured):
        run_cycle(now=NOW)
    task = ReprocessTask.objects.get(asset=row.asset, reason=MODEL_UPGRADE)
    assert (task.status, task.attempts) == ("pending", 0)
    assert AssetClassification.objects.count() == 1


# -- the reprocess queue


def test_all_four_reasons_are_really_enqueued(service: ClassifierServer) -> None:
    outdated = make_classified(classification_version="v0")
    unsure = make_classified(confidence=0.3)
    doubtful = make_classified(nsfw_score=0.77)
    for _number in range(6):
        make_classified(category="old")
    trending = [make_classified(category="rising") for _number in range(6)]
    AssetClassification.objects.filter(pk=trending[0].pk).update(updated_at=NOW)
    search_candidates(current_classifier(), now=NOW)
    reasons = {(task.asset_id, task.reason) for task in ReprocessTask.objects.exclude(priority=95)}
    assert reasons >= {
        (outdated.pk, "MODEL_UPGRADE"),
        (unsure.pk, "LOW_CONFIDENCE"),
        (doubtful.pk, "NSFW_REVIEW"),
        *((row.pk, "TREND_SHIFT") for row in trending[1:]),
    }


def test_incomplete_rows_are_filled_first_and_only_by_a_service_that_can(
    service: ClassifierServer,
) -> None:
    half = make_classified(entropy=0.1, all_scores={}, top_labels=[], llm_subtags=[])
    empty = make_classified()
    assert reprocess_requests.enqueue_incomplete(PixelClassifier(), now=NOW) == 0
    assert reprocess_requests.enqueue_incomplete(current_classifier(), now=NOW) == 2
    assert set(ReprocessTask.objects.values_list("priority", flat=True)) == {95}
    ReprocessTask.objects.all().delete()
    monkey = pytest.MonkeyPatch()
    monkey.setattr(reprocess_requests, "BACKFILL_LIMIT", 1)
    reprocess_requests.enqueue_incomplete(current_classifier(), now=NOW)
    monkey.undo()
    assert ReprocessTask.objects.get().asset_id == empty.pk != half.pk


def test_a_search_asks_once_and_not_again_within_a_week() -> None:
    make_classified(confidence=0.3)
    classifier = PixelClassifier()
    assert search_candidates(classifier, now=NOW)["LOW_CONFIDENCE"] == 1
    assert search_candidates(classifier, now=NOW)["LOW_CONFIDENCE"] == 0
    ReprocessTask.objects.update(status=LeaseStatus.COMPLETED, processed_at=NOW)
    later = NOW + timedelta(days=6)
    assert search_candidates(classifier, now=later)["LOW_CONFIDENCE"] == 0
    assert search_candidates(classifier, now=NOW + timedelta(days=8))["LOW_CONFIDENCE"] == 1


def test_reprocessing_replaces_and_tells_only_what_changed() -> None:
    asset = make_asset()
    classify_pending(now=NOW)
    AssetClassification.objects.update(category="wrong")
    before = events()
    for _turn in range(2):
        enqueue_reprocess([asset.pk], MODEL_UPGRADE)
        reprocessing.reprocess_due(now=NOW, classifier=PixelClassifier(), limit=10)
    assert AssetClassification.objects.get().category != "wrong"
    assert events() == before + 1
    assert set(ReprocessTask.objects.values_list("status", flat=True)) == {"completed"}


def test_a_file_that_vanished_leaves_the_classification_as_it_is() -> None:
    row = make_classified(category="meme")
    StickerAsset.objects.update(storage_path="stickers/gone.webp")
    enqueue_reprocess([row.pk], MODEL_UPGRADE)
    reprocessing.reprocess_due(now=NOW, classifier=PixelClassifier(), limit=10)
    row.refresh_from_db()
    assert row.category == "meme"
    assert ReprocessTask.objects.get().status == "completed"


def test_q5_a_request_of_a_dead_worker_is_taken_again() -> None:
    row = make_classified()
    enqueue_reprocess([row.pk], MODEL_UPGRADE)
    claim = reprocessing.REPROCESS_QUEUE.claim(1, lease_seconds=60)
    assert claim is not None
    ReprocessTask.objects.update(locked_at=timezone.now() - timedelta(minutes=30))
    report = reprocessing.reprocess_due(now=NOW, classifier=PixelClassifier(), limit=10)
    assert report.completed == 1


class FailingClassifier(PixelClassifier):
    """A service that fails on every sticker."""

    def classify(self, data: bytes, *, asset_id: str = "", sha256: str = "") -> Classification:
        raise ClassifierUnavailable("it is on fire")


def test_q5_a_request_that_keeps_failing_ends_dead_and_can_be_sent_back() -> None:
    row = make_classified()
    enqueue_reprocess([row.pk], MODEL_UPGRADE)
    for _attempt in range(reprocess_requests.MAX_ATTEMPTS):
        ReprocessTask.objects.update(scheduled_at=NOW)
        with pytest.raises(ClassifierUnavailable):
            reprocessing.reprocess_due(now=NOW, classifier=FailingClassifier(), limit=10)
    task = ReprocessTask.objects.get()
    assert (task.status, task.attempts) == ("failed", reprocess_requests.MAX_ATTEMPTS)
    assert "on fire" in str(task.last_error)
    assert enqueue_reprocess([row.pk], MODEL_UPGRADE) == 0
    assert reprocessing.redrive([task.pk]) == [task.pk]


@pytest.mark.django_db(transaction=True)
def test_q5_two_searches_at_once_ask_once() -> None:
    row = make_classified()
    barrier = threading.Barrier(4)
    counts: list[int] = []

    def search() -> None:
        barrier.wait()
        counts.append(enqueue_reprocess([row.pk], ReprocessReason.NSFW_REVIEW))
        connection.close()

    threads = [threading.Thread(target=search) for _number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (sum(counts), ReprocessTask.objects.count()) == (1, 1)


# -- the deterministic pass


def test_w9_every_doubtful_row_has_its_turn_however_many_there_are() -> None:
    rows = [make_classified(llm_subtags=["horror ghost"], ambiguous=True) for _number in range(7)]
    judged = [judge_doubtful(now=NOW, limit=3).changed for _cycle in range(3)]
    assert judged == [3, 3, 1]
    tags = AssetClassification.objects.filter(pk__in=[row.pk for row in rows])
    assert all(row.llm_subtags == ["horror_ghost"] for row in tags)


def test_w9_a_row_that_stays_doubtful_does_not_hold_up_the_rest() -> None:
    for _number in range(5):
        make_classified(llm_subtags=["kawaii cat", "horror ghost"], affinity_weight=0.1)
    counts = [judge_doubtful(now=NOW, limit=2).judged for _cycle in range(4)]
    assert counts == [2, 2, 1, 2]


def test_the_pass_writes_and_tells_only_changes() -> None:
    make_classified(llm_subtags=["horror ghost"], ambiguous=True)
    for _cycle in range(3):
        judge_doubtful(now=NOW, limit=10)
    assert events() == 1
    row = AssetClassification.objects.get()
    assert (row.ambiguous, float(row.affinity_weight or 0)) == (False, 1.0)


def test_styles_of_the_built_in_classifier_are_not_taken_for_themes() -> None:
    make_classified(provider="builtin", ambiguous=True, top_labels=[{"label": "cartoon"}])
    make_classified(category="invalid image", ambiguous=True)
    assert judge_doubtful(now=NOW, limit=10).judged == 0


# -- drift


def test_s8_drift_is_measured_once_while_it_is_fresh() -> None:
    make_classified()
    AssetClassification.objects.update(updated_at=NOW)
    assert drift.measure_drift(now=NOW)
    assert drift.measure_drift(now=NOW + timedelta(minutes=9)) is None
    assert drift.measure_drift(now=NOW + timedelta(minutes=11))
    assert CategoryDrift.objects.count() == 2


def test_snapshots_follow_the_measured_weights() -> None:
    assert current_weights() is None
    for category, days in (("a", 1), ("b", 20)):
        row = make_classified(category=category)
        changed = NOW - timedelta(days=days)
        AssetClassification.objects.filter(pk=row.pk).update(updated_at=changed)
    measured = drift.measure_drift(now=NOW)
    assert measured is not None
    assert float(measured.drift_score) == 0.5
    assert drift.gaining_categories(measured) == ["a"]
    assert current_weights() == measured.weights
    assert measured.weights["classification"] < 0.4


@pytest.mark.django_db(transaction=True)
def test_s8_many_workers_measure_once() -> None:
    make_classified()
    AssetClassification.objects.update(updated_at=NOW)
    barrier = threading.Barrier(4)

    def measure() -> None:
        barrier.wait()
        with transaction.atomic():
            drift.measure_drift(now=NOW)
        connection.close()

    threads = [threading.Thread(target=measure) for _number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert CategoryDrift.objects.count() == 1
