"""Reading JSON that others wrote: every look-up gives a clean value or nothing, and never fails.

Keys are found however they are spelled (`ghsa_id`, `ghsaId`, `GHSA-ID`), because the same scanner writes one style
in its API, another in its query language and a third in its events. What a field means is not decided here.
"""

import math
import unicodedata
from functools import lru_cache
from typing import Any

__all__ = ["LINE", "MOST_ITEMS", "PARAGRAPH", "Fields", "as_text", "clean"]

LINE = 500  # characters of a text that stands on one line
PARAGRAPH = 20_000
MOST_ITEMS = 100  # of a list

_VAST = 2**64  # numbers from here on name nothing, and are slow to write
_LINE_BREAKS = {"\n", "\t"}
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn"}  # control, direction and zero-width characters, and what is none at all
_WORDS_OF_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def clean(text: str, most: int = LINE) -> str:
    """A text without what cannot be seen, on one line unless it may be a paragraph, and not longer than `most`."""
    if len(text) <= most and text.isprintable() and "  " not in text and text == text.strip():
        return text  # as nearly all of them are
    text = text[: 4 * most]  # whatever follows could only matter behind as much white space
    if not text.replace("\n", "").isprintable():
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        text = "".join(c for c in text if c in _LINE_BREAKS or unicodedata.category(c) not in _UNSEEN)
    text = text.strip() if most > LINE else " ".join(text.split())
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


class Fields:
    """An object of foreign JSON, or nothing at all, which has no fields."""

    def __init__(self, value: object) -> None:
        self._values: dict[str, Any] = {}
        for key, item in value.items() if isinstance(value, dict) else ():
            if item is not None:
                self._values.setdefault(_folded(key), item)

    def __bool__(self) -> bool:
        return bool(self._values)

    def value(self, *paths: str) -> Any:
        """What stands at the first of the paths where something stands; `a.b` is b inside of a."""
        for path in paths:
            first, _, rest = path.partition(".")
            found = self._values.get(_folded(first))
            if rest:
                found = Fields(found).value(rest)
            if found is not None:
                return found
        return None

    def inner(self, *paths: str) -> "Fields":
        """The object at the first of the paths where there is one."""
        for path in paths:
            found = Fields(self.value(path))
            if found:
                return found
        return Fields(None)

    def each(self, *paths: str) -> "list[Fields]":
        """The objects of the list at the first of the paths where there is one; a single object is a list too."""
        return [found for item in self.items(*paths) if (found := Fields(item))]

    def items(self, *paths: str) -> list[Any]:
        """The list at the first of the paths where something stands; what is no list is one of one item."""
        found = self.value(*paths)
        if found is None:
            return []
        nodes = found.get("nodes") if isinstance(found, dict) else None  # a list, as GraphQL writes it
        listed = nodes if isinstance(nodes, list) else found
        return listed[:MOST_ITEMS] if isinstance(listed, list) else [listed]

    def text(self, *paths: str, most: int = LINE) -> str | None:
        """The first text or number at one of the paths."""
        for path in paths:
            written = as_text(self.value(path), most)
            if written:
                return written
        return None

    def texts(self, *paths: str, inside: str = "") -> list[str]:
        """The texts of the list at one of the paths, once each; of objects, those in their field `inside`."""
        found = (
            Fields(item).text(inside) if isinstance(item, dict) and inside else as_text(item, LINE)
            for item in self.items(*paths)
        )
        return list(dict.fromkeys(text for text in found if text))

    def labels(self, *paths: str) -> dict[str, str]:
        """The names and texts of the object at one of the paths; a name without a text is one all the same."""
        found = self.value(*paths)
        pairs = list(found.items())[:MOST_ITEMS] if isinstance(found, dict) else []
        return {name: as_text(text, LINE) for key, text in pairs if (name := as_text(key, LINE))}

    def number(self, *paths: str) -> float | None:
        """The first number at one of the paths, also one that is written as text."""
        for path in paths:
            number = _as_number(self.value(path))
            if number is not None:
                return number
        return None

    def flag(self, *paths: str) -> bool | None:
        """The first truth value at one of the paths, also one that is written as a word."""
        for path in paths:
            found = self.value(path)
            if isinstance(found, bool):
                return found
            word = _WORDS_OF_FLAGS.get(found.strip().lower()) if isinstance(found, str) else None
            if word is not None:
                return word
        return None


def as_text(value: object, most: int) -> str:
    """A text or a number as a text; nothing of anything else."""
    if isinstance(value, str):
        return clean(value, most)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    return clean(repr(value), most) if math.isfinite(value) and abs(value) < _VAST else ""


def _as_number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value[:LINE] if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


@lru_cache(maxsize=4096)
def _folded(key: str) -> str:
    return key.replace("_", "").replace("-", "").lower()
