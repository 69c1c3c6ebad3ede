"""One tool as the eight sections of a specification, in Markdown, from the facts that its server declares.

Everything a server declares is text from elsewhere: it is written so that it cannot change the structure of the
document around it. The same facts always give the same text.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from holdfast.contract.documents.facts import SurfaceFacts, ToolFacts
from holdfast.contract.documents.inline import cell, code_span, safe_prose
from holdfast.contract.documents.lint_structure import NOT_DECLARED
from holdfast.contract.documents.schema_facts import Property, definitions, properties, violations
from holdfast.contract.documents.sections import SectionKind
from holdfast.contract.documents.types import type_words
from holdfast.present.dialects import failure
from holdfast.vocabulary.faults import fault

__all__ = ["header", "json_fence", "parameter_table", "section_text", "tool_heading"]

_MAX_EXAMPLE = 60
_NOTHING = "–"
# Keys that a reader looks for first; all others follow by name.
_FIRST = ("tool_name", "status", "ok", "error_type", "error_message", "$schema", "title", "description", "type")


def header(surface: SurfaceFacts) -> str:
    """The title of a document and what it says of the whole server."""
    parts = [f"# MCP Tool Specification: {cell(surface.name) or 'unnamed server'}"]
    parts.append("Text between the comments of this file is generated from the code; other text is kept as it is.")
    stated = [f"{word} {cell(value)}" for word, value in _versions(surface) if value]
    if stated:
        parts.append("; ".join(stated) + ".")
    if surface.instructions.strip():
        parts.append(safe_prose(surface.instructions))
    if not surface.tools:
        parts.append("This server exposes no tools.")
    return "\n\n".join(parts)


def _versions(surface: SurfaceFacts) -> tuple[tuple[str, str], ...]:
    return ("Server version", surface.version), ("surface version", surface.schema_version)


def tool_heading(tool: ToolFacts) -> str:
    """The heading of a tool."""
    return f"## Tool: {code_span(tool.name)}"


def section_text(kind: SectionKind, tool: ToolFacts, surface: SurfaceFacts) -> str:
    """One section of a tool, with its heading, without a newline at the end."""
    body = "\n\n".join(part for part in _WRITERS[kind](tool, surface) if part)
    return f"{kind.heading}\n\n{body or NOT_DECLARED}"


def _purpose(tool: ToolFacts, _surface: SurfaceFacts) -> Iterable[str]:
    limit = None if tool.timeout_ms is None else f"{tool.timeout_ms} ms" if tool.timeout_ms else "none"
    facts = [
        ("Version", tool.version),
        ("Schema version", tool.schema_version),
        ("Title", tool.title),
        ("Other names", ", ".join(code_span(alias) for alias in tool.aliases)),
        ("Read-only", None if tool.read_only is None else "Yes" if tool.read_only else "No"),
        ("Time limit", limit),
    ]
    yield "\n".join(f"- **{label}**: {cell(str(value))}" for label, value in facts if value not in {None, ""})
    yield safe_prose(tool.description) if tool.description.strip() else NOT_DECLARED
    if tool.deprecated:
        yield safe_prose(_deprecation(tool.deprecated))


def _deprecation(stated: Mapping[str, Any]) -> str:
    words = [f"**Deprecated** since {stated.get('since', 'an earlier version')}."]
    if stated.get("reason"):
        words.append(f"{stated['reason']}".rstrip(".") + ".")
    if stated.get("replacement"):
        words.append(f"Use {code_span(str(stated['replacement']))} instead.")
    return " ".join(words)


def _name(tool: ToolFacts, _surface: SurfaceFacts) -> Iterable[str]:
    yield code_span(tool.name)


def _input(tool: ToolFacts, _surface: SurfaceFacts) -> Iterable[str]:
    if tool.input_schema is None:
        return
    fields = _sorted(tool.input_schema)
    shown = tool.calls[0] if tool.calls else {}
    yield parameter_table(tool.input_schema, fields, shown) if fields else "This tool takes no parameters."
    yield "JSON Schema of the arguments:"
    yield json_fence(tool.input_schema)


def _output(tool: ToolFacts, _surface: SurfaceFacts) -> Iterable[str]:
    if tool.output_schema is None:
        if tool.content:
            yield "None."
            yield f"The answer is content: {', '.join(tool.content)}."
        return
    fields = _sorted(tool.output_schema)
    if fields:
        yield _field_table(tool.output_schema, fields, tool.result or {})
    yield "JSON Schema of the result:"
    yield json_fence(tool.output_schema)
    if tool.result is not None:
        yield "Example of a result:"
        yield json_fence(tool.result)


def _sorted(schema: Any) -> list[Property]:
    """The fields of a schema, those that are required first."""
    return sorted(properties(schema), key=lambda one: (not one.required, one.name))


def parameter_table(schema: Any, fields: Iterable[Property], shown: Mapping[str, Any]) -> str:
    """The table of the parameters; `shown` is a call that example values are taken from."""
    head = "| Parameter Name | Type | Required | Description | Example Value |\n| :-- | :-- | :-- | :-- | :-- |"
    rows = [
        f"| {code_span(one.name)} | {_type(one, schema)} | {'Yes' if one.required else 'No'} "
        f"| {_description(one)} | {_example(one, schema, shown)} |"
        for one in fields
    ]
    return "\n".join([head, *rows])


def _field_table(schema: Any, fields: Iterable[Property], shown: Mapping[str, Any]) -> str:
    head = "| Field Name | Type | Description | Example Value |\n| :-- | :-- | :-- | :-- |"
    rows = [
        f"| {code_span(one.name)} | {_type(one, schema)} | {_description(one)} | {_example(one, schema, shown)} |"
        for one in fields
    ]
    return "\n".join([head, *rows])


def _type(one: Property, schema: Any) -> str:
    return cell(f"`{type_words(one.schema, definitions(schema))}`")


def _description(one: Property) -> str:
    if not isinstance(one.schema, dict):
        return _NOTHING
    words = one.schema.get("description")
    parts = [cell(words)] if isinstance(words, str) and words.strip() else []
    if "const" in one.schema:
        parts.append(f"Always {_value(one.schema['const'])}.")
    if "default" in one.schema:
        parts.append(f"Default: {_value(one.schema['default'])}.")
    return " ".join(parts) or _NOTHING


def _value(value: Any) -> str:
    text = json.dumps(value)
    if len(text) > _MAX_EXAMPLE:
        return "as in the schema"
    return "`" + text.replace("`", "\\u0060").replace("|", "\\u007c") + "`"


def _example(one: Property, root: Any, shown: Mapping[str, Any]) -> str:
    """A short value that is valid for the field, where one is known."""
    schema = one.schema if isinstance(one.schema, dict) else {}
    values = schema.get("enum")
    listed = schema.get("examples")
    candidates = [shown[one.name]] if one.name in shown else []
    candidates += listed[:1] if isinstance(listed, list) else []
    candidates += [schema[key] for key in ("default", "const") if key in schema]
    candidates += values[:1] if isinstance(values, list) else []
    for value in candidates:
        is_short = len(json.dumps(value)) <= _MAX_EXAMPLE
        if is_short and not violations({"$defs": definitions(root), "allOf": [schema]}, value):
            return _value(value)
    return _NOTHING


def _errors(tool: ToolFacts, surface: SurfaceFacts) -> Iterable[str]:
    if tool.errors is None:
        return
    if tool.errors:
        head = "| Error Code | Meaning | Remedy | Retryable |\n| :-- | :-- | :-- | :-- |"
        rows = [
            f"| {code_span(error.code)} | {cell(error.meaning) or _NOTHING} | {cell(error.remedy) or _NOTHING} "
            f"| {'Yes' if error.retryable else 'No'} |"
            for error in tool.errors
        ]
        yield "\n".join([head, *rows])
    else:
        yield "No error codes of its own."
    yield "Arguments that do not fit the input schema are refused before the tool runs."
    if tool.errors and surface.dialect is not None:
        first = tool.errors[0]
        shown = fault(first.code, first.meaning or first.code, retryable=first.retryable)
        yield "A failure is told in this form:"
        yield json_fence(failure(surface.dialect, shown))


def _idempotency(tool: ToolFacts, _surface: SurfaceFacts) -> Iterable[str]:
    word = tool.word
    if word is None:
        return
    yield f"**Idempotent**: {word.value}"
    if tool.effect is not None:
        yield f"**Effect**: `{tool.effect.value}`"
    sentence = tool.idempotency.removeprefix(word.value).lstrip(". ")
    if not sentence:
        sentence = "The server hints at it; it declares nothing more about repeated calls."
    yield safe_prose(f"**Explanation**: {sentence}")


def _examples(tool: ToolFacts, _surface: SurfaceFacts) -> Iterable[str]:
    for call in tool.calls:
        yield json_fence({"tool_name": tool.name, "arguments": call})


def _security(tool: ToolFacts, _surface: SurfaceFacts) -> Iterable[str]:
    yield safe_prose(tool.security or "")


def json_fence(value: Any) -> str:
    """A JSON value in a fence, its keys in one order whatever order they came in."""
    return f"```json\n{json.dumps(_ordered(value), indent=2, ensure_ascii=False)}\n```"


def _ordered(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _ordered(value[key]) for key in sorted(value, key=_rank)}
    return [_ordered(item) for item in value] if isinstance(value, (list, tuple)) else value


def _rank(key: str) -> tuple[int, str]:
    return (_FIRST.index(key) if key in _FIRST else len(_FIRST), key)


_WRITERS: dict[SectionKind, Callable[[ToolFacts, SurfaceFacts], Iterable[str]]] = {
    SectionKind.PURPOSE: _purpose,
    SectionKind.NAME: _name,
    SectionKind.INPUT: _input,
    SectionKind.OUTPUT: _output,
    SectionKind.ERRORS: _errors,
    SectionKind.IDEMPOTENCY: _idempotency,
    SectionKind.EXAMPLES: _examples,
    SectionKind.SECURITY: _security,
}
