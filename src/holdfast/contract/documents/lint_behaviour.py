"""Rules on what a tool does: its examples, errors, idempotency and security."""

from collections.abc import Iterator
from typing import Any

from holdfast.contract.documents.document import CallExample, Document, JsonFence, ToolSection
from holdfast.contract.documents.findings import Finding
from holdfast.contract.documents.json_lines import key_lines
from holdfast.contract.documents.lint_structure import at, is_empty
from holdfast.contract.documents.principles import (
    Problem,
    call_problems,
    error_problems,
    idempotency_problems,
    security_problems,
)
from holdfast.contract.documents.schema_facts import properties, violations
from holdfast.contract.documents.sections import SectionKind

__all__ = ["behaviour_findings"]

_FAILURES = frozenset({"failure", "error", "failed"})


def behaviour_findings(document: Document, tool: ToolSection) -> Iterator[Finding]:
    """What the rules on examples, errors, idempotency and security say about one tool."""
    yield from _examples(document, tool)
    yield from _results(document, tool)
    yield from _errors(document, tool)
    yield from _idempotency(document, tool)
    yield from _security(document, tool)


def _examples(document: Document, tool: ToolSection) -> Iterator[Finding]:
    section = tool.sections.get(SectionKind.EXAMPLES)
    if section is None or is_empty(section):
        return
    is_broken = any(fence.json.error for fence in tool.fences if fence.section is SectionKind.EXAMPLES)
    if not tool.examples and not is_broken:
        yield at(document, tool, Problem("example-missing", "there is no JSON example of a call"), section.line)
    for example in tool.examples:
        yield from _example(document, tool, example)


def _example(document: Document, tool: ToolSection, example: CallExample) -> Iterator[Finding]:
    missing = [
        word
        for word, value in (("tool_name", example.tool_name), ("arguments", example.arguments))
        if value is None
    ]
    if missing:
        message = f"the example has no {' and no '.join(missing)}"
        yield at(document, tool, Problem("example-incomplete", message), example.line)
    if example.tool_name is not None and example.tool_name != tool.name:
        message = f"the example calls {example.tool_name[:60]!r}, not {tool.name[:60]!r}"
        line = example.fence.line_of("/tool_name")
        yield at(document, tool, Problem("example-wrong-name", message), line)
    if example.arguments is not None:
        schema = tool.input_schema.value if tool.input_schema else None
        for problem in call_problems(schema, example.arguments):
            place = f"/arguments{problem.pointer.rstrip('/')}"
            yield at(document, tool, problem, example.fence.line_of(place))


def _results(document: Document, tool: ToolSection) -> Iterator[Finding]:
    if tool.output_schema is None:
        return
    for fence in tool.results:
        is_shown = fence.section in {SectionKind.OUTPUT, SectionKind.EXAMPLES}
        if fence.json.error or not is_shown or _failure_code(fence.value) is not None:
            continue
        for pointer, message in violations(tool.output_schema.value, fence.value):
            words = f"the example of a result does not fit the output schema at {pointer}: {message}"
            line = fence.line_of(pointer.rstrip("/"))
            yield at(document, tool, Problem("result-invalid", words, pointer), line)


def _failure_code(value: Any) -> str | None:
    """The code of the failure that a piece of JSON shows, no text where it shows none by name; else None."""
    if not isinstance(value, dict):
        return None
    inner = value.get("error")
    told = inner if isinstance(inner, dict) else value
    is_failure = value.get("status") in _FAILURES or value.get("ok") is False or "error_type" in value
    if not is_failure:
        return None
    code = next((told[key] for key in ("error_type", "code", "error_code") if key in told), "")
    return code if isinstance(code, str) else ""


def _errors(document: Document, tool: ToolSection) -> Iterator[Finding]:
    section = tool.sections.get(SectionKind.ERRORS)
    if section is None or is_empty(section):
        return
    if not tool.errors and not tool.errors_none:
        message = "no error code is named, and nothing says that there is none"
        yield at(document, tool, Problem("error-none-declared", message), section.line)
    lines = {error.code: error.line for error in tool.errors}
    # Prose names codes without explaining each apart; only a table or a list can leave one unexplained.
    listed = any(block.kind in {"table", "item"} for block in section.blocks)
    for problem in error_problems((error.code, error.meaning if listed else "prose") for error in tool.errors):
        yield at(document, tool, problem, lines[problem.pointer])
    for fence in tool.fences:
        code = _used_code(fence)
        if code and code not in lines:
            message = f"the error code {code[:60]} is used but not declared"
            yield at(document, tool, Problem("error-undeclared", message), _code_line(fence))


def _used_code(fence: JsonFence) -> str | None:
    return None if fence.json.error else _failure_code(fence.value)


def _code_line(fence: JsonFence) -> int:
    places = ("/error_type", "/error/code", "/code", "/error/error_type", "/error_code")
    return next((fence.line_of(place) for place in places if place in key_lines(fence.text)), fence.line)


def _idempotency(document: Document, tool: ToolSection) -> Iterator[Finding]:
    section = tool.sections.get(SectionKind.IDEMPOTENCY)
    if tool.idempotency is None or section is None or is_empty(section):
        return
    stated = tool.idempotency
    for problem in idempotency_problems(stated.word, stated.effect):
        yield at(document, tool, problem, stated.line)
    if stated.word is not None and len(stated.explanation.split()) < 3:
        message = "it is not explained what a repeated call does"
        yield at(document, tool, Problem("idempotency-unexplained", message), stated.line)


def _security(document: Document, tool: ToolSection) -> Iterator[Finding]:
    section = tool.sections.get(SectionKind.SECURITY)
    if section is None or is_empty(section):
        return
    names = {row.name for row in tool.input_table.rows} if tool.input_table else set()
    if tool.input_schema is not None:
        names |= {one.name for one in properties(tool.input_schema.value)}
    for problem in security_problems(tool.name, sorted(names), tool.security):
        yield at(document, tool, problem, section.line)
