"""Where an app's pods may connect to: named rules, each a network policy of its own."""

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from apps.delivery.errors import DeliveryContextError
from apps.delivery.names import is_dns_label

MAX_PORT: Final = 65535
# Link-local addresses hold the cloud's metadata service, which gives out the node's credentials.
FORBIDDEN_CIDRS: Final = ("169.254.0.0/16", "fe80::/10")
_ANYWHERE: Final = ("0.0.0.0/0", "::/0")

_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class EgressRule:
    """Connections to some TCP ports, either of address ranges or of another namespace's pods."""

    name: str
    ports: tuple[int, ...]
    cidrs: tuple[str, ...] = ()
    namespace: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not is_dns_label(self.name):
            raise _refused("the name must be a DNS label", self.name)
        if not self.ports or not all(_is_port(port) for port in self.ports):
            raise _refused(f"{self.name} needs ports from 1 to {MAX_PORT}", self.ports)
        if bool(self.cidrs) == bool(self.namespace):
            raise _refused(f"{self.name} needs either address ranges or a namespace", self.cidrs)
        if self.namespace and not is_dns_label(self.namespace):
            raise _refused(f"{self.name} names no namespace", self.namespace)
        for cidr in self.cidrs:
            excepted_cidrs(cidr)


def excepted_cidrs(cidr: str) -> list[str]:
    """The forbidden ranges inside this one. Raises DeliveryContextError for a bad range."""
    network = _parsed(cidr)
    if network is None:
        raise _refused("is no address range such as 203.0.113.0/24", cidr)
    excepted = []
    for forbidden_text in FORBIDDEN_CIDRS:
        forbidden = ipaddress.ip_network(forbidden_text)
        if _contains(forbidden, network):
            raise _refused("lies in a range that apps never reach", cidr)
        if _contains(network, forbidden):
            excepted.append(forbidden_text)
    return excepted


def parse_egress(value: Any) -> tuple[EgressRule, ...]:
    """Rules from JSON; None gives the default ones. Raises DeliveryContextError."""
    if value is None:
        return DEFAULT_EGRESS
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise _refused("must be a list of rules", value)
    rules = tuple(_parsed_rule(item) for item in value)
    if len({rule.name for rule in rules}) != len(rules):
        raise _refused("names must differ", value)
    return rules


def _parsed_rule(item: Any) -> EgressRule:
    """One rule, from a mapping or as it is."""
    if isinstance(item, EgressRule):
        return item
    if not isinstance(item, Mapping) or not item.keys() <= {"name", "ports", "cidrs", "namespace"}:
        raise _refused("a rule has name, ports, and cidrs or namespace", item)
    ports, cidrs = item.get("ports") or (), item.get("cidrs") or ()
    if not isinstance(ports, list | tuple) or not isinstance(cidrs, list | tuple):
        raise _refused("ports and cidrs are lists", item)
    return EgressRule(item.get("name", ""), tuple(ports), tuple(cidrs), item.get("namespace") or "")


def _parsed(cidr: Any) -> _Network | None:
    """The range, or None; bits after the prefix must be zero, as the API server wants."""
    try:
        return ipaddress.ip_network(cidr) if isinstance(cidr, str) and "/" in cidr else None
    except ValueError:
        return None


def _contains(outer: _Network, inner: _Network) -> bool:
    """True when one range holds the other; ranges of two families never do."""
    return (
        outer.version == inner.version
        and outer.network_address <= inner.network_address  # type: ignore[operator]  # one family
        and outer.broadcast_address >= inner.broadcast_address  # type: ignore[operator]
    )


def _is_port(value: Any) -> bool:
    """True for a port number."""
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_PORT


def _refused(problem: str, value: Any) -> DeliveryContextError:
    """The error of this field."""
    return DeliveryContextError("egress", problem, value=value)


DEFAULT_EGRESS: Final = (
    EgressRule("https", (443,), cidrs=_ANYWHERE),
    EgressRule("mongodb", (27017,), cidrs=_ANYWHERE),
)
