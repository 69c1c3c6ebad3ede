"""What a knob may hold: how text becomes its value, and which types a configuration file may write it in.

Flags and environment variables are text, so `120`, `on` and `native` all arrive as words. A file has types of
its own, and there a number in quotes or a switch written as 1 is a slip that is told.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["DIRECTORY", "FILE", "PER_SECOND", "POSITIVE_SECONDS", "SECONDS", "SWITCH", "TEXT", "WORDS", "Kind",
           "choice", "integer", "limit"]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of value. Calling it turns text into the value, or raises ValueError with what was expected."""

    read: Callable[[str], Any]
    expected: str
    types: tuple[type, ...]
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    expected_in_file: str = ""

    def __call__(self, text: str) -> Any:
        """The value of this text."""
        try:
            return self.read(text)
        except ValueError as error:
            raise ValueError(f"expected {self.expected}") from error

    def from_file(self, value: Any) -> Any:
        """The value of what a configuration file holds; ValueError also where the type is a wrong one."""
        expected = self.expected_in_file or self.expected
        if type(value) not in self.types:  # not isinstance: a bool is no number here
            raise ValueError(f"expected {expected}" + (", without quotes" if isinstance(value, str) else ""))
        try:
            return self.read(str(value))
        except ValueError as error:
            raise ValueError(f"expected {expected}") from error


def choice(*words: str) -> Kind:
    """One of these words; the empty one, where it is allowed, means that nothing was chosen."""

    def read(text: str) -> str:
        if text not in words:
            raise ValueError(text)
        return text

    named = tuple(word for word in words if word)
    return Kind(read, f"one of {', '.join(named)}", (str,), "|".join(named), choices=named)


def integer(low: int, high: int = 2**31) -> Kind:
    """A whole number within these bounds."""

    def read(text: str) -> int:
        digits = text.strip()
        number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 20 else -1
        if not low <= number <= high:
            raise ValueError(text)
        return number

    return Kind(read, f"a whole number from {low} to {high}", (int,), "N")


def limit(low: int, high: int = 2**31) -> Kind:
    """A whole number within these bounds, or 0 for none."""
    number = integer(0, high)

    def read(text: str) -> int:
        value: int = number.read(text)
        if 0 < value < low:
            raise ValueError(text)
        return value

    return Kind(read, f"0 for no limit, or a whole number from {low} to {high}", (int,), "N")


def _seconds(text: str) -> float:
    number = float(text)
    if not 0 <= number < 1e9:  # NaN is neither
        raise ValueError(text)
    return number


def _positive_seconds(text: str) -> float:
    number = _seconds(text)
    if not number:
        raise ValueError(text)
    return number


def _switch(text: str) -> bool:
    word = text.strip().lower()
    if word not in {"1", "0", "on", "off", "true", "false", "yes", "no"}:
        raise ValueError(text)
    return word in {"1", "on", "true", "yes"}


def _text(text: str) -> str:
    if not text.isprintable():
        raise ValueError(text)
    return text.strip()


def _words(text: str) -> str:
    return ",".join(word.strip() for word in _text(text).split(",") if word.strip())


def _directory(text: str) -> Path:
    if not text or "\0" in text:
        raise ValueError(text)
    try:
        return Path(text).expanduser()
    except RuntimeError as error:  # `~` of somebody who has no home
        raise ValueError(text) from error


SECONDS = Kind(_seconds, "a number of seconds, 0 or more", (int, float), "SECONDS")
PER_SECOND = Kind(_seconds, "a number, 0 or more", (int, float), "NUMBER")
POSITIVE_SECONDS = Kind(_positive_seconds, "a number of seconds, more than 0", (int, float), "SECONDS")
SWITCH = Kind(_switch, "on or off", (bool,), expected_in_file="true or false")
DIRECTORY = Kind(_directory, "a directory", (str,), "DIR")
FILE = Kind(_directory, "a file", (str,), "FILE")
TEXT = Kind(_text, "one line of text", (str,), "TEXT")
WORDS = Kind(_words, "words with commas between them", (str,), "A,B")
