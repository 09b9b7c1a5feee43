"""The usage pages: figures, limits, charts, alerts, the invoice, and who may see and do what."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.delivery.models import PlanLimit, UsageTotal
from apps.delivery.services.usage import Ask, ingest, reserve

from .rows import make_app, make_plan
from .usage_rows import make_metric, report, total

pytestmark = pytest.mark.django_db
BLOCKS = {
    "on_limit": "auto_addon",
    "overage_mode": "block",
    "block_size": 50,
    "price_minor": 990,
}


@pytest.fixture
def page(owner: User, client: Client) -> Client:
    client.force_login(owner)
    return client


def use(event_id: str, quantity: int, **fields: Any) -> None:
    now = timezone.now()
    ingest([report(event_id, quantity, occurred_at=now, **fields)], now=now)


def usage_page(client: Client, app_id: int, **query: str) -> str:
    answer = client.get(reverse("admin:delivery_app_usage", args=[app_id]), query)
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_page_shows_usage_limit_users_alerts_and_invoice(page: Client) -> None:
    app = make_metric(included=100, **BLOCKS).app
    use("a", 120, subject="ana")
    use("b", 31, subject="rui")
    reserve(Ask("loja", "orders", "r", 7, 600), now=timezone.now())
    shown = usage_page(page, app.pk)
    for text in (
        "151 of 100",
        "<b>151 %</b>",
        "7 held",
        "ana",
        "rui",
        "1980",
        "reached 120 % of 100",
    ):
        assert text in shown, text
    assert shown.count("<rect") > 20
    assert "level-over" in shown


def test_an_empty_page_says_what_would_fill_it(page: Client) -> None:
    assert "app_manifest declare" in usage_page(page, make_app().pk)
    changelist = page.get(reverse("admin:delivery_usagetotal_changelist")).content.decode()
    assert "limits stand in plans" in changelist


def test_a_former_period_is_chosen_by_its_first_day(page: Client) -> None:
    app = make_metric(included=100, **BLOCKS).app
    use("a", 120)
    assert "0 of 100" in usage_page(page, app.pk, period="2020-01-01")
    address = reverse("admin:delivery_app_usage", args=[app.pk])
    assert page.get(address, {"period": "soon"}).status_code == 404


def test_the_app_leads_to_its_usage(page: Client) -> None:
    app = make_app()
    shown = page.get(reverse("admin:delivery_app_change", args=[app.pk])).content.decode()
    assert reverse("admin:delivery_app_usage", args=[app.pk]) in shown


def test_a_page_takes_the_same_queries_for_many_events(page: Client) -> None:
    app = make_metric(included=100, **BLOCKS).app

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            usage_page(page, app.pk)
        return len(captured)

    use("a", 1, subject="u")
    queries()
    expected = queries()
    for number in range(30):
        use(f"e{number}", 1, subject=f"u{number}")
    assert queries() == expected


@pytest.mark.parametrize(
    "name", ["usagetotal", "usageevent", "limitalert", "usagemetric", "usagereservation"]
)
def test_lists_take_the_same_queries_for_many_rows(page: Client, name: str) -> None:
    address = reverse(f"admin:delivery_{name}_changelist")

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert page.get(address).status_code == 200
        return len(captured)

    def fill(number: int) -> None:
        make_metric(make_app(f"app-{number}"), included=1, on_limit="block")
        use("e", 1, app_code=f"app-{number}")
        reserve(Ask(f"app-{number}", "orders", "r", 0, 600), now=timezone.now())

    fill(0)
    fill(1)
    queries()
    expected = queries()
    for number in range(2, 7):
        fill(number)
    assert queries() == expected


def test_the_greatest_shares_stand_on_top(page: Client) -> None:
    for code, used in (("blog", 10), ("loja", 90), ("shop", 40)):
        make_metric(make_app(code), included=100, on_limit="block")
        use("e", used, app_code=code)
    shown = page.get(reverse("admin:delivery_usagetotal_changelist")).content.decode()
    top = shown[
        shown.index('class="consumers"') : shown.index("</ol>", shown.index('class="consumers"'))
    ]
    assert [top.index(code) for code in ("loja", "shop", "blog")] == sorted(
        top.index(code) for code in ("loja", "shop", "blog")
    )


def recount(client: Client) -> str:
    chosen = list(UsageTotal.objects.values_list("pk", flat=True))
    body = {"action": "recount", "_selected_action": chosen}
    address = reverse("admin:delivery_usagetotal_changelist")
    return client.post(address, body, follow=True).content.decode()


def test_a_recount_mends_and_says_how_many(page: Client) -> None:
    make_metric()
    use("a", 5)
    UsageTotal.objects.update(used=9)
    assert "1 of 1 counters differed" in recount(page)
    assert "0 of 1 counters differed" in recount(page)
    assert total().used == 5


def test_a_viewer_sees_and_changes_nothing(client: Client) -> None:
    app = make_metric(included=100, **BLOCKS).app
    use("a", 5)
    UsageTotal.objects.update(used=9)
    viewer = User.objects.create_user("viewer", password="x", is_staff=True)
    client.force_login(viewer)
    assert client.get(reverse("admin:delivery_app_usage", args=[app.pk])).status_code == 403
    viewer.groups.add(Group.objects.get(name="viewer"))
    assert 'id="prefill"' not in usage_page(client, app.pk)
    recount(client)
    assert total().used == 9
    prefill = reverse("admin:delivery_app_usage_prefill", args=[app.pk])
    assert client.post(prefill).status_code == 403


def test_missing_limits_are_taken_from_the_manifest_once(page: Client) -> None:
    metric = make_metric()
    metric.declaration = {"code": "orders", "name": "O", "defaults": {"included": 50}}
    metric.save()
    prefill = reverse("admin:delivery_app_usage_prefill", args=[metric.app_id])
    assert page.get(prefill).status_code == 405
    assert "got 1 limits" in page.post(prefill, follow=True).content.decode()
    assert "got 0 limits" in page.post(prefill, follow=True).content.decode()
    assert PlanLimit.objects.get().included == 50


def limit_form(**fields: str) -> dict[str, str]:
    plan = {
        "code": "gold",
        "name": "Gold",
        "slots": "1",
        "resource_profile": "small",
        "capabilities": "{}",
    }
    management = {"limits-TOTAL_FORMS": "1", "limits-INITIAL_FORMS": "0"}
    limit = {"metric_code": "orders", "included": "10", "on_limit": "block", **fields}
    return {**plan, **management, **{f"limits-0-{name}": value for name, value in limit.items()}}


def test_a_plan_is_stored_with_its_limits(page: Client) -> None:
    plan = make_plan()
    address = reverse("admin:delivery_plan_change", args=[plan.pk])
    assert page.post(address, limit_form()).status_code == 302
    limit = PlanLimit.objects.get()
    assert limit.plan == plan
    gone = limit_form(id=str(limit.pk), DELETE="on") | {"limits-INITIAL_FORMS": "1"}
    assert page.post(address, gone).status_code == 302
    assert not PlanLimit.objects.exists()


def test_a_contradiction_is_shown_at_its_field(page: Client) -> None:
    plan = make_plan()
    address = reverse("admin:delivery_plan_change", args=[plan.pk])
    answer = page.post(address, limit_form(hard_limit="5"))
    assert answer.status_code == 200
    assert "Must not lie below what is included" in answer.content.decode()
    assert not PlanLimit.objects.exists()


@pytest.mark.parametrize(
    ("language", "text"), [("en", "Invoice preview"), ("pt-br", "Prévia da fatura")]
)
def test_the_page_speaks_both_languages(page: Client, language: str, text: str) -> None:
    app = make_metric(included=100, **BLOCKS).app
    address = reverse("admin:delivery_app_usage", args=[app.pk])
    shown = page.get(address, headers={"accept-language": language}).content.decode()
    assert text in shown
    assert " style=" not in shown.split("<main")[-1].split('class="usage"')[-1]
