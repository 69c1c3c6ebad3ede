"""Jupyter notebooks: the text of their cells, in the lines of the file where it stands, without JSON and outputs.

Positions in a notebook are positions in this text. Each line of a cell stands in the line that it has in the file;
where a file keeps a whole cell in one line, the lines of the cell follow each other, and `lines` tells which line
of the file each of them is. Outputs are passed over: they are not kept.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from holdfast.search.discover.kinds import language_id
from holdfast.search.embedded.segments import INK, Segment, is_code

__all__ = ["Notebook", "read_notebook"]

_CELL_MAGIC = re.compile(rb"\s*%%([\w+#-]+)[^\n]*")
# What only IPython understands: magics, commands of the shell, questions; also as the value of a name.
_MAGIC = re.compile(
    rb"(?m)^[ \t]*(?:[\w,][\w, \t]*=[ \t]*)?(?:%{1,2}[A-Za-z_]|!(?!=)|\?)[^\n]*|^[ \t]*[\w.]+\?{1,2}[ \t]*\r?$"
)
_SPACE = re.compile(r"[ \t\r\n]*")


class Notebook(NamedTuple):
    """The text of the cells, which line of the file each line of it is, the code in it, and what was wrong."""

    text: bytes
    lines: list[int]
    code: list[Segment]
    remarks: list[str]


class _Cell(NamedTuple):
    kind: str
    start: int
    text: bytes


def read_notebook(source: bytes) -> Notebook | None:
    """The notebook in the text of a file; of a broken one what stands before the break. None if no cell does."""
    text = source.decode("utf-8", "replace").removeprefix("\ufeff")
    reader, sheet = _JsonReader(text), _Sheet(text)
    metadata: object = None
    remarks = []
    try:
        for key in reader.members():
            if key == "cells" and reader.sign() == "[":
                for _ in reader.elements():
                    _read_cell(reader, sheet)
            elif key == "metadata":
                metadata = reader.value()
            else:
                reader.value()
    except (ValueError, RecursionError):
        remarks.append(f"broken JSON behind line {text.count(chr(10), 0, reader.at) + 1}")
    if not sheet.cells:
        return None
    sheet.begin_lines(text.count("\n") + 1)
    language = _kernel_language(metadata)
    cells = [_code(cell, language) for cell in sheet.cells if cell.kind == "code"]
    code = [segment for segment in cells if is_code(segment.language)]
    return Notebook(b"".join(sheet.pieces), sheet.lines, code, remarks)


def _read_cell(reader: "_JsonReader", sheet: "_Sheet") -> None:
    if reader.sign() != "{":
        reader.value()
        return
    kind: object = ""
    parts: list[tuple[int, str]] = []
    for key in reader.members():
        if key == "source":
            parts = list(_strings(reader))
        elif key == "cell_type":
            kind = reader.value()
        else:
            reader.value()
    sheet.add(str(kind), parts)


def _strings(reader: "_JsonReader") -> Iterator[tuple[int, str]]:
    """The text of a cell with its places in the file: a list of lines, or one text."""
    for _ in reader.elements() if reader.sign() == "[" else (None,):
        reader.sign()
        at, value = reader.at, reader.value()
        if isinstance(value, str):
            yield at, value


def _kernel_language(metadata: object) -> str:
    """The id of the language that the cells are written in; where nobody says it, it is Python."""
    for part, key in (("kernelspec", "language"), ("language_info", "name")):
        about = metadata.get(part) if isinstance(metadata, Mapping) else None
        said = about.get(key) if isinstance(about, Mapping) else None
        if isinstance(said, str) and language_id(said):
            return language_id(said)
    return "python"


def _code(cell: _Cell, language: str) -> Segment:
    """The code of a cell, in the language that its first line says, with blanks instead of magics."""
    magic = _CELL_MAGIC.match(cell.text)
    text = cell.text
    if magic:
        named = language_id(magic[1].decode("ascii", "replace"))
        text = INK.sub(b" ", magic[0]) + text[magic.end() :]
        if named:
            return Segment(named, cell.start, text)
    if language == "python":
        text = _MAGIC.sub(lambda found: INK.sub(b" ", found[0]), text)
    return Segment(language, cell.start, text)


class _Sheet:
    """The text that is put together, with the line of the file for each line that has begun."""

    def __init__(self, file: str) -> None:
        self.pieces: list[bytes] = []
        self.lines = [1]
        self.cells: list[_Cell] = []
        self._file = file
        self._file_at, self._file_line = 0, 1
        self._size = 0
        self._at_line_start = True

    def add(self, kind: str, parts: list[tuple[int, str]]) -> None:
        """Add a cell; its parts are in order of their place."""
        if not parts:
            return
        if not self._at_line_start:
            self._put("\n", self.lines[-1])
        self.begin_lines(self._line_at(parts[0][0]))
        start, first = self._size, len(self.pieces)
        for place, text in parts:
            line = self._line_at(place)
            if self._at_line_start:
                self.begin_lines(line)
                self.lines[-1] = line
            self._put(text, line)
        self.cells.append(_Cell(kind, start, b"".join(self.pieces[first:])))

    def begin_lines(self, count: int) -> None:
        """Add empty lines until so many have begun."""
        missing = count - len(self.lines)
        if missing > 0:
            known = len(self.lines)
            if self._at_line_start:
                self.lines[-1] = max(self.lines[-1], known)
            latest = self.lines[-1]
            self._put("\n" * missing, latest)
            self.lines[known:] = [max(latest, line) for line in range(known + 1, count + 1)]

    def _put(self, text: str, line: int) -> None:
        piece = text.encode("utf-8", "replace")
        self.pieces.append(piece)
        self._size += len(piece)
        self.lines += [line] * text.count("\n")
        self._at_line_start = text.endswith("\n") if text else self._at_line_start

    def _line_at(self, place: int) -> int:
        self._file_line += self._file.count("\n", self._file_at, place)
        self._file_at = place
        return self._file_line


class _JsonReader:
    """Walks through JSON as far as it is asked to, and knows where it is; whatever is not asked for is skipped."""

    def __init__(self, text: str) -> None:
        self.at = 0
        self._text = text
        # Numbers are of no interest, and endless ones would be refused as integers.
        self._decode = json.JSONDecoder(strict=False, parse_int=float).raw_decode

    def sign(self) -> str:
        """The next character that is not white space, which is not taken."""
        found = _SPACE.match(self._text, self.at)
        self.at = found.end() if found else self.at
        return self._text[self.at : self.at + 1]

    def value(self) -> Any:
        """The value that begins here."""
        self.sign()
        value, self.at = self._decode(self._text, self.at)
        return value

    def members(self) -> Iterator[str]:
        """The keys of an object; whoever is given one takes its value before the next."""
        for _ in self._between("{", "}"):
            key = self.value()
            self._take(":")
            yield str(key)

    def elements(self) -> Iterator[None]:
        """Once for each element of a list, which is taken before the next."""
        yield from self._between("[", "]")

    def _between(self, opening: str, closing: str) -> Iterator[None]:
        self._take(opening)
        if self.sign() != closing:
            yield
            while self.sign() == ",":
                self._take(",")
                yield
        self._take(closing)

    def _take(self, sign: str) -> None:
        if self.sign() != sign:
            raise ValueError(f"{sign} expected")
        self.at += 1
