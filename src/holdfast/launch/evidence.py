"""What source code says of itself: definitions with signatures, documentation and lines, imports and exports.

The parsing is the search engine's: broken syntax costs only what is broken, and syntax that is newer than the
running interpreter is no reason to know nothing. This is the one module of the room that touches the search
engine. Which name users import a definition by, and what of it is worth telling, is decided elsewhere.
"""

import dataclasses
import re
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass

from holdfast.search.extract.code import extract
from holdfast.search.extract.grammar import parse
from holdfast.search.languages import available
from holdfast.search.model import Chunk

__all__ = ["Definition", "Import", "Module", "imported", "parsed", "syntax_problem"]

_DEFINITIONS = frozenset(
    {"function", "method", "class", "variable", "type", "interface", "struct", "enum", "trait", "namespace"}
)
# The languages that are parsed well enough to call something an error.
_WELL_PARSED = frozenset({"javascript", "typescript", "tsx", "go", "rust", "java", "csharp"})
# With what documentation begins, in languages where not every comment above a definition is some.
_DOCUMENTING = {
    "rust": ("///", "/**"), "java": ("/**",), "javascript": ("/**",), "typescript": ("/**",), "tsx": ("/**",),
    "csharp": ("///", "/**"),
}  # fmt: skip
_LINE_SIGN = re.compile(r"^\s*//[/!]? ?|^\s*#+ ?")
_BLOCK_OPENING = re.compile(r"^\s*/\*[*!]*[ \t]?")
_BLOCK_LINE = re.compile(r"^\s*\*(?!/) ?")
_BLOCK_END = re.compile(r"(?<!\s)\s*+\**+/\s*$")
_BODIES = frozenset({"function", "method"})


@dataclass(frozen=True, slots=True)
class Definition:
    """Something that a file defines. `name` is qualified within the file: `Table.rows`."""

    kind: str
    name: str
    signature: str
    start_line: int
    end_line: int
    doc: str = ""
    doc_line: int = 0  # the line of the first word of the documentation; 0 where there is none
    decorators: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()
    returns: str = ""
    is_async: bool = False
    visibility: str = ""  # public, protected, private, internal; "" where the language does not say
    modifiers: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()  # their names

    @property
    def plain_name(self) -> str:
        """The name without what it stands in."""
        return self.name.rpartition(".")[2]

    @property
    def owner(self) -> str:
        """What it stands in, or nothing."""
        return self.name.rpartition(".")[0]


@dataclass(frozen=True, slots=True)
class Import:
    """A name that a file binds by importing: what it is called there, and what it is (`.reader.read_csv`)."""

    local: str
    target: str


@dataclass(frozen=True, slots=True)
class Module:
    """One parsed file. `exports` is None where the file does not say itself what it exports."""

    path: str
    definitions: tuple[Definition, ...]
    exports: tuple[str, ...] | None = None  # of Python, where most files do not say; of others what is public
    doc: str = ""
    doc_line: int = 0
    has_errors: bool = False


def parsed(language: str, path: str, text: str) -> Module | None:
    """What the file says; None where there is no grammar for its language."""
    if available(language) is None:
        return None
    found = extract(language, path, text.encode("utf-8", "replace"))
    docs: dict[str, list[Chunk]] = {}
    for chunk in found.chunks:
        if chunk.kind == "docstring":
            docs.setdefault(chunk.name, []).append(chunk)
    lines = text.split("\n")
    own = _document_of(docs.get("", ()), 0, len(text.encode("utf-8", "replace")) + 1)
    return Module(
        path=path,
        definitions=tuple(
            _definition(chunk, docs, lines, _DOCUMENTING.get(language, ("",)))
            for chunk in found.chunks
            if _is_definition(chunk)
        ),
        exports=tuple(found.exports) if language != "python" or "__all__" in text else None,
        doc=(own.text or "") if own else "",
        doc_line=_first_word(own, lines) if own else 0,
        has_errors=bool(found.remarks),
    )


