"""The fixture tools that ask and log, driven over stdio as the official suite drives them, in both eras."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.fixture_server import server
from tests.contract.official_schemas import assert_valid

from holdfast.client.peer import PeerError
from holdfast.client.session import ClientSession
from holdfast.client.transports import ProcessTransport
from holdfast.testing import Answers, accept, connect

BOUND = 120.0

pytestmark = pytest.mark.timeout(300)  # processes are started, on machines that may be busy
ROOT = Path(__file__).parents[2]
META = "io.modelcontextprotocol/"
ABLE: dict[str, Any] = {"sampling": {}, "elicitation": {}, "roots": {}}
PREFIX = "test_input_required_result_"
ALICE = accept(name="Alice")
PARIS = {"role": "assistant", "content": {"type": "text", "text": "Paris."}, "model": "m", "stopReason": "endTurn"}
ROOTS = {"roots": [{"uri": "file:///workspace", "name": "Workspace"}]}

Ask = Callable[..., Awaitable[dict[str, Any]]]


def person(params: dict[str, Any]) -> dict[str, Any]:
    """What the suite's client answers to each form."""
    fields = params["requestedSchema"]["properties"]
    if "username" in fields:
        return accept(username="testuser", email="test@example.com")
    if "score" in fields:
        return accept(name="Jane", age=25, score=88.0, status="inactive", verified=False)
    chosen = {"untitledSingle": "option1", "titledSingle": "value1", "legacyEnum": "opt1"}
    return accept({**chosen, "untitledMulti": ["option1", "option2"], "titledMulti": ["value1", "value2"]})


# --- 2025-11-25 --------------------------------------------------------------------------------------------------


