"""Schemas, names and marks: the small things that every worker relies on."""

import json
from datetime import UTC, datetime, timedelta, timezone
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from holdfast.launch import claim_marks, identifiers, issues
from holdfast.launch.documents import DocumentError, decode, encode, schema, violations

_SCHEMAS = sorted(
    file.name.removesuffix(".schema.json")
    for file in files("holdfast.launch").joinpath("schemas").iterdir()
    if file.name.endswith(".schema.json")
)
_CATALOG: dict[str, Any] = {"schema_version": "1.0", "conflicts": []}


def _open_objects(node: Any, path: str = "") -> list[str]:
    """Places in a schema where an object may have any key without saying so."""
    if isinstance(node, list):
        return [place for number, item in enumerate(node) for place in _open_objects(item, f"{path}/{number}")]
    if not isinstance(node, dict):
        return []
    found = [path] if node.get("type") == "object" and "additionalProperties" not in node else []
    return found + [place for key, item in node.items() for place in _open_objects(item, f"{path}/{key}")]


@each_row("name", _SCHEMAS)
def test_a_schema_is_closed_and_can_be_used(name: str) -> None:
    document = schema(name)
    assert document["title"].endswith(".")
    assert violations(name, 7)
    embedded = {"/properties/patch_bundle"}  # checked against its own schema
    assert set(_open_objects(document)) <= embedded


def test_what_fits_is_written_the_same_whatever_the_order_of_its_keys() -> None:
    other = dict(reversed(_CATALOG.items()))
    assert encode("patch_conflicts", _CATALOG) == encode("patch_conflicts", other)
    assert decode("patch_conflicts", encode("patch_conflicts", other)) == _CATALOG


def test_what_does_not_fit_is_refused_with_every_place() -> None:
    bad = {"schema_version": "2", "conflicts": [{"patch_id": "p"}], "more": 1}
    with pytest.raises(DocumentError) as refused:
        encode("patch_conflicts", bad)
    places = {item["instancePath"] for item in refused.value.violations}
    assert {"", "/schema_version", "/conflicts/0"} <= places


@pytest.mark.parametrize("content", [b"", b"{", b"[" * 100_000, b"\xff\xfe", b'{"schema_version": NaN}'])
def test_bytes_that_hold_no_document_are_refused(content: bytes) -> None:
    with pytest.raises(DocumentError):
        decode("patch_conflicts", content)


def test_a_run_id_has_its_moment_and_its_suffix() -> None:
    moment = datetime(2026, 1, 21, 12, 0, 0, tzinfo=timezone(timedelta(hours=2)))
    made = identifiers.run_id(moment, "abcd1234ef")
    assert made == "r_2026-01-21T10-00-00Z_abcd1234"
    assert identifiers.is_run_id(made)
    assert identifiers.stamp(moment) == "2026-01-21T10:00:00.000000Z"


@pytest.mark.parametrize("text", ["", "short", "a" * 65, "r_../../etc", "r_2026 01", None, 12345678, "r_ümlaut_x"])
def test_what_cannot_be_a_run_id_is_none(text: object) -> None:
    assert not identifiers.is_run_id(text)


def test_ids_of_traces_spans_and_requests_are_stable_and_of_the_right_form() -> None:
    assert identifiers.trace_id("r_1") == identifiers.trace_id("r_1") != identifiers.trace_id("r_2")
    assert len(identifiers.trace_id("r_1")) == 32
    assert len(identifiers.span_id("a", "b")) == 16
    assert identifiers.span_id("a", "b") != identifiers.span_id("ab", "")
    assert identifiers.request_key("a", "b") != identifiers.request_key("ab", "")
    assert identifiers.work_item_id("r_1", "validator", 2, "run") == "r_1:validator:2:run"
    assert identifiers.stamp(datetime(2026, 1, 1, tzinfo=UTC)).endswith("Z")


@given(st.lists(st.from_regex(r"clm_[0-9a-f]{16}", fullmatch=True), unique=True, max_size=5))
def test_the_claims_of_a_marked_line_are_those_it_was_marked_with(ids: list[str]) -> None:
    line = "Reads CSV files." + claim_marks.mark(ids)
    assert claim_marks.claims_of(line) == ids
    assert claim_marks.without_marks(line) == "Reads CSV files."


def test_a_line_full_of_marks_that_never_end_is_read_in_no_time() -> None:
    line = "<!-- claim:" * 20_000 + " " * 100_000
    assert claim_marks.claims_of(line) == []
    assert claim_marks.without_marks(line) == line


def test_a_claim_is_the_same_whatever_its_spacing_case_and_product() -> None:
    one = claim_marks.claim_id("Tablekit  reads CSV files.", "feature", "tablekit")
    assert one == claim_marks.claim_id("gridkit reads csv files.", "feature", "GridKit")
    assert one != claim_marks.claim_id("Tablekit reads CSV files.", "format", "tablekit")


def _issue(severity: str, gate: str = "g", path: str = "a.md", line: int = 1) -> dict[str, Any]:
    return issues.issue(gate, "BAD_LINE", severity, f"{severity} in {gate} {path}", path=path, line=line)


def test_issues_have_one_order_and_warnings_do_not_count() -> None:
    found = [_issue("warn"), _issue("error", "z"), _issue("error", "a", "b.md"), _issue("blocker", "z")]
    order = [(one["severity"], one["gate"]) for one in issues.ordered(found)]
    assert order == [("blocker", "z"), ("error", "a"), ("error", "z"), ("warn", "g")]
    assert [one["severity"] for one in issues.counted(found)] == ["blocker", "error", "error"]


def test_an_issue_keeps_its_id_when_its_line_moves_and_fits_its_schema() -> None:
    first, moved = _issue("error", line=3), _issue("error", line=30)
    assert first["issue_id"] == moved["issue_id"]
    assert violations("issue", json.loads(json.dumps(first))) == []


def test_the_title_of_an_issue_is_its_first_sentence() -> None:
    assert issues.title({"message": "A link is dead. It leads to nothing."}) == "A link is dead"
    assert len(issues.title({"message": "x" * 500})) == 120
