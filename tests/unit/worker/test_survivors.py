"""A process tree of a call that cannot be ended: the call is answered all the same, and it is on record."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.process.trees import Tree, powerless_keeper, until_async

from holdfast import Context, Server
from holdfast.process import keeper
from holdfast.settings import Settings
from holdfast.testing import connect
from holdfast.vocabulary.events import CallEnded, Event, KillFailed

QUIET = replace(Settings(), event_log=False, kill_grace=0.0)


def make_server(tree: Tree) -> Server:
    server = Server("stuck", version="1.0.0")

    @server.tool()
    async def work(ctx: Context) -> int:
        """Start a program that nothing ends, with a child of its own."""
        await ctx.run(tree.command("child=child"))
        return 1

    return server


@pytest.mark.requirement("OURS-19-event")
def test_processes_that_outlive_a_cancelled_call_are_an_event_of_that_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "__file__", powerless_keeper(tmp_path))
    tree = Tree(tmp_path)

    async def scenario() -> tuple[str | None, list[Event]]:
        async with connect(make_server(tree), settings=QUIET) as client:
            number = client.start_call("work", {})
            await until_async(lambda: tree.grown("parent child"))
            client.notify("$/cancelRequest", id=number)
            answer = await client.answer_to(number)
            await until_async(lambda: any(isinstance(event, KillFailed) for event in client.events))
            return answer["result"]["_meta"]["io.holdfast/error"]["code"], client.events

    try:
        code, events = asyncio.run(scenario())
    finally:
        for member in tree.members.values():
            member.kill()

    (failed,) = [event for event in events if isinstance(event, KillFailed)]
    (ended,) = [event for event in events if isinstance(event, CallEnded)]
    assert code == "CANCELLED"
    assert failed.survivors == tuple(sorted(member.pid for member in tree.members.values()))
    assert failed.call_id == ended.call_id
