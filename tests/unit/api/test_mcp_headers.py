"""What the headers of a request that describes itself must say, as a table."""

from typing import Any

import pytest

from holdfast.api.envelope import Stamp
from holdfast.api.exchange import Exchange
from holdfast.api.mcp.headers import mirrored_arguments, problem_of_arguments, problem_of_request
from holdfast.wire.envelope import Request

MODERN = "2026-07-28"
KEY = "io.modelcontextprotocol/"
META = {f"{KEY}protocolVersion": MODERN, f"{KEY}clientCapabilities": {}}
SCHEMA = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "count": {"type": "integer", "x-mcp-header": "Count"},
        "deep": {"type": "object", "properties": {"on": {"type": "boolean", "x-mcp-header": "On"}}},
        "float": {"type": "number", "x-mcp-header": "Float"},
        "bad": {"type": "string", "x-mcp-header": "two words"},
        "many": {"type": "array", "items": {"type": "string", "x-mcp-header": "Item"}},
    },
}


def exchange(**headers: str) -> Exchange:
    raw = [(name.replace("_", "-").lower().encode(), value.encode()) for name, value in headers.items()]
    scope = {"method": "POST", "path": "/mcp", "query_string": b"", "headers": raw}
    return Exchange(scope, None, None, Stamp("1", "1"))  # type: ignore[arg-type]


def asked(method: str = "tools/call", **params: Any) -> Request:
    return Request(1, method, {"_meta": META, **params})


RIGHT = {"MCP_Protocol_Version": MODERN, "Mcp_Method": "tools/call", "Mcp_Name": "t"}


@pytest.mark.parametrize(
    ("request_", "headers", "code"),
    [
        (asked(name="t"), RIGHT, None),
        (asked(name="ü"), {**RIGHT, "Mcp_Name": "=?base64?w7w=?="}, None),
        (asked(name=7), RIGHT, None),
        (asked("prompts/get", name="t"), {**RIGHT, "Mcp_Method": "prompts/get"}, None),
        (
            asked("resources/read", uri="a://b"),
            {**RIGHT, "Mcp_Method": "resources/read", "Mcp_Name": "a://b"},
            None,
        ),
        (asked("tasks/get", taskId="t"), {**RIGHT, "Mcp_Method": "tasks/get", "Mcp_Name": "x"}, -32020),
        (asked(name="t"), {**RIGHT, "Mcp_Name": "T"}, -32020),
        (asked(name="t"), {**RIGHT, "Mcp_Method": "tools/list"}, -32020),
        (asked(name="t"), {**RIGHT, "MCP_Protocol_Version": "2025-11-25"}, -32020),
        (Request(1, "tools/call", {"_meta": 7}), RIGHT, -32602),
    ],
)
def test_headers_say_what_the_body_says(request_: Request, headers: dict[str, str], code: int | None) -> None:
    problem = problem_of_request(exchange(**headers), request_)
    assert (None if problem is None else problem.code) == code


@pytest.mark.parametrize(
    ("arguments", "headers", "holds"),
    [
        ({}, {}, True),
        ({"region": "eu", "count": 3, "deep": {"on": True}},
         {"Mcp_Param_Region": "eu", "Mcp_Param_Count": "3", "Mcp_Param_On": "true"}, True),
        ({"region": "Hello"}, {"Mcp_Param_Region": "=?base64?SGVsbG8=?="}, True),
        ({"region": "Hello"}, {"Mcp_Param_Region": "=?base64?SGVsbG8?="}, False),
        ({"region": "Hello"}, {"Mcp_Param_Region": "=?base64?SGV$bG8=?="}, False),
        ({"region": "SGVsbG8="}, {"Mcp_Param_Region": "SGVsbG8="}, True),
        ({"region": "=?base64?x"}, {"Mcp_Param_Region": "=?base64?x"}, True),
        ({"region": "eu"}, {}, False),
        ({}, {"Mcp_Param_Region": "eu"}, False),
        ({}, {"Mcp_Param_Region": "=?base64?!?="}, False),
        ({"deep": {"on": False}}, {"Mcp_Param_On": "true"}, False),
        (None, {}, True),
    ],
)  # fmt: skip
def test_arguments_stand_in_headers_where_the_schema_says_so(
    arguments: Any, headers: dict[str, str], holds: bool
) -> None:
    problem = problem_of_arguments(exchange(**headers), asked(arguments=arguments), mirrored_arguments(SCHEMA))
    assert (problem is None) is holds


def test_only_arguments_that_can_be_mirrored_are() -> None:
    assert [one.header for one in mirrored_arguments(SCHEMA)] == [
        "mcp-param-region",
        "mcp-param-count",
        "mcp-param-on",
    ]
    assert mirrored_arguments(True) == ()
