"""Usage over HTTP: reported, checked, reserved, read; and an app reaches only itself."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from apps.delivery.models import App, AppAccount, PlanLimit, UsageEvent
from apps.delivery.services.usage_accounts import issue_app_token
from apps.whatsapp_auth.services.tokens import issue_token, rotate_token

from .rows import make_app, make_plan
from .usage_rows import make_metric, total

pytestmark = pytest.mark.django_db
ROOT = "/api/v1/usage"
NAMED = {"app": "loja", "metric": "orders"}


@pytest.fixture(autouse=True)
def _fresh_figures() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def client(api_as: Any) -> APIClient:
    """Somebody who may report and read for every app."""
    return api_as("usage:read", "usage:write")


def event(event_id: str = "e1", quantity: Any = 1, **fields: Any) -> dict[str, Any]:
    return {**NAMED, "id": event_id, "quantity": quantity, **fields}


def as_app(app: App) -> APIClient:
    _token, secret = issue_app_token(app)
    return APIClient(HTTP_AUTHORIZATION=f"Bearer {secret}")


def test_an_event_is_created_once(client: APIClient) -> None:
    make_metric()
    answers = [client.post(f"{ROOT}/events", event()) for _repeat in range(2)]
    assert [answer.status_code for answer in answers] == [201, 200]
    assert [answer.json()["status"] for answer in answers] == ["accepted", "duplicate"]
    other = client.post(f"{ROOT}/events", event(quantity=2))
    assert (other.status_code, other.json()["error"]["code"]) == (409, "event_conflict")
    assert total().used == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"occurred_at": -1},
        {"occurred_at": "3000-01-01T00:00:00Z"},
        {"occurred_at": "yesterday"},
        {"occurred_at": "2026-03-01T00:00:00"},
        {"quantity": -1},
        {"quantity": 1.5},
        {"quantity": "1"},
        {"quantity": None},
        {"id": 7},
        {"metric": None},
        {"subject": 0},
        {"ocurred_at": "2026-03-01T00:00:00Z"},
    ],
)
def test_a_broken_event_is_refused_and_stored_nowhere(
    client: APIClient, fields: dict[str, Any]
) -> None:
    make_metric()
    answer = client.post(f"{ROOT}/events", event(**fields))
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "usage_event_refused")
    assert not UsageEvent.objects.exists()


def test_a_batch_tells_of_each_event(client: APIClient) -> None:
    make_metric()
    client.post(f"{ROOT}/events", event("seen"))
    events = [event("new"), event("seen"), event("seen", 2), event("bad", -1), "x", event("new")]
    answer = client.post(f"{ROOT}/events", {"events": events})
    assert answer.status_code == 207
    body = answer.json()
    assert (body["accepted"], body["duplicates"], body["refused"]) == (1, 2, 3)
    assert [result["status"] for result in body["results"]] == [
        "accepted",
        "duplicate",
        "event_conflict",
        "invalid_quantity",
        "malformed",
        "duplicate",
    ]
    assert total().used == 2


def test_a_whole_batch_is_answered_with_200(client: APIClient) -> None:
    make_metric()
    events = [{"metric": "orders", "id": f"e{n}", "quantity": 2} for n in range(1000)]
    answer = client.post(f"{ROOT}/events", {"app": "loja", "events": events})
    assert (answer.status_code, answer.json()["accepted"]) == (200, 1000)
    assert total().used == 2000


@pytest.mark.parametrize("body", [[], {"events": []}, {"events": "x"}, {"events": [{}] * 1001}, 7])
def test_a_batch_has_between_one_and_a_thousand_events(client: APIClient, body: Any) -> None:
    answer = client.post(f"{ROOT}/events", body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "too_many_events")


def test_an_unknown_metric_is_not_found(client: APIClient) -> None:
    make_app()
    answer = client.post(f"{ROOT}/events", event())
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "usage_metric_not_found")


def test_an_app_reports_for_itself_without_naming_itself() -> None:
    own = as_app(make_metric().app)
    assert own.post(f"{ROOT}/events", {"metric": "orders", "id": "a", "quantity": 1}).json() == {
        "id": "a",
        "status": "accepted",
        "message": "",
    }
    assert own.get(f"{ROOT}/totals").json()["results"][0]["used"] == 1


def test_an_app_reaches_no_other_app() -> None:
    make_metric()
    blog = as_app(make_metric(make_app("blog"), "visits").app)
    answer = blog.post(f"{ROOT}/events", event())
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "other_app")
    batch = blog.post(f"{ROOT}/events", {"events": [event()]})
    assert batch.json()["results"][0]["status"] == "other_app"
    for path in ("reservations", "reservations/commit", "reservations/release"):
        body = {**NAMED, "id": "r", "quantity": 1}
        assert blog.post(f"{ROOT}/{path}", body).status_code == 403
    assert blog.get(f"{ROOT}/check", NAMED).status_code == 403
    assert blog.get(f"{ROOT}/invoice", {"app": "loja"}).status_code == 403
    assert not UsageEvent.objects.exists()


@pytest.mark.parametrize("path", ["events", "totals", "alerts"])
def test_an_app_sees_only_its_own_rows(client: APIClient, path: str) -> None:
    loja = make_metric(included=1, on_limit="block").app
    make_metric(make_app("blog"), "visits", included=1, on_limit="block")
    visit = {"app": "blog", "metric": "visits", "id": "v", "quantity": 1}
    client.post(f"{ROOT}/events", {"events": [event(), visit]})
    apps = {row["app"] for row in as_app(loja).get(f"{ROOT}/{path}").json()["results"]}
    assert apps == {"loja"}
    everybody = {row["app"] for row in client.get(f"{ROOT}/{path}").json()["results"]}
    assert everybody == {"loja", "blog"}


def test_a_rotated_token_still_reaches_only_its_app() -> None:
    blog = make_metric(make_app("blog"), "visits").app
    make_metric()
    token, _secret = issue_app_token(blog)
    _new, secret = rotate_token(token.pk, grace=timedelta(0), now=timezone.now())
    rotated = APIClient(HTTP_AUTHORIZATION=f"Bearer {secret}")
    assert rotated.post(f"{ROOT}/events", event()).status_code == 403


def test_a_scope_alone_reaches_no_app() -> None:
    own = as_app(make_metric().app)
    AppAccount.objects.all().delete()
    assert own.post(f"{ROOT}/events", event()).status_code == 403
    assert own.get(f"{ROOT}/totals").status_code == 403
    stranger = User.objects.create_user("stranger")
    _token, secret = issue_token("x", owner=stranger, scopes=["usage:write", "usage:read"])
    other = APIClient(HTTP_AUTHORIZATION=f"Bearer {secret}")
    assert other.post(f"{ROOT}/events", event()).status_code == 403


def test_scopes_are_needed(api_as: Any) -> None:
    make_metric()
    assert api_as("usage:read").post(f"{ROOT}/events", event()).status_code == 403
    assert api_as("usage:write").get(f"{ROOT}/totals").status_code == 403


def test_reservations_over_http(client: APIClient) -> None:
    make_metric(included=10, on_limit="block")
    body = {**NAMED, "id": "r1", "quantity": 8}
    held = client.post(f"{ROOT}/reservations", body)
    assert (held.status_code, held.json()["status"]) == (201, "held")
    full = client.post(f"{ROOT}/reservations", {**body, "id": "r2"})
    assert (full.status_code, full.json()["error"]["code"]) == (429, "usage_limit_reached")
    used = client.post(f"{ROOT}/reservations/commit", {**NAMED, "id": "r1", "used": 3})
    assert used.json()["status"] == "committed"
    assert (
        client.post(f"{ROOT}/reservations", {**body, "id": "r3", "quantity": 7}).status_code == 201
    )
    client.post(f"{ROOT}/reservations/release", {**NAMED, "id": "r3"})
    assert (total().used, total().reserved) == (3, 0)
    missing = client.post(f"{ROOT}/reservations/release", {**NAMED, "id": "nope"})
    assert missing.status_code == 404


def test_a_check_is_advice_from_a_moment_ago(client: APIClient) -> None:
    make_metric(included=10, on_limit="block")
    question = {**NAMED, "quantity": 4}
    assert client.get(f"{ROOT}/check", question).json() == {
        "is_allowed": True,
        "used": 0,
        "reserved": 0,
        "included": 10,
        "remaining": 10,
    }
    client.post(f"{ROOT}/events", event(quantity=9))
    assert client.get(f"{ROOT}/check", question).json()["is_allowed"] is True
    cache.clear()
    assert client.get(f"{ROOT}/check", question).json()["is_allowed"] is False


def test_a_metric_without_limit_always_has_room(client: APIClient) -> None:
    make_metric()
    found = client.get(f"{ROOT}/check", {**NAMED, "quantity": 10**12}).json()
    assert (found["is_allowed"], found["remaining"]) == (True, None)


def test_an_invoice_charges_blocks_begun(client: APIClient) -> None:
    terms = {"on_limit": "auto_addon", "overage_mode": "block", "block_size": 5000}
    make_metric(included=30_000, price_minor=990, **terms)
    client.post(f"{ROOT}/events", event(quantity=35_001))
    found = client.get(f"{ROOT}/invoice", {"app": "loja"}).json()
    line = found["lines"][0]
    assert (line["overage_units"], line["overage_blocks"], line["charge_minor"]) == (5001, 2, 1980)
    assert (found["total_minor"], found["currency"], found["is_final"]) == (1980, "BRL", False)
    past = client.get(f"{ROOT}/invoice", {"app": "loja", "period": "2020-01-01"}).json()
    assert (past["total_minor"], past["is_final"]) == (0, True)


def test_who_may_touch_all_apps_names_one(client: APIClient) -> None:
    answer = client.get(f"{ROOT}/invoice")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "app_not_named")
    assert client.get(f"{ROOT}/invoice", {"app": "nope"}).status_code == 404


def test_filters_and_pages_of_events(client: APIClient) -> None:
    make_metric()
    events = [event(f"e{n}", subject="ana" if n % 2 else "rui") for n in range(60)]
    client.post(f"{ROOT}/events", {"events": events})
    first = client.get(f"{ROOT}/events").json()
    assert (len(first["results"]), first["results"][0]["id"]) == (50, "e59")
    second = client.get(first["next"]).json()
    assert len(second["results"]) == 10
    mine = client.get(f"{ROOT}/events", {"subject": "ana", "page_size": 100}).json()["results"]
    assert len(mine) == 30


@pytest.mark.parametrize("path", ["events", "totals", "alerts"])
def test_a_list_takes_as_many_queries_for_many_rows_as_for_one(
    client: APIClient, path: str
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            client.get(f"{ROOT}/{path}")
        return len(captured)

    def use(number: int) -> None:
        make_metric(make_app(f"app-{number}"), "orders", included=1, on_limit="block")
        client.post(f"{ROOT}/events", event(app=f"app-{number}"))

    use(0)
    queries()
    expected = queries()
    for number in range(1, 6):
        use(number)
    assert queries() == expected


def test_contradictory_limits_are_refused_with_every_problem(api_as: Any) -> None:
    make_plan("gold")
    writer = api_as("delivery:read", "delivery:write")
    body = {"plan": "gold", "metric": "orders", "included": 10, "on_limit": "auto_addon"}
    bad = {**body, "hard_limit": 5, "block_size": 3}
    answer = writer.post("/api/v1/delivery/plan-limits/", bad)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "contradictory_plan")
    found = {problem["code"] for problem in answer.json()["error"]["details"]["problems"]}
    assert found == {
        "addon_without_overage",
        "block_size_without_blocks",
        "hard_below_included",
    }
    good = writer.post("/api/v1/delivery/plan-limits/", {**body, "on_limit": "block"})
    assert good.status_code == 201
    address = f"/api/v1/delivery/plan-limits/{good.json()['id']}/"
    assert writer.patch(address, {"on_limit": "auto_addon"}).status_code == 400
    assert writer.patch(address, {"included": 20}).json()["included"] == 20
    again = writer.post("/api/v1/delivery/plan-limits/", {**body, "on_limit": "block"})
    assert again.status_code in {400, 409}
    assert writer.delete(address).status_code == 204
    assert not PlanLimit.objects.exists()


@pytest.mark.parametrize("fields", [{"time_zone": "Mars/Base"}, {"billing_day": 32}])
def test_an_app_has_a_real_clock(api_as: Any, fields: dict[str, Any]) -> None:
    make_app()
    writer = api_as("delivery:read", "delivery:write")
    assert writer.patch("/api/v1/delivery/apps/loja/", fields).status_code == 400


def test_totals_tell_their_period(client: APIClient) -> None:
    make_metric(
        make_app(time_zone="America/Sao_Paulo", billing_day=31), included=4, on_limit="block"
    )
    client.post(f"{ROOT}/events", event(quantity=3))
    row = client.get(f"{ROOT}/totals").json()["results"][0]
    assert (row["percent"], row["hard_limit"]) == (75, 4)
    ends_at = datetime.fromisoformat(row["ends_at"])
    assert ends_at.astimezone(UTC) > timezone.now()
