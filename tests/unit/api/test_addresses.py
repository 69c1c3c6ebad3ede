"""Whose word on where a request comes from counts, and what is one neighbour."""

import pytest

from holdfast.api.addresses import TrustedProxies, neighbourhood
from holdfast.api.envelope import Stamp
from holdfast.api.exchange import Exchange

PROXIES = TrustedProxies(["127.0.0.1", "10.0.0.0/8", "2001:db8:1::/48"])
LISTED, STANDARD = b"x-forwarded-for", b"forwarded"


def client_of(peer: str, *headers: tuple[bytes, bytes]) -> str:
    scope = {"method": "GET", "path": "/", "query_string": b"", "client": (peer, 1), "headers": list(headers)}
    return PROXIES.client_of(Exchange(scope, None, None, Stamp("1", "1")))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("headers", "client"),
    [
        ([], "127.0.0.1"),
        ([(LISTED, b"203.0.113.7")], "203.0.113.7"),
        ([(LISTED, b"198.51.100.1, 203.0.113.7, 10.1.2.3")], "203.0.113.7"),
        ([(LISTED, b"198.51.100.1"), (LISTED, b"203.0.113.7")], "203.0.113.7"),
        ([(LISTED, b"203.0.113.7:4711")], "203.0.113.7"),
        ([(LISTED, b"10.9.9.9")], "10.9.9.9"),
        ([(LISTED, b"203.0.113.7, unknown, 10.1.2.3")], "10.1.2.3"),
        ([(LISTED, b"")], "127.0.0.1"),
        ([(STANDARD, b'proto=https;for="[2001:db8:2::7]:4711";by=10.1.2.3, for=10.1.2.3')], "2001:db8:2::7"),
        ([(STANDARD, b"For=203.0.113.7")], "203.0.113.7"),
        ([(STANDARD, b"for=203.0.113.7, proto=http")], "127.0.0.1"),
        ([(LISTED, b"203.0.113.7"), (STANDARD, b"for=203.0.113.7")], "203.0.113.7"),
        ([(LISTED, b"203.0.113.7"), (STANDARD, b"for=198.51.100.1")], "127.0.0.1"),
    ],
)
def test_a_trusted_proxy_tells_the_client_and_nobody_before_it_can(
    headers: list[tuple[bytes, bytes]], client: str
) -> None:
    assert client_of("127.0.0.1", *headers) == client


def test_what_anybody_else_says_of_its_way_is_not_believed() -> None:
    assert client_of("198.51.100.9", (LISTED, b"127.0.0.1"), (STANDARD, b"for=127.0.0.1")) == "198.51.100.9"


def test_addresses_of_one_customer_are_one_neighbour() -> None:
    assert neighbourhood("2001:db8:2:3::7") == neighbourhood("2001:db8:2:3:4::9") == "2001:db8:2:3::/64"
    assert neighbourhood("2001:db8:2:4::7") != neighbourhood("2001:db8:2:3::7")
    assert neighbourhood("::ffff:203.0.113.7") == neighbourhood("203.0.113.7") == "203.0.113.7"
