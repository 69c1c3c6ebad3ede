"""Extraction of source code: one file in, its chunks with all their facts out.

Parse, find the definitions, find the code between them, gather what happens in each, and only then make chunks.
"""

import gc
import re
from collections.abc import Iterator
from contextlib import contextmanager

from holdfast.errors import ToolError
from holdfast.search.extract.comments import attach, find_blocks
from holdfast.search.extract.facts import Gatherer
from holdfast.search.extract.gaps import find_gaps
from holdfast.search.extract.grammar import Captures, parse
from holdfast.search.extract.names import gather_names
from holdfast.search.extract.page import MAX_TEXT, Page, one_line
from holdfast.search.extract.scopes import CONTAINERS, Owners, Scope, find_definitions
from holdfast.search.languages import available
from holdfast.search.languages.rules.language import Language
from holdfast.search.model import COUNTS, Chunk, Extraction

__all__ = ["extract"]

MAX_FACTS = 400
MAX_SIGNATURE = 1_000
MAX_SITES = 2_000

_RUNNING = ("function", "method", "procedure", "trigger")
_SIGNATURE_END = re.compile(r"(?<!\s)\s*(?:(?:=>|[:{=,])\s*)?\Z")


def extract(language: str, path: str, source: bytes) -> Extraction:
    """The chunks of a file. Source is UTF-8; broken syntax costs only what is broken."""
    rules = available(language)
    if rules is None:
        raise ToolError(
            "CAPABILITY_MISSING",
            f"There is no grammar for {language!r}, needed for {path}.",
            hint="Index the file as plain text, or install the grammar.",
        )
    with _without_collector():
        return _extract(rules, source)


@contextmanager
def _without_collector() -> Iterator[None]:
    """Thousands of small objects are made that all stay: looking for garbage among them takes half of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _extract(rules: Language, source: bytes) -> Extraction:
    captures = parse(rules, source)
    page = Page(source, captures)
    definitions = find_definitions(captures, page, rules)
    blocks = find_blocks(captures, page, rules)
    covered = [(block.start, block.end) for block in blocks if block.worth and not block.is_docstring]
    scopes = [*definitions, *find_gaps(page, definitions, covered, rules)]
    scopes.sort(key=lambda scope: (scope.start, -scope.end))
    owners = Owners(scopes)
    lent = [*captures.of("decorator"), *captures.of("lent")]
    gatherer = Gatherer(rules, captures, page, owners, Owners(scopes, lent) if lent else owners)
    gatherer.gather()
    gather_names(gatherer)
    prose = attach(blocks, owners, definitions, page, rules)
    _read_documentation(definitions, rules)
    exports = _exports(definitions, gatherer, rules)
    chunks = [_chunk(scope, gatherer) for scope in scopes if scope.start < scope.end] + prose
    chunks.sort(key=lambda chunk: (chunk.start, -chunk.end))
    return Extraction(chunks, _unique(gatherer.imports), exports, _remarks(captures))


def _read_documentation(definitions: list[Scope], rules: Language) -> None:
    """Add what only the documentation declares; a return type in the code is the better one."""
    for scope in definitions:
        found = rules.documented(scope.doc) if scope.doc and scope.kind in ("function", "method") else []
        for fact, text in found:
            if fact == "throws" or fact not in scope.facts:
                scope.add(fact, text[:MAX_TEXT])


def _exports(definitions: list[Scope], gatherer: Gatherer, rules: Language) -> list[str]:
    """What the file exports; the definitions among it carry the fact themselves."""
    outermost = [
        (scope, names)
        for scope in definitions
        # More about a type that is defined elsewhere is no name that is offered.
        if scope.parent is None
        and scope.kind != "impl"
        and (names := scope.name.split(", "))[0] == scope.plain_name
    ]
    public = [name for scope, names in outermost for name in names if _visibility(scope, name, rules) == "public"]
    named = [gatherer.page.name(*span) for span in gatherer.captures.of("export")]
    exports = _unique([*rules.exports(gatherer.page.source, public), *named])
    exported = set(exports)
    for scope, names in outermost:
        if not exported.isdisjoint(names):
            scope.facts["exports"] = [name for name in names if name in exported]
    return exports


def _visibility(scope: Scope, name: str, rules: Language) -> str:
    """By its name and its modifiers, or else by where it stands."""
    said = rules.visibility(name, scope.facts.get("modifiers", [])) or scope.access
    return "" if said == "unsaid" else said


def _chunk(scope: Scope, gatherer: Gatherer) -> Chunk:
    page, rules = gatherer.page, gatherer.language
    is_code_between = scope.kind == "module"
    return Chunk(
        mode="code",
        kind=scope.kind,
        name=scope.name,
        start=scope.start,
        end=scope.end,
        start_line=page.line(scope.start),
        end_line=page.line(scope.end - 1),
        signature="" if is_code_between else _signature(scope, page),
        doc=scope.doc,
        visibility="" if is_code_between else _visibility(scope, scope.plain_name, rules),
        text=_text_without_bodies(scope, page) if scope.kind in CONTAINERS and scope.children else None,
        facts=_facts(scope, rules.silent_sign),
        counts=_counts(scope) if "complexity" in rules.fields else {},
        flags=scope.flags,
        call_sites=gatherer.calls.get(scope, [])[:MAX_SITES],
        written=gatherer.writes.get(scope, [])[:MAX_SITES],
    )


def _facts(scope: Scope, silent_sign: str) -> dict[str, list[str]]:
    if not silent_sign:
        return {fact: _unique(values) for fact, values in scope.facts.items()}
    names = re.compile(rf"{re.escape(silent_sign)}(?=[^\W\d])")
    return {fact: _unique([names.sub("", value) for value in values]) for fact, values in scope.facts.items()}


def _signature(scope: Scope, page: Page) -> str:
    end = scope.body if scope.body > scope.head else scope.tail
    limit = MAX_TEXT if scope.kind == "variable" else MAX_SIGNATURE
    text = one_line(page.plain[scope.head : min(end, scope.head + 4 * limit)].decode("utf-8", "replace"), limit)
    return text if scope.kind == "variable" else _SIGNATURE_END.sub("", text)


def _text_without_bodies(scope: Scope, page: Page) -> str:
    pieces, position = [], scope.start
    for child in scope.children:
        if position <= child.body < child.end:
            pieces.append(page.source[position : child.body].rstrip())
            position = child.end
    pieces.append(page.source[position : scope.end])
    return b" ...".join(pieces).decode("utf-8", "replace")


def _counts(scope: Scope) -> dict[str, int]:
    counts = scope.counts
    if scope.kind not in _RUNNING and not counts:
        return {}
    complexity = 1 + sum(counts.get(name, 0) for name in ("branches", "loops", "booleans"))
    return {name: counts.get(name, 0) for name in COUNTS if name != "complexity"} | {"complexity": complexity}


def _unique(values: list[str]) -> list[str]:
    return list(dict.fromkeys(values))[:MAX_FACTS]


def _remarks(captures: Captures) -> list[str]:
    errors = len(captures.of("error"))
    return [f"{errors} syntax error{'s' if errors > 1 else ''}"] if errors else []
