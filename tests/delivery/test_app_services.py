"""Plans, apps, environments and domains: what is stored, and what is refused."""

import threading

import pytest
from django.db import connection

from apps.delivery.choices import PerformanceMode, PodSecurity, Profile
from apps.delivery.context import PERFORMANCE_MODES, POD_SECURITY_LEVELS, RESOURCE_PROFILES
from apps.delivery.errors import (
    DeliveryContextError,
    DomainLimitReached,
    EnvironmentNotFound,
    NameNeverChanges,
    NameTaken,
    NotOnPlatform,
    PlatformHost,
)
from apps.delivery.models import App, CustomDomain
from apps.delivery.queries import preview_context, preview_findings, preview_objects
from apps.delivery.services.apps import save_app, save_environment, save_plan
from apps.delivery.services.custom_domains import add_custom_domain, remove_custom_domain
from tests.delivery.rows import NOW, make_app, make_domain, make_environment, make_plan

pytestmark = pytest.mark.django_db


def add(namespace, host, **options):
    return add_custom_domain(namespace, host, actor="ana", now=NOW, **options)


def test_choices_repeat_the_names_of_the_rules():
    assert Profile.values == list(RESOURCE_PROFILES)
    assert PerformanceMode.values == list(PERFORMANCE_MODES)
    assert PodSecurity.values == list(POD_SECURITY_LEVELS)


def test_an_environment_gets_its_usual_names():
    app = make_app("loja")
    main, staging = make_environment(app), make_environment(app, name="staging")
    assert (main.namespace, main.hostname) == ("loja-main", "loja.apps.localhost")
    assert (staging.namespace, staging.hostname) == ("loja-staging", "loja-staging.apps.localhost")


def test_an_environment_becomes_sound_objects():
    capabilities = {"core.secrets": {"enabled": True}}
    plan = make_plan(slots=3, resource_profile="large", capabilities=capabilities)
    environment = make_environment(make_app(plan=plan), performance_mode="ultra")
    context = preview_context(environment)
    assert (context.replicas, context.resource_profile) == (3, "large")
    assert context.performance_mode == "ultra"
    assert context.has_capability("core.secrets")
    assert preview_findings(preview_objects(environment)) == []


def test_only_verified_domains_are_routed_in_the_order_of_their_coming():
    environment = make_environment()
    for host in ("z.test", "a.test"):
        make_domain(environment, host)
    make_domain(environment, "waiting.test", is_verified=False)
    assert preview_context(environment).custom_domains == ("z.test", "a.test")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"slots": 11}, "replicas"),
        ({"slots": 0}, "replicas"),
        ({"resource_profile": "nope"}, "resource_profile"),
        ({"capabilities": []}, "functional_capabilities"),
    ],
)
def test_a_plan_that_no_context_may_hold_is_refused(fields, field):
    with pytest.raises(DeliveryContextError, match=field):
        make_plan(**fields)


@pytest.mark.parametrize("code", ["123", "true", "abc-", "a" * 64, "Loja", ""])
def test_a_code_that_kubernetes_would_refuse_is_refused(code):
    with pytest.raises(DeliveryContextError, match="app_code"):
        make_app(code, plan=make_plan())


@pytest.mark.parametrize(
    "fields",
    [
        {"image_repository": "registry.example/a:latest"},
        {"pod_security": "privileged"},
        {"run_as_user": 0},
        {"writable_paths": ["tmp"]},
        {"egress": [{"name": "x"}]},
        {"liveness_path": "live"},
    ],
)
def test_settings_that_no_context_may_hold_are_refused(fields):
    with pytest.raises(DeliveryContextError, match=next(iter(fields))):
        make_app(**fields)


def test_names_of_objects_in_the_cluster_never_change():
    environment = make_environment()
    environment.namespace = "other"
    with pytest.raises(NameNeverChanges):
        save_environment(environment, actor="ana")
    app = environment.app
    app.code = "other"
    with pytest.raises(NameNeverChanges):
        save_app(app, actor="ana")


def test_other_settings_change():
    app = make_app()
    app.pod_security = "baseline"
    save_app(app, actor="ana")
    assert App.objects.get().pod_security == "baseline"


