"""Automatic packs in the database: written whole, told once, never fed by their own events."""

import json
import threading
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.outbox.models import OutboxEvent
from apps.outbox.services import drain
from apps.stickers.choices import CurationReason, CurationVerdict, Visibility, WorkerTaskType
from apps.stickers.curation.rules import Mode, Reason, Verdict
from apps.stickers.models import (
    AssetClassification,
    CurationDecision,
    CurationRun,
    PackScoreSnapshot,
    StickerAsset,
    StickerPack,
    WorkerTask,
)
from apps.stickers.services import auto_packs, curation, curation_scene, worker_tasks
from apps.stickers.services.curation import pack_title, run_curation
from apps.stickers.services.editing import edit_pack, remove_sticker
from apps.stickers.services.packs import create_pack
from tests.stickers.factories import OWNER, make_pack

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)

pytestmark = pytest.mark.django_db


def make_stickers(count: int, *, label: str = "cartoon", **values: Any) -> list[str]:
    """Good, classified stickers that are in no pack; no two have like scores."""
    ids = []
    for _number in range(count):
        serial = StickerAsset.objects.count()
        asset = StickerAsset.objects.create(
            owner_jid=OWNER,
            sha256=f"{serial:064x}",
            mimetype="image/webp",
            width=512,
            height=512,
            size_bytes=20_000,
            storage_path="-",
        )
        AssetClassification.objects.create(
            asset=asset,
            category=label,
            **{
                "confidence": 0.7,
                "entropy": 0.6,
                "confidence_margin": 0.4,
                "affinity_weight": 0.7,
                "nsfw_score": 0,
                "all_scores": {label: 0.7, f"own {serial}": 0.15},
            }
            | values,
        )
        ids.append(asset.pk)
    return ids


def curate(mode: Mode = Mode.ADDITIONS, **options: Any) -> curation.CurationReport:
    return run_curation(mode, actor="test", now=timezone.now(), **options)


def auto_pack() -> StickerPack:
    return StickerPack.objects.get(is_auto_pack=True, deleted_at=None)


def events(action: str) -> int:
    rows = OutboxEvent.objects.filter(event_type="PACK_UPDATED").values_list("payload", flat=True)
    return sum(1 for payload in rows if payload["action"] == action)


# -- writing


def test_a_theme_becomes_a_published_pack_with_its_report() -> None:
    ids = make_stickers(22)
    report = curate()
    pack = auto_pack()
    assert (pack.name, pack.publisher) == ("[AUTO] Cartoon • Vol. 1", "Pombo Auto")
    assert (pack.owner_jid, pack.description) == ("auto@pombo", "[auto-theme:cartoon]")
    assert (pack.visibility, pack.status, pack.pack_status) == ("public", "published", "ready")
    items = list(pack.items.order_by("position").values_list("position", "sticker_id"))
    assert [position for position, _pk in items] == list(range(1, 23))
    assert {pk for _position, pk in items} == set(ids)
    assert pack.cover_sticker_id == items[0][1]
    assert events("curated") == 1
    decisions = report.run.decisions
    assert decisions.filter(verdict="added", pack=pack).count() == 22
    assert decisions.get(verdict="created").pack == pack


def test_a_dry_run_writes_its_report_and_nothing_else() -> None:
    make_stickers(22)
    report = curate(is_dry_run=True)
    assert len(report.plan.packs) == 1
    assert report.run.decisions.filter(verdict="added").count() == 22
    assert not StickerPack.objects.exists()
    assert not OutboxEvent.objects.filter(event_type="PACK_UPDATED").exists()


def test_e7_a_second_run_changes_and_tells_nothing() -> None:
    make_stickers(45)
    curate()
    version, told = auto_pack().version, events("curated")
    for mode in (Mode.ADDITIONS, Mode.REBUILD):
        assert curate(mode).plan.packs == ()
    assert (auto_pack().version, events("curated")) == (version, told)


def test_e7_the_curation_is_not_called_by_its_own_changes() -> None:
    make_stickers(22)
    curate()
    drain(10)
    assert not WorkerTask.objects.filter(task_type="rebuild_cycle").exists()
    assert PackScoreSnapshot.objects.filter(pack=auto_pack()).exists()


def test_a_change_by_somebody_else_calls_for_a_rebuild_once() -> None:
    ids = make_stickers(22)
    curate()
    for asset_id in ids[:2]:
        remove_sticker(auto_pack().pack_key, asset_id, owner_jid=None)
    drain(10)
    assert WorkerTask.objects.filter(task_type="rebuild_cycle").count() == 1


def test_a_classified_sticker_ends_in_an_automatic_pack() -> None:
    """STICKER_CLASSIFIED asks for a curation, which has a runner and fills packs."""
    make_stickers(20)
    make_pack(stickers=1)
    drain(10)
    worker_tasks.run_tasks(WorkerTaskType.CLASSIFICATION_CYCLE, now=timezone.now())
    drain(10)
    assert WorkerTask.objects.filter(task_type="curation_cycle", status="pending").count() == 1
    assert worker_tasks.run_tasks(WorkerTaskType.CURATION_CYCLE, now=timezone.now()) == 1
    assert auto_pack().items.count() == 20
    assert set(WorkerTask.objects.values_list("status", flat=True)) == {"completed"}


