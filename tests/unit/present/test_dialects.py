"""One shape per dialect, proven over every code that there is.

A success, for the payload {"sku": "A-1"}:

    status   {"status": "success", "sku": "A-1"}
    poc      {"sku": "A-1"}
    launch   {"ok": true, "sku": "A-1"}

A failure, for the code NOT_FOUND with the details {"sku": "A-1"} and a hint:

    status   {"status": "failure", "error_type": "NOT_FOUND", "error_message": "no such article",
              "error_details": {"category": "downstream", "retryable": false, "hint": "list them", "sku": "A-1"}}
    poc      {"ok": false, "code": "NOT_FOUND", "message": "no such article", "sku": "A-1", "hint": "list them",
              "error": {"code": "NOT_FOUND", "message": "no such article", "details": {"sku": "A-1"}}}
    launch   {"ok": false, "error": {"code": "NOT_FOUND", "message": "no such article", "retryable": false,
                                     "details": {"hint": "list them", "sku": "A-1"}}}
"""

import json
import re
from collections.abc import Mapping
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import CODES
from holdfast.present.compact import compact_json
from holdfast.present.dialects import (
    Dialect,
    failure,
    reserved_payload_keys,
    success,
)
from holdfast.vocabulary.faults import Fault, FaultClass, fault

DIALECTS = pytest.mark.parametrize("dialect", Dialect, ids=lambda dialect: dialect.value)
TEXT = {"type": "string"}
ERROR_BODY = {"code": TEXT, "message": TEXT, "details": {"type": "object"}}

FAILURE_SCHEMAS: dict[Dialect, dict[str, Any]] = {
    Dialect.STATUS: {
        "properties": {
            "status": {"const": "failure"},
            "error_type": TEXT,
            "error_message": TEXT,
            "error_details": {
                "properties": {
                    "category": {"enum": [kind.value for kind in FaultClass]},
                    "retryable": {"type": "boolean"},
                },
                "required": ["category", "retryable"],
            },
        },
        "required": ["status", "error_type", "error_message", "error_details"],
        "additionalProperties": False,
    },
    Dialect.POC: {
        "properties": {
            "ok": {"const": False},
            "code": TEXT,
            "message": TEXT,
            "hint": TEXT,
            "timeoutMs": {"type": "number"},
            "stderr": {**TEXT, "maxLength": 4096},
            "stdout": {**TEXT, "maxLength": 4096},
            "error": {"properties": ERROR_BODY, "required": ["code", "message"], "additionalProperties": False},
        },
        "required": ["ok", "code", "message", "error"],
    },
    Dialect.LAUNCH: {
        "properties": {
            "ok": {"const": False},
            "run_id": TEXT,
            "error": {
                "properties": {**ERROR_BODY, "retryable": {"type": "boolean"}},
                "required": ["code", "message", "retryable", "details"],
                "additionalProperties": False,
            },
        },
        "required": ["ok", "error"],
        "additionalProperties": False,
    },
}

ANY_TEXT = st.text(st.characters(), max_size=30)
ENVELOPE_WORDS = st.sampled_from(
    ["ok", "code", "message", "error", "details", "hint", "timeoutMs", "faultId", "category", "retryable",
     "run_id", "status", "error_type", "_meta", "stderr", "stdout", "cause_class"]
)  # fmt: skip
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT | st.binary(max_size=9) | st.builds(object),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT | ENVELOPE_WORDS, inner, max_size=3),
    max_leaves=8,
)
FAULTS = st.builds(
    Fault,
    st.sampled_from(FaultClass),
    st.sampled_from(sorted(CODES)) | ANY_TEXT,
    ANY_TEXT,
    retryable=st.booleans(),
    details=st.dictionaries(ENVELOPE_WORDS | ANY_TEXT, ANYTHING, max_size=6),
    hint=st.none() | ANY_TEXT,
    timeout_ms=st.none() | st.integers(0, 10**9),
    fault_id=st.none() | ANY_TEXT,
)


def the_fault(code: str) -> Fault:
    return fault(code, "no such article", details={"sku": "A-1"}, hint="list them")


@DIALECTS
def test_the_shapes_at_the_top_of_this_page_are_the_shapes(dialect: Dialect) -> None:
    shown = re.findall(
        rf"^    {dialect.value} +(\{{.*?\}})\n(?=    \w|\n|\Z)", __doc__ or "", re.MULTILINE | re.DOTALL
    )
    documents = [json.loads(text) for text in shown]
    assert documents == [success(dialect, {"sku": "A-1"}), failure(dialect, the_fault("NOT_FOUND"))]


def fault_code(dialect: Dialect, document: Mapping[str, Any]) -> Any:
    """The code of the fault that a document tells; None where it tells a success."""
    if dialect is Dialect.STATUS:
        return document["error_type"] if document.get("status") == "failure" else None
    return document["error"]["code"] if document.get("ok") is False else None


