"""The operator's pages: lists, forms that show refusals at their field, previews."""

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.delivery.models import App, CustomDomain, Environment, Plan
from tests.delivery.rows import make_app, make_domain, make_environment, make_plan

pytestmark = pytest.mark.django_db
PLAN = {
    "code": "gold",
    "name": "Gold",
    "slots": 2,
    "resource_profile": "small",
    "capabilities": "{}",
}


@pytest.fixture
def page(client, owner):
    client.force_login(owner)
    return client


def address(model, action, *arguments):
    return reverse(f"admin:delivery_{model}_{action}", args=arguments)


def app_form(**fields):
    return {
        "code": "loja",
        "name": "Loja",
        "plan": make_plan().pk,
        "image_repository": "registry.example/team/loja",
        "pod_security": "restricted",
        "writable_paths": "/run\r\n /var/cache/nginx \r\n",
        "egress": "",
        "environments-TOTAL_FORMS": 0,
        "environments-INITIAL_FORMS": 0,
        **fields,
    }


def environment_form(app, **fields):
    management = {"domains-TOTAL_FORMS": 0, "domains-INITIAL_FORMS": 0}
    return {"app": app.pk, "name": "main", "performance_mode": "min", **management, **fields}


def errors(answer):
    return answer.context["adminform"].form.errors


@pytest.mark.parametrize("model", ["plan", "app", "environment", "customdomain"])
def test_a_list_takes_as_many_queries_for_many_rows_as_for_one(page, model):
    make_domain(make_environment(make_app("app-0")), "d0.example")
    counts = []
    for numbers in (range(1, 2), range(2, 9)):
        for number in numbers:
            make_domain(make_environment(make_app(f"app-{number}")), f"d{number}.example")
        with CaptureQueriesContext(connection) as captured:
            assert page.get(address(model, "changelist")).status_code == 200
        counts.append(len(captured))
    assert counts[0] == counts[1]


@pytest.mark.parametrize("model", ["plan", "app", "environment", "customdomain"])
def test_an_empty_list_and_a_new_form_open(page, model):
    assert page.get(address(model, "changelist")).status_code == 200
    assert page.get(address(model, "add")).status_code == 200


def test_a_plan_is_stored(page):
    assert page.post(address("plan", "add"), PLAN).status_code == 302
    assert Plan.objects.get().slots == 2


def test_a_refused_plan_shows_why_at_its_field(page):
    answer = page.post(address("plan", "add"), {**PLAN, "capabilities": "[1]"})
    assert list(errors(answer)) == ["capabilities"]
    assert not Plan.objects.exists()


def test_an_app_is_stored(page):
    assert page.post(address("app", "add"), app_form()).status_code == 302
    app = App.objects.get()
    assert app.writable_paths == ["/run", "/var/cache/nginx"]
    assert app.egress is None
    text = page.get(address("app", "change", app.pk)).content.decode()
    assert "/run\n/var/cache/nginx</textarea>" in text
    assert "null</textarea>" not in text


@pytest.mark.parametrize(
    ("name", "value"), [("code", "true"), ("egress", '[{"name": "x"}]'), ("run_as_user", "0")]
)
def test_a_refused_app_shows_why_at_its_field(page, name, value):
    answer = page.post(address("app", "add"), app_form(**{name: value}))
    assert list(errors(answer)) == [name]
    assert not App.objects.exists()


def test_an_environment_gets_its_usual_names(page):
    answer = page.post(address("environment", "add"), environment_form(make_app()))
    assert answer.status_code == 302
    assert Environment.objects.get().namespace == "loja-main"


def test_a_host_outside_of_the_platform_is_shown_at_its_field(page):
    form = environment_form(make_app(), hostname="loja.example")
    answer = page.post(address("environment", "add"), form)
    assert list(errors(answer)) == ["hostname"]


def test_an_environments_page_shows_what_it_becomes_and_what_is_wrong(page):
    environment = make_environment(make_app(pod_security="baseline"))
    answer = page.get(address("environment", "change", environment.pk))
    text = answer.content.decode()
    assert "kind: Deployment" in text
    assert "It may run as root." in text


def test_a_render_that_fails_is_one_line_on_the_page(page):
    environment = make_environment()
    App.objects.update(egress=[{"name": "x"}])
    answer = page.get(address("environment", "change", environment.pk))
    assert answer.status_code == 200
    assert "egress" in answer.content.decode()


def test_a_domain_is_added_refused_and_removed(page):
    environment = make_environment()
    add = address("customdomain", "add")
    answer = page.post(add, {"environment": environment.pk, "host": "x.apps.localhost"})
    assert list(errors(answer)) == ["host"]
    assert (
        page.post(add, {"environment": environment.pk, "host": "loja.example"}).status_code == 302
    )
    domain = CustomDomain.objects.get()
    assert domain.next_check_at is not None
    page.post(address("customdomain", "delete", domain.pk), {"post": "yes"})
    assert not CustomDomain.objects.exists()


def test_what_runs_or_is_used_is_not_deleted(page):
    environment = make_environment()
    for model, row in (
        ("environment", environment),
        ("app", environment.app),
        ("plan", environment.app.plan),
    ):
        assert page.post(address(model, "delete", row.pk), {"post": "yes"}).status_code == 403


def test_a_viewer_reads_and_changes_nothing(client):
    viewer = User.objects.create_user("vera", is_staff=True)
    viewer.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    client.force_login(viewer)
    environment = make_environment()
    assert client.get(address("environment", "change", environment.pk)).status_code == 200
    assert client.post(address("plan", "add"), PLAN).status_code == 403
