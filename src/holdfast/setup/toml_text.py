"""A client's configuration in TOML, edited as text: one table per server is added, changed or taken out.

Comments, order and everything else stay as they are. Each edit is read again and compared with what was meant; a
server that was written in another form than as a table is refused, not rewritten.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from holdfast.settings.toml import TomlRefused, parse_toml
from holdfast.setup.text_refused import TextRefused

__all__ = ["TomlText"]

_TOKEN = re.compile(
    r"""
    (?P<text> \"{3} (?: [^"\\]++ | \\[\s\S] | ""?(?!") )*+ "{3,5} | '{3} (?: [^']++ | ''?(?!') )*+ '{3,5}
              | " (?: [^"\\\n]++ | \\. )*+ " | '[^'\n]*+' )
    | (?P<comment> \#[^\n]*+ )
    | (?P<open> [\[{] ) | (?P<close> [\]}] )
    | (?P<end> \n )
    | (?P<other> [^"'\#\[\]{}\n]++ | . )
    """,
    re.VERBOSE,
)
_MAX_CHARACTERS = 1024 * 1024  # the reader is slow, and no client writes more
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BY_HAND = "edit it by hand: it is written in a form that is not edited here"


@dataclass(frozen=True, slots=True)
class _Line:
    """One statement, which may be several lines long, or a line without one. `end` is behind its line end."""

    start: int
    end: int
    code_end: int  # where its code ends, and a comment may follow
    kind: str  # "header", "value" or ""


class TomlText:
    """A document whose table `container` has one table per server; TextRefused tells what is wrong with a text."""

    def __init__(self, text: str, container: str) -> None:
        self.text = text
        self.container = container
        if len(text) > _MAX_CHARACTERS:
            raise TextRefused(f"has more than {_MAX_CHARACTERS} characters", "is it the right file?")
        try:
            self.value = parse_toml(text)
        except TomlRefused as refusal:
            raise TextRefused(refusal.reason, f"{refusal.remedy}; nothing was changed") from None
        found = self.value.get(container, {})
        if not isinstance(found, dict):
            raise TextRefused(f"has a {container} that is no table", "correct it by hand")
        self.servers: dict[str, Any] = found

    @property
    def is_bare(self) -> bool:
        """Whether nothing is left in it."""
        return not self.text.strip()

    def put(self, name: str, entry: dict[str, Any]) -> "TomlText":
        """With this entry as the last table, in place of the one of that name."""
        rest = self.drop(name).text if name in self.servers else self.text
        newline = self._newline
        gap = "" if not rest or rest.endswith("\n") else newline
        gap += newline if rest.strip() else ""
        text = rest + gap + self.block(name, entry).replace("\n", newline)
        return self._edited(text, {**self.value, self.container: {**self.servers, name: entry}})

    def update(self, name: str, keys: dict[str, Any]) -> "TomlText":
        """With these keys in the table of that name; what else it holds is kept."""
        header, *body = self._section(name)
        wanted = dict(keys)
        pieces: list[tuple[int, int, str]] = []
        for line in body:
            known = next(iter(parse_toml(self.text[line.start : line.end]))) if line.kind == "value" else None
            if known in wanted:
                pieces.append((line.start, line.code_end, _assignment(known, wanted.pop(known))))
        added = "".join(_assignment(key, value) + self._newline for key, value in wanted.items())
        pieces.append((header.end, header.end, added))
        text = self.text
        for start, end, piece in sorted(pieces, reverse=True):
            text = text[:start] + piece + text[end:]
        entry = {**self.servers[name], **keys}
        return self._edited(text, {**self.value, self.container: {**self.servers, name: entry}})

    def drop(self, name: str) -> "TomlText":
        """Without the table of that name, and without those below it."""
        if name not in self.servers:
            return self
        text = self.text
        for start, end in reversed(list(self._tables(name))):
            text = text[:start] + text[end:]
        left = {key: value for key, value in self.servers.items() if key != name}
        expected = {key: value for key, value in self.value.items() if key != self.container}
        # Tables that are written one by one leave none around them when the last is gone.
        return self._edited(text, {**expected, **({self.container: left} if left else {})})

    def block(self, name: str, entry: dict[str, Any]) -> str:
        """The entry as one would paste it."""
        lines = [f"[{self.container}.{_key(name)}]", *(_assignment(key, value) for key, value in entry.items())]
        return "\n".join(lines) + "\n"

    def _edited(self, text: str, expected: dict[str, Any]) -> "TomlText":
        try:
            edited = TomlText(text, self.container)
        except TextRefused:
            raise TextRefused("cannot be changed without touching something else", _BY_HAND) from None
        # An empty table around the servers may be written or not; it means the same.
        if {self.container: {}, **edited.value} != {self.container: {}, **expected}:
            raise TextRefused("cannot be changed without touching something else", _BY_HAND)
        return edited

    @property
    def _newline(self) -> str:
        first = self.text.find("\n")
        return "\r\n" if first > 0 and self.text[first - 1] == "\r" else "\n"

    # --- where things stand --------------------------------------------------------------------------------------

    def _section(self, name: str) -> list[_Line]:
        """The header of the server's own table, and the lines that follow it up to the next one."""
        for lines in self._sections():
            if self._path(lines[0]) == [self.container, name]:
                return lines
        raise TextRefused(f"has no table [{self.container}.{_key(name)}]", _BY_HAND)

    def _tables(self, name: str) -> Iterator[tuple[int, int]]:
        """What is cut out: each table of the server up to its last statement, and the blank line above it."""
        for lines in self._sections():
            if self._path(lines[0])[:2] != [self.container, name]:
                continue
            last = max(at for at, line in enumerate(lines) if line.kind)
            start, end = lines[0].start, lines[last].end
            above = re.search(r"(?:^|\n)[ \t\r]*\n\Z", self.text[:start])
            if above is not None and (end == len(self.text) or self.text[end] in "\r\n"):
                start = above.start() + (above[0].count("\n") > 1 or above[0][:1] == "\n")
            yield start, end

    def _sections(self) -> Iterator[list[_Line]]:
        lines: list[_Line] = []
        for line in _lines(self.text):
            if line.kind == "header":
                if lines:
                    yield lines
                lines = [line]
            elif lines:
                lines.append(line)
        if lines:
            yield lines

    def _path(self, header: _Line) -> list[str]:
        path: list[str] = []
        value: Any = parse_toml(self.text[header.start : header.end])
        while isinstance(value, dict) and value:
            ((key, value),) = value.items()
            path.append(key)
        return path


def _lines(text: str) -> Iterator[_Line]:
    """The statements of a text that is valid; what stands inside of texts and arrays starts none."""
    start, code_end, depth, kind = 0, 0, 0, ""
    for token in _TOKEN.finditer(text):
        what = token.lastgroup
        if what == "end" and depth == 0:
            yield _Line(start, token.end(), code_end, kind)
            start, code_end, kind = token.end(), token.end(), ""
            continue
        depth += (what == "open") - (what == "close")
        if what not in {"comment", "end"} and token[0].strip():
            kind = kind or ("header" if what == "open" else "value")
            code_end = token.start() + len(token[0].rstrip())
    if start < len(text):
        yield _Line(start, len(text), code_end, kind)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    # TOML escapes as JSON does, and one character more.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _assignment(key: str, value: Any) -> str:
    return f"{_key(key)} = {_rendered(value)}"


def _rendered(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_rendered, value))}]"
    if isinstance(value, dict):
        return "{ " + ", ".join(_assignment(key, item) for key, item in value.items()) + " }"
    assert isinstance(value, str)
    return _quoted(value)
