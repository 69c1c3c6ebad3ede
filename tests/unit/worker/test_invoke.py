"""What a tool may do wrong, and what the caller is told: a typed fault, never a stack trace."""

import asyncio
import os
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import psutil
import pytest
from pydantic import AfterValidator

from holdfast.contract.model import ErrorSpec
from holdfast.errors import StopWork, ToolError
from holdfast.settings import Settings
from holdfast.testing import connect
from holdfast.vocabulary.events import CallEnded, FaultRecorded
from holdfast.worker.context import Context, SyncContext
from holdfast.worker.server import Server

QUIET = replace(Settings(), event_log=False, kill_grace=0.3)
STOPPED = threading.Event()
LEFT: list[asyncio.Task[Any]] = []


@dataclass
class Answer:
    """What a tool of these tests returns."""

    value: int


class Unprintable(Exception):  # noqa: N818
    def __str__(self) -> str:
        raise RuntimeError("not even my name")


def boom(value: str) -> str:
    raise ZeroDivisionError(value)


def nested() -> dict[str, Any]:
    inside: dict[str, Any] = {}
    inside["inside"] = inside
    return inside


STRANGE: dict[str, Any] = {
    "endless": nested(),
    "bytes": {"raw": b"\xff"},
    "large": {"text": "x" * 20_000_000},
    "surrogate": {"name": "\udcff"},
}


def make_server() -> Server:
    server = Server("faulty", version="1.0.0", dialect="poc", render="json", presentation="meta")
    add_failing_tools(server)
    add_threads_and_programs(server)
    return server


def add_failing_tools(server: Server) -> None:
    @server.tool(errors=("NOT_FOUND", ErrorSpec("OUT_OF_STOCK", "None left.", "Order more.", retryable=True)))
    async def fail(code: str) -> Answer:
        """Fail with a code."""
        raise ToolError(code, "as asked", details={"where": Path("/etc/x"), "nested": {"set": {1}}})

    @server.tool()
    async def explode(how: str) -> Answer:
        """Raise something unexpected."""
        errors: dict[str, BaseException] = {
            "value": ValueError("secret detail in /home/someone/file"),
            "recursion": RecursionError("deep"),
            "cancelled": asyncio.CancelledError(),
            "memory": MemoryError(),
            "stop": StopAsyncIteration(),
            "exit": SystemExit(3),
            "interrupt": KeyboardInterrupt(),
            "generator": GeneratorExit(),
            "base": BaseException("bare"),
            "unprintable": Unprintable(),
        }
        raise errors[how]

    @server.tool(errors=("NOT_FOUND",))
    async def fail_with(details: str) -> Answer:
        """Fail with strange details."""
        raise ToolError("NOT_FOUND", 42, details=STRANGE[details], hint=7)  # type: ignore[arg-type]

    @server.tool()
    async def say(what: str) -> str:
        """Say something that cannot be sent."""
        return {"surrogate": "\udcff", "large": "x" * 9_000_000}[what]

    @server.tool()
    async def check(text: Annotated[str, AfterValidator(boom)]) -> str:
        """Never get here."""
        return text

    @server.tool()
    async def lie() -> Answer:
        """Return what the contract does not allow."""
        return "text"  # type: ignore[return-value]


def add_threads_and_programs(server: Server) -> None:
    add_leftovers(server)
    add_threads(server)


def add_leftovers(server: Server) -> None:
    @server.tool(timeout=1.5)
    async def leave_stubborn(ctx: Context, ready: str) -> Answer:
        """Return in time, leaving a program behind that ignores being asked to end."""
        script = "trap '' TERM; : > \"$0\"; while :; do sleep 0.05; done"
        LEFT.append(asyncio.create_task(ctx.run(["sh", "-c", script, ready])))
        while not os.path.exists(ready):  # noqa: ASYNC110, ASYNC240 - it tells nobody
            await asyncio.sleep(0.01)
        return Answer(1)

    @server.tool()
    async def queue_programs(ctx: Context) -> Answer:
        """Start programs as others end; the first fails."""
        turns = asyncio.Semaphore(2)

        async def one(number: int) -> None:
            async with turns:
                LEFT.append(asyncio.current_task())  # type: ignore[arg-type]
                await ctx.run(["false"] if number == 0 else ["sleep", "1000"], check=True)

        await asyncio.gather(*(one(number) for number in range(6)))
        return Answer(1)

    @server.tool()
    async def leave(ctx: Context) -> Answer:
        """Leave a program running behind."""
        LEFT.append(asyncio.create_task(ctx.run(["sleep", "1000"])))
        await asyncio.sleep(0.2)
        return Answer(1)


