"""Network policies: what is not named is denied."""

import pytest

from apps.delivery.context import DeliveryContextError, as_context
from apps.delivery.egress import EgressRule, parse_egress
from apps.delivery.manifests import baseline
from tests.delivery.factories import INFRA, context_fields


def policies_of(infra=INFRA, **fields):
    objects = baseline(context_fields(**fields), infra)
    return {
        item["metadata"]["name"]: item["spec"]
        for item in objects
        if item["kind"] == "NetworkPolicy"
    }


def test_everything_is_denied_both_ways_by_default():
    spec = policies_of()["oon-runtime"]
    assert spec["podSelector"] == {}
    assert spec["policyTypes"] == ["Ingress", "Egress"]


def test_names_are_resolved_over_both_protocols():
    [rule] = policies_of({"DNS_NAMESPACE": "dns"})["oon-runtime"]["egress"]
    assert {port["protocol"] for port in rule["ports"] if port["port"] == 53} == {"UDP", "TCP"}
    selector = rule["to"][0]["namespaceSelector"]["matchLabels"]
    assert selector == {"kubernetes.io/metadata.name": "dns"}


def test_only_the_ingress_controller_comes_in():
    [rule] = policies_of({"INGRESS_NAMESPACE": "edge"})["oon-runtime"]["ingress"]
    labels = [peer["namespaceSelector"]["matchLabels"] for peer in rule["from"]]
    assert labels == [{"kubernetes.io/metadata.name": "edge"}]
    assert rule["ports"] == [{"port": 8080, "protocol": "TCP"}]


def test_solvers_are_reached_while_there_are_domains():
    assert "oon-acme-solver" not in policies_of()
    spec = policies_of(custom_domains=["a.test"])["oon-acme-solver"]
    assert spec["podSelector"]["matchLabels"] == {"acme.cert-manager.io/http01-solver": "true"}
    assert spec["ingress"][0]["ports"] == [{"port": 8089, "protocol": "TCP"}]


def test_each_way_out_has_a_policy_of_its_name():
    rules = [{"name": "crm", "ports": [443], "cidrs": ["203.0.113.0/24"]}]
    assert set(policies_of(egress=rules)) == {"oon-runtime", "oon-egress-crm"}
    assert set(policies_of()) == {"oon-runtime", "oon-egress-https", "oon-egress-mongodb"}


def test_no_way_out_reaches_the_metadata_service():
    [rule] = policies_of()["oon-egress-https"]["egress"]
    blocks = {peer["ipBlock"]["cidr"]: peer["ipBlock"]["except"] for peer in rule["to"]}
    assert blocks == {"0.0.0.0/0": ["169.254.0.0/16"], "::/0": ["fe80::/10"]}


@pytest.mark.parametrize(
    "cidr", ["169.254.169.254/32", "fe80::1/128", "10.0.0.0", "10.0.0.1/8", ""]
)
def test_such_a_range_is_refused(cidr):
    rule = {"name": "x", "ports": [80], "cidrs": [cidr]}
    with pytest.raises(DeliveryContextError, match="egress"):
        as_context(context_fields(egress=[rule]))


@pytest.mark.parametrize(
    "rule",
    [
        {"name": "X", "ports": [80], "namespace": "a"},
        {"name": "x", "ports": [], "namespace": "a"},
        {"name": "x", "ports": [True], "namespace": "a"},
        {"name": "x", "ports": 80, "namespace": "a"},
        {"name": "x", "ports": [80]},
        {"name": "x", "ports": [80], "namespace": "a", "cidrs": ["0.0.0.0/0"]},
        {"name": "x", "ports": [80], "namespace": "A"},
        {"name": "x", "ports": [80], "namespace": "a", "protocol": "UDP"},
        {"name": 1, "ports": [80], "namespace": "a"},
    ],
)
def test_such_a_rule_is_refused(rule):
    with pytest.raises(DeliveryContextError, match="egress"):
        parse_egress([rule])


def test_two_rules_of_one_name_are_refused():
    rule = EgressRule("x", (80,), namespace="a")
    with pytest.raises(DeliveryContextError, match="differ"):
        parse_egress([rule, rule])
