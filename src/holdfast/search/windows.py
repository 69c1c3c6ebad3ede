"""Text that has no grammar, cut into windows: by its keys, sections, targets or statements, else by blank lines.

Formats are known by the first words of their lines and by indentation alone. That is wrong for odd files at times,
and then costs a less telling name; no line is ever lost by it.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import NamedTuple

from holdfast.search.decode import BOM, LineTable, Span
from holdfast.search.model import Chunk, Extraction

__all__ = ["extract_windows"]

_WINDOW_LINES = 60
_GROUP_LINES = 24  # of several small entries that share a window
_REPEATED_LINES = 12  # entries of the same name, such as those of a lock file, share a window up to this size
_MAX_DEPTH = 6  # of keys inside of keys
_NAME_LENGTH = 120
_SIGNATURE_LENGTH = 200


@dataclass(slots=True)
class _Entry:
    """One key, section or statement: its lines, and the line that names it."""

    first: int
    last: int
    name: str
    head: int | None = None


_WORD = re.compile(rb"\w")
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_LEADING = "\ufeff \t#/*;<!-"  # of a line of a comment, and its end: marks and decoration
_TRAILING = " \t*/#>-"


class _Comments(NamedTuple):
    """How a format writes comments: the marks of whole lines, and what opens and closes a block."""

    marks: tuple[bytes, ...] = ()
    opening: bytes = b""
    closing: bytes = b""


@dataclass(frozen=True, slots=True)
class _Format:
    """What is known of a format. The head pattern has the name in its last group that matches.

    Where entries nest, its first group is the indentation, and a long entry is parted into those inside of it.
    """

    head: bytes  # compiled where it is first used: few repositories have all formats
    comments: _Comments
    nested: bool = False
    small: int = 0  # lines up to which neighbouring entries share a window


_HASH = _Comments((b"#",))
_SLASH = _Comments((b"//",), b"/*", b"*/")
_MARKUP = _Comments((), b"<!--", b"-->")
_JSON = _Format(rb'(?m)^([ \t]*)"((?:[^"\\\n]|\\.){1,200})"[ \t]*:', _SLASH, nested=True, small=8)
_YAML = _Format(
    rb"(?m)^( *)(?:-[ ]+(?:name|id|title)[ ]*:[ ]*[\"']?([^\"'\s#][^\"'\r\n#]*)"
    rb"|[\"']?([\w./$@<*-][^\s:\"'#{}\[\],]{0,200})[\"']?[ ]*:(?=\s))",
    _HASH,
    nested=True,
    small=8,
)
_XML = _Format(
    rb"(?m)^([ \t]*)<([A-Za-z_][\w:.-]*(?:[^>\n]{0,200}?[ \t](?:name|id)=\"[^\"\n]{1,200}\")?)",
    _MARKUP,
    nested=True,
    small=8,
)
_TOML = _Format(rb"(?m)^\[\[?[ \t]{0,20}([^\[\]\n]{1,200}?)[ \t]{0,20}\]\]?[ \t]*(?:#[^\n]*)?\r?$", _HASH)
_INI = _Format(rb"(?m)^[ \t]*\[([^\]\n]+)\]", _Comments((b"#", b";")))
_SQL = _Format(
    rb"(?im)^[ \t]*(?:(?:create(?:[ \t]+(?:or[ \t]+replace|global|temp|temporary|unlogged|unique|materialized))*"
    rb"|alter)[ \t]+(?:table|view|index|function|procedure|trigger|type|schema|sequence|policy|database|role)"
    rb"(?:[ \t]+(?:if[ \t]+not[ \t]+exists|if[ \t]+exists|concurrently|only))*"
    rb"|insert[ \t]+into)[ \t]+([^\s(;]+)",
    _Comments((b"--",), b"/*", b"*/"),
    small=2,
)
_DOCKER = _Format(rb"(?im)^[ \t]*from[ \t]+(?:--\S+[ \t]+)*(\S+)(?:[ \t]+as[ \t]+(\S+))?", _HASH)
_MAKE = _Format(rb"(?m)^([^\s#:=.$][^#:=\n]{0,200}?)[ \t]{0,20}::?(?![=:])", _HASH)
_CSS = _Format(rb"(?m)^([^\s{}/*][^{}\n]{0,200}?)[ \t]{0,20}(?:\{|,[ \t]*\r?$)", _SLASH, small=8)
_HTML = _Format(rb"(?i)<(?:title|h[1-6])\b[^>\n]{0,200}>[ \t]*([^<\n]{1,200})", _MARKUP)
# A last resort for languages without a rule: the words with which most of them begin a definition.
_OTHER = _Format(
    rb"(?m)^(?:(?:export|default|public|private|protected|pub|static|async|abstract|final|local|extern)[ \t]+)*"
    rb"(?:function|func|fn|def|sub|class|struct|interface|enum|trait|impl|module|namespace|type|message|service"
    rb"|resource|data|variable|output|provider|proc|procedure|macro|record|object|contract)[ \t]+"
    rb"((?:\"[^\"\n]{1,100}\"[ \t]*){1,2}|[A-Za-z_$][\w$.:-]{0,200})",
    _Comments((b"# ", b"//", b"--", b";;"), b"/*", b"*/"),
)
_FORMATS = {
    "json": _JSON, "jsonc": _JSON, "json5": _JSON, "yaml": _YAML, "yml": _YAML, "xml": _XML, "svg": _XML,
    "toml": _TOML, "ini": _INI, "cfg": _INI, "conf": _INI, "properties": _INI, "editorconfig": _INI, "sql": _SQL,
    "dockerfile": _DOCKER, "docker": _DOCKER, "makefile": _MAKE, "make": _MAKE, "css": _CSS, "scss": _CSS,
    "sass": _CSS, "less": _CSS, "html": _HTML, "vue": _HTML, "svelte": _HTML,
}  # fmt: skip


def extract_windows(language: str, path: str, source: bytes) -> Extraction:
    """Chunks of kind `block` that hold every line of the text, and its comments as `extracted-prose`."""
    form = _FORMATS.get(language.lower(), _OTHER)
    table = LineTable(source)
    blocks = [
        _block(table, entry, span)
        for entry in _grouped(_entries(table, form, 0, len(table.lines), "", 0), form)
        for span in table.cut(entry.first, entry.last, _WINDOW_LINES)
    ]
    unnamed = PurePosixPath(path).name
    for block in blocks:
        block.name = block.name or unnamed
    chunks = [*blocks, *_comment_chunks(table, form.comments, blocks)]
    chunks.sort(key=lambda chunk: chunk.start)
    return Extraction(chunks)


def _block(table: LineTable, entry: _Entry, span: Span) -> Chunk:
    signature = ""
    if entry.head is not None:
        signature = _one_line(table.lines[entry.head], _SIGNATURE_LENGTH)
    return Chunk("code", "block", entry.name, *span, signature=signature)


def _entries(table: LineTable, form: _Format, first: int, last: int, parent: str, depth: int) -> list[_Entry]:
    """The entries between two lines, and what stands before the first of them under the name of the parent."""
    heads = list(_heads(table, form, first, last))
    if not heads:
        return [_Entry(first, last, parent)]
    above = [first, *(line + 1 for line, _ in heads)]
    starts = [_with_lead(table, form, line, above[index]) for index, (line, _) in enumerate(heads)]
    if not _WORD.search(table.source, table.offsets[first], table.offsets[starts[0]]):
        starts[0] = first  # an opening bracket is not worth a chunk
    entries = [_Entry(first, starts[0], parent)] if starts[0] > first else []
    for (line, name), start, end in zip(heads, starts, [*starts[1:], last], strict=True):
        entry = _Entry(start, end, f"{parent}.{name}" if parent else name, line)
        if form.nested and end - line > _WINDOW_LINES and depth < _MAX_DEPTH:
            inner = _entries(table, form, line + 1, end, entry.name, depth + 1)
            inner[0].first, inner[0].head = start, inner[0].head or line
            entries.extend(inner)
        else:
            entries.append(entry)
    return entries


def _heads(table: LineTable, form: _Format, first: int, last: int) -> Iterator[tuple[int, str]]:
    """The lines that name entries. Where entries nest, those that are indented like the first of them."""
    if first >= last:
        return
    indentation: bytes | None = None
    start = table.offsets[first] if first else len(BOM) * table.source.startswith(BOM)
    seen = -1
    for found in re.compile(form.head).finditer(table.source, start, table.offsets[last]):
        if form.nested:
            if indentation is None:
                indentation = found[1]
            if found[1] != indentation:
                continue
        line = table.line_at(found.start())
        if line != seen:
            yield line, _name(found[found.lastindex or 0])
            seen = line


def _one_line(raw: bytes, limit: int) -> str:
    return " ".join(raw[: 4 * limit].decode("utf-8", "ignore").split())[:limit]


def _name(raw: bytes) -> str:
    text = _one_line(raw, _NAME_LENGTH)
    if '="' in text:  # an element and the attribute that tells it from its siblings
        attribute = text.rstrip('"').rpartition('"')[2]
        return f"{text.split()[0]} {attribute}"
    return text.replace('" "', ".").replace('"', "")


def _with_lead(table: LineTable, form: _Format, line: int, above: int) -> int:
    """The first of the comment lines that stand directly above a line, which belong to it."""
    marks = (*form.comments.marks, b".PHONY") if form is _MAKE else form.comments.marks
    while marks and line > above and table.lines[line - 1].lstrip().startswith(marks):
        line -= 1
    return line


def _grouped(entries: list[_Entry], form: _Format) -> Iterator[_Entry]:
    """The entries, with small neighbours and short ones of the same name put together."""
    group: _Entry | None = None
    names: list[str] = []
    for entry in entries:
        if group is not None and _may_join(group, entry, form, names):
            group.last = entry.last
            if entry.name not in names:
                names.append(entry.name)
            continue
        if group is not None:
            yield _named(group, names)
        group, names = entry, [entry.name]
    if group is not None:
        yield _named(group, names)


def _may_join(group: _Entry, entry: _Entry, form: _Format, names: list[str]) -> bool:
    if group.head is None or entry.head is None or entry.last - group.first > _GROUP_LINES:
        return False
    size = entry.last - entry.first
    if size <= _REPEATED_LINES and names == [entry.name]:
        return True
    largest = group.last - group.first if len(names) == 1 else 0
    return size <= form.small and largest <= form.small


def _named(group: _Entry, names: list[str]) -> _Entry:
    group.name = ", ".join(names)[:_NAME_LENGTH]
    return group


def _comment_chunks(table: LineTable, comments: _Comments, blocks: list[Chunk]) -> Iterator[Chunk]:
    starts = [block.start for block in blocks]
    for first, last in _comment_lines(table, comments):
        for span in table.cut(first, last, _WINDOW_LINES):
            text = _comment_text(table.source[span.start : span.end].decode("utf-8", "replace"))
            if text:
                around = blocks[bisect_right(starts, span.start) - 1].name
                yield Chunk("extracted-prose", "comment", around, *span, text=text)


def _comment_lines(table: LineTable, comments: _Comments) -> Iterator[tuple[int, int]]:
    """Runs of lines that are comments from their beginning."""
    opens = [re.escape(mark) for mark in (*comments.marks, comments.opening) if mark]
    opening = re.compile(rb"(?m)^(?:\xef\xbb\xbf)?[ \t]*(" + b"|".join(opens) + rb")")
    first = last = at = 0
    while found := opening.search(table.source, at):
        line = table.line_at(found.start())
        end = line + 1
        if found[1] == comments.opening:
            close = table.source.find(comments.closing, found.end())
            if close < 0:
                break  # never closed: not a comment, and looking again for its end would take for ever
            end = table.line_at(close) + 1
        if line != last or last == first:
            if last > first:
                yield first, last
            first = line
        last = end
        at = table.offsets[end]
    if last > first:
        yield first, last


def _comment_text(raw: str) -> str:
    """What a comment says, without its marks; nothing where it says nothing."""
    if raw.lstrip("\ufeff \t").startswith("#!"):
        raw = raw.partition("\n")[2]
    cleaned = (line.lstrip(_LEADING).rstrip(_TRAILING) for line in raw.splitlines())
    text = "\n".join(line for line in cleaned if line)
    return text if len(_LETTERS.findall(text, 0, 400)) > 1 else ""
