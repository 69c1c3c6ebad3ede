"""Examples are run where that does no harm, and their answers are held against the contract."""

import asyncio
import socket
from typing import Any

import pytest
from tests.unit.inspect.answering import RefusedError, asked

from holdfast import Server, ToolError, effect
from holdfast.cli.connect import connected
from holdfast.cli.options import Source
from holdfast.client.session import ClientSession
from holdfast.contract.compare.view import read_surface
from holdfast.contract.documents.generate import generate_document
from holdfast.contract.snapshot import snapshot
from holdfast.inspect.examples import ExampleRun, is_safe, run_examples
from holdfast.inspect.verify import verify
from holdfast.settings import load_configuration

OUTPUT = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}
TOOL: dict[str, Any] = {
    "name": "count", "inputSchema": {}, "outputSchema": OUTPUT, "readOnly": True, "examples": [{"sku": "A-1"}],
}  # fmt: skip


def ran(result: Any, **tool: Any) -> list[ExampleRun]:
    document = {"snapshotVersion": 1, "tools": [{**TOOL, **tool}]}

    async def scenario(session: ClientSession) -> list[ExampleRun]:
        return await run_examples(session, document)

    found: list[ExampleRun] = asked({"tools/call": result}, scenario)
    return found


def good(**content: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": "x"}], "structuredContent": content}


def test_an_example_that_answers_as_promised_is_no_problem() -> None:
    (run,) = ran(good(count=3))

    assert (run.tool, run.number, run.arguments, run.answer, run.problem) == (
        "count", 1, {"sku": "A-1"}, {"count": 3}, "",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("result", "problem"),
    [
        (good(count="three"), "does not fit the output schema at /count"),
        (good(), "does not fit the output schema at /"),
        ({"content": []}, "has no structuredContent"),
        ({"content": [{"type": "text", "text": "sold out"}], "isError": True}, "with an error: sold out"),
        (RefusedError(-32602, "invalid arguments"), "the call is refused: invalid arguments"),
        ({"resultType": "task"}, "'task' result"),
    ],
)
def test_an_example_that_does_not_answer_as_promised_is_told(result: Any, problem: str) -> None:
    (run,) = ran(result)

    assert problem in run.problem


@pytest.mark.parametrize(
    "tool",
    [
        {"readOnly": False},
        {"readOnly": False, "effect": {"kind": "at_most_once"}},
        {"readOnly": False, "effect": {"kind": "deduplicated", "key": "/arguments/sku"}},
        {"examples": []},
        {"examples": ["not a call"]},
    ],
)
def test_a_tool_that_may_do_harm_or_shows_nothing_is_not_run(tool: dict[str, Any]) -> None:
    def forbidden(_: Any) -> Any:
        raise AssertionError("the tool was called")

    assert ran(forbidden, **tool) == []


def test_an_output_schema_that_cannot_be_used_is_told() -> None:
    (run,) = ran(good(count=3), outputSchema={"$ref": "#/nowhere"})

    assert "the output schema cannot be used" in run.problem


def _verified(server: Server, text: str | None = None, code: dict[str, Any] | None = None) -> list[str]:
    document = code or snapshot(server.surface)
    settings = load_configuration({"event_log": False}, server=server.name).settings

    async def main() -> list[str]:
        async with connected(Source("shop.py", ()), server, settings) as session:
            page = text if text is not None else generate_document(document)
            return [found.rule for found in await verify(session, document, page, name="SPEC.md")]

    return asyncio.run(main())


def _shop(answer: int = 1) -> Server:
    server = Server("shop", version="1.0.0")

    @server.tool(effect=effect.replay_safe(), read_only=True, examples=[{"sku": "A-1"}], errors=("NOT_FOUND",),
                 security="Reads nothing.")  # fmt: skip
    async def lookup(sku: str) -> int:
        """Return the stock of one article.

        Args:
            sku: The number of the article.
        """
        if not answer:
            raise ToolError("NOT_FOUND", "none")
        return answer

    return server


def test_file_code_and_wire_of_a_server_agree() -> None:
    assert _verified(_shop()) == []


def test_a_file_that_is_behind_the_code_is_told() -> None:
    text = generate_document(snapshot(_shop().surface)).replace("Return the stock", "Return all stock")

    assert _verified(_shop(), text) != []


def test_code_that_the_wire_contradicts_is_told() -> None:
    code = snapshot(_shop().surface)
    code["tools"][0]["description"] = "Return something else."

    assert "wire.differs" in _verified(_shop(), code=code)


def test_an_example_that_fails_is_told() -> None:
    assert _verified(_shop(answer=0)) == ["example.fails"]


def test_a_tool_that_writes_is_not_called_though_it_may_be_repeated() -> None:
    tools = [
        {"name": "put", "effect": {"kind": "replay_safe"}, "readOnly": False, "inputSchema": {"type": "object"}},
        {"name": "get", "effect": {"kind": "replay_safe"}, "readOnly": True, "inputSchema": {"type": "object"}},
    ]
    view = read_surface({"snapshotVersion": 1, "tools": tools, "server": {"name": "s", "version": "1.0.0"}})

    assert [name for name, tool in view.tools.items() if is_safe(tool)] == ["get"]


def test_a_reference_in_an_output_schema_is_not_fetched() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        schema = {"$ref": f"http://127.0.0.1:{listener.getsockname()[1]}/schema.json"}
        (run,) = ran(good(count=3), outputSchema=schema)
        with pytest.raises(BlockingIOError):  # nobody has connected
            listener.accept()

    assert "Retrieval is disabled" in run.problem
