"""What `serve search` and `up` share: which repositories are served, and the front that speaks HTTP."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.errors import ToolError, UsageError
from holdfast.search.configuration import load_configuration as load_repository_configuration
from holdfast.search.repository import find_repository
from holdfast.search.served import SERVED_ENV, aliases, announce, served
from holdfast.search.version import SCHEMA_VERSION
from holdfast.settings import Configuration, Settings

if TYPE_CHECKING:  # a worker comes this way too, and needs nothing of the host
    from holdfast.host.front import FrontPlan

__all__ = ["announce_served", "front_plan", "http_token", "with_defaults_of_repository"]

_TOKEN_ENV = "HOLDFAST_HTTP_TOKEN"  # noqa: S105 - the name of a variable
_LONGEST_TOKEN = 4096
_ENVELOPE = 8192  # bytes that may come around a body on its way to the worker


def announce_served(repos: Sequence[str], workspace: str | None, settings: Settings) -> None:
    """Tell this process, and those below it, what is served; a worker of a host was told already."""
    if not repos and workspace is None and SERVED_ENV in os.environ:
        told = served()
        announce(told.aliases, told.cache_dir, told.workspace, settings)
        return
    roots = [find_repository(repo).root for repo in repos]
    place = None if workspace is None else Path(workspace).absolute()
    given: dict[Path, str] = {}
    if place is not None:
        from holdfast.search.workspace import read_workspace

        listed = [repo for repo in read_workspace(place).repos if repo.enabled]
        roots += [repo.root for repo in listed]
        given = {repo.root: repo.alias for repo in listed if repo.alias}
    if not roots:
        roots = [find_repository(None).root]
    announce(aliases(roots, given), settings.cache_path().absolute(), place, settings)


def with_defaults_of_repository(options: Mapping[str, Any], configuration: Configuration) -> dict[str, Any]:
    """The options, with what the first repository says about its server and nobody else has said.

    A broken configuration says nothing here: it is told by every call, and must not keep the server from starting.
    """
    try:
        said = load_repository_configuration(served().find()).server_settings()
    except ToolError:
        return dict(options)
    open_ones = {name: value for name, value in said.items() if configuration.origins[name] == "default"}
    return {**options, **open_ones}


def front_plan(settings: Settings) -> "FrontPlan":
    """The front for these settings, its socket bound; UsageError where that is not possible or not safe."""
    from holdfast.host.front import FrontPlan
    from holdfast.host.listener import is_loopback, listen, parse_address

    host, port = parse_address(settings.http)
    token = http_token(settings)
    hosts, origins = _names(settings)
    if not token and not is_loopback(host):
        raise UsageError(
            f"others can reach {host}, and there is no token",
            remedy=f"set {_TOKEN_ENV} or give --http-token-file; or listen on 127.0.0.1",
        )
    listener = listen(host, port)
    bound = listener.getsockname()[1]
    shown = f"[{host}]:{bound}" if ":" in host else f"{host}:{bound}"
    print(f"holdfast: HTTP on http://{shown} (what it can do: http://{shown}/docs)", file=sys.stderr, flush=True)
    options: dict[str, Any] = {
        "schemaVersion": SCHEMA_VERSION,
        "token": token or None,
        "allowedHosts": hosts,
        "corsOrigins": origins,
        "showPaths": settings.http_paths,
        "timeout": settings.http_timeout,
        "concurrency": settings.http_concurrency,
        "maxBodyBytes": _body_limit(settings),
        "repositories": [{"alias": alias, "root": str(root)} for alias, root in served().aliases.items()],
    }
    return FrontPlan([sys.executable, "-m", "holdfast.search.http"], listener, options)


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


def _body_limit(settings: Settings) -> int:
    """What a body may have, so that with everything around it, it is still a message."""
    message = settings.max_message_bytes
    return min(settings.http_max_body, max(message // 2, message - _ENVELOPE))


def _split(words: str) -> list[str]:
    return [word.strip() for word in words.split(",") if word.strip()]
