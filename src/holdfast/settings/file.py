"""Finds and reads the configuration file: `holdfast.toml`, or `[tool.holdfast]` of a `pyproject.toml`.

The whole file is checked, also what it says about other servers, so that a slip is told today and not on the day
when it matters. Nothing here knows about flags, the environment or defaults.
"""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast.errors import UsageError
from holdfast.settings.knobs import SETTINGS, Setting
from holdfast.settings.places import Place
from holdfast.settings.toml import TomlRefused, parse_toml
from holdfast.settings.tools import ToolRule, read_rule

__all__ = ["ConfigFile", "Table", "find_file", "read_file"]

FILE_NAME = "holdfast.toml"
PROJECT_FILE = "pyproject.toml"
MAX_BYTES = 1024 * 1024

_KNOBS: dict[str, Setting] = {setting.name: setting for setting in SETTINGS}
_EVERY_KEY = "HOLDFAST_CONFIG=none holdfast config show lists every key"
# Keys that are known, but not where they were written, and what to do about it.
_MISPLACED = {
    "tool": "leave `tool.holdfast` out of the headers; only pyproject.toml needs it",
    "effect": "it is a rule for a tool: write it under [tools.NAME]",
    "key": "it is a rule for a tool: write it under [tools.NAME]",
    "probe": "it is a rule for a tool: write it under [tools.NAME]",
}


@dataclass(frozen=True, slots=True)
class Table:
    """What one table of the file says: values of knobs, and rules for tools by their names."""

    place: Place
    knobs: Mapping[str, Any] = field(default_factory=dict)
    tools: Mapping[str, ToolRule] = field(default_factory=dict)

    def origin_of_tool(self, tool: str) -> str:
        """Where the rule for this tool stands."""
        return self.place.inner("tools", tool).origin


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A file that was read and found to be in order."""

    path: Path
    general: Table
    servers: Mapping[str, Table]


def find_file(start: Path) -> ConfigFile | None:
    """The nearest file in this directory or one above it; a pyproject.toml counts where it has our table."""
    for directory in (start, *start.parents):
        if os.path.lexists(directory / FILE_NAME):
            return read_file(directory / FILE_NAME)
        project = directory / PROJECT_FILE
        if os.path.lexists(project):
            text = _text(project, only_with="holdfast")
            table = _project_table(project, text) if text else None
            if table is not None:
                return _checked(project, table)
    return None


def read_file(path: Path) -> ConfigFile:
    """The file of this name; UsageError where it is none, or says something that cannot be."""
    if path.name != PROJECT_FILE:
        return _checked(path, _document(path, _text(path)))
    table = _project_table(path, _text(path))
    if table is None:
        raise UsageError(f"{path} has no [tool.holdfast]", remedy="add the table, or name another file")
    return _checked(path, table)


def _text(path: Path, only_with: str = "") -> str:
    """The text of a file that may hold a configuration; nothing where it lacks the word that it needs to have."""
    try:
        if stat.S_ISFIFO(path.stat().st_mode):
            raise UsageError(f"{path} is a pipe", remedy="a configuration is read from a file")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except IsADirectoryError as error:
        raise UsageError(f"{path} is a directory", remedy=f"name a file, such as {path / FILE_NAME}") from error
    except FileNotFoundError as error:
        raise UsageError(f"there is no file {path}", remedy="create it, or name another one") from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or error
        remedy = "check its permissions, or set HOLDFAST_CONFIG=none to do without"
        raise UsageError(f"{path} cannot be read: {reason}", remedy=remedy) from error
    if only_with.encode() not in data:
        return ""
    if len(data) > MAX_BYTES:
        raise UsageError(f"{path} is larger than {MAX_BYTES} bytes", remedy="a configuration is a few lines")
    try:
        return data.decode("utf-8-sig")  # some editors put a mark in front
    except UnicodeDecodeError as error:
        remedy = f"save it as UTF-8; byte {error.start} is the first that is not"
        raise UsageError(f"{path} is not UTF-8", remedy=remedy) from error


def _document(path: Path, text: str) -> dict[str, Any]:
    try:
        return parse_toml(text)
    except TomlRefused as refusal:
        raise UsageError(f"{path} {refusal.reason}", remedy=refusal.remedy) from refusal


def _project_table(path: Path, text: str) -> dict[str, Any] | None:
    """`[tool.holdfast]`, if the file has it."""
    tool = _document(path, text).get("tool")
    if not isinstance(tool, dict) or "holdfast" not in tool:
        return None
    return _table(tool["holdfast"], "holdfast", Place(path, ("tool",)))


def _checked(path: Path, document: dict[str, Any]) -> ConfigFile:
    place = Place(path, ("tool", "holdfast") if path.name == PROJECT_FILE else ())
    # What is said about searching this project is not about servers; the search reads and checks it by itself.
    _table(document.pop("search", {}), "search", place)
    servers = _table(document.pop("servers", {}), "servers", place)
    tables = {
        name: _read_table(_table(table, name, place.inner("servers")), place.inner("servers", name))
        for name, table in servers.items()
    }
    return ConfigFile(path, _read_table(document, place), tables)


def _read_table(table: dict[str, Any], place: Place) -> Table:
    """Knobs and rules, for all servers or for one."""
    rules = _table(table.pop("tools", {}), "tools", place)
    return Table(
        place,
        {key: _knob_value(key, value, place) for key, value in table.items()},
        {
            name: read_rule(name, _table(rule, name, place.inner("tools")), place.inner("tools", name))
            for name, rule in rules.items()
        },
    )


def _table(value: Any, key: str, place: Place) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise place.bad_value(key, value, "expected a table")
    return dict(value)


def _knob_value(key: str, value: Any, place: Place) -> Any:
    setting = _KNOBS.get(key)
    if key in _MISPLACED:
        raise place.error(f"{key} has no meaning here", _MISPLACED[key])
    if setting is None:
        raise place.unknown_key(key, (*_KNOBS, "tools", "servers", "search"), _EVERY_KEY)
    if not setting.in_file:
        remedy = f"remove it; set {setting.env}" + (f" or give {setting.flag}" if setting.flag else "")
        reason = "it comes with a project, which must not choose that"
        raise place.error(f"{key} cannot be set in a file: {reason}", remedy)
    try:
        return setting.parse.from_file(value)
    except ValueError as error:
        raise place.bad_value(key, value, error) from error
