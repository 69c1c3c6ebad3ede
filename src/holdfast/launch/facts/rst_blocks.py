"""reStructuredText read into blocks, without docutils: titles, paragraphs, lists, code, and notes.

All other directives, comments, tables, fields and substitutions are passed over. Nothing here fails: what is not
understood becomes a paragraph that no later step takes for a sentence, or is left out.
"""

import re
from collections.abc import Iterator

from holdfast.launch.facts.blocks import Block
from holdfast.launch.facts.rst_inline import rst_inline

__all__ = ["rst_blocks"]

_DEEPEST = 8
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*$")
_DIRECTIVE = re.compile(r"\.\. (?:\|[^|]*\| )?([\w:+.-]+)::\s*(.*)$")
_EXPLICIT = re.compile(r"\.\.(?:\s|$)|__ ")
_BULLET = re.compile(r"(?:[-*+•]|\(?(?:\d{1,3}|#|[a-z])[.)])\s+(?=\S)")
_FIELD = re.compile(r":[\w][^:`]*:(?:\s|$)")
_TABLE = re.compile(r"(?:\+[-=+]{3,}\+|={2,}(?:\s+={2,})+)\s*$")
_CODE = frozenset({"code", "code-block", "sourcecode", "highlight", "ipython", "doctest", "testcode", "prompt"})
_NOTES = frozenset({"note", "tip", "hint", "important", "warning", "caution", "attention", "danger", "admonition"})
_LEAD = re.compile(r"\*\*([^*\n]{2,60})\*\*\s*(:|-|–|—)?")


def rst_blocks(text: str) -> list[Block]:
    """The blocks of a reStructuredText document."""
    return list(_Reader(text.expandtabs(8).split("\n"), 1, [], 0).blocks())


