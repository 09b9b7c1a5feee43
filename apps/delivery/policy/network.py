"""Services, ingresses and network policies: what they point to exists and can be reached."""

import ipaddress
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from apps.delivery.policy.containers import MAX_PORT, is_port_number, repeats
from apps.delivery.policy.findings import Problem, Severity
from apps.delivery.policy.metadata import is_subdomain
from apps.delivery.policy.objects import (
    Neighbours,
    field,
    labels_of,
    namespace_of,
    pods_of,
    selects,
)

DNS_PORT: Final = 53


def network_problems(manifest: Mapping[str, Any], neighbours: Neighbours) -> Iterator[Problem]:
    """All rules about how one object is reached, or what it reaches."""
    kind = manifest["kind"]
    if kind == "Service":
        yield from _service_problems(manifest, neighbours)
    elif kind == "Ingress":
        yield from _ingress_problems(manifest, neighbours)
    elif kind == "NetworkPolicy":
        yield from _policy_problems(manifest)
    elif pods_of(manifest) is not None:
        yield from _isolation_problems(manifest, neighbours)


def _service_problems(service: Mapping[str, Any], neighbours: Neighbours) -> Iterator[Problem]:
    """Port numbers and names."""
    ports = field(service, "spec.ports") or []
    for place, port in enumerate(ports):
        path = f"spec.ports[{place}]"
        if not is_port_number(port.get("port")):
            fix = f"Use 1 to {MAX_PORT}."
            yield Problem("port", f"{path}.port", "It is no port number.", fix)
        if len(ports) > 1 and not port.get("name"):
            message = "With several ports each needs a name."
            yield Problem("port", f"{path}.name", message, "Name it.")
    for place, name in repeats([port.get("name") for port in ports]):
        path = f"spec.ports[{place}].name"
        yield Problem("port", path, f"{name!r} stands there twice.", "Keep one of them.")
    yield from _behind_problems(service, ports, neighbours)


def _behind_problems(
    service: Mapping[str, Any], ports: list[Any], neighbours: Neighbours
) -> Iterator[Problem]:
    """Pods with the named ports, where the set has any."""
    selector = field(service, "spec.selector")
    for deployment in neighbours.of_kind("Deployment", namespace_of(service)):
        pods = pods_of(deployment)
        if pods is None or not selector or not selects(selector, labels_of(pods.metadata)):
            continue
        open_ports = [
            port for container in pods.containers() for port in container.fields.get("ports") or ()
        ]
        yield from _target_problems(ports, open_ports)
        return
    if selector and neighbours.of_kind("Deployment", namespace_of(service)):
        fix = "Select by the labels of the pod template."
        yield Problem("service-selector", "spec.selector", "It selects no pods here.", fix)


def _target_problems(ports: list[Any], open_ports: list[Any]) -> Iterator[Problem]:
    """Named targets exist in the pods."""
    names = {port.get("name") for port in open_ports}
    for place, port in enumerate(ports):
        target = port.get("targetPort")
        if isinstance(target, str) and target not in names:
            path = f"spec.ports[{place}].targetPort"
            fix = "Name one of the containers' ports."
            yield Problem("target-port", path, f"No container has a port {target!r}.", fix)


def _ingress_problems(ingress: Mapping[str, Any], neighbours: Neighbours) -> Iterator[Problem]:
    """Hosts, paths, backends and certificates."""
    hosts = []
    for place, rule in enumerate(field(ingress, "spec.rules") or ()):
        path = f"spec.rules[{place}]"
        if rule.get("host"):
            hosts.append(rule["host"])
            yield from _host_problems(rule["host"], f"{path}.host")
        for index, entry in enumerate((rule.get("http") or {}).get("paths") or ()):
            where = f"{path}.http.paths[{index}]"
            yield from _path_problems(entry, where)
            yield from _backend_problems(entry, where, namespace_of(ingress), neighbours)
    for place, tls in enumerate(field(ingress, "spec.tls") or ()):
        if tls.get("secretName") and len(tls.get("hosts") or ()) > 1:
            message = "One host with broken DNS stops the certificate of the others."
            fix = "Give each host an Ingress and a secret of its own."
            yield Problem(
                "shared-certificate", f"spec.tls[{place}]", message, fix, Severity.WARNING
            )
        for host in set(tls.get("hosts") or ()) - set(hosts):
            message = f"{host} has a certificate here but no rule."
            yield Problem(
                "tls-host", f"spec.tls[{place}].hosts", message, "Add a rule.", Severity.WARNING
            )
    yield from _claimed_twice(ingress, hosts, neighbours)


def _claimed_twice(
    ingress: Mapping[str, Any], hosts: list[str], neighbours: Neighbours
) -> Iterator[Problem]:
    """A host belongs to one Ingress."""
    counts = Counter(
        rule.get("host")
        for item in neighbours.of_kind("Ingress")
        for rule in field(item, "spec.rules") or ()
    )
    for host in hosts:
        if counts[host] > 1:
            fix = "Let one app have it."
            yield Problem("host-taken", "spec.rules", f"{host} is claimed twice.", fix)


