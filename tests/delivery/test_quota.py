"""The namespace quota: exact with the original, and room for all that counts at once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.delivery.manifests import baseline, namespace_quota, quota_headroom
from apps.delivery.profiles import RESOURCE_PROFILES
from apps.delivery.quantities import canonical_quantity, parse_quantity
from tests.delivery.factories import INFRA, context_fields
from tests.delivery.strategies import contexts
from tests.delivery.vectors import vectors


def quota_of(**fields):
    objects = baseline(context_fields(**fields), INFRA)
    return next(item for item in objects if item["kind"] == "ResourceQuota")["spec"]["hard"]


@pytest.mark.parametrize("case", vectors("namespaceQuota"))
def test_the_quota_equals_the_original(case):
    assert namespace_quota(**case["input"]) == case["output"]


def test_the_headroom_is_a_terminating_pod_per_replica_and_a_solver_per_domain():
    assert quota_headroom(3, "medium", 2) == {
        "requestsCpu": "770m",
        "requestsMemory": "1664Mi",
        "limitsCpu": "3200m",
        "limitsMemory": "3200Mi",
        "pods": 5,
        "services": 2,
    }


def test_the_baseline_adds_the_headroom_to_the_original_quota():
    hard = quota_of(replicas=4, resource_profile="large", custom_domains=["a.test", "b.test"])
    base, headroom = namespace_quota(4, "large"), quota_headroom(4, "large", 2)
    for key, original_key in {
        "requests.cpu": "requestsCpu",
        "requests.memory": "requestsMemory",
        "limits.cpu": "limitsCpu",
        "limits.memory": "limitsMemory",
        "pods": "pods",
    }.items():
        total = parse_quantity(base[original_key]) + parse_quantity(headroom[original_key])
        assert parse_quantity(hard[key]) == total
    assert hard["services"] == "12"


def test_quantities_stand_as_the_server_stores_them():
    hard = quota_of(replicas=10, resource_profile="large")
    assert hard["requests.cpu"] == "10500m"
    assert hard["limits.cpu"] == "42"
    assert hard["limits.memory"] == "42Gi"


@given(contexts)
def test_every_quota_is_canonical_and_fits_the_worst_moment(context):
    quota = next(item for item in baseline(context, INFRA) if item["kind"] == "ResourceQuota")
    hard = quota["spec"]["hard"]
    assert all(canonical_quantity(amount) == amount for amount in hard.values())
    pods = 2 * context.replicas + 1
    profile = RESOURCE_PROFILES[context.resource_profile]
    assert parse_quantity(hard["limits.cpu"]) * 1000 >= pods * profile.cpu_limit_milli
    assert parse_quantity(hard["requests.cpu"]) * 1000 >= pods * profile.cpu_request_milli
    assert parse_quantity(hard["limits.memory"]) >= pods * profile.memory_limit_mi * 2**20
    assert int(hard["pods"]) >= pods + len(context.custom_domains)
    assert int(hard["services"]) >= 1 + len(context.custom_domains)


@given(st.integers(1, 10), st.sampled_from(sorted(RESOURCE_PROFILES)))
def test_amounts_are_whole_numbers(replicas, profile):
    for amount in list(namespace_quota(replicas, profile).values())[:4]:
        assert amount.rstrip("mMi").isdecimal()
