"""Whether a document and its server agree: exact differences, each with its line and the edit that mends it.

Two comparisons. By meaning: names, versions, schemas, tables, errors, idempotency, examples and stated facts,
which works on any document, generated or written by hand. By text: each generated region against what would be
generated now; where there is none, prose of which nothing is left from the code is noted.
"""

import json
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.contract.documents.document import Document, FieldTable, JsonFence, ToolSection
from holdfast.contract.documents.facts import SurfaceFacts, ToolFacts, surface_facts
from holdfast.contract.documents.findings import Finding, in_order
from holdfast.contract.documents.generate import generated_regions, region_owners
from holdfast.contract.documents.lint_schemas import table_differences
from holdfast.contract.documents.parse import parse_document
from holdfast.contract.documents.principles import call_problems
from holdfast.contract.documents.regions import region_faults, split_regions
from holdfast.contract.documents.rules import finding
from holdfast.contract.documents.schema_facts import properties
from holdfast.contract.documents.sections import SectionKind
from holdfast.contract.documents.verify_statements import (
    Difference,
    error_differences,
    fact_differences,
    prose_differences,
    version_differences,
)

__all__ = ["json_differences", "verify_document"]

_MAX_DIFFERENCES = 10


def verify_document(document_text: str, snapshot: Mapping[str, Any], *, name: str = "") -> list[Finding]:
    """Every difference between a document and a server."""
    document = parse_document(document_text, name=name)
    if any(one.rule == "spec.document-too-large" for one in document.findings):
        return list(document.findings)
    surface = surface_facts(snapshot)
    found = list(_by_meaning(document, surface))
    undocumented = {one.tool for one in found if one.rule == "spec.tool-undocumented"}
    told = sorted(one.line for one in found)
    if all(piece.id is None for piece in split_regions(document_text)):
        found += _of_prose(document, surface)
    for lines, stale in _by_text(document_text, snapshot, name):
        # What differs because of something already told needs no second finding.
        if stale.tool not in undocumented and bisect_left(told, lines.start) == bisect_left(told, lines.stop):
            found.append(stale)
    return in_order(found)


def _of_prose(document: Document, surface: SurfaceFacts) -> Iterator[Finding]:
    known = {tool.name: tool for tool in surface.tools}
    for section in document.tools:
        facts = known.get(section.name)
        for message, line, _ in prose_differences(section, facts) if facts is not None else ():
            yield finding("spec.text-differs", message, line=line, tool=section.name, file=document.name)


def _by_meaning(document: Document, surface: SurfaceFacts) -> Iterator[Finding]:
    for line, message in region_faults(document.source, document.blocks):
        yield finding("spec.marker-broken", message, line=line, file=document.name)
    for message, line, remedy in version_differences(document, surface):
        yield finding("spec.version-drift", message, line=line, file=document.name, remedy=remedy)
    documented = {tool.name for tool in document.tools}
    for tool in surface.tools:
        if tool.name not in documented:
            last = max(len(document.source.lines), 1)
            message = f"the server has the tool {tool.name!r}, this file does not"
            yield finding("spec.tool-undocumented", message, line=last, tool=tool.name, file=document.name)
    known = {tool.name: tool for tool in surface.tools}
    aliases = {alias for tool in surface.tools for alias in tool.aliases}
    for section in document.tools:
        facts = known.get(section.name)
        if facts is not None:
            yield from _tool(document, section, facts)
        elif section.name not in aliases:
            message = f"the server has no tool {section.name[:60]!r}"
            hint = _nearest(section.name, sorted(set(known) - documented))
            yield finding(
                "spec.tool-unknown", message, line=section.line, tool=section.name, file=document.name, remedy=hint
            )


