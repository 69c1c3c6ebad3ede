"""The front that speaks HTTP for a server: where it listens, who may ask, and how much."""

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from holdfast.errors import UsageError
from holdfast.interpreter import module_command
from holdfast.settings import Settings
from holdfast.version import __version__

if TYPE_CHECKING:
    import socket

    from holdfast.host.front import FrontPlan

__all__ = ["check_front", "general_front_plan", "http_token", "new_front_plan"]

_TOKEN_ENV = "HOLDFAST_HTTP_TOKEN"  # noqa: S105 - the name of a variable
_LONGEST_TOKEN = 4096
_ENVELOPE = 8192  # bytes that may come around a body on its way to the worker


def general_front_plan(settings: Settings) -> "FrontPlan":
    """The front of a server that has no API of its own: MCP alone."""
    more = {"schemaVersion": __version__, "pinned": settings.protocol == "pinned"}
    return new_front_plan(settings, "holdfast.api.program", "/mcp", more)


def check_front(settings: Settings) -> None:
    """UsageError where no front could be started now with these settings: told before anything that takes long."""
    _opened(settings)[0].close()


def new_front_plan(settings: Settings, module: str, shown: str, more: Mapping[str, Any]) -> "FrontPlan":
    """The front that a module is, its socket bound; UsageError where that is not possible or not safe.

    `shown` is the path that a person is told of.
    """
    from holdfast.host.front import FrontPlan
    from holdfast.host.listener import parse_address

    listener, who_may_ask = _opened(settings)
    host, _ = parse_address(settings.http)
    bound = listener.getsockname()[1]
    url = f"http://[{host}]:{bound}" if ":" in host else f"http://{host}:{bound}"
    what = "what it can do" if shown != "/mcp" else "MCP"
    print(f"holdfast: HTTP on {url} ({what}: {url}{shown})", file=sys.stderr, flush=True)
    options: dict[str, Any] = {
        **who_may_ask,
        "timeout": settings.http_timeout,
        "concurrency": settings.http_concurrency,
        "clientConcurrency": settings.http_client_concurrency,
        "clientRate": settings.http_client_rate,
        "clientSessions": settings.http_client_sessions,
        "clientConnections": settings.http_client_connections,
        "clientStreams": settings.http_client_streams,
        "sessionIdle": settings.http_session_idle,
        "maxBodyBytes": _body_limit(settings),
        "maxMessageBytes": settings.max_message_bytes,
        **more,
    }
    return FrontPlan(module_command(module), listener, options)


def _opened(settings: Settings) -> "tuple[socket.socket, dict[str, Any]]":
    """The socket, bound, and what the front is told of who may ask."""
    from holdfast.host.listener import is_loopback, listen, parse_address

    host, port = parse_address(settings.http)
    tokens = _tokens(settings, are_for_others=not is_loopback(host))
    hosts, origins = _names(settings)
    proxies = _proxies(settings)
    if not tokens and not is_loopback(host):
        raise UsageError(
            f"others can reach {host}, and there is no token",
            remedy=f"set {_TOKEN_ENV}, or give --http-token-file or --http-tokens; or listen on 127.0.0.1",
        )
    return listen(host, port), {
        "tokens": tokens,
        "allowedHosts": hosts,
        "corsOrigins": origins,
        "trustedProxies": proxies,
    }


def _tokens(settings: Settings, *, are_for_others: bool) -> list[dict[str, Any]]:
    """What the front is told of all tokens: their digests, and what they are for.

    UsageError for one that could be guessed, where others than the people of this machine can try.
    """
    from holdfast.api.callers import digest_of_token
    from holdfast.cli.token_file import SHORTEST, read_token_file

    alone = http_token(settings)
    if are_for_others and 0 < len(alone) < SHORTEST:
        raise UsageError(
            f"others can reach {settings.http}, and a token of less than {SHORTEST} characters can be guessed",
            remedy="make a long one: openssl rand -hex 32",
        )
    tokens = [] if settings.http_tokens is None else read_token_file(settings.http_tokens)
    if alone:
        tokens.append({"name": "the token", "digest": digest_of_token(alone)})
    return tokens


def http_token(settings: Settings) -> str:
    """The token that clients must send, or nothing; UsageError, which never shows it, where no client could."""
    file = settings.http_token_file
    if file is None:
        return _usable(settings.http_token, _TOKEN_ENV) if settings.http_token else ""
    try:
        with file.open(encoding="ascii") as lines:
            token = lines.read(_LONGEST_TOKEN + 2).strip()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not plain text"
        # Without the cause: what cannot be decoded is part of its text.
        raise UsageError(f"the token cannot be read from {file}: {reason}", remedy="correct the path") from None
    return _usable(token, str(file))


def _usable(token: str, source: str) -> str:
    is_word = token.isascii() and token.isprintable() and " " not in token
    if not is_word or not 0 < len(token) <= _LONGEST_TOKEN:
        remedy = f"one word of at most {_LONGEST_TOKEN} plain letters, digits and signs"
        raise UsageError(f"{source} does not hold one token", remedy=remedy)
    return token


def _names(settings: Settings) -> tuple[list[str], list[str]]:
    """Allowed hosts and origins; UsageError where one of them could never match anything."""
    from holdfast.api.guard import is_host_rule, is_origin_rule

    hosts, origins = _split(settings.http_hosts), _split(settings.http_origins)
    for host in hosts:
        if not is_host_rule(host):
            raise UsageError(
                f"--http-hosts: {host!r} is no name in a Host header",
                remedy="write search.example or search.example:8080, without https:// and without *",
            )
    for origin in origins:
        if not is_origin_rule(origin):
            raise UsageError(
                f"--http-origins: {origin!r} is no origin that a browser sends",
                remedy="write https://app.example or http://localhost:3000, without a path and without *",
            )
    return hosts, origins


def _proxies(settings: Settings) -> list[str]:
    """Addresses and networks of proxies; UsageError where one is a name or no network at all."""
    from holdfast.api.addresses import is_network

    proxies = _split(settings.http_trusted_proxies)
    for proxy in proxies:
        if not is_network(proxy):
            raise UsageError(
                f"--http-trusted-proxies: {proxy!r} is not an address or a network",
                remedy="write 127.0.0.1 or 10.0.0.0/8; separate several with commas",
            )
    return proxies


def _body_limit(settings: Settings) -> int:
    """What a body may have, so that with everything around it, it is still a message."""
    message = settings.max_message_bytes
    return min(settings.http_max_body, max(message // 2, message - _ENVELOPE))


def _split(words: str) -> list[str]:
    return [word.strip() for word in words.split(",") if word.strip()]
