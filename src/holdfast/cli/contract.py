"""`holdfast contract`: what a server promises, written down, compared, agreed to and checked."""

from importlib import import_module

import click

from holdfast.cli.groups import CommandGroup

__all__ = ["SUBCOMMANDS", "command"]

# name: what it is for. The command is the object `command` of the module `holdfast.cli.contract_<name>`.
SUBCOMMANDS = {
    "snapshot": "Write the whole contract of a server as canonical JSON.",
    "diff": "Show what changed between two contracts, and for whom it breaks.",
    "check": "Hold a server against its lock; for CI.",
    "lock": "Agree to the contract of a server as it is now.",
    "lint": "Check specification files, or a server, for what a specification must have.",
    "spec": "Write the specification of a server from its code, or check it.",
    "migrate": "Turn a loosely written specification into the canonical form.",
    "docs": "Write a reference page per tool, Markdown and HTML.",
}


class _Contract(CommandGroup):
    """A group that imports a command's module only when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in SUBCOMMANDS:
            return None
        found: click.Command = import_module(f"holdfast.cli.contract_{cmd_name}").command
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(SUBCOMMANDS.items()))


@click.group(name="contract", cls=_Contract)
def command() -> None:
    """Write down what a server promises, and notice when it changes.

    A server is a TARGET (module:object, path/file.py, path/file.py:object) or, behind `--`, the command line of
    any MCP server on stdio.

    Exit codes: 0 clean, 1 findings, 2 wrong usage, 3 the server or file could not be read.

    \b
    Examples:
      holdfast contract snapshot inventory.py -o inventory.contract.json
      holdfast contract diff inventory.contract.json inventory.py
      holdfast contract diff git:main:inventory.contract.json -- npx some-server
      holdfast contract lock inventory.py
      holdfast contract check inventory.py
    """
