"""The operator's pages of the sticker service."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from apps.stickers import scoring
from apps.stickers.choices import ReportReason
from apps.stickers.models import (
    ModerationDecision,
    PackModeration,
    PackScoreSnapshot,
    StickerPack,
)
from apps.stickers.score_parts import score_parts
from apps.stickers.services.moderation import report_pack
from apps.stickers.services.snapshots import refresh_snapshots
from tests.stickers.factories import OWNER, make_pack

LIST = reverse("admin:stickers_stickerpack_changelist")

scores = st.floats(0, 1)


@given(scores, scores, scores, scores, scores, scores, scores)
def test_the_parts_of_a_score_make_the_rank(
    confidence: float, engaged: float, quality: float, diverse: float,
    cohesion: float, trend: float, decay: float,
) -> None:  # fmt: skip
    signals = {
        "classification_confidence": confidence, "engagement_score": engaged,
        "quality_score": quality, "diversity_score": diverse, "cohesion_score": cohesion,
        "trend_score": trend, "age_decay_factor": decay, "duplicate_penalty": 0,
    }  # fmt: skip
    weighted = 0.4 * confidence + 0.3 * engaged + 0.2 * quality + 0.1 * diverse
    rank = scoring.clamp(weighted, 0, 1.5) * decay + 0.08 * trend + 0.05 * cohesion
    assert sum(part.added for part in score_parts(signals)) == pytest.approx(rank)


def test_an_empty_score_has_no_bars() -> None:
    assert {part.width for part in score_parts({})} == {0}


@pytest.fixture
def staff(client: Client, db: None) -> Client:
    user = User.objects.create_user("op", is_staff=True)
    user.groups.add(Group.objects.get(name="operator"))
    client.force_login(user)
    return client


def ranked(**values: Any) -> StickerPack:
    pack = make_pack(**{"stickers": 1} | values)
    refresh_snapshots([pack.pk], now=timezone.now())
    return pack


def act(client: Client, action: str, *packs: StickerPack, **values: str) -> str:
    wish = {"action": action, "_selected_action": [pack.pk for pack in packs]} | values
    return client.post(LIST, wish, follow=True).content.decode()


def test_the_list_shows_pictures_and_ages_and_masks_owners(staff: Client) -> None:
    ranked(name="Cups")
    page = staff.get(LIST).content.decode()
    assert 'class="thumbnail"' in page
    assert "Cups" in page
    assert OWNER not in page


def test_the_list_takes_the_same_queries_for_one_pack_and_for_ten(
    staff: Client, django_assert_max_num_queries: Any
) -> None:
    counts = []
    for number in (1, 9):
        for _pack in range(number):
            ranked()
        with django_assert_max_num_queries(40) as queries:
            staff.get(LIST)
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_a_pack_shows_what_its_score_is_made_of(staff: Client) -> None:
    pack = ranked()
    for name, pk in (("stickerpack", pack.pk), ("packscoresnapshot", pack.pk)):
        page = staff.get(reverse(f"admin:stickers_{name}_change", args=[pk])).content.decode()
        assert "score-chart" in page
        assert "quality_score" in page


def test_hiding_asks_why_and_is_kept(staff: Client) -> None:
    pack = ranked()
    assert "Why?" in act(staff, "hide", pack)
    assert not PackModeration.objects.exists()
    act(staff, "hide", pack, confirmed="1", reason="a logo")
    decision = ModerationDecision.objects.get()
    assert (decision.outcome, decision.reason, decision.moderator) == ("hidden", "a logo", "op")
    act(staff, "hide", pack, confirmed="1", reason="again")
    assert ModerationDecision.objects.count() == 1
    page = staff.get(reverse("admin:stickers_stickerpack_change", args=[pack.pk]))
    assert "a logo" in page.content.decode()


@pytest.mark.parametrize("action", ["mark_sensitive", "remove", "restore"])
def test_every_decision_asks_first(staff: Client, action: str) -> None:
    pack = ranked()
    report_pack(pack, reason=ReportReason.SPAM, text="", actor_key="v", now=timezone.now())
    assert "Why?" in act(staff, action, pack)
    assert not ModerationDecision.objects.exists()
    act(staff, action, pack, confirmed="1", reason="seen")
    assert ModerationDecision.objects.count() == 1


@pytest.mark.django_db
def test_a_viewer_decides_nothing(client: Client) -> None:
    pack = ranked()
    user = User.objects.create_user("viewer", is_staff=True)
    user.groups.add(Group.objects.get(name="viewer"))
    client.force_login(user)
    act(client, "hide", pack, confirmed="1", reason="x")
    assert not ModerationDecision.objects.exists()


def test_stale_and_missing_scores_are_found_and_computed(staff: Client) -> None:
    stale, fresh, missing = ranked(name="stale"), ranked(name="fresh"), make_pack(name="missing")
    old = timezone.now() - timedelta(hours=9)
    PackScoreSnapshot.objects.filter(pack=stale).update(refreshed_at=old)
    for state, pack in (("stale", stale), ("missing", missing)):
        page = staff.get(f"{LIST}?score={state}").content.decode()
        assert pack.pack_key in page
        assert fresh.pack_key not in page
    act(staff, "refresh_scores", stale, missing)
    assert PackScoreSnapshot.objects.filter(refreshed_at__gt=old).count() == 3


def test_reports_and_decisions_are_listed(staff: Client) -> None:
    pack = ranked(name="Doubtful")
    report_pack(pack, reason=ReportReason.SPAM, text="look", actor_key="v", now=timezone.now())
    act(staff, "hide", pack, confirmed="1", reason="seen")
    for name in ("packreport", "moderationdecision"):
        page = staff.get(reverse(f"admin:stickers_{name}_changelist")).content.decode()
        assert "Doubtful" in page
