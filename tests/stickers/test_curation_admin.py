"""The operator's pages of classification and curation."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.stickers.curation.rules import Mode
from apps.stickers.models import (
    AssetClassification,
    AutoPackControl,
    CurationRun,
    ReprocessTask,
    StickerPack,
    WorkerTask,
)
from apps.stickers.services.classification import classify_pending
from apps.stickers.services.curation import CurationReport, run_curation
from tests.stickers.factories import make_pack
from tests.stickers.test_curation import auto_pack, make_stickers

RUNS = "admin:stickers_curationrun_changelist"
ASK = "admin:stickers_curationrun_ask"

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk(client: Client, owner: User) -> Client:
    """The admin as its owner sees it."""
    client.force_login(owner)
    return client


@pytest.fixture
def viewer(client: Client) -> Client:
    """The admin as somebody sees it who may only look."""
    user = User.objects.create_user("looker", password="x", is_staff=True)
    user.groups.add(Group.objects.get(name="viewer"))
    client.force_login(user)
    return client


def curate() -> CurationReport:
    return run_curation(Mode.ADDITIONS, actor="ana", now=timezone.now())


def act(desk: Client, model: str, name: str, keys: list[Any], **values: Any) -> str:
    """Choose rows of a list and start an action; the page that answers."""
    address = reverse(f"admin:stickers_{model}_changelist")
    form = {"action": name, "_selected_action": keys, **values}
    return desk.post(address, form, follow=True).content.decode()


def test_a_run_opens_as_a_report_by_theme(desk: Client) -> None:
    ids = make_stickers(22)
    make_stickers(3, label="horror")
    run = curate().run
    page = desk.get(reverse("admin:stickers_curationrun_change", args=[run.pk])).content.decode()
    assert "25 stickers looked at, 1 packs changed" in page
    assert "too few stickers of its theme" in page
    assert "[AUTO] Cartoon • Vol. 1" in page
    assert page.count("<img") >= len(ids)


def test_a_failed_run_shows_its_error(desk: Client) -> None:
    run = CurationRun.objects.create(
        mode="rebuild",
        actor="worker",
        started_at=timezone.now(),
        status="failed",
        error="disk full",
    )
    page = desk.get(reverse("admin:stickers_curationrun_change", args=[run.pk])).content.decode()
    assert "disk full" in page
    assert "Nothing to decide" in page


def test_the_report_takes_the_same_queries_for_few_and_for_many(desk: Client) -> None:
    counts = []
    for _turn in range(2):
        make_stickers(20)
        address = reverse("admin:stickers_curationrun_change", args=[curate().run.pk])
        with CaptureQueriesContext(connection) as queries:
            desk.get(address)
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_counts_lead_to_their_decisions(desk: Client) -> None:
    make_stickers(5)
    first, second = curate().run, curate().run
    address = reverse("admin:stickers_curationdecision_changelist")
    chosen = f"verdict__exact=refused&reason__exact=group_too_small&run__id__exact={first.pk}"
    page = desk.get(f"{address}?{chosen}")
    assert page.context["cl"].result_count == 5
    assert second.decisions.count() == 5


def test_asking_by_looking_does_nothing(desk: Client) -> None:
    assert desk.get(reverse(ASK)).status_code == 200
    assert not CurationRun.objects.exists()
    assert not WorkerTask.objects.exists()


def test_a_plan_is_shown_without_writing(desk: Client) -> None:
    make_stickers(22)
    answer = desk.post(reverse(ASK), {"mode": "additions", "plan": "1"}, follow=True)
    assert "dry run, no pack was written" in answer.content.decode()
    assert not StickerPack.objects.exists()


def test_a_run_is_left_to_a_worker_and_asked_for_once(desk: Client) -> None:
    for _click in range(2):
        desk.post(reverse(ASK), {"mode": "rebuild"})
    assert WorkerTask.objects.get().task_type == "rebuild_cycle"


def test_who_may_only_look_cannot_ask(viewer: Client) -> None:
    assert viewer.get(reverse(RUNS)).status_code == 200
    assert viewer.post(reverse(ASK), {"mode": "additions", "plan": "1"}).status_code == 403
    assert not CurationRun.objects.exists()


def test_pausing_asks_for_a_reason_and_a_second_click_does_nothing(desk: Client) -> None:
    make_stickers(15)
    curate()
    key = auto_pack().pk
    assert "Pause these packs" in act(desk, "autopack", "pause", [key])
    assert not AutoPackControl.objects.exists()
    confirmed = {"confirmed": "1", "reason": "look at it"}
    assert "1 pack decided." in act(desk, "autopack", "pause", [key], **confirmed)
    assert "0 packs decided." in act(desk, "autopack", "pause", [key], **confirmed)
    control = AutoPackControl.objects.get()
    assert (control.is_paused, control.reason, control.actor) == (True, "look at it", "owner")


@pytest.mark.parametrize("name", ["resume", "approve"])
def test_resuming_and_approving_call_the_curation(desk: Client, name: str) -> None:
    make_stickers(15)
    curate()
    key = auto_pack().pk
    for action in ("pause", name):
        act(desk, "autopack", action, [key], confirmed="1", reason="x")
    assert WorkerTask.objects.filter(task_type="curation_cycle").count() == 1


def test_the_list_of_automatic_packs_does_not_grow_in_queries(desk: Client) -> None:
    address = reverse("admin:stickers_autopack_changelist")
    counts = []
    for label in ("cartoon", "horror"):
        make_stickers(15, label=label)
        curate()
        with CaptureQueriesContext(connection) as queries:
            page = desk.get(address).content.decode()
        counts.append(len(queries))
    assert counts[0] == counts[1]
    assert "[AUTO] Horror" in page


def test_a_pack_of_a_person_is_no_automatic_pack(desk: Client) -> None:
    make_pack(name="mine")
    page = desk.get(reverse("admin:stickers_autopack_changelist"))
    assert page.context["cl"].result_count == 0


@pytest.mark.parametrize(
    ("name", "reason"), [("classify_again", "MODEL_UPGRADE"), ("review_content", "NSFW_REVIEW")]
)
def test_an_operator_can_have_a_sticker_classified_again(
    desk: Client, name: str, reason: str
) -> None:
    make_pack(stickers=1)
    classify_pending(now=timezone.now())
    row = AssetClassification.objects.get()
    assert "1 sticker asked again." in act(desk, "assetclassification", name, [row.pk])
    assert ReprocessTask.objects.get().reason == reason
    page = desk.get(reverse("admin:stickers_assetclassification_change", args=[row.pk]))
    assert page.status_code == 200


def test_dead_requests_can_be_sent_back(desk: Client) -> None:
    (asset_id,) = make_stickers(1)
    task = ReprocessTask.objects.create(asset_id=asset_id, reason="NSFW_REVIEW", status="failed")
    assert "1 request sent back." in act(desk, "reprocesstask", "redrive", [task.pk])
    task.refresh_from_db()
    assert task.status == "pending"
