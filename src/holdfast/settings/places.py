"""Where in a configuration file something stands, and how what is wrong there is told in one line."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.errors import UsageError

__all__ = ["Place"]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_LONGEST = 60  # characters of a key or a value in a message
_LONGEST_MESSAGE = 200
_HUGE = 200  # bits of a number that is not worth printing


@dataclass(frozen=True, slots=True)
class Place:
    """A table of a configuration file, by the keys that lead to it."""

    file: Path
    keys: tuple[str, ...] = ()

    def inner(self, *keys: str) -> "Place":
        """A table inside of this one."""
        return Place(self.file, (*self.keys, *keys))

    @property
    def origin(self) -> str:
        """What is shown beside a value that stands here: `holdfast.toml [servers.everything]`."""
        return f"{self.file.name} {self._header}".rstrip()

    @property
    def _header(self) -> str:
        return f"[{'.'.join(map(_key, self.keys))}]" if self.keys else ""

    def error(self, message: str, remedy: str) -> UsageError:
        """What is wrong here, with the file and the table in front of it."""
        where = f"{self.file} {self._header}".rstrip()
        return UsageError(f"{where}: {_clipped(message, _LONGEST_MESSAGE)}", remedy=remedy)

    def bad_value(self, key: str, value: Any, reason: object) -> UsageError:
        """A known key that holds something else than it should."""
        remedy = f"correct {_key(key)} in {self.file.name}, or leave it out"
        return self.error(f"{_key(key)} is {_shown(value)}: {reason}", remedy)

    def unknown_key(self, key: str, known: Iterable[str], remedy: str) -> UsageError:
        """A key that means nothing in this table."""
        import difflib

        close = difflib.get_close_matches(key[:_LONGEST].lower(), list(known), n=1)
        guess = f"; did you mean {close[0]}?" if close else ""
        return self.error(f"unknown key {_key(key)}{guess}", remedy)


def _key(key: str) -> str:
    """A key as TOML writes it, on one line and not longer than a reader's patience."""
    text = _clipped(key)
    return text if _BARE.fullmatch(text) else _quoted(text)


def _shown(value: Any) -> str:
    """A value as TOML writes it, or what it is where that would be long."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(_clipped(value))
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "an array"
    if isinstance(value, int) and value.bit_length() > _HUGE:
        return "a huge number"
    return str(value)


def _clipped(text: str, limit: int = _LONGEST) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _quoted(text: str) -> str:
    import json

    return json.dumps("".join(c if c.isprintable() else "?" for c in text), ensure_ascii=False)
