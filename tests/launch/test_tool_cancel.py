"""Ending things: a run for good, or only a request, in the middle of its work; and work that takes too long."""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from tests.launch.runs import BOUND, Place, answered, error_of, succeeded, until

from holdfast.launch.tools import server
from holdfast.testing import ScriptedClient, connect, marked_processes
from holdfast.testing.marked import MARK, command_line

pytestmark = [pytest.mark.xdist_group("launch-tools"), pytest.mark.timeout(240)]

SOON = 2.0  # seconds in which whatever was cancelled is gone


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> str:
    """What the processes of this test are found by."""
    made = secrets.token_hex(8)
    monkeypatch.setenv(MARK, made)
    return made


@asynccontextmanager
async def validating(place: Place, mark: str) -> AsyncIterator[tuple[ScriptedClient, int]]:
    """A client that waits for a validation, whose gates are at work."""
    async with connect(server) as client:
        number = client.start_call("launch_validate", {"run_id": place.run_id}, {"progressToken": "v"})
        await client.wait_for(
            lambda message: "gate" in str(message.get("params", {}).get("message")), BOUND, "progress of a gate"
        )
        assert [pid for pid in marked_processes(mark) if "holdfast.launch.working" in command_line(pid)]
        yield client, number


def gone(mark: str) -> float:
    """How long it takes until no process of the test is left."""
    begun = time.monotonic()
    until(lambda: not marked_processes(mark), SOON, "the end of all processes")
    return time.monotonic() - begun


def ends(place: Place) -> list[tuple[str, str]]:
    """How the work ended that was begun after the run was made."""
    return [
        (event.type, event.payload.get("error", {}).get("code", ""))
        for event in place.new_events()
        if event.type.startswith("WORK_ITEM_F")
    ]


@pytest.mark.requirement("S4-launch_cancel-works")
@pytest.mark.requirement("S4-errors-CANCELLED")
def test_cancelling_a_run_ends_its_processes_and_tells_whoever_waits(place: Place, mark: str) -> None:
    async def ask() -> None:
        async with validating(place, mark) as (client, number):
            cancelled = client.start_call("launch_cancel", {"run_id": place.run_id})
            answer = succeeded(await answered(client, cancelled))
            assert (answer["cancelled"], answer["state"]) == (True, "CANCELLED")
            assert await asyncio.to_thread(gone, mark) < SOON
            error = error_of(await answered(client, number))
            assert (error["code"], error["retryable"], error["details"]["scope"]) == ("CANCELLED", False, "run")

    asyncio.run(ask())

    assert place.state() == "CANCELLED"
    assert ends(place) == [("WORK_ITEM_FAILED", "CANCELLED")]
    assert not [event for event in place.new_events() if event.type == "ARTIFACT_WRITTEN"]
    again = succeeded(place.run_call("launch_cancel"))
    assert (again["cancelled"], again["state"]) == (True, "CANCELLED")


@pytest.mark.requirement("OURS-11-scope")
@pytest.mark.requirement("S4-errors-CANCELLED")
def test_cancelling_a_request_stops_its_work_and_not_the_run(place: Place, mark: str) -> None:
    async def ask() -> None:
        async with validating(place, mark) as (client, number):
            client.notify("$/cancelRequest", id=number)
            error = error_of(await answered(client, number))
            assert (error["code"], error["retryable"]) == ("CANCELLED", False)
            assert await asyncio.to_thread(gone, mark) < SOON

    asyncio.run(ask())

    until(lambda: ends(place) == [("WORK_ITEM_FAILED", "CANCELLED")], what="the end of the work")
    assert place.state() == "READY_FOR_PR"
    until(lambda: place.row()["holder"] is None, what="letting go of the run")
    assert succeeded(place.run_call("launch_resume"))["status"]["state"] == "READY_FOR_PR"


@pytest.mark.requirement("OURS-11-scope")
def test_a_cancelled_request_says_that_only_the_request_was_cancelled(place: Place, mark: str) -> None:
    async def ask() -> None:
        async with validating(place, mark) as (client, number):
            client.notify("$/cancelRequest", id=number)
            assert error_of(await answered(client, number))["details"]["scope"] == "request"

    asyncio.run(ask())


def test_a_notification_of_cancellation_is_not_answered_and_stops_the_work(place: Place, mark: str) -> None:
    async def ask() -> None:
        async with validating(place, mark) as (client, number):
            client.notify("notifications/cancelled", requestId=number)
            assert await asyncio.to_thread(gone, mark) < SOON
            told = len(client.progress_of("v"))
            assert succeeded(await client.call("launch_get_status", run_id=place.run_id))
            assert not [message for message in client.messages if message.get("id") == number]
            assert len(client.progress_of("v")) == told

    asyncio.run(ask())

    until(lambda: ends(place) == [("WORK_ITEM_FAILED", "CANCELLED")], what="the end of the work")
    assert place.state() == "READY_FOR_PR"


@pytest.fixture
def impatient() -> Iterator[None]:
    """A server in which a validation may take less time than it needs."""
    tool = server.find_tool("launch_validate")
    assert tool is not None
    server.limit("launch_validate", 0.4)
    yield
    server.limit("launch_validate", tool.contract.timeout or 0.0)


@pytest.mark.usefixtures("impatient")
def test_a_call_that_takes_too_long_is_ended_with_its_work_and_not_the_run(place: Place, mark: str) -> None:
    error = error_of(place.run_call("launch_validate"))

    assert error["code"] == "TOOL_TIMEOUT"
    assert error["details"]["timeoutMs"] == 400
    assert gone(mark) < SOON
    until(lambda: place.row()["holder"] is None, what="letting go of the run")
    assert place.state() == "READY_FOR_PR"


def test_work_that_exceeds_the_time_of_the_run_is_told_with_its_cause(place: Place, mark: str) -> None:
    place.reconfigure(budgets={**place.config()["budgets"], "max_runtime_s": 0.3})

    error = error_of(place.run_call("launch_validate"))

    assert (error["code"], error["retryable"]) == ("INTERNAL", False)
    assert error["details"]["cause_class"] == "TOOL_TIMEOUT"
    assert gone(mark) < SOON
    assert ends(place) == [("WORK_ITEM_FAILED", "TOOL_TIMEOUT")]
    assert place.state() == "READY_FOR_PR"


def test_a_started_run_is_cancelled_while_its_first_worker_is_at_work(place: Place, mark: str) -> None:
    run_id = succeeded(place.call("launch_start_run", run_config=place.origin.config))["run_id"]
    until(lambda: marked_processes(mark), what="a worker")

    assert succeeded(place.call("launch_cancel", run_id=run_id))["state"] == "CANCELLED"

    assert gone(mark) < SOON
    status = succeeded(place.call("launch_get_status", run_id=run_id))["status"]
    assert (status["state"], status["artifacts"]) == ("CANCELLED", [])
    until(lambda: place.service.run(run_id).holder is None, what="letting go of the run")
    assert {item.status for item in place.service.store.items(run_id)} == {"failed"}
