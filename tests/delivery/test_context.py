"""Every field of a context: exact with the original, and stricter where Kubernetes is."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.delivery.context import (
    DeliveryContext,
    DeliveryContextError,
    as_context,
    custom_domains,
    performance_mode,
    replica_count,
)
from tests.delivery.factories import context_fields, make_context
from tests.delivery.strategies import BROKEN_VALUES, contexts
from tests.delivery.vectors import vectors

VALIDATORS = {
    "replicaCount": replica_count,
    "performanceMode": performance_mode,
    "customDomains": custom_domains,
}
CASES = [case for name in VALIDATORS for case in vectors(name)]
IPV4_CASES = [case for case in CASES if case.get("output") == ["1.2.3.4"]]


def snake_case(fields):
    return {re.sub(r"([A-Z])", r"_\1", name).lower(): value for name, value in fields.items()}


@pytest.mark.parametrize("case", [case for case in CASES if case not in IPV4_CASES])
def test_validators_equal_the_original(case):
    validate = VALIDATORS[case["fn"]]
    if case.get("error"):
        with pytest.raises(DeliveryContextError):
            validate(snake_case(case["input"]))
    else:
        assert validate(snake_case(case["input"])) == case["output"]


@pytest.mark.parametrize("host", ["1.2.3.4", "10.0.1", "1.2.3.4.5", "app.127"])
def test_an_address_is_no_host(host):
    assert len(IPV4_CASES) == 1
    with pytest.raises(DeliveryContextError, match="custom_domains"):
        custom_domains({"hostname": "loja.apps.example", "custom_domains": [host]})


@pytest.mark.parametrize("replicas", [2, 2.0])
def test_json_numbers_that_are_whole_count_replicas(replicas):
    assert repr(replica_count({"replicas": replicas})) == "2"


def test_validators_take_a_context_as_well():
    context = make_context(replicas=3, performance_mode="ultra", custom_domains=["a.test"])
    assert replica_count(context) == 3
    assert performance_mode(context) == "ultra"
    assert custom_domains(context) == ["a.test"]


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in BROKEN_VALUES.items() for value in values]
)
def test_a_broken_field_is_named(name, value):
    with pytest.raises(DeliveryContextError) as caught:
        as_context(context_fields(**{name: value}))
    assert caught.value.field == name
    assert caught.value.details["field"] == name


@pytest.mark.parametrize("value", BROKEN_VALUES["replicas"])
def test_a_context_that_exists_is_valid(value):
    with pytest.raises(DeliveryContextError):
        DeliveryContext(**context_fields(replicas=value))


@pytest.mark.parametrize(
    "name", ["app_code", "namespace", "hostname", "image_repository", "release_id"]
)
@pytest.mark.parametrize("gone", [True, False])
def test_a_missing_field_is_named(name, gone):
    fields = context_fields(**{name: None})
    if gone:
        del fields[name]
    with pytest.raises(DeliveryContextError) as caught:
        as_context(fields)
    assert caught.value.field == name


@given(contexts)
def test_a_context_is_its_own_reading(context):
    assert as_context(context) is context
    fields = {name: getattr(context, name) for name in DeliveryContext.__slots__}
    assert as_context(fields) == context


@given(st.sampled_from(sorted(BROKEN_VALUES)), st.one_of(st.text(), st.integers(), st.booleans()))
def test_any_value_is_taken_or_refused_with_its_field(name, value):
    try:
        refused_field = ""
        as_context(context_fields(**{name: value}))
    except DeliveryContextError as error:
        refused_field = error.field
    assert refused_field in {"", name}


def test_names_that_central_adds_are_left_alone():
    assert as_context(context_fields(plan_name="Gold")) == make_context()


@pytest.mark.parametrize("source", [None, [], "loja", 7])
def test_what_is_no_object_is_no_context(source):
    with pytest.raises(DeliveryContextError, match="context"):
        as_context(source)


@pytest.mark.parametrize(
    ("level", "given_user", "user"),
    [("restricted", None, 10001), ("baseline", None, None), ("baseline", 1000, 1000)],
)
def test_the_user_follows_the_security_level(level, given_user, user):
    assert make_context(pod_security=level, run_as_user=given_user).run_as_user == user


@pytest.mark.parametrize(
    ("capabilities", "is_on"),
    [
        ({}, False),
        ({"core.secrets": {"enabled": True}}, True),
        ({"core.secrets": {"enabled": False}}, False),
        ({"core.secrets": None}, False),
        ({"core.secrets": True}, False),
    ],
)
def test_a_capability_is_on_when_it_says_so(capabilities, is_on):
    context = make_context(functional_capabilities=capabilities)
    assert context.has_capability("core.secrets") is is_on