def add_threads(server: Server) -> None:
    @server.tool()
    def exit_in_thread() -> Answer:
        """Leave the hard way, in a thread."""
        raise SystemExit(3)

    @server.tool()
    def add(first: int, second: int) -> Answer:
        """Add in a thread."""
        assert threading.current_thread() is not threading.main_thread()
        return Answer(first + second)

    @server.tool()
    def explode_in_thread() -> Answer:
        """Raise in a thread."""
        raise StopIteration(3)

    @server.tool(timeout=0.1)
    def loop_until_told(ctx: SyncContext) -> Answer:
        """Run in a thread until the call is stopped."""
        try:
            while True:
                ctx.check()
        except StopWork:
            STOPPED.set()
            raise

    @server.tool(timeout=0.2)
    def run_from_thread(ctx: SyncContext, seconds: int) -> Answer:
        """Run a program from a thread."""
        return Answer(ctx.run(["sleep", str(seconds)]).returncode or 0)


async def outcome_of(tool: str, **arguments: Any) -> tuple[dict[str, Any], list[FaultRecorded]]:
    async with connect(make_server(), settings=QUIET) as client:
        result = await client.call(tool, **arguments)
        return result.payload, [event for event in client.events if isinstance(event, FaultRecorded)]


def test_sys_exit_in_a_thread_ends_the_call_and_not_the_server() -> None:
    payload, _ = asyncio.run(outcome_of("exit_in_thread"))

    assert payload["cause_class"] == "SystemExit"


@pytest.mark.parametrize("details", sorted(STRANGE))
def test_a_failure_is_told_whatever_its_details_are(details: str) -> None:
    payload, _ = asyncio.run(outcome_of("fail_with", details=details))

    assert payload["code"] == "NOT_FOUND"
    assert payload["message"] == "42"
    assert len(str(payload)) < 100_000


@pytest.mark.parametrize(("what", "code"), [("surrogate", "INTERNAL"), ("large", "RESULT_TOO_LARGE")])
def test_a_result_that_cannot_be_sent_ends_in_a_fault(what: str, code: str) -> None:
    payload, _ = asyncio.run(outcome_of("say", what=what))

    assert payload["code"] == code


def test_a_large_result_is_refused_also_where_its_text_is_short() -> None:
    async def test() -> dict[str, Any]:
        server = Server("large", version="1.0.0")

        @server.tool()
        async def numbers() -> list[int]:
            """Return many numbers."""
            return list(range(3_000_000))

        async with connect(server, settings=QUIET) as client:
            return (await client.call("numbers")).message["result"]  # type: ignore[no-any-return]

    result = asyncio.run(test())
    assert result["_meta"]["io.holdfast/error"]["code"] == "RESULT_TOO_LARGE"


def test_a_validator_that_breaks_is_answered_for() -> None:
    async def test() -> tuple[Any, Any]:
        async with connect(make_server(), settings=QUIET) as client:
            refused = await client.call("check", text="x")
            return refused.error, (await client.call("add", first=1, second=1)).payload

    error, payload = asyncio.run(test())
    assert error["code"] == -32603
    assert error["data"]["details"]["cause_class"] == "ZeroDivisionError"
    assert payload == {"value": 2}


def test_a_program_that_a_tool_leaves_behind_dies_with_the_call() -> None:
    async def test() -> None:
        async with connect(make_server(), settings=QUIET) as client:
            assert (await client.call("leave")).payload == {"value": 1}
            assert LEFT[-1].cancelled()

    asyncio.run(test())


def test_a_tool_that_returned_in_time_is_not_late_because_of_what_it_left_running(tmp_path: Path) -> None:
    async def test() -> tuple[Any, float]:
        longer = replace(QUIET, kill_grace=1.6)  # than the tool may take
        async with connect(make_server(), settings=longer) as client:
            result = await client.call("leave_stubborn", ready=str(tmp_path / "ready"))
        (ended,) = (event for event in client.events if isinstance(event, CallEnded))
        return result.payload, ended.duration_ms

    payload, milliseconds = asyncio.run(test())
    assert payload == {"value": 1}
    assert milliseconds > 1500