def test_a_taken_name_is_told():
    make_environment(make_app("a-b"), name="c")
    with pytest.raises(NameTaken, match="namespace 'a-b-c'"):
        make_environment(make_app("a"), name="b-c", hostname="x.apps.localhost")
    with pytest.raises(NameTaken, match="hostname"):
        make_environment(App.objects.get(code="a"), hostname="a-b-c.apps.localhost")
    with pytest.raises(NameTaken, match="code 'a'"):
        make_app("a", plan=make_plan("other"))
    with pytest.raises(NameTaken, match="code 'other'"):
        make_plan("other")


@pytest.mark.parametrize("host", ["apps.localhost", "loja.example", "x.notapps.localhost"])
def test_a_platform_host_lies_below_a_platform_domain(host):
    with pytest.raises(NotOnPlatform):
        make_environment(hostname=host)


def test_a_domain_is_added_with_its_www_name_and_due_at_once():
    make_environment()
    added = add("loja-main", "loja.example", has_www=True)
    assert [domain.host for domain in added] == ["loja.example", "www.loja.example"]
    assert {(domain.status, domain.next_check_at) for domain in added} == {("added", NOW)}


@pytest.mark.parametrize("host", ["apps.localhost", "x.apps.localhost", "loja.apps.localhost"])
def test_a_platform_host_belongs_to_no_customer(host):
    make_environment()
    with pytest.raises(PlatformHost):
        add("loja-main", host)


@pytest.mark.parametrize("host", ["1.2.3.4", "Loja.example", "*.loja.example", "localhost", ""])
def test_what_is_no_host_is_refused(host):
    make_environment()
    with pytest.raises(DeliveryContextError, match="host"):
        add("loja-main", host)


def test_a_host_belongs_to_one_app():
    make_environment(), make_environment(make_app("other"))
    add("loja-main", "loja.example")
    with pytest.raises(NameTaken):
        add("other-main", "loja.example")
    with pytest.raises(NameTaken):
        add("loja-main", "loja.example")


def test_a_pair_of_which_one_is_taken_adds_nothing():
    make_environment(), make_environment(make_app("other"))
    add("other-main", "www.loja.example")
    with pytest.raises(NameTaken):
        add("loja-main", "loja.example", has_www=True)
    assert CustomDomain.objects.count() == 1


def test_an_environment_has_at_most_ten_domains():
    make_environment()
    for number in range(9):
        add("loja-main", f"d{number}.example")
    with pytest.raises(DomainLimitReached):
        add("loja-main", "last.example", has_www=True)
    add("loja-main", "last.example")
    with pytest.raises(DomainLimitReached):
        add("loja-main", "more.example")


def test_a_removed_host_is_free_again():
    make_environment(), make_environment(make_app("other"))
    [domain] = add("loja-main", "loja.example")
    remove_custom_domain(domain, actor="ana", now=NOW)
    assert add("other-main", "loja.example")


def test_an_unknown_environment_is_told():
    with pytest.raises(EnvironmentNotFound):
        add("nope", "loja.example")


@pytest.mark.django_db(transaction=True)
def test_the_limit_holds_when_many_add_at_once():
    make_environment()
    barrier, refused = threading.Barrier(4), []

    def add_four(first):
        barrier.wait()
        for number in range(first, first + 4):
            try:
                add("loja-main", f"d{number}.example")
            except DomainLimitReached as error:
                refused.append(error)
        connection.close()

    threads = [threading.Thread(target=add_four, args=(place * 4,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert CustomDomain.objects.count() == 10
    assert len(refused) == 6


@pytest.mark.django_db(transaction=True)
def test_of_two_apps_that_want_one_host_one_gets_it():
    make_environment(), make_environment(make_app("other"))
    barrier, outcomes = threading.Barrier(2), []

    def claim(namespace):
        barrier.wait()
        try:
            add(namespace, "loja.example")
            outcomes.append("added")
        except NameTaken:
            outcomes.append("taken")
        connection.close()

    threads = [threading.Thread(target=claim, args=(f"{code}-main",)) for code in ("loja", "other")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["added", "taken"]


def test_saving_a_plan_reaches_the_next_render():
    environment = make_environment()
    plan = environment.app.plan
    plan.slots = 5
    save_plan(plan, actor="ana")
    assert preview_context(environment).replicas == 5
