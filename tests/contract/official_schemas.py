"""The official JSON schemas of the five revisions, as validators of one named definition each."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

__all__ = ["assert_valid", "has_definition", "problems"]

SCHEMAS = Path(__file__).parent / "schemas"


@cache
def _schema(revision: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads((SCHEMAS / f"{revision}.json").read_text())
    return schema


def _place(revision: str) -> str:
    return "definitions" if "definitions" in _schema(revision) else "$defs"


def has_definition(revision: str, definition: str) -> bool:
    """Whether a revision knows something of this name."""
    return definition in _schema(revision)[_place(revision)]


@cache
def _validator(revision: str, definition: str) -> Any:
    schema, place = _schema(revision), _place(revision)
    document = {"$schema": schema["$schema"], place: schema[place], "$ref": f"#/{place}/{definition}"}
    is_old = "draft-07" in schema["$schema"]
    return (jsonschema_rs.Draft7Validator if is_old else jsonschema_rs.Draft202012Validator)(document)


def problems(revision: str, definition: str, value: Any) -> list[str]:
    """What is wrong with a value, by the schema of a revision."""
    return [error.message for error in _validator(revision, definition).iter_errors(value)]


def assert_valid(revision: str, definition: str, value: Any) -> None:
    """Fail with everything that is wrong with a value."""
    found = problems(revision, definition, value)
    assert not found, (revision, definition, found, value)