def test_no_program_is_started_while_the_programs_of_a_call_are_ended() -> None:
    async def test() -> None:
        LEFT.clear()
        async with connect(make_server(), settings=QUIET) as client:
            assert (await client.call("queue_programs")).payload["cause_class"] == "ProcessError"
            await asyncio.wait(LEFT, timeout=5)
            assert all(task.done() for task in LEFT)
            assert [child for child in psutil.Process().children(recursive=True) if child.name() == "sleep"] == []

    asyncio.run(test())


@pytest.mark.parametrize(
    "error", [SystemExit, KeyboardInterrupt, asyncio.CancelledError, GeneratorExit, ValueError]
)
def test_a_renderer_or_validator_that_breaks_ends_the_call_only(error: type[BaseException]) -> None:
    def break_off(_value: Any, _presentation: Any = None) -> str:
        raise error

    def refuse(text: str) -> str:
        raise error(text)

    async def test() -> None:
        server = Server("brittle", version="1.0.0")

        @server.tool(porcelain=break_off)
        async def render() -> Answer:
            """Return what cannot be shown."""
            return Answer(1)

        @server.tool()
        async def validate(text: Annotated[str, AfterValidator(refuse)]) -> Answer:
            """Never get here."""
            return Answer(len(text))

        async with connect(server, settings=QUIET) as client:
            assert (await client.call("render")).code == "INTERNAL"
            assert (await client.call("validate", text="x")).code in {"INTERNAL", "INVALID_REQUEST"}

    asyncio.run(test())


def test_a_declared_code_reaches_the_caller_with_its_details_and_remedy() -> None:
    payload, recorded = asyncio.run(outcome_of("fail", code="OUT_OF_STOCK"))

    assert payload["code"] == "OUT_OF_STOCK"
    assert payload["where"] == "/etc/x"
    assert payload["hint"] == "Order more."
    assert not recorded


def test_a_code_that_was_not_declared_is_an_internal_error() -> None:
    payload, recorded = asyncio.run(outcome_of("fail", code="FORBIDDEN"))

    assert payload["code"] == "INTERNAL"
    assert payload["cause_class"] == "UndeclaredErrorCode"
    assert "FORBIDDEN" in recorded[0].traceback


@pytest.mark.parametrize(
    ("how", "cause"),
    [
        ("value", "ValueError"),
        ("recursion", "RecursionError"),
        ("cancelled", "CancelledError"),
        ("memory", "MemoryError"),
        ("stop", "StopAsyncIteration"),
        ("exit", "SystemExit"),
        ("interrupt", "KeyboardInterrupt"),
        ("generator", "GeneratorExit"),
        ("base", "BaseException"),
        ("unprintable", "Unprintable"),
    ],
)
def test_an_unexpected_error_shows_its_class_and_a_fault_id_and_nothing_else(how: str, cause: str) -> None:
    payload, recorded = asyncio.run(outcome_of("explode", how=how))

    assert payload["code"] == "INTERNAL"
    assert payload["cause_class"] == cause
    assert "secret" not in str(payload)
    assert "Traceback" not in str(payload)
    assert recorded[0].fault_id in str(payload)


def test_a_result_that_breaks_the_contract_is_not_passed_on() -> None:
    payload, recorded = asyncio.run(outcome_of("lie"))

    assert payload["cause_class"] == "OutputContractViolation"
    assert len(recorded) == 1


def test_a_plain_function_runs_in_a_thread() -> None:
    payload, _ = asyncio.run(outcome_of("add", first=1, second=2))

    assert payload == {"value": 3}


def test_an_error_in_a_thread_is_an_error_of_the_call() -> None:
    payload, _ = asyncio.run(outcome_of("explode_in_thread"))

    assert payload["code"] == "INTERNAL"


def test_a_thread_that_asks_is_told_to_stop() -> None:
    payload, _ = asyncio.run(outcome_of("loop_until_told"))

    assert payload["code"] == "TOOL_TIMEOUT"
    assert STOPPED.wait(5)


def test_a_program_that_a_thread_waits_for_dies_with_the_call() -> None:
    payload, _ = asyncio.run(outcome_of("run_from_thread", seconds=1000))

    assert payload["code"] == "TOOL_TIMEOUT"
