"""`holdfast serve`: one server, on stdin and stdout and over HTTP; behind the host, or standing alone."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.options import setting_options, words_of_settings
from holdfast.errors import UsageError
from holdfast.interpreter import OWN_SERVERS, serve_command

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.host.front import FrontPlan
    from holdfast.host.upgrades import UpgradePlan
    from holdfast.settings import Settings
    from holdfast.worker.foreign import ForeignServer

__all__ = ["command"]

SEARCH, LAUNCH = "search", "launch"
_OF_HOST = ("metrics", "otel")  # what a server that stands alone does not have


@click.command(name="serve")
@click.argument("target")
@click.option("--name", metavar="NAME", help="What the server is called in `holdfast ps` and in the configuration "
              "file. [default: from TARGET; with --standalone, from the server itself]")  # fmt: skip
@click.option("--watch", "paths", multiple=True, metavar="PATH",
              help="Take up a new version whenever this file or directory changes; may be repeated.")  # fmt: skip
@click.option("--standalone", is_flag=True, help="Serve with no host in front of the server.")
@click.option("--lock", metavar="FILE", help="Refuse to start when the tools are not what this lock allows.")
@click.option("--repo", "repos", metavar="DIR", multiple=True, help="For `search`: a repository to serve; the "
              "first is the default of every call. [default: the one around the working directory]")  # fmt: skip
@click.option("--workspace", metavar="FILE", help="For `search`: a file that lists repositories.")
@setting_options()
def command(
    target: str,
    name: str | None,
    paths: tuple[str, ...],
    standalone: bool,
    lock: str | None,
    repos: tuple[str, ...],
    workspace: str | None,
    **options: Any,
) -> int:
    """Serve a server to an MCP client on stdin and stdout, and over HTTP.

    TARGET is module:object, path/file.py or path/file.py:object; or `search` or `launch`, the code search and the
    launch runs of this package. The object may also be a server of FastMCP or of the official SDK. It runs as a
    worker behind a host that outlives its crashes and hangs; with --standalone there is no host.

    With --http it serves MCP over HTTP as well, at /mcp, to any number of clients; the search server has an API of
    its own beside it, described at /docs. Then an empty stdin (</dev/null) means that there is no client on it,
    and it serves HTTP until it is stopped.

    \b
    Examples:
      holdfast serve inventory.py
      holdfast serve shop.inventory:server --mcp-mode legacy --tool-timeout 30
      holdfast serve --lock contracts/inventory.lock.json inventory.py
      holdfast serve inventory.py --http 127.0.0.1:7345 </dev/null
      holdfast serve search --repo ~/src/project --http 127.0.0.1:7345
    """
    from holdfast.settings import load_configuration

    is_search = target == SEARCH  # a file of that name is ./search or search.py
    name = name or (_name_of(target) if not standalone else None)
    environ = _surroundings(repos, workspace) if is_search else None
    configuration = load_configuration(options, environ, server=name)
    _refuse_what_does_not_fit(configuration.settings, repos, workspace, is_search=is_search, alone=standalone)
    if is_search:
        from holdfast.cli.indexing import told_plainly
        from holdfast.cli.served_search import announce_served, with_defaults_of_repository

        with told_plainly():
            announce_served(repos, workspace, configuration.settings)
        options = with_defaults_of_repository(options, configuration)
        configuration = load_configuration(options, environ, server=name)
    os.environ.pop("HOLDFAST_HTTP_TOKEN", None)  # the settings have it; workers and their programs need not know
    if standalone:
        for option, given in {"watch": paths, **{name: options.get(name) for name in _OF_HOST}}.items():
            if given:
                raise UsageError(f"--{option} needs the host", remedy="leave out --standalone")
        return _serve_alone(target, name, lock, options, environ)
    from holdfast.host.run import run_host
    from holdfast.worker.foreign import looks_foreign

    assert name is not None  # it was made up above
    front = _front(configuration.settings, is_search=is_search)
    # The worker holds itself against the lock: a host must not import the code of a server. It is told the name,
    # so that both read the same part of the configuration file. What is served it is told by the environment.
    theirs = {key: value for key, value in options.items() if not key.startswith("http") and key not in _OF_HOST}
    words = [*words_of_settings(theirs), f"--name={name}", *([f"--lock={lock}"] if lock else [])]
    worker = serve_command("--standalone", *words, target=target)
    _greet(name, target)
    return run_host(
        worker,
        configuration,
        name,
        is_ours=True,
        speaks_both=not looks_foreign(target),
        front=front,
        upgrades=_upgrades(paths),
    )


def _surroundings(repos: tuple[str, ...], workspace: str | None) -> "Mapping[str, str]":
    from holdfast.cli.served_search import surroundings

    return surroundings(repos, workspace)


def _upgrades(paths: tuple[str, ...]) -> "UpgradePlan | None":
    if not paths:
        return None
    from holdfast.host.upgrades import UpgradePlan
    from holdfast.host.watching import Watch

    return UpgradePlan(Watch(paths))


def _name_of(target: str) -> str:
    from holdfast.host.naming import server_name

    return server_name([target])


def _refuse_what_does_not_fit(
    settings: "Settings", repos: tuple[str, ...], workspace: str | None, *, is_search: bool, alone: bool
) -> None:
    if not is_search:
        for option, given in (("--repo", repos), ("--workspace", workspace)):
            if given:
                raise UsageError(f"{option} is for the search server", remedy="holdfast serve search --help")
    if alone and settings.http:
        raise UsageError("HTTP needs the host", remedy="leave out --standalone")


def _front(settings: "Settings", *, is_search: bool) -> "FrontPlan | None":
    if not settings.http:
        return None
    if is_search:
        from holdfast.cli.served_search import front_plan

        return front_plan(settings)
    from holdfast.cli.http_front import general_front_plan

    return general_front_plan(settings)


def _serve_alone(
    target: str, name: str | None, lock: str | None, options: dict[str, Any], environ: "Mapping[str, str] | None"
) -> int:
    from holdfast.cli.streams import guarded_streams
    from holdfast.settings import load_configuration
    from holdfast.worker.foreign import ForeignServer
    from holdfast.worker.serve import serve
    from holdfast.worker.targets import load_any

    if target in OWN_SERVERS:
        # In search of plugins, which these do not use, pydantic reads what every installed package says of itself.
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    with guarded_streams():  # what the file prints while it is imported is no message
        server = load_any(target)
    if isinstance(server, ForeignServer):
        return _serve_foreign(server, target, name, lock, options)
    if lock is not None:
        from holdfast.cli.contract_gate import refuse_unless_locked

        refuse_unless_locked(server.surface, Path(lock), target)
    if target == SEARCH:  # behind the lock: what a repository says about times is no change of the contract
        from holdfast.search.tools import limit_as_configured

        limit_as_configured()
    configuration = load_configuration(options, environ, server=name or server.name)
    server.obey(configuration)
    settings = configuration.settings
    if target == LAUNCH:
        from holdfast.launch.calls import configure

        configure(settings)
    _greet(server.name, target)
    return serve(server, settings)


def _serve_foreign(
    server: "ForeignServer", target: str, name: str | None, lock: str | None, options: dict[str, Any]
) -> int:
    from holdfast.settings import load_configuration
    from holdfast.worker.foreign import serve_foreign

    if lock is not None:
        from holdfast.cli.contract_gate import refuse_unless_locked_live

        refuse_unless_locked_live(server.name, Path(lock), target)
    settings = load_configuration(options, server=name or server.name).settings
    _greet(server.name, target)
    return serve_foreign(server, settings)


def _greet(name: str, target: str) -> None:
    if sys.stdin.isatty():
        text = f"{name} waits for an MCP client on stdin. To try a tool: holdfast call {target} TOOL"
        print(text, file=sys.stderr)