@DIALECTS
@pytest.mark.parametrize("code", sorted(CODES))
def test_every_code_has_the_shape_of_its_dialect_and_reads_back(code: str, dialect: Dialect) -> None:
    document = failure(dialect, the_fault(code))
    jsonschema_rs.validate(FAILURE_SCHEMAS[dialect], document)
    assert fault_code(dialect, document) == code
    assert fault_code(dialect, success(dialect, {"sku": "A-1"})) is None
    if dialect is not Dialect.POC:
        assert CODES[code].retryable in (document.get("error") or document["error_details"]).values()


@DIALECTS
@given(told=FAULTS)
def test_any_fault_becomes_json_in_the_shape_of_the_dialect(dialect: Dialect, told: Fault) -> None:
    document = failure(dialect, told)
    assert json.loads(compact_json(document)) == document
    jsonschema_rs.validate(FAILURE_SCHEMAS[dialect], document)
    assert fault_code(dialect, document) == told.code.encode("utf-8", "replace").decode()


@DIALECTS
def test_an_internal_error_always_names_the_class_of_its_cause(dialect: Dialect) -> None:
    unnamed = failure(dialect, fault("INTERNAL", "boom", fault_id="f-9"))
    named = failure(dialect, fault("INTERNAL", "boom", details={"cause_class": "KeyError"}))
    found = [document.get("error_details") or document["error"]["details"] for document in (unnamed, named)]
    assert [details["cause_class"] for details in found] == ["unknown", "KeyError"]
    assert found[0]["faultId"] == "f-9"


@DIALECTS
def test_a_timeout_tells_its_limit(dialect: Dialect) -> None:
    assert '"timeoutMs":50' in compact_json(failure(dialect, fault("TOOL_TIMEOUT", "slow", timeout_ms=50)))


@pytest.mark.requirement("OURS-15-tails")
@DIALECTS
def test_captured_output_is_cut_to_its_last_4_kib(dialect: Dialect) -> None:
    told = fault("NOT_FOUND", "x", details={"stderr": "é" * 9000 + "\nthe end\n", "stdout": b"\xff" * 9000})
    document = failure(dialect, told)
    details = document.get("error_details") or document["error"]["details"]
    assert all(len(details[stream].encode()) <= 4096 for stream in ("stderr", "stdout"))
    assert details["stderr"].endswith("the end")
    assert len(compact_json(document)) < 20_000


@pytest.mark.requirement("OURS-15-details")
def test_poc_details_never_replace_keys_of_the_envelope() -> None:
    sly = {"ok": True, "code": "FINE", "message": "all well", "error": None, "hint": 1, "_meta": 2, "path": "a"}
    document = failure(Dialect.POC, fault("NOT_FOUND", "gone", details=sly))
    assert (document["ok"], document["code"], document["message"]) == (False, "NOT_FOUND", "gone")
    assert {"hint", "_meta"}.isdisjoint(document)
    assert document["path"] == "a"
    assert document["error"]["details"] == sly


def test_status_details_that_collide_move_one_level_down() -> None:
    told = fault("NOT_FOUND", "gone", details={"category": "mine", "details": 1, "sku": "A-1"})
    assert failure(Dialect.STATUS, told)["error_details"] == {
        "category": "downstream",
        "retryable": False,
        "sku": "A-1",
        "details": {"category": "mine", "details": 1},
    }


def test_launch_lifts_the_run_id_out_of_the_details() -> None:
    document = failure(Dialect.LAUNCH, fault("ILLEGAL_STATE", "busy", details={"run_id": "r_1", "reason": "busy"}))
    assert document["run_id"] == "r_1"
    assert document["error"]["details"] == {"reason": "busy"}


@DIALECTS
def test_meta_is_added_where_it_is_given(dialect: Dialect) -> None:
    meta = {"schemaVersion": "1.0.0", "toolVersion": "0.1.0", "ts": "2026-01-01T00:00:00Z", "durationMs": 3}
    told = fault("NOT_FOUND", "gone", details={"_meta": "mine"})
    assert failure(dialect, told, meta=meta)["_meta"] == meta
    assert "_meta" not in failure(dialect, told)


@DIALECTS
@pytest.mark.parametrize("payload", [None, 7, "text", [1, 2], True])
def test_a_payload_that_is_no_object_stands_under_result(payload: Any, dialect: Dialect) -> None:
    assert success(dialect, payload)["result"] == payload


@DIALECTS
def test_a_map_that_holds_the_envelopes_key_is_not_overwritten(dialect: Dialect) -> None:
    counts = {"status": 3, "ok": 4}
    document = success(dialect, counts)
    assert counts in (document, document.get("result"))
    assert fault_code(dialect, document) is None


def test_reserved_keys_are_those_of_the_envelope() -> None:
    reserved = {dialect.value: set(reserved_payload_keys(dialect)) for dialect in Dialect}
    assert reserved == {"status": {"status"}, "poc": {"error"}, "launch": {"ok"}}