def test_a_growing_pack_keeps_its_stickers_and_positions_stay_whole() -> None:
    first = make_stickers(15)
    curate()
    assert auto_pack().status == "draft"
    make_stickers(10)
    curate()
    pack = auto_pack()
    positions = pack.items.order_by("position").values_list("position", flat=True)
    assert list(positions) == list(range(1, 26))
    assert set(first) <= set(pack.items.values_list("sticker_id", flat=True))
    assert pack.status == "published"


def test_a_pack_that_shrinks_below_the_minimum_is_archived() -> None:
    ids = make_stickers(13)
    curate()
    AssetClassification.objects.filter(pk__in=ids[:5]).update(is_nsfw=True, nsfw_score=0.9)
    report = curate(Mode.REBUILD)
    pack = StickerPack.objects.get(is_auto_pack=True)
    assert (pack.pack_status, pack.items.count(), pack.deleted_at is None) == ("archived", 0, False)
    assert report.run.summary["removed:sensitive"] == 5


# -- whose stickers


def test_what_only_a_private_pack_shows_stays_there() -> None:
    ids = make_stickers(24)
    private = make_pack(name="mine", visibility=Visibility.PRIVATE)
    public = make_pack(name="ours")
    for pack, chosen in ((private, ids[:12]), (public, ids[6:])):
        for position, asset_id in enumerate(chosen, 1):
            pack.items.create(sticker_id=asset_id, position=position)
    curate()
    held = set(auto_pack().items.values_list("sticker_id", flat=True))
    assert held == set(ids[6:])


def test_a_pack_that_turns_private_takes_its_stickers_back() -> None:
    ids = make_stickers(15)
    source = make_pack(name="ours")
    for position, asset_id in enumerate(ids[:2], 1):
        source.items.create(sticker_id=asset_id, position=position)
    curate()
    edit_pack(source.pack_key, owner_jid=None, visibility=Visibility.PRIVATE)
    curate(Mode.REBUILD)
    assert set(auto_pack().items.values_list("sticker_id", flat=True)) == set(ids[2:])


# -- failing


def test_w1_an_error_fails_the_task_and_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    make_stickers(22)

    def broken(*args: Any) -> None:
        raise RuntimeError("disk full")

    worker_tasks.enqueue_task(WorkerTaskType.CURATION_CYCLE)
    with monkeypatch.context() as patched:
        patched.setattr(curation, "_write_items", broken)
        worker_tasks.run_tasks(WorkerTaskType.CURATION_CYCLE, now=timezone.now())
    task = WorkerTask.objects.get()
    assert (task.status, task.last_error) == ("pending", "RuntimeError: disk full")
    run = CurationRun.objects.get()
    assert (run.status, run.error) == ("failed", "RuntimeError: disk full")
    assert not StickerPack.objects.exists()
    WorkerTask.objects.update(scheduled_at=NOW)
    worker_tasks.run_tasks(WorkerTaskType.CURATION_CYCLE, now=timezone.now())
    assert auto_pack().items.count() == 22


def test_w1_one_broken_pack_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    make_stickers(15, label="cartoon")
    make_stickers(15, label="horror")
    original = curation._write_items

    def broken(pack: StickerPack, wanted: Any) -> None:
        if pack.pack_theme_key == "cartoon" or "Cartoon" in pack.name:
            raise RuntimeError("broken")
        original(pack, wanted)

    monkeypatch.setattr(curation, "_write_items", broken)
    with pytest.raises(RuntimeError):
        curate()
    assert auto_pack().pack_theme_key == "horror"
    assert CurationRun.objects.get().changed_count == 1


def test_p5_a_pack_is_written_whole_or_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    make_stickers(15)
    curate()
    before = list(auto_pack().items.order_by("position").values_list("sticker_id", flat=True))
    make_stickers(5)

    def broken(*args: Any, **values: Any) -> None:
        raise RuntimeError("outbox away")

    monkeypatch.setattr(curation, "publish", broken)
    with pytest.raises(RuntimeError):
        curate()
    assert list(auto_pack().items.order_by("position").values_list("sticker_id", flat=True)) == (
        before
    )


def test_a_pack_that_changed_meanwhile_is_left_for_the_next_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ids = make_stickers(22)
    curate()
    make_stickers(5)
    original = curation.make_plan

    def slow_plan(*args: Any) -> Any:
        made = original(*args)
        remove_sticker(auto_pack().pack_key, ids[0], owner_jid=None)
        return made

    with monkeypatch.context() as patched:
        patched.setattr(curation, "make_plan", slow_plan)
        report = curate()
    assert (report.skipped, auto_pack().items.count()) == (1, 21)
    assert report.run.decisions.filter(reason="changed_meanwhile", pack=auto_pack()).exists()
    curate()
    assert auto_pack().items.count() == 27