class _Reader:
    """Reads lines that have one indentation; what is indented further is read by another one."""

    def __init__(self, lines: list[str], first_line: int, styles: list[str], depth: int) -> None:
        self._lines = lines
        self._first = first_line
        self._styles = styles
        self._depth = depth
        self._at = 0

    def blocks(self) -> Iterator[Block]:
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if not line.strip():
                self._at += 1
            elif line[0] == " ":
                yield from self._nested(self._at, self._indented_end(self._at))
            elif (title := self._title()) is not None:
                yield title
            elif _EXPLICIT.match(line):
                yield from self._explicit(line)
            elif line.startswith(">>>"):
                yield from self._code(self._at, self._paragraph_end(), "pycon")
            elif (bullet := _BULLET.match(line)) is not None:
                yield from self._item(bullet.end())
            elif _FIELD.match(line):
                self._at = self._indented_end(self._at + 1)
            elif _TABLE.match(line) or line.startswith("| "):
                self._at = self._table_end()
            else:
                yield from self._paragraph()

    def _nested(self, start: int, end: int, level: int = 0) -> Iterator[Block]:
        self._at = max(end, self._at + 1)
        inside = self._lines[start:end]
        margin = min((len(line) - len(line.lstrip()) for line in inside if line.strip()), default=0)
        if self._depth >= _DEEPEST or not margin:
            return
        reader = _Reader([line[margin:] for line in inside], self._first + start, self._styles, self._depth + 1)
        for block in reader.blocks():
            yield block._replace(level=block.level + level) if block.kind == "item" else block

    def _indented_end(self, start: int) -> int:
        """The line behind the indented ones that begin here; empty lines belong to them only in between."""
        end = at = start
        while at < len(self._lines) and (not self._lines[at].strip() or self._lines[at][0] == " "):
            at += 1
            if self._lines[at - 1].strip():
                end = at
        return end

    def _paragraph_end(self) -> int:
        end = self._at
        while end < len(self._lines) and self._lines[end].strip():
            end += 1
        return end

    def _table_end(self) -> int:
        """Tables of equals signs have empty lines within; they end with such a line followed by an empty one."""
        end = self._paragraph_end()
        while end < len(self._lines) and self._lines[self._at].startswith("=") and end - self._at < 400:
            if _TABLE.match(self._lines[end - 1]) and end - self._at > 3:
                break
            end += 1
            while end < len(self._lines) and self._lines[end].strip():
                end += 1
        return max(end, self._at + 1)

    def _title(self) -> Block | None:
        lines, at = self._lines, self._at
        over = bool(_ADORNMENT.match(lines[at]))
        name = at + over
        if name + 1 >= len(lines) or not lines[name].strip() or not _ADORNMENT.match(lines[name + 1]):
            if over:  # a rule between two paragraphs
                self._at += 1
                return Block("paragraph", "", self._first + at, self._first + at)
            return None
        style = ("=" if over else "") + lines[name + 1][0]
        if _TABLE.match(lines[at]) or len(lines[name + 1].rstrip()) < min(len(lines[name].strip()), 3):
            return None
        if style not in self._styles:
            self._styles.append(style)
        self._at = name + 2
        return Block(
            "heading",
            rst_inline(lines[name].strip()),
            self._first + name,
            self._first + name,
            self._styles.index(style) + 1,
        )

    def _explicit(self, line: str) -> Iterator[Block]:
        start = self._at
        end = self._indented_end(start + 1)
        self._at = max(end, start + 1)
        directive = _DIRECTIVE.match(line)
        if directive is None:
            return
        name = directive[1].rpartition(":")[2].lower()
        body = start + 1
        while body < end and _FIELD.match(self._lines[body].strip()):
            body += 1
        # A domain may have its own word for code that it runs when the documentation is built: `click:example`.
        if name in _CODE or directive[1].lower().endswith(":example"):
            yield from self._code(body, end, directive[2].strip().lower())
        elif name in _NOTES:
            if directive[2].strip() and name != "admonition":
                body = self._end_of_first(start)
                words = [directive[2], *self._lines[start + 1 : body]]
                text = rst_inline("\n".join(line.strip() for line in words))
                yield Block("paragraph", text, self._first + start, self._first + body - 1)
            yield from self._nested(body, end)
        self._at = max(end, start + 1)

    def _end_of_first(self, start: int) -> int:
        """The line behind the words of a note that begin on the line of its directive."""
        end = start + 1
        while end < len(self._lines) and self._lines[end].strip():
            end += 1
        return end

    def _code(self, start: int, end: int, language: str) -> Iterator[Block]:
        self._at = max(end, self._at + 1)
        while start < end and not self._lines[start].strip():
            start += 1
        inside = self._lines[start:end]
        margin = min((len(line) - len(line.lstrip()) for line in inside if line.strip()), default=0)
        code = "\n".join(line[margin:].rstrip() for line in inside).rstrip("\n")
        if code:
            last = self._first + start + code.count("\n")
            yield Block("code", code, self._first + start, last, language=language)

    def _item(self, width: int) -> Iterator[Block]:
        """One item of a list: its first paragraph, then whatever is indented like it."""
        start = self._at
        end = start + 1
        while end < len(self._lines) and self._lines[end].strip() and self._lines[end][0] == " ":
            if (
                _BULLET.match(self._lines[end].lstrip())
                and len(self._lines[end]) - len(self._lines[end].lstrip()) > 0
            ):
                break
            end += 1
        raw = "\n".join([self._lines[start][width:], *(line.strip() for line in self._lines[start + 1 : end])])
        lead = _LEAD.match(raw)
        names = lead is not None and (lead[2] or lead[1].endswith((":", ".")))
        yield Block(
            "item",
            rst_inline(raw.removesuffix("::") + (":" if raw.endswith("::") else "")),
            self._first + start,
            self._first + end - 1,
            1,
            lead=rst_inline(lead[1]).rstrip(":. ") if lead and names else "",
        )
        self._at = end
        rest = self._indented_end(end)
        if rest > end:
            if raw.endswith("::"):
                yield from self._code(end, rest, "")
            else:
                yield from self._nested(end, rest, 1)
        self._at = max(rest, end)

    def _paragraph(self) -> Iterator[Block]:
        start, end = self._at, self._paragraph_end()
        split = next((at for at in range(start + 1, end) if self._lines[at][0] == " "), end)
        if split == start + 1 and split < end:  # a term with its definition: only the definition is text
            self._at = split
            return
        end = split
        raw = "\n".join(line.strip() for line in self._lines[start:end])
        self._at = end
        literal = raw.endswith("::")
        shown = raw.removesuffix("::").rstrip() + (":" if literal and raw.strip(":\n ") else "")
        if shown.strip(":\n "):
            yield Block("paragraph", rst_inline(shown), self._first + start, self._first + end - 1)
        if literal:
            code_end = self._indented_end(end)
            if code_end > end:
                yield from self._code(end, code_end, "")
