"""Who may ask: the checks that come before a request is looked at any further, in this order.

1. `Host` names this server: a page whose name was made to lead here (DNS rebinding) is turned away.
2. `Origin`, where there is one, is this server's own or an allowed one; likewise what the browser itself says
   about requests that carry no origin.
3. The bearer token, where there are some, compared in constant time. It is never logged and never echoed.
"""

import ipaddress
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from holdfast.api.callers import Caller, Token, matching_token
from holdfast.api.envelope import Header, refusal
from holdfast.api.exchange import Exchange

__all__ = ["Guard", "is_host_rule", "is_loopback", "is_origin_rule"]

_AUTHORITY = re.compile(r"(?:\[([0-9A-Fa-f:.]{2,45})\]|([^\s:/?#@\[\]\\,]{1,255}?)\.?)(?::([0-9]{1,5}))?")
_ORIGIN = re.compile(r"https?://([^\s/?#@\\]+)")
_BEARER = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] +([^\s]+)")
_PARAMETER = re.compile(r"mcp-param-[a-z0-9_.-]{1,100}")
_HEADERS = ("Content-Type", "Authorization", "MCP-Protocol-Version", "Mcp-Session-Id", "Mcp-Method", "Mcp-Name",
            "Last-Event-ID")  # fmt: skip
_ANY_ADDRESS = {"0.0.0.0", "::", ""}  # noqa: S104 - recognized, not bound
_DEFAULT_PORT = 80
_HIGHEST_PORT = 65535
_RULE = re.compile(r"(?:\[[0-9A-Fa-f:.]{2,45}\]|\w(?:[\w.-]{0,253}\w)?)(?::([0-9]{1,5}))?", re.ASCII)
_SCHEME_PORTS = {"": "", "http": "80", "https": "443"}  # which browsers leave out


class _Authority(NamedTuple):
    """The host and port of a `Host` header or an origin; a port of None stands for every port."""

    host: str
    port: int | None


class Guard:
    """The rules of one server."""

    def __init__(
        self,
        bound: tuple[str, int],
        *,
        tokens: Sequence[Token] = (),
        allowed_hosts: Iterable[str] = (),
        cors_origins: Iterable[str] = (),
    ) -> None:
        host, self._port = bound
        self._tokens = tuple(tokens)
        self._hosts = {named for text in allowed_hosts if (named := _authority(text, None)) is not None}
        if host not in _ANY_ADDRESS:
            self._hosts.add(_Authority(host.lower(), self._port))
        self._origins = frozenset(origin.lower().rstrip("/") for origin in cors_origins)

    def check_origin(self, exchange: Exchange) -> None:
        """Check `Host` and `Origin`; the CORS headers of an allowed origin go onto whatever is answered."""
        host = self._checked_host(exchange)
        if self._origins:
            exchange.extra_headers.append((b"vary", b"Origin"))
        origins = exchange.values(b"origin")
        if not origins:
            self._check_fetch_metadata(exchange)
            return
        origin = origins[0].lower()
        found = _ORIGIN.fullmatch(origin)
        if len(origins) > 1 or found is None:
            raise refusal("FORBIDDEN", "this origin may not use this server")
        if found[1] == host.lower():
            return
        if origin not in self._origins and found[1] not in self._origins:
            raise refusal("FORBIDDEN", "this origin may not use this server")
        exchange.extra_headers.append((b"access-control-allow-origin", origins[0].encode("latin-1")))
        exchange.extra_headers.append((b"access-control-expose-headers", b"Retry-After, Mcp-Session-Id"))

    def preflight_headers(self, exchange: Exchange) -> list[Header]:
        """What a browser wants to know before it sends a request of an allowed origin."""
        if not any(name == b"access-control-allow-origin" for name, _ in exchange.extra_headers):
            return []
        return [
            (b"access-control-allow-methods", b"GET, HEAD, POST, DELETE, OPTIONS"),
            (b"access-control-allow-headers", _allowed_headers(exchange)),
            (b"access-control-max-age", b"600"),
        ]

    def caller(self, exchange: Exchange) -> Caller:
        """Who asks; anything but exactly one right token is refused alike, where there are tokens."""
        if not self._tokens:
            return self.stranger(exchange)
        given = exchange.values(b"authorization")
        found = _BEARER.fullmatch(given[0].strip()) if len(given) == 1 else None
        token = matching_token(self._tokens, found[1]) if found else None
        if token is None:
            raise refusal(
                "UNAUTHORIZED",
                "a valid bearer token is needed",
                hint="Send the header `Authorization: Bearer TOKEN`.",
                headers=[(b"www-authenticate", b'Bearer realm="holdfast"')],
            )
        return Caller(f"token {token.name}", token.tools, token.name)

    def stranger(self, exchange: Exchange) -> Caller:
        """Somebody who has shown no token: known by the address, and by nothing that a request says of itself."""
        return Caller(f"address {exchange.address}")

    def _checked_host(self, exchange: Exchange) -> str:
        hosts = exchange.values(b"host")
        if len(hosts) != 1:
            problem = "has no Host header" if not hosts else "has more than one Host header"
            raise refusal("INVALID_REQUEST", f"the request {problem}")
        named = _authority(hosts[0], _DEFAULT_PORT)
        if named is None or not self._is_ours(named, exchange):
            raise refusal(
                "FORBIDDEN",
                "this server is not called by that host name",
                hint="The operator can allow more host names.",
            )
        return hosts[0]

    def _is_ours(self, named: _Authority, exchange: Exchange) -> bool:
        if _Authority(named.host, None) in self._hosts or named in self._hosts:
            return True
        if named.port != self._port:
            return False
        # The address that the client really connected to: no name was involved, so none was made to lead here.
        connected_to = exchange.server[0].removeprefix("::ffff:") if exchange.server is not None else None
        return is_loopback(named.host) or connected_to == named.host

    def _check_fetch_metadata(self, exchange: Exchange) -> None:
        """A page of another site may link here; it may not load from here."""
        site, mode = exchange.values(b"sec-fetch-site"), exchange.values(b"sec-fetch-mode")
        if "cross-site" in site and mode != ["navigate"]:
            raise refusal("FORBIDDEN", "this origin may not use this server")


def _allowed_headers(exchange: Exchange) -> bytes:
    """What a page may send; arguments that stand in headers have names that only the page knows."""
    wanted = [
        name.strip() for text in exchange.values(b"access-control-request-headers") for name in text.split(",")
    ]
    mirrored = [name for name in wanted if _PARAMETER.fullmatch(name.lower())]
    return ", ".join([*_HEADERS, *mirrored]).encode()


def _authority(text: str, default_port: int | None) -> _Authority | None:
    found = _AUTHORITY.fullmatch(text)
    if found is None:
        return None
    return _Authority((found[1] or found[2]).lower(), int(found[3]) if found[3] else default_port)


def is_host_rule(text: str) -> bool:
    """Whether an operator's word for an allowed host can ever match: NAME or NAME:PORT, and no pattern."""
    found = _RULE.fullmatch(text)
    return found is not None and int(found[1] or 0) <= _HIGHEST_PORT


def is_origin_rule(text: str) -> bool:
    """Whether an operator's word for an allowed origin can ever match: as browsers send it, or its host alone."""
    scheme, mark, authority = text.lower().rstrip("/").rpartition("://")
    if bool(scheme) != bool(mark) or scheme not in _SCHEME_PORTS or authority == "null":
        return False
    return is_host_rule(authority) and not (scheme and authority.endswith(f":{_SCHEME_PORTS[scheme]}"))


def is_loopback(host: str) -> bool:
    """Whether a host name or address can only mean this machine itself."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
