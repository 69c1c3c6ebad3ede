"""On which lines of a TOML file a key or an item of a list stands. The values come from the real parser."""

import re

__all__ = ["TomlLines"]

_HEADER = re.compile(r"\s*\[([^\[\]]+)\]\s*(?:#.*)?$")
_ANY_HEADER = re.compile(r"\s*\[\[?[^\[\]=]+\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"\s*((?:[\w-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[\w-]+|\"[^\"]*\"|'[^']*'))*)\s*=")
_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'')


class TomlLines:
    """The lines of tables, keys and list items. Where something is not found, the lines of what holds it."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._tables: dict[tuple[str, ...], tuple[int, int]] = {}
        self._keys: dict[tuple[str, ...], tuple[int, int]] = {}
        self._read()

    def table(self, table: tuple[str, ...]) -> tuple[int, int]:
        """The lines of a table, its header included."""
        return self._tables.get(table) or self._keys.get(table) or (1, 1)

    def key(self, table: tuple[str, ...], key: str) -> tuple[int, int]:
        """The lines of a key with its value."""
        return self._keys.get((*table, key)) or self.table(table)

    def item(self, table: tuple[str, ...], key: str, value: str) -> tuple[int, int]:
        """The line of one item in the list that a key holds."""
        start, end = self.key(table, key)
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        for number in range(start, end + 1):
            if value in self._lines[number - 1] or escaped in self._lines[number - 1]:
                return number, number
        return start, end

    def _read(self) -> None:
        table: tuple[str, ...] = ()
        opened, last, at = 1, 1, 0
        while at < len(self._lines):
            line = self._lines[at]
            if _ANY_HEADER.match(line):
                self._tables.setdefault(table, (opened, last))
                header = _HEADER.match(line)
                table, opened, last = _parts(header[1]) if header else ("",), at + 1, at + 1
            elif (key := _KEY.match(line)) is not None:
                end = self._value_end(at, key.end())
                self._keys.setdefault((*table, *_parts(key[1])), (at + 1, end + 1))
                last, at = end + 1, end
            at += 1
        self._tables.setdefault(table, (opened, last))

    def _value_end(self, at: int, column: int) -> int:
        """The line on which a value ends: brackets and long strings may go on for several."""
        rest = self._lines[at][column:].strip()
        quotes = next((mark for mark in ('"""', "'''") if rest.startswith(mark)), "")
        if quotes:
            if rest.count(quotes) > 1:
                return at
            return next((i for i in range(at + 1, len(self._lines)) if quotes in self._lines[i]), at)
        depth = 0
        for number in range(at, len(self._lines)):
            text = _STRINGS.sub('""', self._lines[number][column if number == at else 0 :]).partition("#")[0]
            depth += text.count("[") + text.count("{") - text.count("]") - text.count("}")
            if depth <= 0:
                return number
        return at


def _parts(name: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in re.findall(r"\"[^\"]*\"|'[^']*'|[^.]+", name))
