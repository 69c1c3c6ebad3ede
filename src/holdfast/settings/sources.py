"""Where each value comes from: explicit value > environment variable > configuration file > default.

In a file, what is said about a server wins over what is said about all of them. Where we write is never taken from
a file: it comes with a project, and a project that was only cloned must not choose that.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.errors import UsageError
from holdfast.settings.file import ConfigFile, Table, find_file, read_file
from holdfast.settings.knobs import SETTINGS, Setting, Settings
from holdfast.settings.tools import ToolRule

__all__ = ["CONFIG_ENV", "Configuration", "load_configuration", "load_settings"]

CONFIG_ENV = "HOLDFAST_CONFIG"
DEFAULT = "default"
NO_FILE = f"{CONFIG_ENV}=none does without a file"


@dataclass(frozen=True, slots=True)
class Configuration:
    """The value of every knob and the rules for tools, each with where it was said.

    `origins` has every knob, `tool_origins` the fields of a rule about which something was said. `servers` are the
    names that the file has a table for.
    """

    settings: Settings
    tools: Mapping[str, ToolRule]
    origins: Mapping[str, str]
    tool_origins: Mapping[str, Mapping[str, str]]
    file: Path | None
    servers: tuple[str, ...] = ()


def load_settings(
    overrides: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None
) -> Settings:
    """Settings from explicit `overrides` (None means "not said"), then the environment, then defaults."""
    return _resolve(overrides or {}, os.environ if environ is None else environ, [], {})[0]


def load_configuration(
    overrides: Mapping[str, Any],
    environ: Mapping[str, str] | None = None,
    *,
    server: str | None = None,
    start: Path | None = None,
    file: Path | None = None,
    defaults: Mapping[str, Any] | None = None,
) -> Configuration:
    """Settings and rules for one server, from all sources.

    The file is `file`, or the one that HOLDFAST_CONFIG names (none, or nothing: no file), or the nearest one
    upwards from `start`, which is the working directory unless it is said. `defaults` replace those of the knobs.
    """
    environ = os.environ if environ is None else environ
    config = _config_file(environ, start, file)
    tables: list[Table] = []  # the most particular one first
    if config is not None:
        own = config.servers.get(server) if server is not None else None
        tables = [config.general] if own is None else [own, config.general]
    settings, origins = _resolve(overrides, environ, tables, defaults or {})
    tools, tool_origins = _rules(tables)
    if config is None:
        return Configuration(settings, tools, origins, tool_origins, None)
    return Configuration(settings, tools, origins, tool_origins, config.path, tuple(config.servers))


def _config_file(environ: Mapping[str, str], start: Path | None, file: Path | None) -> ConfigFile | None:
    named = environ.get(CONFIG_ENV)
    if file is None and named in {"", "none"}:
        return None
    try:
        path = file or (Path(named).expanduser() if named else None)
        place = (path or start or Path()).absolute()
    except RuntimeError as error:  # `~` of somebody who has no home
        raise UsageError(f"{CONFIG_ENV} is {named!r}: {error}", remedy="give the whole path") from error
    except FileNotFoundError:  # the working directory was deleted under us
        if path is None:
            return None
        raise UsageError(f"{path} cannot be found: the working directory is gone", remedy="cd to one") from None
    if path is None:
        return find_file(place)
    if file is None and not os.path.lexists(place):
        raise UsageError(f"{CONFIG_ENV} names {place}, which does not exist", remedy=f"correct it; {NO_FILE}")
    return read_file(place)


def _resolve(
    overrides: Mapping[str, Any], environ: Mapping[str, str], tables: list[Table], defaults: Mapping[str, Any]
) -> tuple[Settings, dict[str, str]]:
    chosen = {name: value for name, value in overrides.items() if value is not None}
    unknown = chosen.keys() - {setting.name for setting in SETTINGS}
    if unknown:
        raise UsageError(f"unknown setting {min(unknown)!r}", remedy="see `holdfast serve --help`")
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for setting in SETTINGS:
        values[setting.name], origins[setting.name] = _pick(setting, chosen, environ, tables, defaults)
    return Settings(**values), origins


def _pick(
    setting: Setting,
    chosen: Mapping[str, Any],
    environ: Mapping[str, str],
    tables: list[Table],
    defaults: Mapping[str, Any],
) -> tuple[Any, str]:
    """The value of one knob and where it comes from."""
    if setting.name in chosen:
        source = setting.flag or setting.name
        return setting.value_of(chosen[setting.name], source), source
    if setting.env in environ:
        return setting.value_of(environ[setting.env], setting.env), setting.env
    for table in tables:
        if setting.name in table.knobs:
            return table.knobs[setting.name], table.place.origin
    return defaults.get(setting.name, setting.default), DEFAULT


def _rules(tables: list[Table]) -> tuple[dict[str, ToolRule], dict[str, dict[str, str]]]:
    """The rules of all tables, field by field; the first table that says something wins."""
    tools: dict[str, ToolRule] = {}
    origins: dict[str, dict[str, str]] = {}
    for table in reversed(tables):
        for name, rule in table.tools.items():
            tools[name] = rule.over(tools.get(name, ToolRule()))
            said = {**origins.get(name, {}), **dict.fromkeys(rule.said(), table.origin_of_tool(name))}
            origins[name] = {field: said[field] for field in tools[name].said()}
    return tools, origins
