"""Operators decide about dead letters by command and API, and every decision is logged."""

import json
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from rest_framework.test import APIClient

from apps.common.scopes import Scope
from apps.outbox.errors import Cancelled
from apps.outbox.events import Event
from apps.outbox.models import OutboxDeadLetter, OutboxEvent, RedriveLog
from apps.outbox.registry import handles
from apps.outbox.services import drain, publish

pytestmark = pytest.mark.django_db

ApiAs = Callable[..., APIClient]


def make_dead(count: int = 2) -> list[int]:
    """So many dead letters of type X."""

    @handles("X")
    def hopeless(event: Event) -> None:
        raise Cancelled("no")

    ids = [publish("X", "t", str(number), {"n": number}) for number in range(count)]
    drain(5)
    return ids


def run(*arguments: str) -> dict[str, Any]:
    out = StringIO()
    call_command("outbox", *arguments, "--json", stdout=out)
    result: dict[str, Any] = json.loads(out.getvalue())
    return result


def test_status_shows_depth_by_type() -> None:
    make_dead(2)
    shown = run("status")
    assert shown["depth"] == [{"event_type": "X", "status": "failed", "count": 2}]
    assert shown["oldest_due_seconds"] == 0


def test_dead_letters_of_a_type_are_sent_back_and_logged() -> None:
    ids = make_dead()
    assert run("redrive", "--type", "X", "--reason", "try", "--dry-run") == {"would_redrive": ids}
    assert run("redrive", "--type", "X", "--reason", "mended") == {"redriven": ids}
    assert run("redrive", "--type", "X", "--reason", "again") == {"redriven": []}
    log = list(RedriveLog.objects.order_by("event_id").values_list("event_id", "reason"))
    assert log == [(pk, "mended") for pk in ids]


def test_discarding_deletes_and_keeps_the_payload_in_the_log() -> None:
    (event_id,) = make_dead(1)
    assert run("discard", str(event_id), "--reason", "test data") == {"discarded": [event_id]}
    assert not OutboxEvent.objects.exists()
    assert not OutboxDeadLetter.objects.exists()
    assert RedriveLog.objects.get().payload_before == {"n": 0}


def test_a_type_is_paused_and_resumed() -> None:
    assert run("pause", "X", "--reason", "down") == {"paused": ["X"]}
    assert run("resume", "X") == {"paused": []}
    with pytest.raises(CommandError, match="not paused"):
        run("resume", "X")


def test_draining_and_pruning_by_hand() -> None:
    publish("X", "t", "1")
    assert run("drain", "--seconds", "5")["completed"] == 1
    assert run("prune", "--days", "1") == {"pruned": 0}


def test_nothing_is_chosen_by_accident() -> None:
    with pytest.raises(CommandError, match="Name events"):
        run("redrive", "--reason", "x")


def test_the_api_lists_and_redrives(api_as: ApiAs) -> None:
    ids = make_dead()
    api = api_as(Scope.OUTBOX_READ, Scope.OUTBOX_WRITE)
    rows = api.get("/api/v1/outbox/dead-letters").json()["results"]
    assert sorted(row["outbox_event_id"] for row in rows) == ids
    wish = {"ids": ids, "reason": "mended"}
    assert api.post("/api/v1/outbox/dead-letters/redrive", wish).json() == {"redriven": ids}
    assert RedriveLog.objects.filter(actor="owner").count() == 2


def test_the_api_mends_a_payload_and_sends_it_back(api_as: ApiAs) -> None:
    (event_id,) = make_dead(1)
    api = api_as(Scope.OUTBOX_WRITE)
    wish = {"payload": {"n": 5}, "reason": "typo"}
    answer = api.post(f"/api/v1/outbox/dead-letters/{event_id}/edit", wish)
    assert (answer.status_code, answer.json()["payload"]) == (200, {"n": 5})
    again = api.post(f"/api/v1/outbox/dead-letters/{event_id}/edit", wish)
    assert again.json()["error"]["code"] == "dead_letter_not_found"


def test_reading_does_not_allow_deciding(api_as: ApiAs) -> None:
    wish = {"ids": [1], "reason": "x"}
    api = api_as(Scope.OUTBOX_READ)
    assert api.post("/api/v1/outbox/dead-letters/redrive", wish).status_code == 403
    assert api.get("/api/v1/outbox/events?status=failed").status_code == 200


def test_the_api_pauses_and_resumes(api_as: ApiAs) -> None:
    api = api_as(Scope.OUTBOX_READ, Scope.OUTBOX_WRITE)
    wish = {"event_type": "X", "reason": "down"}
    assert api.post("/api/v1/outbox/paused-types", wish).json() == {"paused": ["X"]}
    assert api.delete("/api/v1/outbox/paused-types/X").status_code == 204
    assert api.get("/api/v1/outbox/paused-types").json() == {"paused": []}
