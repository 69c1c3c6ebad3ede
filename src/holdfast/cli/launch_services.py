"""`holdfast launch commit-service` and `telemetry-service`: the two HTTP services that runs can use elsewhere."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from holdfast.cli.launching import workspace_options
from holdfast.errors import UsageError

if TYPE_CHECKING:
    from holdfast.launch.http_service import Application
    from holdfast.launch.publishing.forge_choice import ForgeRule
    from holdfast.launch.workspace import Workspace

__all__ = ["commit_service", "telemetry_service"]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_TERMINATED = 128 + 15
_COMMIT_TOKEN, _TELEMETRY_TOKEN = "HOLDFAST_COMMIT_TOKEN", "HOLDFAST_TELEMETRY_TOKEN"
_TOKEN_FILE = click.option("--token-file", metavar="FILE", type=click.Path(path_type=Path),
                           help="A file with the token that clients must send.")  # fmt: skip


def _listen_option(address: str) -> Callable[[Decorated], Decorated]:
    return click.option("--listen", metavar="HOST:PORT", default=address, show_default=True,
                        help="Where to listen; port 0 takes any that is free.")  # fmt: skip


@click.command(name="commit-service")
@_listen_option("127.0.0.1:4320")
@_TOKEN_FILE
@click.option("--forge", "forges", metavar="URL=KIND[:VARIABLE]", multiple=True,
              help="A forge of your own: its address, github or gitea, and where its token is.")  # fmt: skip
@workspace_options
def commit_service(listen: str, token_file: Path | None, forges: tuple[str, ...], **options: Any) -> int:
    """Serve commits and pull requests over HTTP, for runs that name this address in `commit_service`.

    Clients send a bearer token: HOLDFAST_COMMIT_TOKEN or --token-file says which one. The tokens of forges are the
    service's own: GITHUB_TOKEN for github.com, GITEA_TOKEN for gitea.com and codeberg.org, and what --forge says.

    \b
    Examples:
      HOLDFAST_COMMIT_TOKEN=... GITHUB_TOKEN=... holdfast launch commit-service
      holdfast launch commit-service --listen 127.0.0.1:0 --token-file token.txt
      holdfast launch commit-service --forge https://git.example=gitea:EXAMPLE_TOKEN --token-file token.txt
    """
    from holdfast.launch.private_files import held_private
    from holdfast.launch.publishing.forge_choice import ChosenForge
    from holdfast.launch.publishing.http import make_app
    from holdfast.launch.publishing.service import CommitService

    token = _token(token_file, _COMMIT_TOKEN)
    if not token:
        raise UsageError("the commit service needs a token", remedy=f"set {_COMMIT_TOKEN} or give --token-file")
    workspace = _workspace(options)
    root = workspace.services / "commits"
    forge = ChosenForge([_forge_rule(text) for text in forges], root / "limits")
    with held_private(workspace.root):
        service = CommitService(root, forge)
        return _serve(make_app(service, token), listen, "commit service")


@click.command(name="telemetry-service")
@_listen_option("127.0.0.1:8765")
@_TOKEN_FILE
@workspace_options
def telemetry_service(listen: str, token_file: Path | None, **options: Any) -> int:
    """Serve the telemetry of runs over HTTP, for runs that name this address in `telemetry`.

    \b
    Examples:
      holdfast launch telemetry-service
      curl -s http://127.0.0.1:8765/api/v1/runs
    """
    from holdfast.launch.private_files import held_private
    from holdfast.launch.telemetry.http import make_app
    from holdfast.launch.telemetry.service import TelemetryService

    workspace = _workspace(options)
    with held_private(workspace.root):
        workspace.services.mkdir(exist_ok=True)
        service = TelemetryService(workspace.services / "telemetry.sqlite")
        return _serve(make_app(service, _token(token_file, _TELEMETRY_TOKEN) or None), listen, "telemetry service")


def _forge_rule(text: str) -> "ForgeRule":
    from holdfast.launch.forge_places import PLAIN, belongs_to
    from holdfast.launch.publishing.forge_choice import ForgeRule

    url, _, meant = text.rpartition("=")
    kind, _, variable = meant.partition(":")
    is_variable = not variable or variable.isidentifier()
    is_address = url.startswith(("https://", "http://")) and belongs_to(url, url)
    if kind not in (PLAIN, "github", "gitea") or not is_variable or not is_address:
        raise UsageError(f"{text!r} is no forge", remedy="write it like https://git.example=gitea:EXAMPLE_TOKEN")
    return ForgeRule(kind, variable, url)


def _workspace(options: dict[str, Any]) -> "Workspace":
    from holdfast.launch.workspace import workspace_of
    from holdfast.process.privacy import hide_process
    from holdfast.settings import load_configuration

    hide_process()
    return workspace_of(load_configuration(options).settings)


def _token(file: Path | None, variable: str) -> str:
    if file is None:
        return os.environ.pop(variable, "")
    try:
        return file.read_text(encoding="ascii").strip()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not plain text"
        raise UsageError(f"the token cannot be read from {file}: {reason}", remedy="correct the path") from None


def _serve(app: "Application", listen: str, name: str) -> int:
    from holdfast.host.listener import is_loopback, parse_address
    from holdfast.launch.http_service import serve

    host, port = parse_address(listen)
    if not app.has_token and not is_loopback(host):
        raise UsageError(f"others can reach {host}, and there is no token", remedy="give --token-file")
    code = serve(app, host, port, on_ready=lambda url: _say(f"{name} on {url}"))
    return 0 if code == _TERMINATED else code  # whoever looks after services ends them this way


def _say(text: str) -> None:
    print(f"holdfast: {text}", file=sys.stderr, flush=True)
