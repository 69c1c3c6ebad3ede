"""Tools that ask their client and log to it, through the test kit, in both eras."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from tests.contract.official_schemas import assert_valid

from holdfast import Context, QuestionError, Server, SyncContext, question
from holdfast.errors import IncapableError, InputNeeded
from holdfast.present.eras import LEVELS
from holdfast.settings import Settings
from holdfast.testing import accept, cancel, connect, decline
from holdfast.worker.questions import Root

HANDSHAKES = ["2025-06-18", "2025-11-25"]
MODERN = "2026-07-28"
ERAS = [*HANDSHAKES, MODERN]


class Name(BaseModel):
    """A name."""

    name: str


def settings(tmp_path: Path, **changed: Any) -> Settings:
    return replace(Settings(), event_log=False, state_dir=tmp_path, **changed)


def make_server() -> Server:
    server = Server("asking", version="1.0.0", dialect="poc", render="json")

    @server.tool()
    async def greet(ctx: Context) -> str:
        """Greet."""
        answer = await ctx.elicit("Who?", Name)
        return answer.value.name if answer.value else answer.action

    @server.tool()
    async def open_page(ctx: Context) -> str:
        """Have a page opened."""
        return (await ctx.elicit_url("Log in", "https://example.org/login", key="page")).action

    @server.tool()
    async def complete(ctx: Context) -> str:
        """Have the model say something."""
        said = await ctx.sample(
            [{"role": "user", "content": {"type": "text", "text": "Hi"}}],
            max_tokens=5,
            system_prompt="Be short.",
            temperature=0.5,
            stop_sequences=["."],
            model_preferences={"hints": [{"name": "m"}]},
        )
        return f"{said.role} {said.model} {said.text}"

    @server.tool()
    async def use_tools(ctx: Context) -> str:
        """Give the model a tool."""
        tool = {"name": "t", "inputSchema": {"type": "object"}}
        return (await ctx.sample("Hi", max_tokens=5, tools=[tool], tool_choice={"mode": "auto"})).text

    @server.tool()
    def places(ctx: SyncContext) -> str:
        """Where are we?"""
        return ", ".join(f"{root.name}={root.path}" for root in ctx.roots())

    return with_tasks(server)


def with_tasks(server: Server) -> Server:
    """The same server, with tools that ask in odd ways."""

    @server.tool()
    async def together(ctx: Context) -> str:
        """Ask in two tasks at once."""
        async with asyncio.TaskGroup() as group:
            first = group.create_task(ctx.elicit("One?", Name, key="one"))
            second = group.create_task(ctx.elicit("Two?", Name, key="two"))
        values = [task.result().value for task in (first, second)]
        return " ".join(value.name for value in values if value)

    @server.tool()
    async def swallow(ctx: Context) -> str:
        """Catch everything that is an Exception."""
        try:
            return (await ctx.elicit("Who?", Name, key="who")).action
        except Exception as error:
            return type(error).__name__

    @server.tool()
    async def by_hand(ctx: Context) -> str:
        """Raise what only the runtime raises."""
        raise InputNeeded({ctx.tool: {}})

    return server


async def outcome(tmp_path: Path, revision: str, tool: str, **answers: Any) -> tuple[Any, Any]:
    async with connect(make_server(), settings=settings(tmp_path), revision=revision, **answers) as client:
        return await client.call(tool), client


@pytest.mark.parametrize("revision", ERAS)
@pytest.mark.parametrize(
    ("reply", "said"), [(accept(name="Ann"), "Ann"), (decline(), "decline"), (cancel(), "cancel")]
)
def test_a_person_answers_or_does_not(tmp_path: Path, revision: str, reply: Any, said: str) -> None:
    result, client = asyncio.run(outcome(tmp_path, revision, "greet", elicit=reply))
    assert result.payload["result"] == said
    assert [method for method, _ in client.questions] == ["elicitation/create"]


@pytest.mark.parametrize("revision", ["2025-11-25", MODERN])
def test_an_address_is_opened_where_the_revision_has_that(tmp_path: Path, revision: str) -> None:
    result, client = asyncio.run(outcome(tmp_path, revision, "open_page", elicit={"action": "accept"}))
    assert result.payload["result"] == "accept"
    params = client.questions[0][1]
    assert_valid(revision, "ElicitRequestURLParams", params)
    assert ("elicitationId" in params) == (revision == "2025-11-25")


@pytest.mark.parametrize("revision", ERAS)
def test_a_model_is_asked_with_everything_that_can_be_said(tmp_path: Path, revision: str) -> None:
    result, client = asyncio.run(outcome(tmp_path, revision, "complete", sample="Paris"))
    assert result.payload["result"] == "assistant scripted Paris"
    request = {"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": client.questions[0][1]}
    assert_valid(revision, "CreateMessageRequest", request)


@pytest.mark.parametrize("revision", ERAS)
def test_roots_are_paths_where_they_are_on_this_machine(tmp_path: Path, revision: str) -> None:
    reply = [{"uri": "file:///a%20b", "name": "here"}, {"uri": "https://example.org"}]
    result, _ = asyncio.run(outcome(tmp_path, revision, "places", roots=reply))
    assert result.payload["result"] == "here=/a b, None=None"


@pytest.mark.parametrize("revision", ERAS)
def test_two_tasks_of_a_tool_may_ask_at_the_same_time(tmp_path: Path, revision: str) -> None:
    result, client = asyncio.run(outcome(tmp_path, revision, "together", elicit=accept(name="Ann")))
    assert result.payload["result"] == "Ann Ann"
    assert len(client.questions) == 2
    rounds = [item for item in client.messages if item.get("result", {}).get("resultType") == "input_required"]
    assert len(rounds) == (revision == MODERN)


@pytest.mark.parametrize("tool", ["greet", "open_page", "complete", "use_tools", "places"])
@pytest.mark.parametrize("revision", ["2024-11-05", *ERAS])
def test_a_client_that_declared_nothing_is_asked_nothing(tmp_path: Path, revision: str, tool: str) -> None:
    result, client = asyncio.run(outcome(tmp_path, revision, tool))
    assert result.is_error
    assert result.code == "CAPABILITY_MISSING"
    assert not [item for item in client.messages if "method" in item]
    if revision == MODERN:
        assert_valid(MODERN, "MissingRequiredClientCapabilityError", result.message)


@pytest.mark.parametrize(
    ("revision", "tool"),
    [("2024-11-05", "greet"), ("2025-03-26", "greet"), ("2025-06-18", "open_page"), ("2025-06-18", "use_tools")],
)
def test_what_a_revision_cannot_say_is_a_typed_fault(tmp_path: Path, revision: str, tool: str) -> None:
    result, client = asyncio.run(outcome(tmp_path, revision, tool, elicit=accept(name="x"), sample="x"))
    assert result.code == "CAPABILITY_MISSING"
    assert not client.questions


def test_a_root_that_is_no_directory_of_this_machine_has_no_path() -> None:
    roots = [Root(uri) for uri in ("https://a/b", "file://elsewhere/b", "file://[b", "file:///a%20b")]
    assert [root.path for root in roots] == [None, None, None, Path("/a b")]


def test_tools_for_the_model_need_a_client_that_takes_them(tmp_path: Path) -> None:
    result, _ = asyncio.run(outcome(tmp_path, MODERN, "use_tools", sample="x"))
    assert result.error["data"]["requiredCapabilities"] == {"sampling": {"tools": {}}}


@pytest.mark.parametrize(
    "answer",
    [
        {"role": "assistant", "model": "m"},
        {"role": "assistant", "content": {"type": "text", "text": 5}, "model": "m"},
        {"role": "robot", "content": {"type": "text", "text": "x"}, "model": "m"},
        {"role": "user", "content": [], "model": "m"},
        {"role": "user", "content": {"type": "text", "text": "x"}},
        [],
        None,
        5,
    ],
)
def test_a_completion_of_the_wrong_shape_is_never_taken(tmp_path: Path, answer: Any) -> None:
    result, _ = asyncio.run(outcome(tmp_path, "2025-11-25", "complete", sample=lambda _: answer))
    assert result.code == "NO_ANSWER"


@pytest.mark.parametrize("answer", [{}, {"roots": 5}, {"roots": [5]}, {"roots": [{"name": "x"}]}, "x"])
def test_roots_of_the_wrong_shape_are_never_taken(tmp_path: Path, answer: Any) -> None:
    result, _ = asyncio.run(outcome(tmp_path, "2025-11-25", "places", roots=lambda _: answer))
    assert result.code == "NO_ANSWER"


@pytest.mark.parametrize("revision", ERAS)
def test_a_question_is_not_caught_as_an_exception(tmp_path: Path, revision: str) -> None:
    result, _ = asyncio.run(outcome(tmp_path, revision, "swallow", elicit=accept(name="x")))
    assert result.payload["result"] == "accept"


@pytest.mark.parametrize("revision", HANDSHAKES)
def test_a_question_that_is_raised_by_hand_is_a_defect_of_the_tool(tmp_path: Path, revision: str) -> None:
    result, _ = asyncio.run(outcome(tmp_path, revision, "by_hand"))
    assert result.code == "INTERNAL"


def test_an_unfinished_call_is_valid_and_says_so(tmp_path: Path) -> None:
    async def scenario() -> Any:
        able: dict[str, Any] = {"elicitation": {}, "sampling": {}, "roots": {}}
        async with connect(make_server(), settings=settings(tmp_path), revision=MODERN) as client:
            meta = {"io.modelcontextprotocol/clientCapabilities": able}
            return await client.answer_to(client.start_call("together", meta=meta))

    result = asyncio.run(scenario())["result"]
    assert_valid(MODERN, "InputRequiredResult", result)
    assert set(result["inputRequests"]) == {"one", "two"}
    for one in result["inputRequests"].values():
        assert_valid(MODERN, "InputRequest", one)


def test_an_answer_that_does_not_come_in_time_ends_the_question(tmp_path: Path) -> None:
    async def scenario() -> None:
        quick = settings(tmp_path, answer_timeout=0.05)
        able: dict[str, Any] = {"elicitation": {}}
        async with connect(make_server(), settings=quick, revision=None) as client:
            params = {"protocolVersion": "2025-11-25", "capabilities": able}
            await client.request("initialize", params)
            result = await client.call("greet")
            asked = await client.wait_for(lambda message: message.get("method") == "elicitation/create")
            withdrawn = await client.wait_for(lambda message: message.get("method") == "notifications/cancelled")
        assert result.code == "NO_ANSWER"
        assert result.payload["reason"] == "timeout"
        assert withdrawn["params"]["requestId"] == asked["id"]
        assert_valid("2025-11-25", "ElicitRequest", asked)
        assert_valid("2025-11-25", "CancelledNotification", withdrawn)

    asyncio.run(scenario())


def test_without_a_time_for_answers_the_tools_own_limit_holds(tmp_path: Path) -> None:
    async def scenario() -> None:
        bounded = settings(tmp_path, answer_timeout=0, tool_timeout=0.05)
        async with connect(make_server(), settings=bounded, revision=None) as client:
            await client.request(
                "initialize", {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}}
            )
            assert (await client.call("greet")).code == "TOOL_TIMEOUT"
            await client.wait_for(lambda message: message.get("method") == "notifications/cancelled")

    asyncio.run(scenario())


def test_questions_are_bounded(tmp_path: Path) -> None:
    server = Server("many", version="1.0.0", dialect="poc", render="json")

    @server.tool()
    async def flood(ctx: Context) -> str:
        """Ask too much at once."""
        try:
            await ctx.ask(**{f"q{number}": question.form("?", Name) for number in range(17)})
        except QuestionError as error:
            return error.message
        return "asked"

    async def scenario() -> None:
        for revision in ("2025-11-25", MODERN):
            async with connect(
                server, settings=settings(tmp_path), revision=revision, elicit=accept(name="x")
            ) as client:
                assert "16 are the most" in (await client.call("flood")).payload["result"]
                assert not client.questions

    asyncio.run(scenario())


def test_a_context_asks_nothing_when_its_call_is_over(tmp_path: Path) -> None:
    server = Server("late", version="1.0.0")
    kept: list[Context] = []

    @server.tool()
    async def keep(ctx: Context) -> str:
        """Keep the context."""
        kept.append(ctx)
        return "kept"

    async def scenario() -> None:
        async with connect(server, settings=settings(tmp_path), elicit=accept(name="x")) as client:
            await client.log_level("debug")
            await client.call("keep")
            with pytest.raises(RuntimeError, match="over"):
                await kept[0].elicit("Who?", Name)
            await kept[0].log.error("too late")
            assert client.logged == []
            assert client.questions == []

    asyncio.run(scenario())


# --- the log -----------------------------------------------------------------------------------------------------


def logging_server() -> Server:
    server = Server("logging", version="1.0.0", dialect="poc", render="json")

    @server.tool()
    async def tell(ctx: Context) -> list[str]:
        """Log at every level."""
        for level in LEVELS:
            await ctx.log(level, {"level": level}, logger="l")
        return [level for level in LEVELS if ctx.log.wants(level)]

    @server.tool()
    def odd(ctx: SyncContext) -> str:
        """Log what is hardly JSON."""
        ctx.log.notice({"set": {1, 2}, "bytes": b"\xff", "nan": float("nan")})
        ctx.log.info("x" * 200_000)
        try:
            ctx.log("loud", "x")
        except ValueError as error:
            return str(error)
        return "no error"

    return server


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", *ERAS])
@pytest.mark.parametrize("least", LEVELS)
def test_the_client_hears_its_level_and_above(tmp_path: Path, revision: str, least: str) -> None:
    async def scenario() -> None:
        async with connect(logging_server(), settings=settings(tmp_path), revision=revision) as client:
            assert (await client.call("tell")).payload["result"] == []
            await client.log_level(least)
            wanted = list(LEVELS[LEVELS.index(least) :])
            assert (await client.call("tell")).payload["result"] == wanted
            assert [entry["level"] for entry in client.logged] == wanted
            for message in client.messages:
                if message.get("method") == "notifications/message":
                    assert_valid(revision, "LoggingMessageNotification", message)

    asyncio.run(scenario())


def test_what_is_no_json_is_shown_and_what_is_long_is_cut(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with connect(logging_server(), settings=settings(tmp_path)) as client:
            await client.log_level("debug")
            assert "emergency" in (await client.call("odd")).payload["result"]
            first, second = client.logged
            assert first["data"]["set"] == [1, 2]
            assert len(second["data"]) < 5000
            assert "200002 bytes" in second["data"]

    asyncio.run(scenario())


def test_a_server_says_that_it_logs_only_when_something_of_it_can() -> None:
    silent = Server("silent", version="1.0.0")

    @silent.tool()
    async def plain() -> str:
        """No context."""
        return ""

    quiet = Server("quiet", version="1.0.0", logging=False)

    @quiet.tool()
    async def talker(ctx: Context) -> str:
        """Log into the void."""
        await ctx.log.error("x")
        return ""

    async def scenario() -> None:
        for server in (silent, quiet):
            assert "logging" not in server.capabilities()
            async with connect(server) as client:
                refused = await client.request("logging/setLevel", {"level": "debug"})
                assert refused["error"]["code"] == -32601
                await client.call("talker" if server is quiet else "plain")
                assert client.logged == []
        assert logging_server().capabilities()["logging"] == {}

    asyncio.run(scenario())


def test_capabilities_are_told_apart() -> None:
    from holdfast.worker.asking import capable_of

    form: dict[str, Any] = {"elicitation": {}}
    address: dict[str, Any] = {"elicitation": {"url": {}}}
    assert capable_of({"elicitation": {}}, form)
    assert capable_of({"elicitation": {"form": {}}}, form)
    assert not capable_of({"elicitation": {"url": {}}}, form)
    assert capable_of({"elicitation": {"url": {}}}, address)
    assert not capable_of({"elicitation": {}}, address)
    assert not capable_of({"elicitation": True}, form)
    assert not capable_of({}, form)
    assert IncapableError("no", form).required == form
