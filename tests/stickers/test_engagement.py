"""One opinion of each visitor, whoever asks at once; loops and robots move nothing (P6)."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core import signing
from django.test import Client
from rest_framework.test import APIClient

from apps.common.scopes import Scope
from apps.outbox.models import OutboxEvent
from apps.stickers import visitors
from apps.stickers.actors import is_robot
from apps.stickers.choices import Interaction
from apps.stickers.models import InteractionEvent, PackEngagement, StickerPack
from apps.stickers.services import engagement
from tests.stickers.factories import make_pack
from tests.whatsapp_auth.threads import run_at_once

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LIKE, DISLIKE, OPEN = Interaction.LIKE, Interaction.DISLIKE, Interaction.OPEN

pytestmark = pytest.mark.django_db


def record(pack: StickerPack, what: Interaction, actor: str = "v", **values: Any) -> bool:
    return engagement.record_interaction(pack, what, actor_key=actor, **{"now": NOW} | values)


def counts(pack: StickerPack) -> tuple[int, int, int]:
    row = PackEngagement.objects.get(pack=pack)
    return row.open_count, row.like_count, row.dislike_count


def test_an_actor_likes_once_and_takes_it_back() -> None:
    pack = make_pack()
    assert record(pack, LIKE)
    assert not record(pack, LIKE)
    assert counts(pack) == (0, 1, 0)
    assert engagement.withdraw_opinion(pack, LIKE, actor_key="v")
    assert not engagement.withdraw_opinion(pack, LIKE, actor_key="v")
    assert counts(pack) == (0, 0, 0)
    assert not InteractionEvent.objects.exists()


def test_a_second_opinion_takes_the_place_of_the_first() -> None:
    pack = make_pack()
    record(pack, LIKE)
    assert record(pack, DISLIKE)
    assert counts(pack) == (0, 0, 1)
    assert InteractionEvent.objects.get().interaction == DISLIKE


def test_nobody_takes_back_what_another_likes() -> None:
    pack = make_pack()
    record(pack, LIKE, "ana")
    assert not engagement.withdraw_opinion(pack, LIKE, actor_key="bia")
    assert counts(pack) == (0, 1, 0)


def test_counters_never_fall_below_nothing() -> None:
    pack = make_pack()
    for _time in range(2):  # an adopted database holds equal rows
        InteractionEvent.objects.create(pack=pack, interaction=LIKE, actor_key="v")
    assert engagement.withdraw_opinion(pack, LIKE, actor_key="v")
    assert counts(pack) == (0, 0, 0)


def test_p6_a_loop_of_opens_counts_a_few_times_an_hour(settings: Any) -> None:
    settings.ENGAGEMENT_OPENS_PER_HOUR = 3
    pack = make_pack()
    assert [record(pack, OPEN) for _time in range(5)] == [True, True, True, False, False]
    assert record(pack, OPEN, now=NOW + timedelta(minutes=61))
    assert counts(pack)[0] == 4


def test_p6_an_address_lends_itself_to_a_limited_number_of_visitors(settings: Any) -> None:
    settings.ENGAGEMENT_VISITORS_PER_ADDRESS = 2
    pack, other = make_pack(), make_pack()
    liked = [record(pack, LIKE, f"v{n}", address_key="home") for n in range(4)]
    assert liked == [True, True, False, False]
    assert record(other, LIKE, "v9", address_key="home")
    assert record(pack, LIKE, "v9", address_key="elsewhere")
    assert record(pack, LIKE, "v8", address_key="home", now=NOW + timedelta(hours=25))


def test_p6_counter_event_and_row_are_written_together_or_not_at_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pack = make_pack()

    def broken(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("no outbox")

    monkeypatch.setattr(engagement, "publish", broken)
    with pytest.raises(RuntimeError):
        record(pack, LIKE)
    assert counts(pack) == (0, 0, 0)
    assert not InteractionEvent.objects.exists()


def test_e1_every_opinion_is_told() -> None:
    pack = make_pack()
    OutboxEvent.objects.all().delete()
    record(pack, LIKE)
    engagement.withdraw_opinion(pack, LIKE, actor_key="v")
    record(pack, LIKE)
    told = OutboxEvent.objects.filter(event_type="ENGAGEMENT_RECORDED").order_by("pk")
    actions = [event.payload["action"] for event in told]
    assert actions == ["like", "unlike", "like"]


def test_old_opens_are_forgotten_and_opinions_stay(settings: Any) -> None:
    pack = make_pack()
    record(pack, OPEN, now=NOW - timedelta(days=91))
    record(pack, LIKE, now=NOW - timedelta(days=91))
    record(pack, OPEN)
    assert engagement.prune_opens(now=NOW) == 1
    assert InteractionEvent.objects.count() == 2
    assert counts(pack) == (2, 1, 0)


@pytest.mark.django_db(transaction=True)
@pytest.mark.mysql
def test_one_actor_in_many_threads_likes_once() -> None:
    pack = make_pack()
    answers = run_at_once([lambda: record(pack, LIKE) for _thread in range(8)])
    assert sorted(answers) == [False] * 7 + [True]
    assert counts(pack) == (0, 1, 0)


@pytest.mark.django_db(transaction=True)
@pytest.mark.mysql
def test_many_actors_in_threads_are_all_counted_also_on_a_pack_without_counters() -> None:
    pack = make_pack()
    PackEngagement.objects.all().delete()
    jobs = [lambda n=n: record(pack, LIKE, f"v{n}") for n in range(12)]  # type: ignore[misc]
    assert run_at_once(jobs) == [True] * 12
    assert counts(pack) == (0, 12, 0)
    assert InteractionEvent.objects.count() == 12


@pytest.mark.django_db(transaction=True)
@pytest.mark.mysql
def test_liking_and_taking_back_at_once_keeps_counter_and_rows_equal() -> None:
    pack = make_pack()
    jobs: list[Callable[[], bool]] = []
    for _round in range(4):
        jobs.append(lambda: record(pack, LIKE))
        jobs.append(lambda: record(pack, DISLIKE))
        jobs.append(lambda: engagement.withdraw_opinion(pack, LIKE, actor_key="v"))
    run_at_once(jobs)
    _opens, likes, dislikes = counts(pack)
    rows = InteractionEvent.objects.filter(pack=pack)
    assert (likes, dislikes) == (
        rows.filter(interaction=LIKE).count(),
        rows.filter(interaction=DISLIKE).count(),
    )
    assert likes + dislikes <= 1


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        ("Mozilla/5.0 (Linux; Android 14) Chrome/130 Mobile Safari/537.36", False),
        ("", False),
        ("Mozilla/5.0 (compatible; Googlebot/2.1)", True),
        ("WhatsApp/2.23.20.0", True),
        ("facebookexternalhit/1.1", True),
        ("curl/8.4.0", True),
        ("Mozilla/5.0 (CUBOT X18) AppleWebKit/537.36", False),
    ],
)
def test_robots_that_say_so_are_known(agent: str, expected: bool) -> None:
    assert is_robot(agent) is expected


def api_like(api: APIClient | Client, pack: StickerPack, **headers: Any) -> dict[str, Any]:
    answer = api.post(f"/api/v1/packs/{pack.pack_key}/like", **headers)
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()
    return found


def test_p6_robots_move_nothing(anonymous_api: APIClient) -> None:
    pack = make_pack()
    answer = api_like(anonymous_api, pack, HTTP_USER_AGENT="Googlebot/2.1")
    assert (answer["counted"], answer["engagement"]["like_count"]) == (False, 0)


def test_p6_a_name_that_anybody_can_type_makes_no_new_visitor(anonymous_api: APIClient) -> None:
    pack = make_pack()
    likes = [
        api_like(anonymous_api, pack, HTTP_X_VIEWER_KEY=f"v{number}")["engagement"]["like_count"]
        for number in range(3)
    ]
    assert likes == [1, 1, 1]


def test_a_token_may_name_visitors_only_with_the_scope(api_as: Any) -> None:
    pack = make_pack()
    allowed, other = api_as(Scope.PACKS_ENGAGE), api_as(Scope.PACKS_READ)
    for number in range(3):
        api_like(allowed, pack, HTTP_X_VIEWER_KEY=f"v{number}")
        answer = api_like(other, pack, HTTP_X_VIEWER_KEY=f"w{number}")
    assert answer["engagement"]["like_count"] == 4


def test_a_browser_is_known_by_its_signed_cookie(client: Client) -> None:
    pack = make_pack()
    for expected in (1, 2):
        client.cookies.clear()
        client.get(f"/packs/{pack.pack_key}")
        cookie = client.cookies[visitors.COOKIE]
        assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")
        for _time in range(2):
            assert api_like(client, pack)["engagement"]["like_count"] == expected


# Named, since a signature holds the time and two test processes must see the same names.
@pytest.mark.parametrize(
    "value",
    ["somebody", "a:b:c", signing.TimestampSigner().sign("x")],
    ids=["unsigned", "nonsense", "signed for something else"],
)
def test_a_forged_cookie_names_nobody(client: Client, value: str) -> None:
    pack = make_pack()
    api_like(client, pack)
    client.cookies[visitors.COOKIE] = value
    assert api_like(client, pack)["engagement"]["like_count"] == 1


def test_the_api_tells_the_opinion_and_takes_it_back(anonymous_api: APIClient) -> None:
    pack = make_pack()
    assert api_like(anonymous_api, pack)["opinion"] == "like"
    answer = anonymous_api.delete(f"/api/v1/packs/{pack.pack_key}/like").json()
    assert (answer["counted"], answer["opinion"]) == (True, "")
    assert answer["engagement"] == {
        "open_count": 0, "like_count": 0, "dislike_count": 0, "score": 0
    }  # fmt: skip


def test_p6_an_address_that_asks_too_often_is_refused(
    anonymous_api: APIClient, settings: Any
) -> None:
    settings.ENGAGEMENT_RATE = "3/min"
    pack = make_pack()
    path = f"/api/v1/packs/{pack.pack_key}/open"
    answers = [anonymous_api.post(path, REMOTE_ADDR="10.1.1.9").status_code for _n in range(7)]
    assert answers.count(429) >= 1
    assert anonymous_api.post(path, REMOTE_ADDR="10.1.1.10").status_code == 200


@pytest.mark.parametrize("visibility", ["private"])
def test_only_packs_that_can_be_seen_can_be_liked(
    anonymous_api: APIClient, visibility: str
) -> None:
    pack = make_pack(visibility=visibility)
    assert anonymous_api.post(f"/api/v1/packs/{pack.pack_key}/like").status_code == 404
