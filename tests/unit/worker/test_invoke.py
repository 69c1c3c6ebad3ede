"""What a tool may do wrong, and what the caller is told: a typed fault, never a stack trace."""

import asyncio
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.contract.model import ErrorSpec
from holdfast.errors import StopWork, ToolError
from holdfast.settings import Settings
from holdfast.testing import connect
from holdfast.vocabulary.events import FaultRecorded
from holdfast.worker.context import SyncContext
from holdfast.worker.server import Server

QUIET = replace(Settings(), event_log=False, kill_grace=0.3)
STOPPED = threading.Event()


@dataclass
class Answer:
    """What a tool of these tests returns."""

    value: int


def make_server() -> Server:
    server = Server("faulty", version="1.0.0", dialect="poc", render="json", presentation="meta")

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
        }
        raise errors[how]

    @server.tool()
    async def lie() -> Answer:
        """Return what the contract does not allow."""
        return "text"  # type: ignore[return-value]

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

    return server


async def outcome_of(tool: str, **arguments: Any) -> tuple[dict[str, Any], list[FaultRecorded]]:
    async with connect(make_server(), settings=QUIET) as client:
        result = await client.call(tool, **arguments)
        return result.payload, [event for event in client.events if isinstance(event, FaultRecorded)]


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
