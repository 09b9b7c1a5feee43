"""From a visitor's report to a decision that the author hears of."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from apps.common.scopes import Scope
from apps.outbox.models import OutboxEvent
from apps.stickers import errors, moderation_queue
from apps.stickers.choices import Outcome, ReportReason
from apps.stickers.models import (
    ModerationDecision,
    PackModeration,
    PackReport,
    PackScoreSnapshot,
    StickerPack,
)
from apps.stickers.services import moderation
from apps.stickers.services.snapshots import refresh_snapshots
from tests.stickers.factories import OWNER, make_pack
from tests.whatsapp_auth.factories import make_session
from tests.whatsapp_auth.threads import run_at_once

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)

pytestmark = pytest.mark.django_db


def report(pack: StickerPack, actor: str = "v", **values: Any) -> PackReport:
    wish = {"reason": ReportReason.SPAM, "text": "", "now": NOW} | values
    return moderation.report_pack(pack, actor_key=actor, **wish)


def decide(pack: StickerPack, outcome: Outcome, reason: str = "looked at it") -> ModerationDecision:
    return moderation.decide(pack.pack_key, outcome, reason=reason, moderator="mod", now=NOW)


@pytest.fixture
def moderator(client: Client) -> Client:
    user = User.objects.create_user("mod", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="moderate_pack"))
    client.force_login(user)
    return client


def test_an_actor_has_one_open_report_of_a_pack() -> None:
    pack = make_pack()
    report(pack)
    with pytest.raises(errors.ReportAlreadyOpen):
        report(pack)
    report(pack, "another")
    decide(pack, Outcome.DISMISSED)
    report(pack)
    assert moderation_queue.open_report_count() == 1


def test_the_queue_begins_with_what_most_report() -> None:
    once, twice = make_pack(name="once"), make_pack(name="twice")
    report(once, now=NOW - timedelta(days=1))
    report(twice, "a", text="look at the third")
    report(twice, "b", reason=ReportReason.HATE)
    rows = moderation_queue.reported_packs()
    assert [(row.pack.name, row.report_count) for row in rows] == [("twice", 2), ("once", 1)]
    assert rows[0].texts == ["look at the third"]
    assert len(rows[0].reasons) == 2


def test_the_queue_takes_the_same_queries_for_one_pack_and_for_ten(
    django_assert_num_queries: Any,
) -> None:
    report(make_pack())
    for _round in range(2):
        with django_assert_num_queries(3):
            moderation_queue.reported_packs()
        for _number in range(9):
            report(make_pack())


def test_hiding_takes_a_pack_from_the_catalogue_and_restoring_brings_it_back(
    anonymous_api: APIClient,
) -> None:
    pack = make_pack(stickers=1)
    refresh_snapshots([pack.pk], now=timezone.now())
    decide(pack, Outcome.HIDDEN)
    refresh_snapshots([pack.pk], now=timezone.now())
    assert not PackScoreSnapshot.objects.exists()
    assert anonymous_api.get(f"/api/v1/packs/{pack.pack_key}").status_code == 404
    decide(pack, Outcome.RESTORED)
    assert anonymous_api.get(f"/api/v1/packs/{pack.pack_key}").status_code == 200


def test_an_author_does_not_unhide_a_pack_by_publishing_it_again(anonymous_api: APIClient) -> None:
    pack = make_pack()
    decide(pack, Outcome.HIDDEN)
    StickerPack.objects.update(visibility="public")
    assert anonymous_api.get(f"/api/v1/packs/{pack.pack_key}").status_code == 404


def test_a_mark_stays_through_refreshes() -> None:
    pack = make_pack(stickers=1)
    decide(pack, Outcome.SENSITIVE)
    refresh_snapshots([pack.pk], now=timezone.now())
    snapshot = PackScoreSnapshot.objects.get(pack=pack)
    assert (snapshot.sensitive_content, snapshot.nsfw_level) == (True, "suggestive")
    assert snapshot.scores_json["sensitive_content"] is True


def test_removing_deletes_the_pack() -> None:
    pack = make_pack()
    report(pack)
    decide(pack, Outcome.REMOVED)
    pack.refresh_from_db()
    assert pack.deleted_at is not None
    assert moderation_queue.reported_packs() == []


def test_a_decision_answers_all_reports_and_tells_the_author_why() -> None:
    pack = make_pack()
    report(pack, "a")
    report(pack, "b")
    OutboxEvent.objects.all().delete()
    decision = decide(pack, Outcome.HIDDEN, "shows  a\nlogo")
    assert (decision.report_count, decision.reason) == (2, "shows a logo")
    assert set(PackReport.objects.values_list("outcome", flat=True)) == {"hidden"}
    told = {event.event_type: event.payload for event in OutboxEvent.objects.all()}
    assert told["PACK_MODERATED"] == {
        "pack_id": pack.pk, "pack_key": pack.pack_key, "owner_jid": OWNER,
        "outcome": "hidden", "reason": "shows a logo",
    }  # fmt: skip
    assert told["PACK_UPDATED"]["action"] == "moderated"
    assert list(moderation_queue.notices_for(OWNER, now=NOW)) == [decision]


def test_nothing_wrong_needs_no_notice() -> None:
    pack = make_pack()
    report(pack)
    OutboxEvent.objects.all().delete()
    decide(pack, Outcome.DISMISSED)
    assert not OutboxEvent.objects.exists()
    assert not moderation_queue.notices_for(OWNER, now=NOW)


def test_a_second_click_does_nothing() -> None:
    pack = make_pack()
    report(pack)
    decide(pack, Outcome.HIDDEN)
    with pytest.raises(errors.NothingToDecide):
        decide(pack, Outcome.HIDDEN)
    assert ModerationDecision.objects.count() == 1


def test_a_decision_needs_a_reason() -> None:
    pack = make_pack()
    with pytest.raises(errors.InvalidText):
        decide(pack, Outcome.HIDDEN, " \n ")
    assert not PackModeration.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.mysql
def test_of_two_moderators_at_once_one_decides() -> None:
    pack = make_pack()
    report(pack)
    answers = run_at_once([lambda: decide(pack, Outcome.HIDDEN) for _thread in range(4)])
    assert sum(isinstance(answer, ModerationDecision) for answer in answers) == 1
    assert sum(isinstance(answer, errors.NothingToDecide) for answer in answers) == 3


@pytest.mark.django_db(transaction=True)
@pytest.mark.mysql
def test_of_equal_reports_at_once_one_is_kept() -> None:
    pack = make_pack()
    run_at_once([lambda: report(pack) for _thread in range(6)])
    assert PackReport.objects.count() == 1


def test_the_api_takes_reports_and_decisions(anonymous_api: APIClient, api_as: Any) -> None:
    pack = make_pack()
    path = f"/api/v1/packs/{pack.pack_key}"
    wish = {"reason": "spam", "text": "sells things"}
    assert anonymous_api.post(f"{path}/reports", wish).status_code == 201
    again = anonymous_api.post(f"{path}/reports", wish)
    assert (again.status_code, again.json()["error"]["code"]) == (409, "report_already_open")
    api = api_as(Scope.PACKS_MODERATE)
    row = api.get("/api/v1/moderation/packs").json()["results"][0]
    assert (row["pack"]["pack_key"], row["report_count"]) == (pack.pack_key, 1)
    answer = api.post(f"{path}/moderation", {"outcome": "hidden", "reason": "sells things"})
    assert (answer.status_code, answer.json()["report_count"]) == (201, 1)
    again = api.post(f"{path}/moderation", {"outcome": "hidden", "reason": "sells things"})
    assert (again.status_code, again.json()["error"]["code"]) == (409, "nothing_to_decide")


def test_deciding_needs_the_scope(anonymous_api: APIClient, api_as: Any) -> None:
    pack = make_pack()
    path = f"/api/v1/packs/{pack.pack_key}/moderation"
    wish = {"outcome": "hidden", "reason": "x"}
    assert anonymous_api.post(path, wish).status_code == 401
    assert api_as(Scope.PACKS_WRITE).post(path, wish).status_code == 403
    assert anonymous_api.get("/api/v1/moderation/packs").status_code == 401


def test_reports_of_one_address_are_limited(anonymous_api: APIClient, settings: Any) -> None:
    settings.REPORT_RATE = "2/hour"
    answers = [
        anonymous_api.post(
            f"/api/v1/packs/{make_pack().pack_key}/reports",
            {"reason": "spam"},
            REMOTE_ADDR="10.3.3.3",
        ).status_code
        for _number in range(5)
    ]
    assert answers.count(429) >= 1


def test_a_visitor_reports_on_the_page(client: Client) -> None:
    pack = make_pack()
    path = f"/packs/{pack.pack_key}/report"
    wish = {"reason": "copyright", "text": "mine"}
    client.get(f"/packs/{pack.pack_key}")  # gives the browser its cookie
    assert "Thank you" in client.post(path, wish, follow=True).content.decode()
    assert "already" in client.post(path, wish, follow=True).content.decode()
    assert client.post(path, {"reason": "no such"}).status_code == 400
    assert PackReport.objects.get().text == "mine"


def test_moderators_decide_on_their_page(moderator: Client) -> None:
    pack = make_pack(name="Doubtful")
    report(pack, text="look closer")
    page = moderator.get("/moderation").content.decode()
    assert "Doubtful" in page
    assert "look closer" in page
    wish = {"outcome": "hidden", "reason": "not allowed"}
    answer = moderator.post(f"/moderation/{pack.pack_key}", wish, follow=True)
    assert "Nothing waits" in answer.content.decode()
    assert ModerationDecision.objects.get().moderator == "mod"


def test_removing_on_the_page_wants_its_box_ticked(moderator: Client) -> None:
    pack = make_pack()
    report(pack)
    path, wish = f"/moderation/{pack.pack_key}", {"outcome": "removed", "reason": "x"}
    moderator.post(path, wish)
    assert not ModerationDecision.objects.exists()
    moderator.post(path, wish | {"confirmed": "1"})
    assert ModerationDecision.objects.get().outcome == Outcome.REMOVED


def test_others_do_not_moderate(client: Client) -> None:
    pack = make_pack()
    client.force_login(User.objects.create_user("clerk", is_staff=True))
    assert client.get("/moderation").status_code == 302
    assert client.post(f"/moderation/{pack.pack_key}", {"outcome": "hidden"}).status_code == 302
    assert not PackModeration.objects.exists()


def test_the_author_reads_it_on_their_page(client: Client) -> None:
    opened = make_session(now=timezone.now() - timedelta(minutes=1))
    client.cookies[settings.WEB_SESSION_COOKIE_NAME] = opened.token
    pack = make_pack(name="Doubtful")
    moderation.decide(
        pack.pack_key, Outcome.REMOVED, reason="a logo", moderator="mod", now=timezone.now()
    )
    page = client.get("/my/packs").content.decode()
    assert "a logo" in page
    assert "mod" not in re.findall(r'class="card notices".*?</section>', page, re.DOTALL)[0].split()
