"""One section in canonical form: what the author wrote, what follows from it, and what has to be asked for.

A schema follows from a table and a table from a schema. Whether a tool is idempotent or what it may touch
follows from nothing; there a person is asked.
"""

from collections.abc import Callable
from typing import Any

from holdfast.contract.documents.document import FieldTable, IdempotencyWord, JsonFence, ToolSection
from holdfast.contract.documents.inline import code_span
from holdfast.contract.documents.lint_schemas import value_of_text
from holdfast.contract.documents.lint_structure import is_empty
from holdfast.contract.documents.migrate_lines import ToolLines
from holdfast.contract.documents.reading import invocation_name
from holdfast.contract.documents.render import json_fence, parameter_table
from holdfast.contract.documents.schema_facts import properties
from holdfast.contract.documents.sections import SectionKind
from holdfast.contract.documents.template import FILL_IN, UNNAMED
from holdfast.contract.documents.types import schema_of_type, type_names

__all__ = ["FIRST_VERSION", "completed"]

FIRST_VERSION = "1.0.0"
_ASKED = {
    SectionKind.PURPOSE: "what the tool does and when to use it.",
    SectionKind.INPUT: "a table and a JSON Schema of the parameters, or None.",
    SectionKind.OUTPUT: "a table and a JSON Schema of the result, or None.",
    SectionKind.ERRORS: "a table of error codes with meaning and remedy, or None.",
    SectionKind.IDEMPOTENCY: "Yes, No or Partially behind the word Idempotent, and what a repeated call does.",
    SectionKind.EXAMPLES: "a complete JSON call with tool_name and arguments.",
    SectionKind.SECURITY: "what the tool may read, change and reach, and what limits it.",
}


def completed(kind: SectionKind, tool: ToolSection, written: ToolLines) -> str:
    """The body of one section, complete but for what is asked for in it."""
    body = written.bodies.get(kind, "")
    if kind is SectionKind.PURPOSE:
        return _purpose(tool, written, body)
    section = tool.sections.get(kind)
    if section is None or is_empty(section):
        is_name = kind is SectionKind.NAME
        return _joined(body, code_span(tool.name or UNNAMED) if is_name else f"{FILL_IN} {_ASKED[kind]}")
    if kind is SectionKind.NAME and invocation_name(section) != tool.name:
        return _joined(code_span(tool.name or UNNAMED), body)
    complete = _COMPLETIONS.get(kind)
    return complete(tool, body) if complete else body


def _joined(*parts: str) -> str:
    """The parts that say something; what is asked for already is not asked for again."""
    kept: list[str] = []
    for part in parts:
        is_asked = FILL_IN in part and any(FILL_IN in other for other in kept)
        kept += [part] if part.strip() and not is_asked else []
    return "\n\n".join(kept)


def _purpose(tool: ToolSection, written: ToolLines, body: str) -> str:
    stated = tool.version.text if tool.version else FIRST_VERSION
    version = "" if _states_version(tool) else f"**Version**: {stated}"
    has_title = tool.origin == "heading" and tool.heading_name and tool.heading_name != tool.name
    title = f"**Title**: {tool.heading_name}" if has_title else ""
    section = tool.sections.get(SectionKind.PURPOSE)
    says = any(block.kind in {"paragraph", "item"} for block in tool.preamble)
    says = says or (section is not None and not is_empty(section))
    asked = "" if says else f"{FILL_IN} {_ASKED[SectionKind.PURPOSE]}"
    return _joined(version, title, written.preamble, body, asked)


def _states_version(tool: ToolSection) -> bool:
    """Whether the version will stand under the purpose or the name without being stated again."""
    if tool.version is None:
        return False
    places = [tool.sections[kind] for kind in (SectionKind.PURPOSE, SectionKind.NAME) if kind in tool.sections]
    is_before = not tool.order or tool.version.line < tool.order[0].line
    return is_before or any(section.line <= tool.version.line <= section.end_line for section in places)


def _input(tool: ToolSection, body: str) -> str:
    if tool.input_none:
        return body
    shown = tool.examples[0].arguments if tool.examples else None
    example = shown if isinstance(shown, dict) else {}
    return _both_forms(body, tool.input_table, tool.input_schema, example, "the arguments")


def _output(tool: ToolSection, body: str) -> str:
    return body if tool.output_none else _both_forms(body, tool.output_table, tool.output_schema, {}, "the result")


def _both_forms(
    body: str, table: FieldTable | None, schema: JsonFence | None, shown: dict[str, Any], what: str
) -> str:
    """The body with the form that it lacks, made from the one that it has."""
    if schema is not None:
        fields = properties(schema.value) if table is None else []
        return _joined(body, parameter_table(schema.value, fields, shown) if fields else "")
    if table is None:
        return _joined(body, f"{FILL_IN} a JSON Schema of {what}, or None.")
    return _joined(body, "JSON Schema:", json_fence(_schema(table)))


def _schema(table: FieldTable) -> dict[str, Any]:
    """The schema that a table means."""
    members: dict[str, Any] = {}
    for row in table.rows:
        member = schema_of_type(row.type_text) or {}
        if row.description:
            member["description"] = row.description
        if row.default is not None:
            member["default"] = value_of_text(row.default, type_names(member, {}))
        members[row.name] = member
    schema: dict[str, Any] = {"type": "object", "properties": members}
    required = sorted({row.name for row in table.rows if row.required})
    return {**schema, "required": required} if required else schema


def _idempotency(tool: ToolSection, body: str) -> str:
    stated = tool.idempotency
    if stated is None or stated.word is None:
        return body if FILL_IN in body else _joined(f"{FILL_IN} {_ASKED[SectionKind.IDEMPOTENCY]}", body)
    is_short = len(stated.explanation.split()) < 3
    asked = f"**Explanation**: {FILL_IN} what a repeated call with the same arguments does." if is_short else ""
    return _joined(body if "idempotent" in body.lower() else _led_by_word(stated.word, body), asked)


def _led_by_word(word: IdempotencyWord, body: str) -> str:
    """The body with the label before its first word, where that is the word itself."""
    if body.lstrip("*_` ").lower().startswith(word.value.lower()):
        return f"**Idempotent**: {body.lstrip()}"
    return f"**Idempotent**: {word.value}\n\n{body}"


_COMPLETIONS: dict[SectionKind, Callable[[ToolSection, str], str]] = {
    SectionKind.INPUT: _input,
    SectionKind.OUTPUT: _output,
    SectionKind.IDEMPOTENCY: _idempotency,
}
