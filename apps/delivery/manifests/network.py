"""Who may talk to an app's pods, and to whom they may talk: nothing that is not named here."""

from typing import Any, Final

from apps.delivery.context import DeliveryContext
from apps.delivery.egress import EgressRule, excepted_cidrs
from apps.delivery.infra import Infra
from apps.delivery.manifests.metadata import NETWORK_POLICY_NAME, Manifest, namespaced

HTTP_CONTAINER_PORT: Final = 8080
DNS_PORT: Final = 53
# Pods that cert-manager starts to answer HTTP-01 challenges.
SOLVER_LABELS: Final = {"acme.cert-manager.io/http01-solver": "true"}
SOLVER_PORT: Final = 8089
SOLVER_POLICY_NAME: Final = "oon-acme-solver"


def network_policies(context: DeliveryContext, infra: Infra) -> list[Manifest]:
    """Deny by default, then DNS, the ingress controller, solvers, and the named egress rules."""
    policies = [_default_deny(context, infra)]
    if context.custom_domains:
        policies.append(_solver_policy(context, infra))
    return policies + [_egress_policy(context, rule) for rule in context.egress]


def _default_deny(context: DeliveryContext, infra: Infra) -> Manifest:
    """All pods: only the ingress controller comes in, only DNS goes out."""
    # An answer that does not fit a datagram comes over TCP, so DNS needs both.
    dns_ports = [{"port": DNS_PORT, "protocol": protocol} for protocol in ("UDP", "TCP")]
    spec = {
        "podSelector": {},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [
            {"from": [_namespace(infra.ingress_namespace)], "ports": [_tcp(HTTP_CONTAINER_PORT)]}
        ],
        "egress": [{"to": [_namespace(infra.dns_namespace)], "ports": dns_ports}],
    }
    return _policy(NETWORK_POLICY_NAME, context, spec)


def _solver_policy(context: DeliveryContext, infra: Infra) -> Manifest:
    """The solver pods answer the ingress controller, which passes on the challenge."""
    spec = {
        "podSelector": {"matchLabels": dict(SOLVER_LABELS)},
        "policyTypes": ["Ingress"],
        "ingress": [{"from": [_namespace(infra.ingress_namespace)], "ports": [_tcp(SOLVER_PORT)]}],
    }
    return _policy(SOLVER_POLICY_NAME, context, spec)


def _egress_policy(context: DeliveryContext, rule: EgressRule) -> Manifest:
    """One named way out; policies add up, so each can be read and removed alone."""
    if rule.namespace:
        peers = [_namespace(rule.namespace)]
    else:
        peers = [{"ipBlock": _ip_block(cidr)} for cidr in rule.cidrs]
    spec = {
        "podSelector": {},
        "policyTypes": ["Egress"],
        "egress": [{"to": peers, "ports": [_tcp(port) for port in rule.ports]}],
    }
    return _policy(f"oon-egress-{rule.name}", context, spec)


def _policy(name: str, context: DeliveryContext, spec: dict[str, Any]) -> Manifest:
    """A NetworkPolicy of the app's namespace."""
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": namespaced(name, context),
        "spec": spec,
    }


def _namespace(name: str) -> Manifest:
    """All pods of a namespace; the label is set by the API server and cannot be forged."""
    return {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}}}


def _ip_block(cidr: str) -> Manifest:
    """A range without what no app may reach."""
    excepted = excepted_cidrs(cidr)
    return {"cidr": cidr, "except": excepted} if excepted else {"cidr": cidr}


def _tcp(port: int) -> Manifest:
    """A TCP port."""
    return {"port": port, "protocol": "TCP"}
