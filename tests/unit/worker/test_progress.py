"""Progress is throttled, rises, and stops with the call."""

import asyncio
import itertools
from dataclasses import replace
from typing import Any

import pytest

from holdfast.settings import Settings
from holdfast.testing import MockClock, connect
from holdfast.worker.context import Context
from holdfast.worker.progress import ProgressMeter
from holdfast.worker.server import Server

QUIET = replace(Settings(), event_log=False)


def meter_on(
    clock: MockClock, reports: list[tuple[float, Any]], interval: float = 0.25
) -> list[tuple[float, Any]]:
    """Report (at time, progress) pairs through a meter; return what was sent, with its time."""
    sent: list[tuple[float, Any]] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        meter = ProgressMeter(lambda notice: sent.append((loop.time(), notice["progress"])), {}, interval, loop)
        for at, progress in reports:
            await asyncio.sleep(max(0.0, at - loop.time()))
            meter.report("step", progress)
        await asyncio.sleep(10)

    clock.run(main())
    return sent


def test_a_burst_becomes_the_first_report_and_the_newest_one() -> None:
    sent = meter_on(MockClock(), [(0.0, number) for number in range(1, 101)])

    assert [progress for _, progress in sent] == [1, 100]
    assert sent[1][0] - sent[0][0] >= 0.25


def test_there_are_never_more_than_four_in_a_second() -> None:
    sent = meter_on(MockClock(), [(number / 100, number) for number in range(1, 500)])

    times = [at for at, _ in sent]
    assert all(later - earlier >= 0.249 for earlier, later in itertools.pairwise(times))
    assert len(sent) >= 18


def test_a_report_that_overtakes_a_late_timer_does_not_let_the_next_one_through() -> None:
    sent: list[int] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        clock.now = 0.0
        meter = ProgressMeter(lambda notice: sent.append(notice["progress"]), {}, 0.25, loop)
        meter.report("sent", 1)
        meter.report("waits", 2)
        clock.now = 0.3  # the loop was busy: the timer is due, but a report comes first
        meter.report("sent", 3)
        meter.report("too soon", 4)
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    clock = MockClock()
    clock.run(main())
    assert sent == [1, 3]


def test_a_number_that_does_not_rise_is_not_sent() -> None:
    sent = meter_on(MockClock(), [(0.0, 5), (1.0, 5), (2.0, 3), (3.0, 6)])

    assert [progress for _, progress in sent] == [5, 6]


def test_a_tool_may_begin_with_zero_and_below() -> None:
    assert [progress for _, progress in meter_on(MockClock(), [(0.0, 0), (1.0, 50)])] == [0, 50]
    assert [progress for _, progress in meter_on(MockClock(), [(0.0, -1), (1.0, None)])] == [-1, 0.000001]


def test_reports_without_a_number_rise_by_next_to_nothing() -> None:
    sent = meter_on(MockClock(), [(0.0, None), (1.0, None), (2.0, None)])

    assert [progress for _, progress in sent] == [0.000001, 0.000002, 0.000003]


def test_lines_of_a_program_do_not_overtake_the_numbers_of_the_tool() -> None:
    sent = meter_on(MockClock(), [(0.0, 1), *((number, None) for number in range(1, 20)), (30.0, 2)])

    assert sent[-1][1] == 2
    assert len(sent) == 21


def make_server() -> Server:
    server = Server("chatty", version="1.0.0", dialect="poc", render="json", presentation="meta")

    @server.tool()
    async def work(ctx: Context) -> None:
        """Report, then end at once."""
        await ctx.progress("half", progress=1, total=2)
        await ctx.progress("all", progress=2, total=2)

    return server


def test_progress_carries_the_token_and_says_which_tool_is_how_far() -> None:
    async def test() -> None:
        async with connect(make_server(), settings=QUIET) as client:
            await client.answer_to(client.start_call("work", meta={"progressToken": "p"}))
            await asyncio.sleep(5)

            (notice,) = client.progress_of("p")
            assert notice["message"] == "half"
            assert (notice["progress"], notice["total"]) == (1, 2)
            assert notice["tool"] == "work"
            assert client.messages[-1]["id"] is not None, "the waiting report was dropped with the answer"

    MockClock().run(test())


def test_nobody_who_did_not_ask_for_progress_gets_it() -> None:
    async def test() -> None:
        async with connect(make_server(), settings=QUIET) as client:
            await client.call("work")

            assert all("method" not in message for message in client.messages)

    MockClock().run(test())


def test_legacy_framing_sends_progress_with_the_request_id_and_without_a_token() -> None:
    async def test() -> None:
        async with connect(make_server(), settings=replace(QUIET, mcp_mode="legacy")) as client:
            number = client.start_call("work")
            await client.answer_to(number)
            notice = await client.wait_for(lambda message: message.get("method") == "notifications/progress")

            assert notice["params"]["id"] == number
            assert set(notice["params"]) >= {"id", "tool", "message", "stream", "phase", "ts"}

    MockClock().run(test())


def test_early_results_travel_with_a_report_as_they_were_when_it_was_made() -> None:
    server = Server("early", version="1.0.0")

    @server.tool()
    async def work(ctx: Context) -> None:
        """Reports what it has so far."""
        found = {"hits": [1]}
        await ctx.progress("first", progress=1, data=found)
        await ctx.progress("second", progress=2, data=found)
        found["hits"].append(2)
        await asyncio.sleep(5)

    async def test() -> None:
        async with connect(server, settings=QUIET) as client:
            await client.answer_to(client.start_call("work", meta={"progressToken": "p"}))

            assert [notice["data"] for notice in client.progress_of("p")] == [{"hits": [1]}, {"hits": [1]}]

    MockClock().run(test())


def test_data_that_is_not_json_is_the_error_of_the_tool_that_reports_it() -> None:
    async def test() -> None:
        meter = ProgressMeter(lambda _: None, {}, 0.25, asyncio.get_running_loop())
        meter.report("sent", 1)
        with pytest.raises(ValueError, match="has to be JSON"):  # at once, although the report would wait
            meter.report("waits", 2, data={"one": object()})

    MockClock().run(test())
