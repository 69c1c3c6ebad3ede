"""Rules on the JSON, the schemas and the tables of one tool."""

import json
from collections.abc import Iterator
from typing import Any

from holdfast.contract.documents.document import Document, FieldRow, FieldTable, JsonFence, ToolSection
from holdfast.contract.documents.findings import Finding
from holdfast.contract.documents.json_lines import key_lines
from holdfast.contract.documents.jsonc import read_json
from holdfast.contract.documents.lint_structure import at, is_empty
from holdfast.contract.documents.principles import Problem, property_problems, schema_problems
from holdfast.contract.documents.schema_facts import Property, definitions, properties, schema_fault, violations
from holdfast.contract.documents.sections import SectionKind
from holdfast.contract.documents.types import schema_of_type, type_names

__all__ = ["schema_findings", "table_differences", "value_of_text"]


def schema_findings(document: Document, tool: ToolSection) -> Iterator[Finding]:
    """What the rules on JSON, schemas and tables say about one tool."""
    for fence in tool.fences:
        yield from _json(document, tool, fence)
    for kind, table, schema, says_none in (
        (SectionKind.INPUT, tool.input_table, tool.input_schema, tool.input_none),
        (SectionKind.OUTPUT, tool.output_table, tool.output_schema, tool.output_none),
    ):
        if table is not None:
            yield from _rows(document, tool, kind.value, table)
        if schema is not None:
            yield from _schema(document, tool, kind.value, schema, table)
        section = tool.sections.get(kind)
        if section is None or is_empty(section) or says_none:
            continue
        if schema is None and not any(fence.json.error for fence in tool.fences if fence.section is kind):
            message = f"there is no {kind.value} JSON Schema"
            yield at(document, tool, Problem("schema-missing", message), section.line)
        elif schema is not None and table is None and properties(schema.value):
            message = f"there is no table of the {kind.value} fields"
            yield at(document, tool, Problem("table-missing", message), section.line)


def _json(document: Document, tool: ToolSection, fence: JsonFence) -> Iterator[Finding]:
    told = fence.json
    rule = "example-not-json" if fence.section is SectionKind.EXAMPLES else "json-invalid"
    if told.error:
        line = fence.line + told.line - 1
        yield at(document, tool, Problem(rule, f"this is not JSON: {told.error}"), line, told.column)
        return
    if not told.is_plain:
        message = f"{len(told.comments)} comments and {told.trailing_commas} trailing commas are not JSON"
        yield at(document, tool, Problem("json-with-comments", message), fence.line)
    for key in told.repeated_keys:
        message = f"the key {key[:60]!r} stands twice in one object"
        places = [place for place in key_lines(fence.text) if place.endswith(f"/{key}")]
        line = fence.line_of(places[0] if places else "")
        yield at(document, tool, Problem("json-duplicate-key", message), line)


def _schema(
    document: Document, tool: ToolSection, side: str, fence: JsonFence, table: FieldTable | None
) -> Iterator[Finding]:
    faults = list(schema_problems(fence.value, side))
    for problem in faults:
        yield at(document, tool, problem, fence.line_of(problem.pointer))
    if any(problem.rule == "schema-invalid" for problem in faults):
        return
    described = frozenset(row.name for row in table.rows if row.description) if table else frozenset()
    for problem in property_problems(fence.value, side, described):
        yield at(document, tool, problem, fence.line_of(problem.pointer))
    if table is not None:
        yield from _differences(document, tool, side, fence, table)


def _differences(
    document: Document, tool: ToolSection, side: str, fence: JsonFence, table: FieldTable
) -> Iterator[Finding]:
    known = {one.name: one for one in properties(fence.value)}
    for name, row, words in table_differences(table, fence.value, side):
        line = row.line if row is not None else fence.line_of(known[name].pointer)
        message = f"the {side} field {name[:60]!r}: {words}"
        yield at(document, tool, Problem("table-schema-differ", message), line)
    for row in table.rows:
        if row.name in known:
            yield from _example_value(document, tool, row, fence.value, known[row.name])


