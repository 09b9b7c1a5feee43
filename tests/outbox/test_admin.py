"""Operators look at a dead letter, mend it, send it back or let it go, from the admin."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from apps.outbox.errors import Cancelled
from apps.outbox.event_types import declare
from apps.outbox.events import Event, NewEvent
from apps.outbox.models import (
    FailedAttempt,
    OutboxDeadLetter,
    OutboxEvent,
    PausedType,
    RedriveLog,
)
from apps.outbox.queries import timeline
from apps.outbox.registry import handles
from apps.outbox.retry import RetryPolicy
from apps.outbox.services import attempts, drain, publish, publish_many, redrive

pytestmark = pytest.mark.django_db
LETTERS = reverse("admin:outbox_outboxdeadletter_changelist")
AT_ONCE = RetryPolicy(base_seconds=0, factor=1, jitter=0)


def fail_for_good(count: int = 1, max_attempts: int = 1) -> list[int]:
    @handles("X", retry=AT_ONCE)
    def picky(event: Event) -> None:
        if event.payload.get("price") != 5:
            raise ValueError("the price is wrong")

    publish_many(
        NewEvent("X", "t", str(number), {"price": 1}, max_attempts=max_attempts)
        for number in range(count)
    )
    for _attempt in range(max_attempts):
        OutboxEvent.objects.filter(status="pending").update(
            available_at=datetime(2026, 1, 1, tzinfo=UTC)
        )
        drain(20)
    return list(OutboxEvent.objects.filter(status="failed").values_list("pk", flat=True))


def page_of(event_id: int) -> str:
    letter = OutboxDeadLetter.objects.get(outbox_event_id=event_id)
    return reverse("admin:outbox_outboxdeadletter_change", args=[letter.pk])


def test_a_letter_shows_its_payload_and_every_attempt(admin_client: Client) -> None:
    (event_id,) = fail_for_good(max_attempts=3)
    shown = admin_client.get(page_of(event_id)).content.decode()
    assert "price" in shown
    for number in (1, 2, 3):
        assert f"attempt {number} failed" in shown
    assert shown.count("ValueError: the price is wrong") >= 3


def test_a_mended_letter_goes_back_and_completes(admin_client: Client) -> None:
    (event_id,) = fail_for_good()
    wish = {"payload": '{"price": 5}', "reason": "the price was wrong"}
    assert admin_client.post(page_of(event_id), wish).status_code == 302
    drain(5)
    assert OutboxEvent.objects.get().status == "completed"
    entry = RedriveLog.objects.get()
    assert (entry.action, entry.reason) == ("edit", "the price was wrong")
    assert entry.payload_before == {"price": 1}


def test_an_untouched_letter_goes_back_to_the_chosen_handler_only(admin_client: Client) -> None:
    (event_id,) = fail_for_good()
    called: list[Event] = []

    @handles("X")
    def another(event: Event) -> None:
        called.append(event)

    wish = {
        "payload": '{"price": 1}',
        "handler": f"{another.__module__}.{another.__qualname__}",
        "reason": "it was added late",
    }
    assert admin_client.post(page_of(event_id), wish).status_code == 302
    drain(5)
    assert [event.id for event in called] == [event_id]
    assert RedriveLog.objects.get().action == "redrive"
    assert OutboxEvent.objects.get().status == "completed"


@pytest.mark.parametrize(
    ("wish", "answer"),
    [
        ({"payload": "{nonsense", "reason": "x"}, "Enter a valid JSON."),
        ({"payload": "[1]", "reason": "x"}, "The payload must be a JSON object."),
        ({"payload": '{"price": 5}', "reason": ""}, "This field is required."),
    ],
    ids=["no JSON", "no object", "no reason"],
)
def test_a_bad_wish_changes_nothing_and_says_why(
    admin_client: Client, wish: dict[str, str], answer: str
) -> None:
    (event_id,) = fail_for_good()
    assert answer in admin_client.post(page_of(event_id), wish).content.decode()
    assert OutboxEvent.objects.get().status == "failed"
    assert not RedriveLog.objects.exists()


def test_a_payload_that_breaks_its_schema_is_refused(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.outbox.event_types._types", {})
    (event_id,) = fail_for_good()
    declare("X", "A price.", required={"price": {"type": "integer"}})
    wish = {"payload": '{"price": "five"}', "reason": "x"}
    shown = admin_client.post(page_of(event_id), wish).content.decode()
    assert "breaks its schema at $.price" in shown
    assert not RedriveLog.objects.exists()


def test_a_viewer_may_look_but_not_send_back(client: Client) -> None:
    viewer = User.objects.create_user("vera", is_staff=True)
    viewer.groups.add(Group.objects.get(name="viewer"))
    client.force_login(viewer)
    (event_id,) = fail_for_good()
    assert b"<textarea" not in client.get(page_of(event_id)).content
    assert client.post(page_of(event_id), {"payload": "{}", "reason": "x"}).status_code == 403


@pytest.mark.parametrize(("action", "left"), [("redrive", "pending"), ("discard", None)])
def test_all_of_a_filter_is_all_of_it(admin_client: Client, action: str, left: str | None) -> None:
    fail_for_good(count=120)
    (first,) = OutboxDeadLetter.objects.values_list("pk", flat=True)[:1]
    wish = {"action": action, "_selected_action": [first], "select_across": "1"}
    asked = admin_client.post(f"{LETTERS}?event_type=X", wish).content.decode()
    assert "This touches 120 rows" in asked
    assert 'name="select_across" value="1"' in asked
    wish |= {"confirmed": "1", "reason": "mended"}
    admin_client.post(f"{LETTERS}?event_type=X", wish)
    assert not OutboxDeadLetter.objects.exists()
    states = set(OutboxEvent.objects.values_list("status", flat=True))
    assert states == ({left} if left else set())
    assert RedriveLog.objects.count() == 120


def test_the_confirmation_keeps_every_chosen_row(admin_client: Client) -> None:
    fail_for_good(count=80)
    chosen = list(OutboxDeadLetter.objects.values_list("pk", flat=True)[:70])
    wish = {"action": "redrive", "_selected_action": chosen}
    asked = admin_client.post(LETTERS, wish).content.decode()
    assert asked.count('name="_selected_action"') == 70


def test_pausing_and_resuming_from_the_admin(admin_client: Client) -> None:
    publish("Y", "t", "1")
    wish = {"event_type": "Y", "reason": "its target is down"}
    admin_client.post(reverse("admin:outbox_pausedtype_add"), wish)
    assert PausedType.objects.get().paused_by == "admin"
    assert drain(5).held == 1
    page = reverse("admin:outbox_pausedtype_delete", args=["Y"])
    admin_client.post(page, {"post": "yes"})
    assert not PausedType.objects.exists()
    assert drain(5).completed == 1


def test_a_cancelled_event_has_one_attempt_and_no_next_one() -> None:
    @handles("X")
    def hopeless(event: Event) -> None:
        raise Cancelled("no")

    event_id = publish("X", "t", "1")
    drain(5)
    attempt = FailedAttempt.objects.get()
    assert (attempt.attempt, attempt.retry_seconds) == (1, None)
    assert attempt.error == "Cancelled: no"
    event = OutboxEvent.objects.get(pk=event_id)
    assert [entry.what for entry in timeline(event)] == [
        "published",
        "attempt 1 failed",
        "failed",
    ]


def test_each_failing_handler_of_an_attempt_is_written_down() -> None:
    handles("X", retry=AT_ONCE)(_refuse("first"))
    handles("X", retry=AT_ONCE)(_refuse("second"))
    publish("X", "t", "1")
    drain(5)
    errors = FailedAttempt.objects.values_list("attempt", "error")
    assert list(errors) == [(1, "ValueError: first"), (1, "ValueError: second")]


def test_old_attempts_go_but_not_those_of_the_dead() -> None:
    dead, back = fail_for_good(count=2)
    redrive([back], actor="ana", reason="mended")
    FailedAttempt.objects.update(failed_at=datetime(2026, 1, 1, tzinfo=UTC))
    assert attempts.forget(older_than_days=30) == 1
    assert FailedAttempt.objects.get().event_id == dead


def _refuse(word: str) -> Callable[[Event], None]:
    def refuse(_event: Any) -> None:
        raise ValueError(word)

    refuse.__qualname__ = word
    return refuse