@pytest.mark.django_db(transaction=True)
def test_two_runs_at_once_found_one_pack() -> None:
    make_stickers(22)
    barrier = threading.Barrier(3)

    def run() -> None:
        barrier.wait()
        curate()
        connection.close()

    threads = [threading.Thread(target=run) for _number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert auto_pack().items.count() == 22


# -- operators


def test_a_paused_pack_is_left_alone_until_it_is_resumed() -> None:
    make_stickers(15)
    curate()
    pack = auto_pack()
    assert auto_packs.pause_packs([pack.pk], actor="ana", reason="look at it", now=NOW) == 1
    assert auto_packs.pause_packs([pack.pk], actor="ana", reason="again", now=NOW) == 0
    make_stickers(5)
    assert curate().run.summary == {"skipped:paused": 1}
    assert auto_packs.resume_packs([pack.pk], actor="ana", reason="fine", now=NOW) == 1
    assert WorkerTask.objects.filter(task_type="curation_cycle").count() == 1
    curate()
    assert auto_pack().items.count() == 20


def test_a_pack_waits_for_approval(settings: Any) -> None:
    settings.CURATION_NEEDS_APPROVAL = True
    make_stickers(22)
    curate()
    assert auto_pack().status == "draft"
    assert auto_packs.approve_packs([auto_pack().pk], actor="ana", reason="good", now=NOW) == 1
    curate()
    assert auto_pack().status == "published"


def test_only_automatic_packs_can_be_paused() -> None:
    pack = make_pack()
    assert auto_packs.pause_packs([pack.pk], actor="ana", reason="no", now=NOW) == 0


# -- the rest


def test_the_curation_can_be_switched_off(settings: Any) -> None:
    settings.CURATION_ENABLED = False
    make_stickers(22)
    worker_tasks.enqueue_task(WorkerTaskType.CURATION_CYCLE)
    worker_tasks.run_tasks(WorkerTaskType.CURATION_CYCLE, now=timezone.now())
    assert not CurationRun.objects.exists()


def test_a_scene_takes_the_same_queries_for_few_and_for_many() -> None:
    counts = []
    for _turn in range(2):
        make_stickers(25)
        curate()
        with CaptureQueriesContext(connection) as queries:
            curation_scene.read_scene(Mode.ADDITIONS, curation_scene.current_rules())
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 5


def test_quiet_runs_keep_no_decisions_and_old_runs_go() -> None:
    make_stickers(5)
    curate(keeps_quiet=True)
    assert not CurationDecision.objects.exists()
    CurationRun.objects.update(started_at=timezone.now() - timedelta(days=31))
    curate()
    assert CurationRun.objects.count() == 1
    assert CurationDecision.objects.count() == 5


def test_refusals_are_kept_up_to_a_limit_and_counted_in_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(curation, "MAX_REFUSALS_KEPT", 3)
    make_stickers(8)
    run = curate().run
    assert (run.decisions.count(), run.summary["refused:group_too_small"]) == (3, 8)


def test_every_verdict_and_reason_has_its_words() -> None:
    assert {verdict.value for verdict in Verdict} == set(CurationVerdict.values)
    assert {reason.value for reason in Reason} == set(CurationReason.values)


@pytest.mark.parametrize(
    ("theme", "title"),
    [
        ("cartoon", "[AUTO] Cartoon • Vol. 2"),
        ("foto-real:gato", "[AUTO] Foto Real • Gato • Vol. 2"),
        ("cartoon+animated", "[AUTO] Cartoon • Animated • Vol. 2"),
    ],
)
def test_packs_are_named_by_theme_and_volume(theme: str, title: str) -> None:
    assert pack_title(theme, 2) == title
    assert len(pack_title("x" * 96 + ":" + "y" * 96, 2)) <= 120


def test_the_command_shows_a_plan_as_json() -> None:
    make_stickers(22)
    out = StringIO()
    call_command("curate", "--dry-run", "--json", stdout=out)
    shown = json.loads(out.getvalue())
    assert (shown["dry_run"], shown["packs"][0]["status"]) == (True, "ready")
    assert len(shown["packs"][0]["stickers"]) == 22
    assert {decision["reason"] for decision in shown["decisions"]} == {"fits", "new_theme"}
    assert not StickerPack.objects.exists()


def test_the_command_runs_the_curation_and_lists_what_it_did() -> None:
    make_stickers(22)
    out = StringIO()
    call_command("curate", "--refused", stdout=out)
    assert "[AUTO] Cartoon • Vol. 1\t22\t+22\t-0" in out.getvalue()
    assert auto_pack().items.count() == 22


def test_an_owner_without_room_gets_no_pack(settings: Any) -> None:
    settings.CURATION_PACKS_PER_OWNER = 1
    create_pack(owner_jid="auto@pombo", name="x", publisher="y")
    make_stickers(22)
    assert curate().run.summary["skipped:owners_full"] == 1
