"""Whose request it is where a proxy stands in between, and which addresses count as one neighbour.

What a request says of its way (`X-Forwarded-For`, `Forwarded`) is believed as far as trusted proxies wrote it:
read from the end, up to the first address that is not one of them. Where both headers are there and differ, a
client wrote one of them, and neither is believed.
"""

import ipaddress
import re
from collections.abc import Iterable, Sequence

from holdfast.api.exchange import Exchange

__all__ = ["TrustedProxies", "is_loopback_address", "is_network", "neighbourhood"]

_HOST_BITS_V6 = 64  # one customer has at least so many bits of an address
_FOR = re.compile(r'(?:^|;)\s*for\s*=\s*(?:"([^"]*)"|([^;"\s]*))', re.IGNORECASE)
_WITH_PORT = re.compile(r"\[([^\]]+)\](?::\d+)?|([0-9.]+):\d+")

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class TrustedProxies:
    """The proxies of one front, as addresses or networks."""

    def __init__(self, networks: Sequence[str]) -> None:
        self._networks = tuple(ipaddress.ip_network(text, strict=False) for text in networks)

    def trusts(self, address: str) -> bool:
        """Whether this is the address of one of them."""
        known = _parsed(address)
        return known is not None and any(known in network for network in self._networks)

    def client_of(self, exchange: Exchange) -> str:
        """The address that a request comes from; its peer, where that is no trusted proxy or does not tell."""
        peer = exchange.address
        if not self.trusts(peer):
            return peer
        told = [_listed(exchange.values(b"x-forwarded-for")), _forwarded(exchange.values(b"forwarded"))]
        found = {self._farthest(peer, one) for one in told if one}
        return found.pop() if len(found) == 1 else peer

    def _farthest(self, peer: str, told: Iterable[str]) -> str:
        for text in reversed(list(told)):
            address = _parsed(text)
            if not self.trusts(peer) or address is None:
                break
            peer = str(address)
        return peer


def is_network(text: str) -> bool:
    """Whether this is an address or a network, as in 10.0.0.0/8."""
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def is_loopback_address(address: str) -> bool:
    """Whether this is an address of this machine for itself."""
    known = _parsed(address)
    return known is not None and known.is_loopback


def neighbourhood(address: str) -> str:
    """What counts as one address: of IPv6, the network that one customer is given."""
    known = _parsed(address)
    if isinstance(known, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((known, _HOST_BITS_V6), strict=False))
    return address if known is None else str(known)


def _listed(values: Iterable[str]) -> list[str]:
    return [entry.strip() for value in values for entry in value.split(",")]


def _forwarded(values: Iterable[str]) -> list[str]:
    # One without `for` stands for a hop that tells nothing; what it says before that is not believed.
    hops = [_FOR.search(hop) for value in values for hop in value.split(",")]
    return ["" if hop is None else hop[1] or hop[2] for hop in hops]


def _parsed(text: str) -> Address | None:
    """An address, with or without a port; IPv4 that is written as IPv6 is IPv4."""
    found = _WITH_PORT.fullmatch(text)
    try:
        address = ipaddress.ip_address((found[1] or found[2]) if found else text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
