"""The adapter to dnspython: where a host name points."""

from collections.abc import Sequence

import dns.exception
import dns.resolver
from django.conf import settings

from apps.delivery.domain_rules import DnsAnswer

_LIFETIME_SECONDS = 5.0
_RECORDS = ("A", "AAAA")


def look_up(host: str) -> DnsAnswer:
    """All addresses of a host, through its aliases. Never raises: trouble is part of the answer."""
    resolver = _resolver(settings.DELIVERY_DNS_SERVERS)
    found: set[str] = set()
    problem = ""
    for record in _RECORDS:
        try:
            answer = resolver.resolve(host, record, search=False)
        except dns.resolver.NoAnswer:
            continue
        except dns.resolver.NXDOMAIN:
            return DnsAnswer(problem="the name does not exist in DNS")
        except dns.exception.DNSException as error:
            problem = f"DNS does not answer ({type(error).__name__})"
            continue
        found |= {row.to_text() for row in answer}
    if not found:
        return DnsAnswer(problem=problem or "the name has no A or AAAA record")
    return DnsAnswer(frozenset(found))


def _resolver(servers: Sequence[str]) -> dns.resolver.Resolver:
    resolver = dns.resolver.Resolver(configure=not servers)
    resolver.lifetime = _LIFETIME_SECONDS
    resolver.timeout = _LIFETIME_SECONDS / 2
    if servers:
        places = [
            server.rpartition(":") if ":" in server else (server, "", "") for server in servers
        ]
        resolver.nameservers = [host for host, _, _ in places]
        resolver.nameserver_ports = {h: int(port) for h, _, port in places if port}
    return resolver