def table_differences(table: FieldTable, schema: Any, side: str) -> Iterator[tuple[str, FieldRow | None, str]]:
    """Where a table and a schema disagree: the field, its row where it has one, and how."""
    known = {one.name: one for one in properties(schema)}
    for row in table.rows:
        if row.name not in known:
            yield row.name, row, "it is in the table but not in the schema"
            continue
        for words in _row_differences(row, known[row.name], side, definitions(schema)):
            yield row.name, row, words
    listed = {row.name for row in table.rows}
    for name in known:
        if name not in listed:
            yield name, None, "it is in the schema but not in the table"


def _row_differences(row: FieldRow, one: Property, side: str, defs: dict[str, Any]) -> Iterator[str]:
    if side == "input" and row.required is not None and row.required != one.required:
        words = ("required", "optional")
        yield f"{words[not row.required]} in the table, {words[not one.required]} in the schema"
    declared = schema_of_type(row.type_text)
    if declared is not None:
        said, real = type_names(declared, {}), type_names(one.schema, defs)
        if real and said != real:
            yield f"{_shown(said)} in the table, {_shown(real)} in the schema"
        elif _enum(declared) and _enum(one.schema) and _enum(declared) != _enum(one.schema):
            yield "the table lists other values than the schema"
    if row.default is not None and isinstance(one.schema, dict) and "default" in one.schema:
        default = one.schema["default"]
        if value_of_text(row.default, type_names(one.schema, defs)) != default:
            yield f"the default is {row.default} in the table, {json.dumps(default)[:60]} in the schema"


def _shown(names: frozenset[str]) -> str:
    return " | ".join(sorted(names)) if len(names) < 6 else "any"


def _enum(schema: Any) -> frozenset[str]:
    values = schema.get("enum") if isinstance(schema, dict) else None
    return frozenset(json.dumps(value) for value in values) if isinstance(values, list) else frozenset()


def value_of_text(text: str, types: frozenset[str]) -> Any:
    """The value that a cell shows: JSON where it is JSON, else the text itself where text is meant."""
    told = read_json(text)
    if told.error:
        return text.strip("\"'")
    return told.value if "string" not in types or type_names({"const": told.value}, {}) <= types else text


def _example_value(
    document: Document, tool: ToolSection, row: FieldRow, root: Any, one: Property
) -> Iterator[Finding]:
    if row.example is None or schema_fault(root) is not None:
        return
    schema = {"$defs": definitions(root), "allOf": [one.schema]}
    value = value_of_text(row.example, type_names(one.schema, definitions(root)))
    for _, message in violations(schema, value)[:1]:
        words = f"the example value of {row.name!r} does not fit: {message}"
        yield at(document, tool, Problem("table-example-invalid", words), row.line)


def _rows(document: Document, tool: ToolSection, side: str, table: FieldTable) -> Iterator[Finding]:
    fence = tool.input_schema if side == "input" else tool.output_schema
    known = {one.name: one for one in properties(fence.value)} if fence else {}
    shown = _shown_fields(tool, side)
    for row in table.rows:
        if row.example is None and row.name not in shown and not _shows_itself(row, known.get(row.name)):
            message = f"no example shows a value of the {side} field {row.name[:60]!r}"
            yield at(document, tool, Problem("table-example-missing", message), row.line)
        if schema_of_type(row.type_text) is None:
            message = f"the {side} field {row.name[:60]!r} has the type {row.type_text[:60]!r}"
            yield at(document, tool, Problem("table-type-unknown", message), row.line)
        if side == "input" and row.required is None:
            message = f"whether {row.name[:60]!r} is required is not stated"
            yield at(document, tool, Problem("table-required-unstated", message), row.line)
        schema = known[row.name].schema if row.name in known else None
        if not row.description and schema is None:
            message = f"the {side} field {row.name[:60]!r} has no description"
            yield at(document, tool, Problem("property-undescribed", message), row.line)


def _shown_fields(tool: ToolSection, side: str) -> set[str]:
    """The fields that examples of calls, or of results, have."""
    values = [call.arguments for call in tool.examples] if side == "input" else [one.value for one in tool.results]
    return {key for value in values if isinstance(value, dict) for key in value}


def _shows_itself(row: FieldRow, one: Property | None) -> bool:
    """Whether the definition of a field has a value in it."""
    schema = (
        one.schema if one is not None and isinstance(one.schema, dict) else schema_of_type(row.type_text) or {}
    )
    return row.default is not None or bool({"examples", "default", "enum", "const"} & set(schema))
