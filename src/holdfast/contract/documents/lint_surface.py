"""The principles of specifications applied to a server itself: its snapshot, or its plain list of tools.

A server that passes has everything that a complete document is generated from. What a plain list cannot say
(errors, examples, security, effects) is not asked of it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.contract.documents.document import IdempotencyWord
from holdfast.contract.documents.facts import SurfaceFacts, ToolFacts, surface_facts
from holdfast.contract.documents.findings import Finding
from holdfast.contract.documents.lint import selected
from holdfast.contract.documents.principles import (
    Problem,
    call_problems,
    description_problems,
    error_problems,
    idempotency_problems,
    name_problems,
    placeholders,
    property_problems,
    schema_problems,
    security_problems,
    version_problems,
)
from holdfast.contract.documents.rules import finding
from holdfast.contract.documents.schema_facts import properties, violations

__all__ = ["lint_surface"]

# What to do in code, where the remedy of the rule speaks of a file.
_REMEDIES = {
    "schema-missing": "Declare the schema of the arguments and of the result.",
    "version-missing": "Declare a version such as 1.0.0 for the tool.",
    "example-missing": "Declare an example of a call with its arguments.",
    "no-tools-found": "Register at least one tool.",
    "idempotency-unclear": "Declare the effect of the tool.",
}


def lint_surface(surface_snapshot: Mapping[str, Any]) -> list[Finding]:
    """What is wrong with a server, by the same rules as for documents; findings carry no line but a tool."""
    return selected(_all(surface_facts(surface_snapshot)), None)


def _all(surface: SurfaceFacts) -> Iterator[Finding]:
    if not surface.tools:
        remedy = _REMEDIES["no-tools-found"]
        yield finding("spec.no-tools-found", "the server has no tools", line=0, file=surface.name, remedy=remedy)
    names = Counter(name for tool in surface.tools for name in (tool.name, *tool.aliases))
    for name, count in names.items():
        if count > 1:
            words = f"{count} tools have the name {name!r}"
            yield finding("spec.name-duplicate", words, line=0, tool=name, file=surface.name)
    for tool in surface.tools:
        for problem in _problems(tool, is_full=surface.is_full):
            place = f" (at {problem.pointer})" if problem.pointer.startswith("/properties") else ""
            words = problem.message + place
            rule, remedy = f"spec.{problem.rule}", _REMEDIES.get(problem.rule, "")
            yield finding(rule, words, line=0, tool=tool.name, file=surface.name, remedy=remedy)


def _problems(tool: ToolFacts, *, is_full: bool) -> Iterator[Problem]:
    yield from name_problems(tool.name)
    yield from description_problems(tool.description)
    for match in placeholders(f"{tool.description}\n{tool.security or ''}"):
        yield Problem("placeholder", f"the placeholder {match.group()[:60]!r} was left unfilled")
    yield from _schemas(tool)
    yield from _hints(tool)
    if is_full or tool.version is not None:
        yield from version_problems(tool.version)
    if is_full:
        yield from _declarations(tool)


def _schemas(tool: ToolFacts) -> Iterator[Problem]:
    for side, schema in (("input", tool.input_schema), ("output", tool.output_schema)):
        if schema is None:
            yield Problem("schema-missing", f"there is no {side} JSON Schema")
            continue
        faults = list(schema_problems(schema, side))
        yield from faults
        if not any(problem.rule == "schema-invalid" for problem in faults):
            yield from property_problems(schema, side)
    for example in tool.examples:
        yield from call_problems(tool.input_schema, example)


def _hints(tool: ToolFacts) -> Iterator[Problem]:
    if tool.read_only and tool.idempotent_hint is False:
        yield Problem("idempotency-contradiction", "read-only, but the hint says that repeating it changes more")
    if tool.effect is None:
        return
    word = tool.stated_word if tool.idempotency else tool.word
    yield from idempotency_problems(word, tool.effect)
    if tool.idempotent_hint is not None and tool.idempotent_hint != (tool.word is IdempotencyWord.YES):
        words = f"the hint on idempotency contradicts the effect {tool.effect.value}"
        yield Problem("idempotency-contradiction", words)


def _declarations(tool: ToolFacts) -> Iterator[Problem]:
    """What only a snapshot of ours declares."""
    if tool.effect is None:
        yield from idempotency_problems(tool.word, None)
    if not tool.calls:
        yield Problem("example-missing", "there is no example of a call")
    if tool.result is not None and tool.output_schema is not None:
        for pointer, message in violations(tool.output_schema, tool.result):
            words = f"the example of a result does not fit at {pointer}: {message}"
            yield Problem("result-invalid", words, pointer)
    yield from error_problems((error.code, error.meaning) for error in tool.errors or ())
    if not (tool.security or "").strip():
        yield Problem("security-undeclared", "nothing is said about security")
        return
    names = [one.name for one in properties(tool.input_schema)]
    yield from security_problems(tool.name, names, tool.security or "")
