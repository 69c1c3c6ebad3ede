"""Decoded JSON to requests, notifications and responses."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rows import each_row

from holdfast.errors import WireError
from holdfast.wire.codec import decode, encode
from holdfast.wire.envelope import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    Notification,
    Request,
    Response,
    error_message,
    notification_message,
    parse,
    request_message,
    result_message,
)

V = {"jsonrpc": "2.0"}
ERROR = {"code": -1, "message": "no"}

JUNK = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.integers())
MEMBERS = st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error", "extra"])
VALUES = JUNK | st.sampled_from(["2.0", ERROR, {}])


def test_the_three_kinds_of_message_are_told_apart() -> None:
    assert parse({**V, "id": 1, "method": "m", "params": {"a": 1}}) == Request(1, "m", {"a": 1})
    assert type(parse({**V, "id": "1", "method": "m"})) is Request
    assert parse({**V, "method": "m"}) == Notification("m", {})
    assert parse({**V, "id": 1, "result": {"a": 1}}) == Response(1, {"a": 1}, None)
    assert parse({**V, "id": 1, "error": ERROR}) == Response(1, None, ERROR)


@pytest.mark.parametrize("message", [{**V, "id": None, "error": ERROR}, {**V, "error": ERROR}])
def test_an_error_response_may_answer_an_unreadable_request(message: dict[str, Any]) -> None:
    assert parse(message) == Response(None, None, ERROR)


@pytest.mark.parametrize("root", [None, True, 1, 1.5, "x", [], [{**V, "method": "m"}]])
def test_a_root_that_is_not_an_object_is_refused(root: object) -> None:
    with pytest.raises(WireError) as caught:
        parse(root)
    assert (caught.value.jsonrpc_code, caught.value.request_id) == (INVALID_REQUEST, None)


@each_row(
    "members",
    [
        {"jsonrpc": "1.0", "method": "m"},
        {"jsonrpc": 2.0, "method": "m"},
        {"jsonrpc": None, "method": "m"},
        {"jsonrpc": ["2.0"], "method": "m"},
        {},
        {"method": ""},
        {"method": None},
        {"method": 5},
        {"method": ["m"]},
        {"method": "m", "params": None},
        {"method": "m", "params": []},
        {"method": "m", "params": "p"},
        {"method": "m", "result": 1},
        {"method": "m", "error": ERROR},
        {"result": 1, "error": ERROR},
        {"error": None},
        {"error": "no"},
        {"error": {}},
        {"error": {"code": True, "message": "no"}},
        {"error": {"code": 1.0, "message": "no"}},
        {"error": {"code": 1}},
        {"error": {"code": 1, "message": None}},
    ],
)
def test_a_broken_envelope_is_refused_under_the_id_it_carries(members: dict[str, Any]) -> None:
    with pytest.raises(WireError) as caught:
        parse({**V, "id": "r-1", **members})
    assert (caught.value.jsonrpc_code, caught.value.request_id) == (INVALID_REQUEST, "r-1")


@pytest.mark.parametrize("rest", [{"method": "m"}, {"result": {}}])
@pytest.mark.parametrize("wrong", [None, True, False, 1.0, [1], {"id": 1}])
def test_an_id_that_is_not_a_string_or_integer_is_refused(wrong: object, rest: dict[str, Any]) -> None:
    with pytest.raises(WireError) as caught:
        parse({**V, "id": wrong, **rest})
    assert (caught.value.jsonrpc_code, caught.value.request_id) == (INVALID_REQUEST, None)


def test_a_result_without_an_id_answers_nothing_and_is_refused() -> None:
    with pytest.raises(WireError):
        parse({**V, "result": {}})


@settings(deadline=None)
@given(st.dictionaries(MEMBERS, VALUES))
def test_any_object_is_a_message_or_an_invalid_request(value: dict[str, Any]) -> None:
    try:
        message = parse(value)
    except WireError:
        return
    assert isinstance(message, Request | Notification | Response)


@pytest.mark.parametrize(
    ("built", "read"),
    [
        (request_message(2**70, "m"), Request(2**70, "m", {})),
        (request_message("a", "m", {"x": None}), Request("a", "m", {"x": None})),
        (notification_message("n"), Notification("n", {})),
        (notification_message("n", {"x": 1}), Notification("n", {"x": 1})),
        (result_message(1, {"ok": True}), Response(1, {"ok": True}, None)),
        (error_message(1, INTERNAL_ERROR, "no"), Response(1, None, {"code": INTERNAL_ERROR, "message": "no"})),
        (
            error_message(None, 5, "no", {"d": 1}),
            Response(None, None, {"code": 5, "message": "no", "data": {"d": 1}}),
        ),
    ],
)
def test_what_is_built_is_read_back_over_the_wire(built: dict[str, Any], read: object) -> None:
    message = parse(decode(encode(built)))
    assert type(message) is type(read)
    assert message == read
