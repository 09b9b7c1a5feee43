"""One subject, one answer, whichever way the flag is asked."""

import json
from collections.abc import Callable
from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.http import HttpRequest
from django.template import engines
from django.test import Client, RequestFactory
from rest_framework.test import APIClient

from apps.common.scopes import Scope
from apps.flags.gates import FlagPermission
from apps.flags.models import FeatureFlag
from apps.flags.queries import PREVIEW_SUBJECTS
from apps.flags.services import evaluate, flag_cache, set_flag, set_rule
from apps.outbox import registry
from apps.outbox.events import Event
from apps.outbox.registry import handles
from apps.outbox.services import drain, publish

pytestmark = pytest.mark.django_db

SUBJECTS = [f"55119{number:08}@s.whatsapp.net" for number in range(20)] + [
    "vip",
    "spy",
    "\U0001f600",
]
RULES: list[dict[str, Any]] = [
    {},
    {"rollout_units": 31_415, "salt": "s"},
    {"allowed": ["vip"], "denied": ["spy"]},
    {"prerequisites": ["base"]},
    {"is_killed": True},
]


@pytest.fixture(autouse=True)
def _own_handlers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_handlers", {})


def of_template(request: HttpRequest) -> bool:
    text = '{% load flags %}{% flag "beta" as is_new %}{{ is_new }}'
    return engines["django"].from_string(text).render({}, request) == "True"


def of_command(subject: str) -> bool:
    out = StringIO()
    call_command("flags", "show", "beta", "--subject", subject, "--json", stdout=out)
    return bool(json.loads(out.getvalue())["value"])


def of_worker(subjects: list[str]) -> dict[str, bool]:
    """The answers that a handler gets while events are drained."""
    found: dict[str, bool] = {}

    @handles("ASKS")
    def ask(event: Event) -> None:
        subject = event.payload["subject"]
        found[subject] = evaluate("beta", subject_key=subject).value

    for subject in subjects:
        publish("ASKS", "t", subject, {"subject": subject})
    drain(60)
    return found


@pytest.mark.parametrize("rule", RULES)
def test_every_way_of_asking_gives_one_answer(
    rule: dict[str, Any], api_as: Callable[..., APIClient], owner: User, client: Client
) -> None:
    set_flag("base", actor="ana", is_enabled=True, rollout_percent=70)
    flag = set_flag("beta", actor="ana", is_enabled=True, rollout_percent=50)
    set_rule("beta", actor="ana", **rule)
    flag_cache.refresh(force=True)
    expected = {subject: evaluate("beta", subject_key=subject).value for subject in SUBJECTS}
    api = api_as(Scope.FLAGS_EVALUATE)
    client.force_login(owner)
    view = SimpleNamespace(required_flag="beta")
    assert of_worker(SUBJECTS) == expected
    for subject, value in expected.items():
        request = RequestFactory().get("/")
        request.user = SimpleNamespace(owner_jid=subject)  # type: ignore[assignment]
        assert of_template(request) is value
        assert FlagPermission().has_permission(request, view) is value  # type: ignore[arg-type]
        assert of_command(subject) is value
        ofrep = api.post("/ofrep/v1/evaluate/flags/beta", {"context": {"targetingKey": subject}})
        assert ofrep.json()["value"] is value
        wish = {"flags": ["beta"], "subject_key": subject}
        answer = api.post("/api/v1/flags/evaluate", wish).json()["flags"]["beta"]
        assert answer["value"] is value
        page = client.get(f"/admin/flags/featureflag/{flag.pk}/change/", {"subject": subject})
        assert page.context["found"].value is value


@pytest.mark.parametrize("rule", RULES)
def test_the_preview_counts_what_is_answered(
    rule: dict[str, Any], owner: User, client: Client
) -> None:
    set_flag("base", actor="ana", is_enabled=True, rollout_percent=70)
    flag: FeatureFlag = set_flag("beta", actor="ana", is_enabled=True, rollout_percent=50)
    set_rule("beta", actor="ana", **rule)
    flag_cache.refresh(force=True)
    client.force_login(owner)
    shown = client.get(f"/admin/flags/featureflag/{flag.pk}/preview/?percent=50").json()["count"]
    names = (f"subject-{number}" for number in range(PREVIEW_SUBJECTS))
    assert shown == sum(evaluate("beta", subject_key=name).value for name in names)