def _host_problems(host: str, path: str) -> Iterator[Problem]:
    """A DNS name, with a leading wildcard at most; never an address."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        if not is_subdomain(host.removeprefix("*.")):
            fix = "Use lower-case letters, digits, hyphens and dots, without port."
            yield Problem("host", path, f"{host!r} is no DNS name.", fix)
    else:
        yield Problem("host", path, f"{host} is an address.", "Use a DNS name.")


def _path_problems(entry: Mapping[str, Any], path: str) -> Iterator[Problem]:
    """A type, and an absolute path."""
    kind = entry.get("pathType")
    if kind not in ("Exact", "Prefix", "ImplementationSpecific"):
        yield Problem("path", f"{path}.pathType", f"{kind!r} is unknown.", "Use Prefix.")
    if kind != "ImplementationSpecific" and not str(entry.get("path") or "").startswith("/"):
        fix = "Begin it with a slash."
        yield Problem("path", f"{path}.path", "It is not absolute.", fix)


def _backend_problems(
    entry: Mapping[str, Any], path: str, namespace: str, neighbours: Neighbours
) -> Iterator[Problem]:
    """The Service and its port, where the Service is part of the set."""
    wanted = field(entry, "backend.service") or {}
    services = {item["metadata"]["name"]: item for item in neighbours.of_kind("Service", namespace)}
    if not services:
        return
    service = services.get(wanted.get("name"))
    where = f"{path}.backend.service"
    if service is None:
        message = f"There is no Service {wanted.get('name')!r}."
        yield Problem("backend", f"{where}.name", message, "Name a Service of the namespace.")
        return
    port = wanted.get("port") or {}
    ports = field(service, "spec.ports") or []
    if port.get("name", port.get("number")) not in {
        item.get("name" if "name" in port else "port") for item in ports
    }:
        fix = "Use a port of the Service."
        yield Problem("backend", f"{where}.port", "The Service has no such port.", fix)


def _policy_problems(policy: Mapping[str, Any]) -> Iterator[Problem]:
    """Ranges that can be read, and DNS over both protocols."""
    for direction, side in (("ingress", "from"), ("egress", "to")):
        for place, rule in enumerate(field(policy, f"spec.{direction}") or ()):
            path = f"spec.{direction}[{place}]"
            for index, peer in enumerate(rule.get(side) or ()):
                block = peer.get("ipBlock")
                if block:
                    yield from _block_problems(block, f"{path}.{side}[{index}].ipBlock")
            if direction == "egress":
                yield from _dns_problems(rule, path)


def _block_problems(block: Mapping[str, Any], path: str) -> Iterator[Problem]:
    """A range, and exceptions inside it."""
    outer = _network(block.get("cidr"))
    if outer is None:
        yield Problem("cidr", f"{path}.cidr", f"{block.get('cidr')!r} is no range.", "Use a CIDR.")
    for place, excepted in enumerate(block.get("except") or ()):
        inner = _network(excepted)
        where = f"{path}.except[{place}]"
        if inner is None:
            yield Problem("cidr", where, f"{excepted!r} is no range.", "Use a CIDR.")
        elif outer is not None and (inner.version != outer.version or not _within(inner, outer)):
            message = f"{excepted} lies outside of {block['cidr']}."
            yield Problem("cidr", where, message, "Remove it.")


def _dns_problems(rule: Mapping[str, Any], path: str) -> Iterator[Problem]:
    """Long answers come over TCP."""
    protocols = {
        port.get("protocol", "TCP")
        for port in rule.get("ports") or ()
        if port.get("port") == DNS_PORT
    }
    if protocols and protocols != {"UDP", "TCP"}:
        message = f"DNS is allowed over {', '.join(protocols)} only; long answers need both."
        yield Problem("dns-protocols", f"{path}.ports", message, "Allow port 53 over UDP and TCP.")


def _isolation_problems(manifest: Mapping[str, Any], neighbours: Neighbours) -> Iterator[Problem]:
    """A policy selects the pods, where the set has any."""
    pods = pods_of(manifest)
    policies = neighbours.of_kind("NetworkPolicy", namespace_of(manifest))
    labels = labels_of(pods.metadata) if pods else {}
    if not any(selects(field(item, "spec.podSelector.matchLabels"), labels) for item in policies):
        message = "No network policy selects these pods: everything may connect both ways."
        yield Problem("isolation", "", message, "Add a default-deny policy.", Severity.WARNING)


def _network(value: Any) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    """A range, or None."""
    try:
        return ipaddress.ip_network(value) if isinstance(value, str) and "/" in value else None
    except ValueError:
        return None


def _within(inner: Any, outer: Any) -> bool:
    """True when one range of a family lies in another of it."""
    return bool(inner.subnet_of(outer))