def imported(language: str, text: str) -> tuple[Import, ...]:
    """The names that a file binds by importing, in order, except inside of functions."""
    rules = available(language)
    if rules is None:
        return ()
    source = text.encode("utf-8", "replace")
    bodies = [(item.start, item.end) for item in extract(language, "", source).chunks if item.kind in _BODIES]
    found: list[Import] = []
    for start, end in parse(rules, source).of("import"):
        if any(first <= start < last for first, last in bodies):
            continue
        for item in rules.imports(source[start:end].decode("utf-8", "replace")):
            found.extend(Import(local, target) for local, target in item.names)
    return tuple(found)


def syntax_problem(language: str, code: str) -> str | None:
    """Where code cannot be parsed; "" where it can, None where nothing here can tell."""
    rules = available(language) if language in _WELL_PARSED else None
    if rules is None:
        return None
    source = code.encode("utf-8", "replace")
    errors = parse(rules, source).of("error")
    return f"a syntax error on line {source.count(10, 0, errors[0][0]) + 1}" if errors else ""


def _is_definition(chunk: Chunk) -> bool:
    return chunk.mode == "code" and chunk.kind in _DEFINITIONS and bool(chunk.name)


def _definition(
    chunk: Chunk, docs: dict[str, list[Chunk]], lines: list[str], signs: tuple[str, ...]
) -> Definition:
    facts = chunk.facts
    inside = _document_of(docs.get(chunk.name, ()), chunk.start, chunk.end)
    above = None if inside else _document_above(docs.get(chunk.name, ()), chunk)
    if above and not lines[above.start_line - 1].lstrip().startswith(signs):
        above, chunk = None, dataclasses.replace(chunk, doc="")
    text = _comment_text(lines[above.start_line - 1 : above.end_line]) if above else ""
    return Definition(
        kind=chunk.kind,
        name=chunk.name,
        signature=chunk.signature,
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        doc=text or ((inside.text or chunk.doc) if inside else chunk.doc),
        doc_line=_doc_line(inside, above, chunk, lines),
        decorators=tuple(facts.get("decorators", ())),
        bases=tuple(facts.get("extends", ())),
        returns=next(iter(facts.get("return_types", ())), ""),
        is_async="async" in chunk.flags,
        visibility=chunk.visibility,
        modifiers=tuple(facts.get("modifiers", ())),
        parameters=tuple(facts.get("params", ())),
    )


def _document_of(candidates: Iterable[Chunk], start: int, end: int) -> Chunk | None:
    """The documentation within a range; a name may be defined several times in one file."""
    return next((chunk for chunk in candidates if start <= chunk.start < end), None)


def _document_above(candidates: Iterable[Chunk], chunk: Chunk) -> Chunk | None:
    """The comment that ends right above a definition, or above what is written between the two, such as a mark."""
    return next((one for one in candidates if chunk.start_line - 1 <= one.end_line < chunk.end_line + 1), None)


def _comment_text(lines: list[str]) -> str:
    """What a comment says, without its signs; unlike in the index, nothing else is lost from its lines."""
    if not lines[0].lstrip().startswith("/*"):
        return textwrap.dedent("\n".join(_LINE_SIGN.sub("", line) for line in lines)).strip("\n")
    first = _BLOCK_OPENING.sub("", lines[0])
    rest = [_BLOCK_LINE.sub("", line) for line in lines[1:]]
    made = [first, *textwrap.dedent("\n".join(rest)).split("\n")] if rest else [first]
    made[-1] = _BLOCK_END.sub("", made[-1])
    return "\n".join(line.rstrip() for line in made).strip("\n")


def _doc_line(inside: Chunk | None, above: Chunk | None, chunk: Chunk, lines: list[str]) -> int:
    if inside or above:
        return _first_word(inside, lines) if inside else above.start_line if above else 0
    return chunk.start_line if chunk.doc else 0


def _first_word(document: Chunk, lines: list[str]) -> int:
    """The line on which the documentation really begins, which may be below its quotes."""
    first = (document.text or "").split("\n", 1)[0].strip()
    for line in range(document.start_line, document.end_line + 1):
        if first and first in lines[line - 1]:
            return line
    return document.start_line
