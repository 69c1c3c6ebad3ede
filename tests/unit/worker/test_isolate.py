"""A call in a process of its own that dies: it is run again where its contract allows that, and only there."""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.worker.dying_tools import server

from holdfast.settings import Configuration, Settings, ToolRule
from holdfast.testing import CallResult, ScriptedClient, connect
from holdfast.vocabulary.effects import EffectKind
from holdfast.vocabulary.events import CallEnded, CallReplayed, Event, FaultRecorded

QUIET = replace(Settings(), event_log=False, kill_grace=0.3)
Call = Callable[..., tuple[CallResult, list[Event]]]


@pytest.fixture
def note(tmp_path: Path) -> Path:
    """Where every run of a tool writes its process."""
    return tmp_path / "runs"


@pytest.fixture
def call(note: Path) -> Call:
    def run(tool: str, settings: Settings = QUIET, **arguments: Any) -> tuple[CallResult, list[Event]]:
        async def scenario() -> tuple[CallResult, list[Event]]:
            async with connect(server, settings=settings) as client:
                return await client.call(tool, note=str(note), **arguments), client.events

        return asyncio.run(scenario())

    return run


def runs(note: Path) -> int:
    return len(note.read_text().splitlines()) if note.exists() else 0


def replays(events: list[Event]) -> list[tuple[str, int]]:
    return [(event.tool, event.attempt) for event in events if isinstance(event, CallReplayed)]


@pytest.mark.requirement("S3-topologies-private-replay")
@pytest.mark.parametrize("how", ["kill", "half"])
def test_a_convergent_call_whose_process_dies_is_run_again_in_another(call: Call, note: Path, how: str) -> None:
    result, events = call("safe", deaths=1, how=how)

    first, second = note.read_text().splitlines()
    assert result.payload == {"runs": 2, "pid": int(second)}
    assert first != second
    assert replays(events) == [("safe", 2)]
    assert [event.outcome for event in events if isinstance(event, CallEnded)] == ["ok"]


@pytest.mark.requirement("S3-topologies-private-replay")
def test_a_call_survives_as_many_deaths_as_it_may_be_repeated(call: Call) -> None:
    result, events = call("keyed", deaths=2, key="order-7")

    assert result.payload["runs"] == 3
    assert replays(events) == [("keyed", 2), ("keyed", 3)]


@pytest.mark.requirement("S3-topologies-private-replay")
def test_a_process_that_always_dies_exhausts_the_replays(call: Call, note: Path) -> None:
    result, events = call("safe", replace(QUIET, replays=1), deaths=99, how="kill")

    assert (result.code, runs(note)) == ("REPLAY_EXHAUSTED", 2)
    assert "died before it answered (signal 9); it was run 2 times and is not run again" in result.text
    (recorded,) = [event for event in events if isinstance(event, FaultRecorded)]
    assert recorded.cause_class == "ProcessDied"
    assert recorded.fault_id in result.text


@pytest.mark.requirement("S3-topologies-private-replay")
@pytest.mark.parametrize("tool", ["once", "probed", "keyed"])  # a call without its key promises nothing
def test_a_call_that_may_have_taken_effect_is_not_run_again(call: Call, note: Path, tool: str) -> None:
    result, events = call(tool, deaths=1)

    assert (result.code, runs(note), replays(events)) == ("AMBIGUOUS_OUTCOME", 1, [])
    told = result.message["result"]["_meta"]["io.holdfast/error"]
    assert (told["category"], told["retryable"]) == ("ambiguous_outcome", False)
    assert "(exit code 7); it may or may not have taken effect" in result.text


def test_a_call_that_may_not_be_repeated_at_all_says_so_after_one_run(call: Call, note: Path) -> None:
    result, events = call("safe", replace(QUIET, replays=0), deaths=1)

    assert (result.code, runs(note), replays(events)) == ("REPLAY_EXHAUSTED", 1, [])


def test_what_is_run_again_has_no_more_time_than_the_call(call: Call, note: Path) -> None:
    result, events = call("hasty", replace(QUIET, replays=100), deaths=1000)

    assert result.code == "TOOL_TIMEOUT"
    assert [event.outcome for event in events if isinstance(event, CallEnded)] == ["timeout"]
    assert runs(note) <= len(replays(events)) + 1 < 100


def test_a_call_that_is_cancelled_while_it_runs_again_is_not_begun_a_third_time(note: Path) -> None:
    async def scenario() -> list[Event]:
        async with connect(server, settings=QUIET) as client:
            arguments = {"note": str(note), "deaths": 99, "how": "stall"}
            number = client.start_call("safe", arguments, {"progressToken": "t"})
            await client.wait_for(lambda message: _progress(message) == 2, what="the second run")
            assert [notice["data"] for notice in client.progress_of("t")] == [{"runs": [1]}, {"runs": [2]}]
            client.notify("notifications/cancelled", requestId=number)
            await client.request("ping")
            await _until_ended(client)
            return client.events

    events = asyncio.run(scenario())
    assert [event.outcome for event in events if isinstance(event, CallEnded)] == ["cancelled"]
    assert runs(note) == 2


def _progress(message: dict[str, Any]) -> object:
    return message.get("params", {}).get("progress")


async def _until_ended(client: ScriptedClient) -> None:
    async with asyncio.timeout(10):
        while not any(isinstance(event, CallEnded) for event in client.events):  # noqa: ASYNC110 - nobody is told
            await asyncio.sleep(0.005)


def test_where_no_process_can_be_started_nothing_is_tried_again(
    call: Call, note: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    result, events = call("safe", deaths=0)

    assert (result.code, replays(events), note.exists()) == ("INTERNAL", [], False)
    assert result.message["result"]["_meta"]["io.holdfast/error"]["category"] == "process"


@pytest.mark.parametrize(
    ("rule", "untrusted", "kind", "most"),
    [
        (ToolRule(effect="at_most_once"), False, EffectKind.AT_MOST_ONCE, None),
        (ToolRule(replays=7), False, EffectKind.REPLAY_SAFE, 7),
        (ToolRule(), True, EffectKind.AT_MOST_ONCE, None),
        (ToolRule(effect="replay_safe"), True, EffectKind.REPLAY_SAFE, None),
    ],
)
def test_the_word_of_a_person_counts_before_that_of_the_tool(
    rule: ToolRule, untrusted: bool, kind: EffectKind, most: int | None
) -> None:
    tool = server.find_tool("safe")
    assert tool is not None
    declared = tool.effect
    try:
        server.obey(Configuration(replace(QUIET, untrusted=untrusted), {"safe": rule}, {}, {}, None))
        assert (tool.effect.kind, tool.replays) == (kind, most)
        assert server.surface.tools[1].effect == declared
    finally:
        tool.effect, tool.replays = declared, None


def test_a_rule_in_a_file_keeps_a_call_from_being_run_again(call: Call, note: Path) -> None:
    tool = server.find_tool("safe")
    assert tool is not None
    declared = tool.effect
    try:
        server.obey(Configuration(QUIET, {"safe": ToolRule(effect="at_most_once")}, {}, {}, None))
        result, _ = call("safe", deaths=1)
        assert (result.code, runs(note)) == ("AMBIGUOUS_OUTCOME", 1)
    finally:
        tool.effect, tool.replays = declared, None
