"""Apps over HTTP: who may, what is stored, and how refusals look."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.delivery.models import App, CustomDomain
from tests.delivery.rows import make_app, make_domain, make_environment, make_plan

pytestmark = pytest.mark.django_db
ROOT = "/api/v1/delivery"


@pytest.fixture
def reader(api_as):
    return api_as("delivery:read")


@pytest.fixture
def writer(api_as):
    return api_as("delivery:read", "delivery:write")


def app_fields(**fields):
    repository = "registry.example/team/loja"
    return {
        "code": "loja",
        "name": "Loja",
        "plan": "gold",
        "image_repository": repository,
        **fields,
    }


def test_an_app_is_made_from_plan_to_environment(writer):
    plan = {"code": "gold", "name": "Gold", "slots": 2, "resource_profile": "medium"}
    assert writer.post(f"{ROOT}/plans/", plan).status_code == 201
    assert writer.post(f"{ROOT}/apps/", app_fields()).status_code == 201
    answer = writer.post(f"{ROOT}/environments/", {"app": "loja", "name": "main"})
    assert answer.status_code == 201
    assert answer.json()["namespace"] == "loja-main"
    assert answer.json()["hostname"] == "loja.apps.localhost"


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"code": "123"}, "app_code"),
        ({"egress": [{"name": "x"}]}, "egress"),
        ({"writable_paths": ["tmp"]}, "writable_paths"),
        ({"image_repository": "a:latest"}, "image_repository"),
    ],
)
def test_a_refusal_names_the_field(writer, fields, field):
    make_plan()
    answer = writer.post(f"{ROOT}/apps/", app_fields(**fields))
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "invalid_delivery_context"
    assert answer.json()["error"]["details"]["field"] == field
    assert not App.objects.exists()


@pytest.mark.parametrize(
    "fields",
    [{"pod_security": "privileged"}, {"plan": "nope"}, {"run_as_user": "x"}, {"code": None}],
)
def test_wrong_types_are_refused(writer, fields):
    make_plan()
    answer = writer.post(f"{ROOT}/apps/", app_fields(**fields))
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "invalid_input"


def test_a_setting_changes_and_a_code_does_not(writer):
    make_app()
    assert writer.patch(f"{ROOT}/apps/loja/", {"pod_security": "baseline"}).status_code == 200
    answer = writer.patch(f"{ROOT}/apps/loja/", {"code": "other"})
    assert answer.json()["error"]["code"] == "name_never_changes"
    assert App.objects.get().pod_security == "baseline"


def test_lists_are_filtered_and_searched(reader):
    make_app("loja")
    make_app("blog", pod_security="baseline")
    assert codes(reader) == ["blog", "loja"]
    assert codes(reader, pod_security="baseline") == ["blog"]
    assert codes(reader, search="loj") == ["loja"]


def codes(client, **filters):
    return [item["code"] for item in client.get(f"{ROOT}/apps/", filters).json()["results"]]


@pytest.mark.parametrize("path", ["plans", "apps", "environments", "domains"])
def test_a_list_takes_as_many_queries_for_many_rows_as_for_one(reader, path):
    make_domain(make_environment(make_app("app-0")), "d0.example")
    reader.get(f"{ROOT}/{path}/")  # the first use of a token is written down
    expected = query_count(reader, path)
    for number in range(1, 8):
        make_domain(make_environment(make_app(f"app-{number}")), f"d{number}.example")
    assert query_count(reader, path) == expected


def query_count(client, path):
    with CaptureQueriesContext(connection) as captured:
        assert client.get(f"{ROOT}/{path}/").status_code == 200
    return len(captured)


def test_a_preview_shows_objects_and_findings(reader):
    make_environment(make_app(pod_security="baseline"))
    answer = reader.get(f"{ROOT}/environments/loja-main/preview/").json()
    assert {item["kind"] for item in answer["objects"]} >= {"Namespace", "Deployment", "Ingress"}
    assert {finding["rule"] for finding in answer["findings"]} == {"not-restricted"}
    assert answer["findings"][0]["object"] == "Deployment/loja"


def test_domains_are_added_and_removed(writer):
    make_environment()
    wish = {"environment": "loja-main", "host": "loja.example", "has_www": True}
    added = writer.post(f"{ROOT}/domains/", wish)
    assert added.status_code == 201
    assert [item["host"] for item in added.json()] == ["loja.example", "www.loja.example"]
    assert writer.post(f"{ROOT}/domains/", wish).json()["error"]["code"] == "name_taken"
    assert writer.delete(f"{ROOT}/domains/{added.json()[0]['id']}/").status_code == 204
    assert CustomDomain.objects.get().host == "www.loja.example"


@pytest.mark.parametrize(
    ("wish", "status", "code"),
    [
        ({"environment": "nope", "host": "a.example"}, 404, "environment_not_found"),
        ({"environment": "loja-main", "host": "1.2.3.4"}, 400, "invalid_delivery_context"),
        ({"environment": "loja-main", "host": "x.apps.localhost"}, 400, "platform_host"),
        ({"host": "a.example"}, 400, "invalid_input"),
    ],
)
def test_a_refused_domain_tells_why(writer, wish, status, code):
    make_environment()
    answer = writer.post(f"{ROOT}/domains/", wish)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


@pytest.mark.parametrize("path", ["plans", "apps", "environments", "domains"])
def test_a_reader_changes_nothing_and_a_stranger_reads_nothing(reader, anonymous_api, path):
    assert reader.post(f"{ROOT}/{path}/", {}).status_code == 403
    assert anonymous_api.get(f"{ROOT}/{path}/").status_code in (401, 403)
    assert reader.put(f"{ROOT}/{path}/x/", {}).status_code in (403, 405)
