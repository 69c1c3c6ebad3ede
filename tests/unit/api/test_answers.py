"""What the host sent, as a payload or a fault, whatever it looks like."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.api.answers import answer_of
from holdfast.present.dialects import Dialect, failure
from holdfast.vocabulary.faults import Fault, fault
from holdfast.wire.envelope import Response

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def failed(error: dict[str, Any]) -> Fault:
    answer = answer_of(Response("1", None, error), is_tool=True)
    assert isinstance(answer, Fault)
    return answer


def told(text: str, **more: Any) -> Fault:
    result = {"isError": True, "content": [{"type": "text", "text": text}], **more}
    answer = answer_of(Response("1", result, None), is_tool=True)
    assert isinstance(answer, Fault)
    return answer


def test_a_tool_answers_with_its_structured_content() -> None:
    assert answer_of(Response("1", {"structuredContent": {"a": 1}, "content": []}, None), is_tool=True) == {"a": 1}


def test_without_structured_content_the_text_is_the_payload() -> None:
    result = {"content": [{"type": "text", "text": '{"a":1}'}]}

    assert answer_of(Response("1", result, None), is_tool=True) == {"a": 1}


def test_other_methods_answer_with_their_result() -> None:
    assert answer_of(Response("1", {"a": 1, "isError": True}, None), is_tool=False) == {"a": 1, "isError": True}


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (-32602, "INVALID_REQUEST"),
        (1001, "QUEUE_OVERLOADED"),
        (-32001, "QUEUE_OVERLOADED"),
        (-32601, "CAPABILITY_MISSING"),
        (-5, "INTERNAL"),
    ],
)
def test_an_error_without_data_has_the_code_of_its_number(number: int, code: str) -> None:
    assert failed({"code": number, "message": "m"}).code == code


def test_the_bare_list_of_a_protocol_error_is_the_list_of_violations() -> None:
    problem = failed({"code": -32602, "message": "m", "data": {"code": "INVALID_REQUEST", "details": [{"a": 1}]}})

    assert problem.details == {"violations": [{"a": 1}]}


def test_a_fault_survives_the_way_through_its_envelope() -> None:
    before = fault(
        "INTERNAL", "m", details={"cause_class": "X", "stderr": "e"}, hint="h", timeout_ms=5, fault_id="f"
    )

    assert told(json.dumps(failure(Dialect.POC, before))) == before


def test_a_failure_that_is_no_envelope_is_told_as_it_is() -> None:
    problem = told("it broke", _meta={"io.holdfast/error": {"code": "NO_INDEX"}})

    assert (problem.code, problem.message) == ("NO_INDEX", "it broke")
    assert told("it broke").code == "INTERNAL"


@given(JSON, st.booleans())
def test_any_result_is_a_payload_or_a_fault(result: Any, is_tool: bool) -> None:
    assert isinstance(answer_of(Response("1", result, None), is_tool=is_tool), dict | Fault)


@given(JSON, st.integers())
def test_any_data_of_an_error_is_a_fault_that_can_be_told(data: Any, number: int) -> None:
    problem = failed({"code": number, "message": "m", "data": data})

    assert failure(Dialect.POC, problem)["ok"] is False