def _nearest(name: str, candidates: list[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name[:128], candidates[:500], n=1)
    return f"Did you mean {close[0]}? Correct the invocation name, or remove the tool." if close else ""


def _tool(document: Document, section: ToolSection, facts: ToolFacts) -> Iterator[Finding]:
    def told(rule: str, message: str, line: int, remedy: str) -> Finding:
        return finding(rule, message, line=line, tool=section.name, file=document.name, remedy=remedy)

    version = section.version
    if facts.version is not None and (version is None or version.text != facts.version):
        stated = f"the file says version {version.text}" if version else "the file states no version"
        line = version.line if version else section.line
        yield told(
            "spec.version-drift", f"{stated}, the server {facts.version}", line, f"Write Version: {facts.version}."
        )
    for side, fence, table, schema in (
        ("input", section.input_schema, section.input_table, facts.input_schema),
        ("output", section.output_schema, section.output_table, facts.output_schema),
    ):
        for message, line, remedy in _schema(section, side, fence, table, schema):
            yield told("spec.schema-drift", message, line, remedy)
    yield from (told("spec.declaration-drift", *one) for one in fact_differences(section, facts))
    yield from (told("spec.errors-drift", *one) for one in _errors(section, facts))
    yield from (told("spec.errors-drift", *one) for one in error_differences(section, facts))
    yield from (told("spec.idempotency-drift", *one) for one in _idempotency(section, facts))
    for example in section.examples:
        for problem in call_problems(facts.input_schema, example.arguments):
            place = f"/arguments{problem.pointer.rstrip('/')}"
            yield told("spec.example-drift", problem.message, example.fence.line_of(place), "Correct the example.")


def _schema(
    section: ToolSection, side: str, fence: JsonFence | None, table: FieldTable | None, schema: Any
) -> Iterator[Difference]:
    place = section.sections.get(SectionKind.INPUT if side == "input" else SectionKind.OUTPUT)
    line = place.line if place else section.line
    if schema is None:
        if fence is not None:
            message = f"the server declares no {side} schema"
            yield message, fence.line, "Remove the schema, or declare it in the code."
        return
    if fence is None and table is None and properties(schema):
        yield f"the {side} schema of the server is not documented", line, "Add the schema to the section."
    if fence is not None and not fence.json.error:
        for pointer, here, there in json_differences(fence.value, schema):
            message = f"the {side} schema differs at {pointer or '/'}: the file has {here}, the server has {there}"
            edit = f"Write {there} there." if there != "nothing" else "Remove it."
            yield message, fence.line_of(pointer), edit
    for name, row, words in table_differences(table, schema, side) if table is not None else ():
        message = f"the {side} field {name[:60]!r}: {words} of the server"
        yield message, row.line if row else line, "Make the row say what the server says."


def json_differences(here: Any, there: Any) -> list[tuple[str, str, str]]:
    """Where two JSON values differ: pointer, the value here, the value there, as short text; the first few."""
    found: list[tuple[str, str, str]] = []
    waiting: list[tuple[str, Any, Any]] = [("", here, there)]
    while waiting and len(found) < _MAX_DIFFERENCES:
        pointer, one, other = waiting.pop(0)
        if isinstance(one, dict) and isinstance(other, dict):
            for key in sorted(set(one) | set(other)):
                path = f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
                waiting.append((path, one.get(key, _ABSENT), other.get(key, _ABSENT)))
        elif type(one) is not type(other) or one != other:
            found.append((pointer, _shown(one), _shown(other)))
    return found


_ABSENT = object()


def _shown(value: Any) -> str:
    if value is _ABSENT:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "..."


def _errors(section: ToolSection, facts: ToolFacts) -> Iterator[Difference]:
    if facts.errors is None:
        return
    place = section.sections.get(SectionKind.ERRORS)
    declared = {error.code for error in facts.errors}
    for error in section.errors:
        if error.code not in declared:
            yield f"the server does not declare the error code {error.code}", error.line, f"Remove {error.code}."
    documented = {error.code for error in section.errors}
    for missing in sorted(declared - documented):
        line = place.line if place else section.line
        yield f"the error code {missing} of the server is not documented", line, f"Add {missing}."


def _idempotency(section: ToolSection, facts: ToolFacts) -> Iterator[Difference]:
    stated = section.idempotency
    if facts.word is None or stated is None:
        return
    if stated.word is not facts.word:
        said = stated.word.value if stated.word else "nothing"
        message = f"the file says {said} on idempotency, the server {facts.word.value}"
        yield message, stated.line, f"Write Idempotent: {facts.word.value}."
    elif stated.effect is not None and facts.effect is not None and stated.effect is not facts.effect:
        message = f"the file says the effect is {stated.effect.value}, the server {facts.effect.value}"
        yield message, stated.line, f"Write {facts.effect.value}."


def _by_text(text: str, snapshot: Mapping[str, Any], name: str) -> Iterator[tuple[range, Finding]]:
    """The regions that are not as they would be generated now, each with the lines that it has."""
    expected = generated_regions(snapshot)
    owners = region_owners(snapshot)
    pieces = [piece for piece in split_regions(text) if piece.id is not None]
    for piece in pieces:
        lines = range(piece.line, piece.line + piece.text.count("\n"))
        if piece.id not in expected:
            message = f"the region {piece.id} belongs to no tool of the server"
            yield lines, finding("spec.region-stale", message, line=piece.line, file=name)
            continue
        difference = _first_difference(piece.text, expected[piece.id])
        if difference is not None:
            offset, message, remedy = difference
            line, tool = piece.line + offset, owners.get(piece.id)
            yield lines, finding("spec.region-stale", message, line=line, tool=tool, file=name, remedy=remedy)
    present = {piece.id for piece in pieces}
    for identity, tool in owners.items():
        if present and identity not in present:
            message = f"the region {identity} is missing"
            yield range(0), finding("spec.region-stale", message, line=1, tool=tool, file=name)


def _first_difference(old: str, new: str) -> tuple[int, str, str] | None:
    plain = old.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    here, there = plain.rstrip().split("\n"), new.rstrip().split("\n")
    if here == there:
        return None
    offset = next(
        (number for number, (one, other) in enumerate(zip(here, there, strict=False)) if one != other),
        min(len(here), len(there)),
    )
    one = here[offset] if offset < len(here) else ""
    other = there[offset] if offset < len(there) else ""
    message = f"the file has {one[:80]!r}, generated would be {other[:80]!r}"
    return min(offset, len(here) - 1), message, f"Write {other[:80]!r} there, or generate the document again."
