"""Strangers' addresses never lead into our own network."""

import ipaddress
import socket
from typing import Any

import pytest

from apps.outbox.guarded_http import AddressForbidden, Unreachable, is_public, post
from tests.outbox.subscriber import subscriber

LOOPBACK = [ipaddress.ip_network("127.0.0.0/8")]

PRIVATE = [
    "127.0.0.1",
    "10.1.2.3",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "::1",
    "fe80::1",
    "fd00::1",
    "::ffff:127.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "ff0e::1",
]


@pytest.mark.parametrize("address", PRIVATE)
def test_addresses_that_are_not_of_the_internet_are_refused(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", ["1.1.1.1", "2606:4700::1111", "::ffff:1.1.1.1"])
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


def test_a_private_address_gets_no_request() -> None:
    with subscriber() as target:
        with pytest.raises(AddressForbidden):
            post(target.url, b"{}", {})
        assert target.bodies == []


def test_an_allowed_network_is_reached_and_redirects_are_not_followed() -> None:
    with subscriber() as target:
        target.statuses = [302]
        answer = post(target.url, b"{}", {}, allowed=LOOPBACK)
    assert (answer.status_code, answer.text) == (302, "thanks")
    assert target.bodies == [b"{}"]


def test_a_name_is_judged_by_the_address_that_is_connected_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = iter(["93.184.215.14", "127.0.0.1"])
    asked: list[str] = []

    def rebinding(host: str, port: int, **_options: Any) -> list[Any]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), port))]

    connected: list[Any] = []

    def refuse(address: Any, _timeout: float) -> None:
        connected.append(address)
        raise OSError("no network in tests")

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)
    monkeypatch.setattr(socket, "create_connection", refuse)
    with pytest.raises(Unreachable):
        post("https://rebinding.example/hook", b"{}", {})
    assert asked == ["rebinding.example"]
    assert connected == [("93.184.215.14", 443)]
    with pytest.raises(AddressForbidden):
        post("https://rebinding.example/hook", b"{}", {})


def test_plain_http_to_the_internet_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    public = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.215.14", 80))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_words, **_options: public)
    with pytest.raises(AddressForbidden):
        post("http://plain.example/hook", b"{}", {})


def test_a_name_without_address_is_unreachable() -> None:
    with pytest.raises(Unreachable):
        post("https://nothing.invalid/hook", b"{}", {})
