"""The hand-written shapes against the official schemas: they agree about results, good and bad."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from holdfast.probe.shapes import (
    complaints_about_call,
    complaints_about_discovery,
    complaints_about_list,
    complaints_about_welcome,
)

SCHEMAS = Path(__file__).parents[2] / "contract" / "schemas"
REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]
TOOL = {"name": "a", "inputSchema": {"type": "object"}}
TEXT = {"type": "text", "text": "x"}
MODERN = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"}

CALLS: list[tuple[dict[str, Any], bool]] = [
    ({"content": []}, True),
    ({"content": [TEXT], "isError": True}, True),
    ({"content": [{"type": "image", "data": "eA==", "mimeType": "image/png"}]}, True),
    ({"content": [{"type": "resource", "resource": {"uri": "a:b", "text": "x"}}]}, True),
    ({"content": [{"type": "resource"}]}, False),
    ({"content": [{"text": "x"}]}, False),
    ({"content": [{"type": "text"}]}, False),
    ({"content": "text"}, False),
    ({"content": [TEXT], "isError": "no"}, False),
    ({}, False),
]
LISTS: list[tuple[dict[str, Any], bool]] = [
    ({"tools": []}, True),
    ({"tools": [TOOL], "nextCursor": "x"}, True),
    ({"tools": [{**TOOL, "description": 5}]}, False),
    ({"tools": [{"name": "a"}]}, False),
    ({"tools": [{**TOOL, "name": 5}]}, False),
    ({"tools": {}}, False),
    ({"tools": [TOOL], "nextCursor": 5}, False),
    ({}, False),
]


def _official(revision: str, definition: str, value: Any) -> bool:
    schema = json.loads((SCHEMAS / f"{revision}.json").read_text())
    place = "definitions" if "definitions" in schema else "$defs"
    document = {"$schema": schema["$schema"], place: schema[place], "$ref": f"#/{place}/{definition}"}
    return bool(jsonschema_rs.validator_for(document).is_valid(value))


@pytest.mark.parametrize("revision", REVISIONS)
def test_results_of_calls_are_judged_as_the_official_schema_does(revision: str) -> None:
    for value, good in CALLS:
        whole = {**value, **({"resultType": "complete"} if revision == "2026-07-28" else {})}
        assert (not complaints_about_call(whole, revision)) == good
        assert _official(revision, "CallToolResult", whole) == good


@pytest.mark.parametrize("revision", REVISIONS)
def test_lists_of_tools_are_judged_as_the_official_schema_does(revision: str) -> None:
    for value, good in LISTS:
        whole = {**value, **(MODERN if revision == "2026-07-28" else {})}
        assert (not complaints_about_list(whole, revision)) == good
        assert _official(revision, "ListToolsResult", whole) == good


@pytest.mark.parametrize("missing", ["resultType", "ttlMs", "cacheScope", "supportedVersions", "capabilities"])
def test_a_discovery_without_a_required_member_is_complained_about(missing: str) -> None:
    whole: dict[str, Any] = {**MODERN, "supportedVersions": ["2026-07-28"], "capabilities": {}}
    assert complaints_about_discovery(whole) == []
    del whole[missing]
    assert complaints_about_discovery(whole)


@pytest.mark.parametrize("missing", ["protocolVersion", "capabilities", "serverInfo"])
def test_a_welcome_without_a_required_member_is_complained_about(missing: str) -> None:
    info = {"name": "a", "version": "1"}
    whole: dict[str, Any] = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": info}
    assert complaints_about_welcome(whole) == []
    del whole[missing]
    assert complaints_about_welcome(whole)
    assert not _official("2025-11-25", "InitializeResult", whole)


@pytest.mark.parametrize("value", [None, 5, [], "x"])
def test_what_is_no_object_is_complained_about(value: Any) -> None:
    assert complaints_about_call(value, "2025-11-25")
    assert complaints_about_list(value, "2025-11-25")
    assert complaints_about_welcome(value)
    assert complaints_about_discovery(value)
