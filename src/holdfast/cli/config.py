"""`holdfast config`: every setting with its value, and which flag, variable or file said so."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.groups import CommandGroup, meant

if TYPE_CHECKING:
    from holdfast.settings import Configuration

__all__ = ["command"]


@click.group(name="config", cls=CommandGroup)
def command() -> None:
    """Show every setting and where its value comes from.

    A configuration is holdfast.toml, or [tool.holdfast] in pyproject.toml, in the working directory or the nearest
    one above it; HOLDFAST_CONFIG names another file, or none.

    \b
    Examples:
      holdfast config show --server inventory
      holdfast config path
    """


@command.command(name="show")
@click.option("--server", metavar="NAME", help="Include what the file says about this server.")
@click.option("--json", "as_json", is_flag=True, help="Print it as one JSON document.")
@click.option("--config", "file", metavar="FILE", help="Read this file. [env: HOLDFAST_CONFIG]")
def show(server: str | None, as_json: bool, file: str | None) -> int:
    """Print every setting, its value and where it comes from, then the rules for single tools.

    \b
    Examples:
      holdfast config show
      holdfast config show --server inventory --json
    """
    from holdfast.settings import load_configuration

    configuration = load_configuration({}, server=server, file=None if file is None else Path(file))
    if as_json:
        from holdfast.wire.codec import encode

        sys.stdout.write(encode(_document(configuration, server)).decode() + "\n")
    else:
        sys.stdout.write("\n".join(_lines(configuration)) + "\n")
    if server is not None and configuration.file is not None and server not in configuration.servers:
        guess = meant(server, configuration.servers)
        print(f"note: {configuration.file} says nothing about server {server!r}{guess}", file=sys.stderr)
    return 0


@command.command(name="path")
def show_path() -> int:
    """Print the configuration file that is in use; the exit code is 1 when there is none.

    \b
    Example:
      $EDITOR "$(holdfast config path)"
    """
    from holdfast.settings import load_configuration

    file = load_configuration({}).file
    if file is None:
        print("no configuration file is in use; holdfast.toml would be read from here", file=sys.stderr)
        return 1
    print(file)
    return 0


def _lines(configuration: "Configuration") -> Iterator[str]:
    from holdfast.present.bounds import clean_line

    yield clean_line(f"file: {configuration.file or 'none'}")
    yield ""
    values = _values(configuration)
    yield from _table(("setting", "value", "from"), [(name, *values[name]) for name in values])
    if configuration.tools:
        yield ""
        rules = [(name, *row) for name, rule in _rules(configuration).items() for row in rule]
        yield from _table(("tool", "rule", "value", "from"), rules)


def _table(columns: tuple[str, ...], rows: list[tuple[Any, ...]]) -> list[str]:
    from holdfast.present.table import render_table

    # What a person came to see is never cut: a path is as long as it is.
    return render_table(columns, [[_word(cell) for cell in row] for row in rows],
                        max_rows=len(rows) + 1, max_width=10_000, max_cell=2_000)  # fmt: skip


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"  # as a file spells it
    return f"{value:.10g}" if isinstance(value, float) else "" if value is None else str(value)


def _values(configuration: "Configuration") -> dict[str, tuple[Any, str]]:
    """Every knob: its value and its origin, in the order of declaration."""
    from holdfast.settings import SETTINGS

    values = {setting.name: getattr(configuration.settings, setting.name) for setting in SETTINGS}
    hidden = {setting.name for setting in SETTINGS if setting.secret and values[setting.name]}
    return {
        name: ("(hidden)" if name in hidden else value, configuration.origins[name])
        for name, value in values.items()
    }


def _rules(configuration: "Configuration") -> dict[str, list[tuple[str, Any, str]]]:
    """The rules of every tool that has some: field, value, origin."""
    return {
        name: [(field, value, configuration.tool_origins[name][field]) for field, value in rule.said().items()]
        for name, rule in sorted(configuration.tools.items())
    }


def _document(configuration: "Configuration", server: str | None) -> dict[str, Any]:
    def entry(value: Any, origin: str) -> dict[str, Any]:
        return {"value": str(value) if isinstance(value, Path) else value, "origin": origin}

    return {
        "file": None if configuration.file is None else str(configuration.file),
        "server": server,
        "settings": {name: entry(*pair) for name, pair in _values(configuration).items()},
        "tools": {
            name: {field: entry(value, origin) for field, value, origin in rule}
            for name, rule in _rules(configuration).items()
        },
    }
