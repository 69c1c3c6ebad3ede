"""`holdfast serve`: one server, one client, on stdin and stdout; behind the host, or standing alone."""

import sys
from pathlib import Path
from typing import Any

import click

from holdfast.cli.options import setting_options, words_of_settings

__all__ = ["command"]


@click.command(name="serve")
@click.argument("target")
@click.option("--name", metavar="NAME", help="What the server is called in `holdfast ps` and in the configuration "
              "file. [default: from TARGET; with --standalone, from the server itself]")  # fmt: skip
@click.option("--standalone", is_flag=True, help="Serve with no host in front of the server.")
@click.option("--lock", metavar="FILE", help="Refuse to start when the tools are not what this lock allows.")
@setting_options()
def command(target: str, name: str | None, standalone: bool, lock: str | None, **options: Any) -> int:
    """Serve a server written in Python to one MCP client, on stdin and stdout.

    TARGET is module:object, path/file.py or path/file.py:object. The server runs as a worker behind a host that
    outlives its crashes and hangs; with --standalone there is no host.

    \b
    Examples:
      holdfast serve inventory.py
      holdfast serve shop.inventory:server --mcp-mode legacy --tool-timeout 30
      holdfast serve --lock contracts/inventory.lock.json inventory.py
    """
    if standalone:
        return _serve_alone(target, name, lock, options)
    from holdfast.host.naming import server_name
    from holdfast.host.run import run_host
    from holdfast.settings import load_configuration

    name = name or server_name([target])
    configuration = load_configuration(options, server=name)
    # The worker holds itself against the lock: a host must not import the code of a server. It is told the name,
    # so that both read the same part of the configuration file.
    words = [*words_of_settings(options), f"--name={name}", *([f"--lock={lock}"] if lock else [])]
    worker = [sys.executable, "-m", "holdfast", "serve", "--standalone", *words, "--", target]
    _greet(name, target)
    return run_host(worker, configuration, name, is_ours=True)


def _serve_alone(target: str, name: str | None, lock: str | None, options: dict[str, Any]) -> int:
    from holdfast.cli.streams import guarded_streams
    from holdfast.settings import load_configuration
    from holdfast.worker.serve import serve
    from holdfast.worker.targets import load_target

    with guarded_streams():  # what the file prints while it is imported is no message
        server = load_target(target)
    if lock is not None:
        from holdfast.cli.contract_gate import refuse_unless_locked

        refuse_unless_locked(server.surface, Path(lock), target)
    settings = load_configuration(options, server=name or server.name).settings
    _greet(server.name, target)
    return serve(server, settings)


def _greet(name: str, target: str) -> None:
    if sys.stdin.isatty():
        text = f"{name} waits for an MCP client on stdin. To try a tool: holdfast call {target} TOOL"
        print(text, file=sys.stderr)
