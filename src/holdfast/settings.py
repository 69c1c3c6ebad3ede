"""One declaration per knob: name, type, default, environment variable, flag, help.

The command line, the documentation and the validation all read this table; nothing else in the package
declares a default. Precedence: explicit value > environment variable > default.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from holdfast.errors import UsageError

__all__ = ["SETTINGS", "Setting", "Settings", "default_state_dir", "load_settings"]

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Setting:
    """One knob. `parse` turns text into the value and raises ValueError with the reason it cannot."""

    name: str
    default: Any
    parse: Callable[[str], Any]
    help: str
    flag: str | None = None

    @property
    def env(self) -> str:
        """The environment variable that sets this knob."""
        return "HOLDFAST_" + self.name.upper()


def _choice(*words: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in words:
            raise ValueError(f"expected one of {', '.join(word for word in words if word)}")
        return text

    parse.choices = words  # type: ignore[attr-defined]
    return parse


def _integer(low: int, high: int = 2**31) -> Callable[[str], int]:
    def parse(text: str) -> int:
        digits = text.strip()
        number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 20 else -1
        if not low <= number <= high:
            raise ValueError(f"expected a whole number from {low} to {high}")
        return number

    return parse


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < 1e9:
        raise ValueError("expected a number of seconds, 0 or more")
    return number


def _switch(text: str) -> bool:
    word = text.strip().lower()
    if word not in {"1", "0", "on", "off", "true", "false", "yes", "no"}:
        raise ValueError("expected on or off")
    return word in {"1", "on", "true", "yes"}


def _directory(text: str) -> Path:
    if not text or "\0" in text:
        raise ValueError("expected a directory")
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise ValueError(str(error)) from error


def default_state_dir() -> Path:
    """Where state lives when nothing else is said: the user's XDG state directory."""
    base = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(base) / "holdfast"


def _knob(default: Any, parse: Callable[[str], Any], text: str, flag: str | None = None) -> Any:
    return field(default=default, metadata={"parse": parse, "help": text, "flag": flag})


@dataclass(frozen=True, slots=True)
class Settings:
    """Every knob, declared once, with its final value; build it with `load_settings`."""

    mcp_mode: str = _knob(
        "native",
        _choice("native", "sdk", "legacy"),
        "How MCP is spoken on stdio: newline JSON, the official SDK, or Content-Length framing.",
        "--mcp-mode",
    )
    protocol: str = _knob(
        "",
        _choice("", "pinned", "negotiate"),
        "pinned answers 2024-11-05 to every handshake, negotiate the client's revision. "
        "Default: what the server declares.",
        "--protocol",
    )
    render: str = _knob(
        "",
        _choice("", "json", "porcelain"),
        "Form of the text of a result. Default: what the server declares.",
        "--render",
    )
    queue_max: int = _knob(
        64,
        _integer(0),
        "Calls that may wait for a free slot; one more is answered QUEUE_OVERLOADED.",
        "--queue-max",
    )
    concurrency: int = _knob(32, _integer(1), "Calls that may run at the same time.", "--concurrency")
    tool_timeout: float = _knob(
        120.0,
        _seconds,
        "Seconds that a tool without a timeout of its own may take; 0 means no limit.",
        "--tool-timeout",
    )
    kill_grace: float = _knob(
        2.0, _seconds, "Seconds between asking work or a process tree to stop and killing it.", "--kill-grace"
    )
    drain: float = _knob(
        5.0,
        _seconds,
        "Seconds that calls in flight may take after the client closed its end; then they are cancelled.",
        "--drain",
    )
    exit_with_parent: bool = _knob(
        True,  # noqa: FBT003
        _switch,
        "Stop when the process that started the server dies.",
        "--exit-with-parent",
    )
    max_message_bytes: int = _knob(8 * MIB, _integer(1024), "Largest message in either direction, in bytes.")
    max_header_bytes: int = _knob(64 * 1024, _integer(64), "Largest header block in legacy framing, in bytes.")
    max_depth: int = _knob(128, _integer(8, 128), "Deepest nesting of arrays and objects in a message.")
    progress_interval: float = _knob(
        0.25, _seconds, "Shortest time, in seconds, between two progress notices of a call."
    )
    event_log: bool = _knob(True, _switch, "Write the event log.", "--event-log")  # noqa: FBT003
    event_log_bytes: int = _knob(8 * MIB, _integer(4096), "Size at which the event log is rotated, in bytes.")
    event_log_files: int = _knob(4, _integer(1), "Number of event log files kept, the current one included.")
    state_dir: Path | None = _knob(
        None,
        _directory,
        "Directory of all state. Default: $XDG_STATE_HOME/holdfast or ~/.local/state/holdfast.",
        "--state-dir",
    )

    def __post_init__(self) -> None:
        for knob in fields(self):
            value = getattr(self, knob.name)
            if value != knob.default:
                _parsed(Setting(knob.name, knob.default, knob.metadata["parse"], ""), value, knob.name)

    def state_path(self) -> Path:
        """The directory that state is kept in."""
        return self.state_dir or default_state_dir()


SETTINGS: tuple[Setting, ...] = tuple(
    Setting(knob.name, knob.default, knob.metadata["parse"], knob.metadata["help"], knob.metadata["flag"])
    for knob in fields(Settings)
)


def load_settings(
    overrides: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None
) -> Settings:
    """Settings from explicit `overrides` (None means "not said"), then the environment, then defaults."""
    environ = os.environ if environ is None else environ
    chosen = {name: value for name, value in (overrides or {}).items() if value is not None}
    unknown = chosen.keys() - {setting.name for setting in SETTINGS}
    if unknown:
        raise UsageError(f"unknown setting {min(unknown)!r}", remedy="see `holdfast serve --help`")
    values: dict[str, Any] = {}
    for setting in SETTINGS:
        raw = chosen.get(setting.name, environ.get(setting.env))
        source = setting.flag or setting.name if setting.name in chosen else setting.env
        values[setting.name] = setting.default if raw is None else _parsed(setting, raw, source)
    return Settings(**values)


def _parsed(setting: Setting, raw: Any, source: str) -> Any:
    if not isinstance(raw, str):
        raw = "on" if raw is True else "off" if raw is False else str(raw)
    try:
        return setting.parse(raw)
    except ValueError as error:
        raise UsageError(f"{source} is {raw!r}: {error}", remedy=f"correct {source}") from error
