"""On which lines of a JSON file a key stands with its value. The values come from the real parser."""

import re

__all__ = ["JsonLines"]

_TOKEN = re.compile(r"\"(?:[^\"\\]|\\.)*\"|[{}\[\]:,]|[^\s{}\[\]:,\"]+")
_DEEPEST = 60


class JsonLines:
    """The lines of keys, by the way that leads to them: `("engines", "node")`."""

    def __init__(self, text: str) -> None:
        self._lines: dict[tuple[str, ...], tuple[int, int]] = {}
        self._read(text)

    def key(self, *way: str) -> tuple[int, int]:
        """The lines of a key with its value; of what holds it where it is not found."""
        while way and way not in self._lines:
            way = way[:-1]
        return self._lines.get(way, (1, 1))

    def _read(self, text: str) -> None:
        way: list[str] = []
        opened: list[tuple[str, int]] = []
        key, key_line, last_text, line, at = "", 0, "", 1, 0
        for token in _TOKEN.finditer(text):
            line += text.count("\n", at, token.start())
            at = token.start()
            sign = token[0]
            if sign == ":":
                key, key_line = last_text, line
            elif sign in "{[":
                if len(opened) >= _DEEPEST:
                    return
                opened.append((key, key_line or line))
                way.append(key)
                key, key_line = "", 0
            elif sign in "}]" and opened:
                _, first = opened.pop()
                self._note(way, "", first, line)
                way.pop()
            elif sign[0] == '"' and not key:
                last_text = sign[1:-1]
            elif sign != ",":
                self._note(way, key, key_line, line)
                key, key_line = "", 0
            line += token[0].count("\n")
            at = token.end()

    def _note(self, way: list[str], key: str, first: int, last: int) -> None:
        path = tuple(part for part in (*way[1:], key) if part)
        if path:
            self._lines.setdefault(path, (first, last))
