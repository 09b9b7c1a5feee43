"""Whatever JSON arrives is answered: counted or refused, and the answer can be sent."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rest_framework.renderers import JSONRenderer

from apps.common.errors import DomainError
from apps.delivery.api.usage_serializers import OutcomeSerializer
from apps.delivery.errors import InvalidAppManifest
from apps.delivery.models import App, AppAccount, UsageEvent
from apps.delivery.services.usage_accounts import app_of, issue_app_token
from apps.delivery.services.usage_metrics import declare_metrics
from apps.delivery.services.usage_reporting import report_batch, report_one
from apps.delivery.usage.events import Refusal

from .rows import make_app
from .usage_rows import NOW, make_metric

pytestmark = pytest.mark.django_db
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=120)
)
moments = st.sampled_from(
    [
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "2026-03-15T12:00:00Z",
        "2026-03-15",
        -1,
        None,
    ]
)
events = scalars | st.fixed_dictionaries(
    {},
    optional={
        "app": st.just("loja") | scalars,
        "metric": st.just("orders") | scalars,
        "id": st.just("a") | scalars,
        "quantity": st.integers(0, 3) | scalars,
        "occurred_at": moments | scalars,
        "subject": scalars,
        "x": scalars,
    },
)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(events, min_size=1, max_size=5))
def test_arbitrary_events_are_answered(items: list[Any]) -> None:
    if not App.objects.exists():
        make_metric()
    outcomes = report_batch(items, own_app=None, default_app=None, now=NOW)
    assert len(outcomes) == len(items)
    JSONRenderer().render(OutcomeSerializer(outcomes, many=True).data)
    try:
        report_one(items[0], own_app=None, now=NOW)
    except DomainError as error:
        JSONRenderer().render([error.message, error.details])


@pytest.mark.parametrize("name", ["app", "metric", "id", "subject"])
@pytest.mark.parametrize("text", ["\ud800", "a\x00b", "é" * 300])
def test_texts_that_no_database_takes_are_refused(name: str, text: str) -> None:
    make_metric()
    event = {"app": "loja", "metric": "orders", "id": "a", "quantity": 1, name: text}
    outcome = report_batch([event], own_app=None, default_app=None, now=NOW)[0]
    assert outcome.is_refused
    JSONRenderer().render(OutcomeSerializer(outcome).data)
    assert not UsageEvent.objects.exists()


@pytest.mark.parametrize(
    ("moment", "refusal"),
    [
        ("0001-01-01T00:00:00+14:00", Refusal.INVALID_TIME),
        ("0001-01-01T00:00:00Z", Refusal.TOO_LATE),
        ("9999-12-31T23:59:59Z", Refusal.TOO_EARLY),
    ],
)
def test_the_ends_of_the_calendar_are_refused(moment: str, refusal: Refusal) -> None:
    make_metric(make_app(time_zone="America/Sao_Paulo"))
    event = {
        "app": "loja",
        "metric": "orders",
        "id": "a",
        "quantity": 1,
        "occurred_at": moment,
    }
    assert report_batch([event], own_app=None, default_app=None, now=NOW)[0].status == refusal


def test_the_same_moment_in_another_offset_is_the_same_payload() -> None:
    make_metric()
    event = {"app": "loja", "metric": "orders", "id": "a", "quantity": 1}
    spellings = ("2026-03-15T12:00:00Z", "2026-03-15T09:00:00-03:00")
    batch = [{**event, "occurred_at": moment} for moment in spellings]
    found = report_batch(batch, own_app=None, default_app=None, now=NOW + timedelta(minutes=1))
    assert [outcome.status for outcome in found] == ["accepted", "duplicate"]


def test_a_manifest_with_half_a_character_declares_nothing() -> None:
    manifest = {"schemaVersion": 1, "usageMetrics": [{"code": "orders", "name": "\ud800"}]}
    with pytest.raises(InvalidAppManifest):
        declare_metrics(make_app(), manifest, actor="ana")


def test_tokens_of_a_former_app_of_the_same_code_stay_dead() -> None:
    app = make_app()
    former, _secret = issue_app_token(app)
    again, _secret = issue_app_token(app)
    assert former.owner == again.owner
    app.delete()
    fresh, _secret = issue_app_token(make_app("loja", plan=app.plan))
    assert app_of(former.owner) is None
    assert app_of(fresh.owner) == "loja"
    assert AppAccount.objects.count() == 1
