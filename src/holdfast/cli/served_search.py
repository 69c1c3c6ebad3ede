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

__all__ = ["announce_served", "front_plan", "with_defaults_of_repository"]

_LONGEST_TOKEN = 4096
_TOKEN_ENV = "HOLDFAST_HTTP_TOKEN"  # noqa: S105 - the name of a variable


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
    token = _token(settings)
    os.environ.pop(_TOKEN_ENV, None)  # what the worker and its programs need not know
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
        "allowedHosts": _split(settings.http_hosts),
        "corsOrigins": _split(settings.http_origins),
        "showPaths": settings.http_paths,
        "timeout": settings.http_timeout,
        "concurrency": settings.http_concurrency,
        "maxBodyBytes": settings.http_max_body,
        "repositories": [{"alias": alias, "root": str(root)} for alias, root in served().aliases.items()],
    }
    return FrontPlan([sys.executable, "-m", "holdfast.search.http"], listener, options)


def _token(settings: Settings) -> str:
    if settings.http_token_file is None:
        return settings.http_token
    try:
        with settings.http_token_file.open(encoding="ascii") as file:
            token = file.read(_LONGEST_TOKEN + 1).strip()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not plain text"
        raise UsageError(
            f"the token cannot be read from {settings.http_token_file}: {reason}", remedy="correct the path"
        ) from error
    if not token or len(token) > _LONGEST_TOKEN or not token.isprintable() or " " in token:
        raise UsageError(f"{settings.http_token_file} does not hold one token", remedy="write one word into it")
    return token


def _split(words: str) -> list[str]:
    return [word for word in words.split(",") if word]
