"""Requests to addresses that strangers chose: never into our own network. No Django.

The name is resolved once, at the moment of connecting, every answer is checked, and the socket goes
to the checked address, so that a name that changes its mind in between (DNS rebinding) gains
nothing. Redirects are not followed, proxies of the environment are not used.
"""

import ipaddress
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import HTTPError, NewConnectionError

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IPNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network

CONNECT_SECONDS, READ_SECONDS = 3.0, 10.0
MAX_RESPONSE_BYTES = 2048
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_LOCAL_NAT64 = ipaddress.ip_network("64:ff9b:1::/48")


class AddressForbidden(Exception):
    """The name leads to an address that is not public and not allowed, or needs https."""


class Unreachable(Exception):
    """No answer came: no such name, no connection, a bad certificate, or too late."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The status and the beginning of the body."""

    status_code: int
    text: str


def is_public(address: IPAddress) -> bool:
    """Whether an address belongs to the internet; forms that wrap an IPv4 address count as it."""
    if isinstance(address, ipaddress.IPv6Address):
        wrapped = address.ipv4_mapped or address.sixtofour
        if address in _NAT64:
            wrapped = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if wrapped is not None:
            return is_public(wrapped)
        if address in _LOCAL_NAT64 or address.teredo is not None:
            return False
    return address.is_global and not address.is_multicast


def allowed_addresses(
    host: str, port: int, allowed: Sequence[IPNetwork], *, is_encrypted: bool
) -> list[str]:
    """The addresses of a host, all of them fit to connect to.

    Plain http is only for networks that are allowed by name. Raises AddressForbidden, Unreachable.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Unreachable(f"{host} has no address ({error})") from error
    addresses = [str(entry[4][0]) for entry in found]
    for text in addresses:
        address = ipaddress.ip_address(text.partition("%")[0])
        is_named = any(address in network for network in allowed)
        if not is_named and not (is_encrypted and is_public(address)):
            raise AddressForbidden(f"{host} leads to {address}, which is not allowed")
    return addresses


def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    allowed: Sequence[IPNetwork] = (),
    read_seconds: float = READ_SECONDS,
) -> Answer:
    """Send a body and return what was answered, whatever its status.

    Raises AddressForbidden before anything is sent, Unreachable when no answer came.
    """
    timeout = urllib3.Timeout(connect=CONNECT_SECONDS, read=read_seconds)
    pools = urllib3.PoolManager(retries=False, timeout=timeout)
    pools.pool_classes_by_scheme = _guarded_pools(allowed)
    try:
        response = pools.request(
            "POST", url, body=body, headers=dict(headers), redirect=False, preload_content=False
        )
        text = response.read(MAX_RESPONSE_BYTES).decode(errors="replace")
        response.close()
    except (HTTPError, OSError, UnicodeError) as error:
        raise Unreachable(f"{type(error).__name__}: {error}") from error
    finally:
        pools.clear()
    return Answer(response.status, text)


def _guarded_pools(allowed: Sequence[IPNetwork]) -> dict[str, Any]:
    """Connection pools whose sockets go to checked addresses only."""

    def connect(connection: HTTPConnection) -> socket.socket:
        is_encrypted = isinstance(connection, HTTPSConnection)
        addresses = allowed_addresses(
            connection.host, connection.port, allowed, is_encrypted=is_encrypted
        )
        try:
            return socket.create_connection((addresses[0], connection.port), CONNECT_SECONDS)
        except OSError as error:
            raise NewConnectionError(connection, str(error)) from error

    http = type("GuardedHTTP", (HTTPConnection,), {"_new_conn": connect})
    https = type("GuardedHTTPS", (HTTPSConnection,), {"_new_conn": connect})
    return {
        "http": type("GuardedPool", (HTTPConnectionPool,), {"ConnectionCls": http}),
        "https": type("GuardedTLSPool", (HTTPSConnectionPool,), {"ConnectionCls": https}),
    }
