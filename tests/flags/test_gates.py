"""Flags in views, templates, endpoints and on the command line give one answer."""

import json
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.core.management import CommandError, call_command
from django.http import Http404, HttpRequest, HttpResponse
from django.template import engines
from django.test import RequestFactory

from apps.flags.checks import check_flags_in_code
from apps.flags.gates import FlagPermission, FlagSubjectMiddleware, flag_required, subject_of
from apps.flags.models import FeatureFlag
from apps.flags.services import evaluate, flag_cache, set_flag, set_rule
from apps.flags.testing import override_flag

pytestmark = pytest.mark.django_db


def request_of(user: Any) -> HttpRequest:
    request = RequestFactory().get("/")
    request.user = user
    FlagSubjectMiddleware(lambda _request: HttpResponse())(request)
    return request


@flag_required("beta")
def beta_page(request: HttpRequest) -> HttpResponse:
    return HttpResponse("beta")


def test_a_view_is_not_there_while_its_flag_is_off() -> None:
    request = request_of(AnonymousUser())
    with override_flag("beta"):
        assert beta_page(request).content == b"beta"
    with override_flag("beta", is_enabled=False), pytest.raises(Http404):
        beta_page(request)


def test_decorator_template_permission_and_service_agree_for_every_subject(owner: User) -> None:
    template = engines["django"].from_string(
        '{% load flags %}{% flag "beta" as is_new %}{{ is_new }}'
    )
    view = SimpleNamespace(required_flag="beta")
    with override_flag("beta", rollout_percent=50):
        for number in range(30):
            user = SimpleNamespace(owner_jid=f"55119{number:08}@s.whatsapp.net")
            request = request_of(user)
            expected = evaluate("beta", subject_key=user.owner_jid).value
            assert template.render({}, request) == str(expected)
            assert FlagPermission().has_permission(request, view) is expected  # type: ignore[arg-type]


def test_a_signed_in_user_is_one_subject_on_every_device(owner: User) -> None:
    assert subject_of(request_of(owner)) == f"user:{owner.pk}"
    assert subject_of(request_of(AnonymousUser())) == ""


@pytest.mark.usefixtures("seeded_flags")
def test_every_flag_in_the_code_is_in_the_table() -> None:
    assert check_flags_in_code(None, ["default"]) == []


def run(*arguments: str) -> Any:
    out = StringIO()
    call_command("flags", *arguments, "--json", stdout=out)
    return json.loads(out.getvalue())


def test_flags_are_set_and_shown_on_the_command_line() -> None:
    run("set", "beta", "--on", "--percent", "40", "--reason", "try")
    shown = run("show", "beta", "--subject", "abc")
    assert (shown["rollout_percent"], shown["reason"]) == (40, "SPLIT")
    assert run("set", "beta", "--off", "--dry-run")["is_enabled"] is False
    assert FeatureFlag.objects.get(flag_name="beta").is_enabled
    assert "beta" in [row["flag_name"] for row in run("list")]
    with pytest.raises(CommandError, match="between 0 and 100"):
        run("set", "beta", "--percent", "101")


def test_export_and_import_are_a_round_trip(tmp_path: Path) -> None:
    set_flag("beta", actor="ana", is_enabled=True, rollout_percent=40, description="ção")
    set_rule("beta", actor="ana", allowed=["vip"], rollout_units=123, tags=["x"])
    file = tmp_path / "flags.json"
    exported = run("export")
    file.write_text(json.dumps(exported))
    FeatureFlag.objects.all().delete()
    run("import", str(file), "--dry-run")
    assert not FeatureFlag.objects.exists()
    run("import", str(file))
    assert run("export") == exported


@pytest.mark.usefixtures("seeded_flags")
def test_check_and_stale_answer_in_json() -> None:
    assert run("check") == []
    assert isinstance(run("stale", "--days", "1"), list)


@pytest.fixture(autouse=True)
def _fresh_flags() -> None:
    flag_cache.refresh(force=True)