def test_the_handshake_era_scenarios_hold_over_stdio() -> None:
    async def scenario() -> None:
        answers = Answers(person, "This is a test response", [])
        transport = ProcessTransport((sys.executable, "-c", PROGRAM), grace=2.0)
        async with ClientSession(transport, request_timeout=BOUND, answerer=answers) as session:
            await session.connect(revision="2025-11-25", timeout=BOUND)
            assert session.peer.capabilities["logging"] == {}
            assert await session.request("logging/setLevel", {"level": "debug"}) == {}
            for tool, arguments, text in (
                ("test_tool_with_logging", {}, "Tool with logging"),
                ("test_sampling", {"prompt": "Test prompt"}, "LLM response: This is a test response"),
                ("test_elicitation", {"message": "Please"}, "testuser"),
                ("test_elicitation_sep1034_defaults", {}, "Jane"),
                ("test_elicitation_sep1330_enums", {}, "option2"),
            ):
                result = await session.call_tool(tool, arguments, timeout=BOUND)
                assert text in result["content"][0]["text"], result
        for method, params in answers.asked:
            name = {"elicitation/create": "ElicitRequest", "sampling/createMessage": "CreateMessageRequest"}[
                method
            ]
            assert_valid("2025-11-25", name, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        _check_defaults(answers.asked[2][1]["requestedSchema"]["properties"])
        _check_choices(answers.asked[3][1]["requestedSchema"]["properties"])

    asyncio.run(scenario())


def _check_defaults(fields: dict[str, Any]) -> None:
    expected = {"name": "John Doe", "age": 30, "score": 95.5, "status": "active", "verified": True}
    assert {name: field["default"] for name, field in fields.items()} == expected
    kinds = [field["type"] for field in fields.values()]
    assert kinds == ["string", "integer", "number", "string", "boolean"]
    assert "active" in fields["status"]["enum"]


def _check_choices(fields: dict[str, Any]) -> None:
    assert fields["untitledSingle"]["enum"]
    assert not {"oneOf", "enumNames"} & set(fields["untitledSingle"])
    assert all(set(item) == {"const", "title"} for item in fields["titledSingle"]["oneOf"])
    assert "enum" not in fields["titledSingle"]
    assert len(fields["legacyEnum"]["enum"]) == len(fields["legacyEnum"]["enumNames"])
    assert "anyOf" not in fields["untitledMulti"]["items"]
    assert fields["untitledMulti"]["items"]["enum"]
    assert all(set(item) == {"const", "title"} for item in fields["titledMulti"]["items"]["anyOf"])
    assert "enum" not in fields["titledMulti"]["items"]


def test_three_log_messages_come_before_the_result() -> None:
    async def scenario() -> None:
        async with connect(server) as client:
            await client.log_level("debug")
            number = client.start_call("test_tool_with_logging")
            await client.answer_to(number)
            methods = [message.get("method") for message in client.messages if message.get("id") != 1]
            assert methods[-4:] == [*["notifications/message"] * 3, None]
            assert [entry["data"] for entry in client.logged] == [
                "Tool execution started",
                "Tool processing data",
                "Tool execution completed",
            ]

    asyncio.run(scenario())


# --- 2026-07-28 --------------------------------------------------------------------------------------------------


async def basic_elicitation(ask: Ask) -> None:
    first = (await ask("elicitation"))["result"]
    assert first["resultType"] == "input_required"
    assert first["inputRequests"]["user_name"]["method"] == "elicitation/create"
    done = await ask("elicitation", inputResponses={"user_name": ALICE}, requestState=first["requestState"])
    assert _text(done) == "Hello, Alice!"


async def basic_sampling(ask: Ask) -> None:
    first = (await ask("sampling"))["result"]
    assert [one["method"] for one in first["inputRequests"].values()] == ["sampling/createMessage"]
    done = await ask("sampling", inputResponses={"capital_question": PARIS}, requestState=first["requestState"])
    assert _text(done) == "Paris."


async def basic_list_roots(ask: Ask) -> None:
    first = (await ask("list_roots"))["result"]
    assert [one["method"] for one in first["inputRequests"].values()] == ["roots/list"]
    done = await ask("list_roots", inputResponses={"client_roots": ROOTS}, requestState=first["requestState"])
    assert "file:///workspace" in _text(done)


async def request_state(ask: Ask) -> None:
    first = (await ask("request_state"))["result"]
    assert first["requestState"]
    done = await ask(
        "request_state", inputResponses={"confirm": accept(ok=True)}, requestState=first["requestState"]
    )
    assert "state-ok" in _text(done)


async def multiple_inputs(ask: Ask) -> None:
    first = (await ask("multiple_inputs"))["result"]
    methods = {one["method"] for one in first["inputRequests"].values()}
    assert methods == {"elicitation/create", "sampling/createMessage", "roots/list"}
    responses = {"user_name": ALICE, "greeting": PARIS, "client_roots": ROOTS}
    done = await ask("multiple_inputs", inputResponses=responses, requestState=first["requestState"])
    assert "Alice" in _text(done)


async def multi_round(ask: Ask) -> None:
    first = (await ask("multi_round"))["result"]
    second = (await ask("multi_round", inputResponses={"step1": ALICE}, requestState=first["requestState"]))[
        "result"
    ]
    assert set(second["inputRequests"]) == {"step2"}
    assert second["requestState"] != first["requestState"]
    last = await ask(
        "multi_round", inputResponses={"step2": accept(color="blue")}, requestState=second["requestState"]
    )
    assert "Alice" in _text(last)
    assert "blue" in _text(last)


async def missing_and_wrong_responses(ask: Ask) -> None:
    for given in ({"wrong_key": ALICE}, {"user_name": 12345}, None):
        again = (await ask("elicitation", inputResponses=given))["result"]
        assert set(again["inputRequests"]) == {"user_name"}, given
    extra = {"user_name": ALICE, "unknown_key_1": {"x": 1}, "unknown_key_2": accept()}
    assert _text(await ask("elicitation", inputResponses=extra)) == "Hello, Alice!"


async def tampered_state(ask: Ask) -> None:
    first = (await ask("tampered_state"))["result"]
    forged = first["requestState"] + "-TAMPERED"
    refused = await ask("tampered_state", inputResponses={"confirm": accept(ok=True)}, requestState=forged)
    assert refused["error"]["code"] == -32602


async def capability_check(ask: Ask) -> None:
    only = (await ask("capabilities", can={"sampling": {}}))["result"]
    assert [one["method"] for one in only["inputRequests"].values()] == ["sampling/createMessage"]


async def missing_capability(ask: Ask) -> None:
    refused = await ask("test_missing_capability", can={})
    assert refused["error"]["code"] == -32021
    assert refused["error"]["data"]["requiredCapabilities"] == {"sampling": {}}


async def streaming_and_logging(ask: Ask) -> None:
    assert (await ask("test_streaming_elicitation"))["result"]["resultType"] == "input_required"
    assert _text(await ask("test_logging_tool")) == "Logged"


SCENARIOS = (
    basic_elicitation,
    basic_sampling,
    basic_list_roots,
    request_state,
    multiple_inputs,
    multi_round,
    missing_and_wrong_responses,
    tampered_state,
    capability_check,
    missing_capability,
    streaming_and_logging,
)


def _text(answer: dict[str, Any]) -> str:
    assert answer["result"]["resultType"] == "complete", answer
    text: str = answer["result"]["content"][0]["text"]
    return text


def _params(tool: str, can: dict[str, Any] | None, more: dict[str, Any]) -> dict[str, Any]:
    name = tool if tool.startswith("test_") else PREFIX + tool
    meta = {META + "clientCapabilities": ABLE if can is None else can}
    return {"name": name, "arguments": {}, **more, "_meta": meta}


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_a_scenario_of_input_that_is_required_holds(scenario: Callable[[Ask], Awaitable[None]]) -> None:
    async def run() -> None:
        async with connect(server, revision="2026-07-28") as client:

            async def ask(tool: str, can: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
                answer = await client.request("tools/call", _params(tool, can, more))
                if answer.get("result", {}).get("resultType") == "input_required":
                    assert_valid("2026-07-28", "InputRequiredResult", answer["result"])
                return answer

            await scenario(ask)
            assert not [message for message in client.messages if "method" in message]

    asyncio.run(run())


def test_all_of_them_hold_over_stdio_with_another_process_for_every_round() -> None:
    async def run() -> None:
        sessions = []
        for _ in range(2):
            transport = ProcessTransport((sys.executable, "-c", PROGRAM), grace=2.0)
            session = ClientSession(transport, request_timeout=BOUND)
            await session.connect(revision="2026-07-28", timeout=BOUND)
            sessions.append(session)

        async def ask(tool: str, can: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
            sessions.reverse()  # nothing of a round is remembered by the process that saw it
            try:
                return {"result": await sessions[0].request("tools/call", _params(tool, can, more))}
            except PeerError as error:
                return {"error": error.to_wire()}

        try:
            for scenario in SCENARIOS:
                await scenario(ask)
        finally:
            for session in sessions:
                await session.close()

    asyncio.run(run())


PROGRAM = (
    f"import sys; sys.path.insert(0, {str(ROOT)!r}); "
    "from tests.conformance.fixture_server import server; server.run()"
)
