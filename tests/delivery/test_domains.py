"""Custom domains from added to active, each for itself."""

import socket
import threading
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import dns.message
import dns.rcode
import dns.rrset
import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from apps.delivery.choices import DeploymentPhase, DomainStatus
from apps.delivery.dns_lookup import look_up
from apps.delivery.domain_rules import DnsAnswer, judge, next_delay, points_here
from apps.delivery.kube.cluster import Cluster
from apps.delivery.manifests import custom_domain_secret_name
from apps.delivery.models import CustomDomain, Environment
from apps.delivery.services.custom_domains import add_custom_domain, remove_custom_domain
from apps.delivery.services.domains import check_domain, check_due_domains

from .kube_server import KubeServer
from .kube_server.kinds import BY_NAME
from .rollouts import GOOD, NOW, Host, deploy, drive, live

pytestmark = pytest.mark.django_db(transaction=True)
OURS = "192.0.2.1"


class Zone:
    """A DNS server on loopback that answers A questions from a table."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = dict(names)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                packet, sender = self._socket.recvfrom(4096)
            except OSError:
                return
            if not packet:
                return
            self._socket.sendto(self._answer(packet), sender)

    def _answer(self, packet: bytes) -> bytes:
        query = dns.message.from_wire(packet)
        reply = dns.message.make_response(query)
        question = query.question[0]
        address = self.names.get(question.name.to_text(omit_final_dot=True))
        if address is None:
            reply.set_rcode(dns.rcode.NXDOMAIN)
        elif question.rdtype == dns.rdatatype.A:
            reply.answer.append(dns.rrset.from_text(question.name, 60, "IN", "A", address))
        return reply.to_wire()

    def close(self) -> None:
        stopper = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        stopper.sendto(b"", self._socket.getsockname())
        stopper.close()
        self._thread.join()
        self._socket.close()


@pytest.fixture
def zone(settings: Any) -> Iterator[Zone]:
    running = Zone({"loja.apps.example": OURS, "good.test": OURS, "other.test": "203.0.113.9"})
    settings.DELIVERY_DNS_SERVERS = [running.address]
    yield running
    running.close()


def add(environment: Environment, host: str) -> CustomDomain:
    (domain,) = add_custom_domain(environment.namespace, host, actor="ana", now=NOW)
    return domain


def check(domain: CustomDomain, cluster: Cluster, now: datetime = NOW) -> CustomDomain:
    domain.refresh_from_db()
    check_domain(domain, cluster, now=now)
    domain.refresh_from_db()
    return domain


def issue(server: KubeServer, host: str, **status: Any) -> None:
    """What cert-manager would write."""
    name = custom_domain_secret_name("loja", host)
    certificate = {
        "kind": "Certificate",
        "apiVersion": "cert-manager.io/v1",
        "metadata": {"name": name, "namespace": "loja-main"},
        "status": status,
    }
    server.store.put(BY_NAME["Certificate"], certificate)


READY = {"conditions": [{"type": "Ready", "status": "True"}]}
FAILED = {
    "failedIssuanceAttempts": 1,
    "conditions": [
        {"type": "Ready", "status": "False", "message": "does not exist"},
        {"type": "Issuing", "status": "False", "reason": "Failed", "message": "acme: 403 denied"},
    ],
}


def test_a_domain_goes_from_added_to_active(
    environment: Environment, cluster: Cluster, server: KubeServer, host: Host, zone: Zone
) -> None:
    deploy(environment, GOOD, cluster)
    domain = add(environment, "good.test")
    assert domain.status == DomainStatus.ADDED
    assert check(domain, cluster).status == DomainStatus.VERIFIED
    assert drive(environment.deployments.first(), cluster).phase == DeploymentPhase.SUCCEEDED
    issue(server, "good.test", conditions=[{"type": "Ready", "status": "False"}])
    assert check(domain, cluster).status == DomainStatus.ISSUING
    issue(server, "good.test", **READY)
    assert check(domain, cluster).status == DomainStatus.ACTIVE


def test_a_broken_domain_never_touches_another(
    environment: Environment, cluster: Cluster, server: KubeServer, host: Host, zone: Zone
) -> None:
    """Report 5: own Ingress, own secret, own reason."""
    deploy(environment, GOOD, cluster)
    good, bad = add(environment, "good.test"), add(environment, "bad.test")
    check_due_domains(cluster, now=NOW)
    drive(environment.deployments.first(), cluster)
    issue(server, "good.test", **READY)
    assert check(good, cluster).status == DomainStatus.ACTIVE
    bad.refresh_from_db()
    assert (bad.status, bad.reason) == (DomainStatus.ADDED, "the name does not exist in DNS")
    rules = [i["spec"]["rules"][0]["host"] for i in server.store.list(BY_NAME["Ingress"])]
    assert sorted(rules) == ["good.test", "loja.apps.example"]


def test_a_domain_that_points_elsewhere_says_where(
    environment: Environment, cluster: Cluster, zone: Zone
) -> None:
    domain = check(add(environment, "other.test"), cluster)
    assert domain.status == DomainStatus.ADDED
    assert domain.reason == f"points to 203.0.113.9 instead of {OURS}"


def test_waiting_becomes_failing_after_some_checks(
    environment: Environment, cluster: Cluster, zone: Zone
) -> None:
    domain = add(environment, "bad.test")
    states = [check(domain, cluster).status for _ in range(6)]
    assert states == [DomainStatus.ADDED] * 5 + [DomainStatus.FAILING]


def test_a_certificate_that_is_refused_shows_the_reason(
    environment: Environment, cluster: Cluster, server: KubeServer, zone: Zone
) -> None:
    domain = add(environment, "good.test")
    check(domain, cluster)
    issue(server, "good.test", **FAILED)
    assert check(domain, cluster).status == DomainStatus.FAILING
    assert domain.reason == "acme: 403 denied"


def test_a_verified_domain_whose_dns_breaks_stays_routed(
    environment: Environment, cluster: Cluster, zone: Zone
) -> None:
    domain = check(add(environment, "good.test"), cluster)
    del zone.names["good.test"]
    domain = check(domain, cluster)
    assert domain.status == DomainStatus.FAILING
    assert domain.verified_at == NOW


def test_removal_takes_ingress_and_certificate_away(
    environment: Environment, cluster: Cluster, server: KubeServer, host: Host, zone: Zone
) -> None:
    deploy(environment, GOOD, cluster)
    domain = check(add(environment, "good.test"), cluster)
    drive(environment.deployments.first(), cluster)
    name = custom_domain_secret_name("loja", "good.test")
    metadata = {"name": name, "namespace": "loja-main"}
    server.store.put(BY_NAME["Secret"], {"kind": "Secret", "metadata": metadata, "data": {}})
    remove_custom_domain(domain, actor="ana", now=timezone.now())
    drive(environment.deployments.first(), cluster)
    assert live(server, "Secret", name) is None
    assert len(server.store.list(BY_NAME["Ingress"], "loja-main")) == 1


def test_checks_come_later_and_later_while_a_domain_fails(
    environment: Environment, cluster: Cluster, zone: Zone
) -> None:
    domain = add(environment, "bad.test")
    waits = []
    for _ in range(8):
        domain = check(domain, cluster)
        assert domain.next_check_at is not None
        waits.append(domain.next_check_at - NOW)
    assert waits == sorted(waits)
    assert waits[-1] == timedelta(hours=1)


def test_two_workers_check_a_domain_once(
    environment: Environment, cluster: Cluster, zone: Zone
) -> None:
    add(environment, "bad.test")
    assert [check_due_domains(cluster, now=NOW) for _ in range(2)] == [1, 0]


def test_a_name_without_addresses_is_told_apart_from_a_missing_one(zone: Zone) -> None:
    assert look_up("good.test") == DnsAnswer(frozenset({OURS}))
    assert look_up("bad.test").problem == "the name does not exist in DNS"


@given(
    addresses=st.frozensets(st.ip_addresses(v=4).map(str)),
    ours=st.frozensets(st.ip_addresses(v=4).map(str)),
)
def test_only_our_addresses_pass(addresses: frozenset[str], ours: frozenset[str]) -> None:
    assert (points_here(DnsAnswer(addresses), ours) == "") == (addresses <= ours)


@given(failures=st.integers(0, 10_000), problem=st.text(max_size=5), verified=st.booleans())
def test_the_next_check_always_comes(failures: int, problem: str, verified: bool) -> None:
    verdict = judge(problem, None, was_verified=verified, failures=failures)
    assert timedelta(0) < next_delay(verdict, failures=failures) <= timedelta(hours=12)
