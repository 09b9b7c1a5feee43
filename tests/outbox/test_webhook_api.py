"""Webhooks over the API: secrets are shown once, rights are asked for, the log can be read."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.common.scopes import Scope
from apps.outbox.models import WebhookSubscription
from tests.outbox.subscriber import subscriber

ADDRESS = "/api/v1/outbox/webhooks"

pytestmark = pytest.mark.django_db

ApiAs = Callable[..., APIClient]


def make(client: APIClient, **changes: Any) -> Any:
    wish = {"name": "shop", "url": "https://shop.example/hook", "event_types": ["PACK_UPDATED"]}
    return client.post(ADDRESS, {**wish, **changes}, format="json")


def test_a_secret_is_shown_when_it_is_made_and_never_again(api_as: ApiAs) -> None:
    client = api_as(Scope.OUTBOX_READ, Scope.OUTBOX_WRITE)
    made = make(client)
    assert made.status_code == 201
    assert made.json()["secret"].startswith("whsec_")
    assert "secret" not in client.get(f"{ADDRESS}/{made.json()['id']}").json()
    fresh = client.post(f"{ADDRESS}/{made.json()['id']}/rotate-secret").json()
    assert fresh["secret"] != made.json()["secret"]


@pytest.mark.parametrize(
    "wrong", [{"url": "no address"}, {"event_types": []}, {"event_types": ["lower case"]}]
)
def test_a_wrong_wish_is_refused(api_as: ApiAs, wrong: dict[str, Any]) -> None:
    assert make(api_as(Scope.OUTBOX_WRITE), **wrong).status_code == 400
    assert not WebhookSubscription.objects.exists()


def test_a_name_that_is_taken_is_a_conflict(api_as: ApiAs) -> None:
    client = api_as(Scope.OUTBOX_WRITE)
    make(client)
    again = make(client)
    assert (again.status_code, again.json()["error"]["code"]) == (409, "webhook_name_taken")


def test_reading_is_not_writing(api_as: ApiAs) -> None:
    client = api_as(Scope.OUTBOX_READ)
    assert make(client).status_code == 403
    assert client.get(ADDRESS).status_code == 200


def test_a_subscription_can_be_switched_off_and_deleted(api_as: ApiAs) -> None:
    client = api_as(Scope.OUTBOX_WRITE)
    address = f"{ADDRESS}/{make(client).json()['id']}"
    changed = client.patch(address, {"is_active": False}, format="json")
    assert changed.json()["is_active"] is False
    assert client.delete(address).status_code == 204
    assert client.patch(address, {"is_active": True}, format="json").status_code == 404


def test_a_test_event_is_sent_and_logged(api_as: ApiAs, settings: Any) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = ["127.0.0.0/8"]
    client = api_as(Scope.OUTBOX_READ, Scope.OUTBOX_WRITE)
    with subscriber() as target:
        address = f"{ADDRESS}/{make(client, url=target.url).json()['id']}"
        answer = client.post(f"{address}/test").json()
    assert (answer["outcome"], answer["status_code"], answer["response"]) == (
        "delivered",
        200,
        "thanks",
    )
    log = client.get("/api/v1/outbox/webhook-attempts").json()["results"]
    assert [entry["event_type"] for entry in log] == ["WEBHOOK_TEST"]


def test_promised_types_are_listed_with_their_schemas(api_as: ApiAs) -> None:
    answer = api_as(Scope.OUTBOX_READ).get("/api/v1/outbox/event-types").json()
    types = {entry["name"]: entry for entry in answer["event_types"]}
    assert types["FLAG_CHANGED"]["schema"]["required"] == ["flag_name"]
