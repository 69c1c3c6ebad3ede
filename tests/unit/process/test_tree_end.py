"""However a call ends, and however its tree tried to get away, nothing of the tree is alive afterwards."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from tests.unit.process.trees import GRANDCHILD, WILD, Tree, until, until_async

from holdfast.process import Outcome, run, spawn
from holdfast.process.posix import KeptProcess

ALL = "parent child grandchild stubborn loner daemon bare"

SERVER = """
import asyncio, sys
from holdfast.process import run
asyncio.run(run(sys.argv[1:], grace=0.1))
"""

FORKING_SERVER = """
import asyncio, os, signal, sys
from holdfast.process import spawn

async def main():
    process = await spawn(sys.argv[1:], grace=0.1)
    if os.fork() == 0:
        signal.pause()
    await process.wait()

asyncio.run(main())
"""


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_a_timeout_ends_every_member_of_the_tree(tree: Tree) -> None:
    command = tree.command(GRANDCHILD, *WILD)

    async def scenario() -> None:
        running = asyncio.create_task(run(command, timeout=1.5, grace=0.1))
        await until_async(lambda: tree.grown(ALL))
        completed = await running
        assert tree.traces() == []
        assert completed.timed_out
        assert not completed.ok
        assert completed.survivors == ()
        assert completed.outcome.killed

    asyncio.run(scenario())


def test_a_cancelled_call_returns_only_when_every_member_has_ended(tree: Tree) -> None:
    outcomes: list[Outcome] = []

    async def scenario() -> None:
        running = asyncio.create_task(run(tree.command(GRANDCHILD, *WILD), grace=0.1, on_end=outcomes.append))
        await until_async(lambda: tree.grown(ALL))
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert tree.traces() == []

    asyncio.run(scenario())
    assert [(outcome.stopped, outcome.survivors) for outcome in outcomes] == [(True, ())]


def test_a_second_cancellation_does_not_cut_the_stop_short(tree: Tree) -> None:
    async def scenario() -> None:
        running = asyncio.create_task(run(tree.command("stubborn"), grace=0.3))
        await until_async(lambda: tree.grown("parent"))
        running.cancel()
        for _ in range(5):
            await asyncio.sleep(0)
            running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert tree.traces() == []

    asyncio.run(scenario())


def test_nothing_is_written_by_the_tree_after_the_abort(tree: Tree) -> None:
    async def scenario() -> None:
        process = await spawn(tree.command(GRANDCHILD, *WILD), grace=0.1)
        await until_async(lambda: tree.grown(ALL) and tree.beats() > 50)
        await process.stop()
        beats = tree.beats()
        other = Tree(tree.folder / "other")
        await run(other.command("brief"))  # time passes: another whole process starts and ends
        assert tree.beats() == beats

    (tree.folder / "other").mkdir()
    asyncio.run(scenario())


def test_what_a_command_leaves_running_is_ended_with_it(tree: Tree) -> None:
    script = f"{' '.join(tree.command(*WILD))} & while [ ! -e go ]; do sleep 0.01; done"

    async def scenario() -> None:
        running = asyncio.create_task(run(["sh", "-c", script], cwd=tree.folder, grace=0.1))
        await until_async(lambda: tree.grown("parent bare daemon loner"))
        (tree.folder / "go").touch()
        completed = await running
        assert completed.ok
        assert tree.traces() == []

    asyncio.run(scenario())


def test_a_leftover_that_ignores_term_is_killed_after_the_grace(tree: Tree) -> None:
    script = f"{' '.join(tree.command('stubborn'))} & while [ ! -e {tree.folder}/parent.pid ]; do sleep 0.01; done"
    completed = asyncio.run(run(["sh", "-c", script], grace=0.2))
    assert completed.returncode == 0
    assert completed.outcome.killed
    assert not psutil.pid_exists(int((tree.folder / "parent.pid").read_text()))


def test_the_tree_dies_when_the_server_is_killed(tree: Tree) -> None:
    server = subprocess.Popen([sys.executable, "-c", SERVER, *tree.command(GRANDCHILD, *WILD)])
    until(lambda: tree.grown(ALL))
    server.kill()
    server.wait()
    until(lambda: tree.alive() == [])
    beats = tree.beats()
    asyncio.run(run(["true"]))
    assert tree.beats() == beats


def test_the_tree_dies_when_the_server_is_killed_although_a_stranger_holds_its_sockets(tree: Tree) -> None:
    server = subprocess.Popen([sys.executable, "-c", FORKING_SERVER, *tree.command()], start_new_session=True)
    until(lambda: tree.grown("parent") and len(psutil.Process(server.pid).children()) == 2)
    server.kill()
    server.wait()
    until(lambda: tree.alive() == [])
    os.killpg(server.pid, signal.SIGKILL)


def test_the_tree_dies_when_its_keeper_is_killed(tree: Tree) -> None:
    async def scenario() -> Outcome:
        process = await spawn(tree.command(GRANDCHILD, "child=stubborn+stubborn", "child=daemon+daemon"))
        assert isinstance(process, KeptProcess)
        await until_async(lambda: tree.grown("parent child grandchild stubborn daemon"))
        os.kill(process.keeper_pid, signal.SIGKILL)
        outcome = await process.wait()
        assert tree.alive() == []
        await process.stop()
        return outcome

    outcome = asyncio.run(scenario())
    assert outcome.lost
    assert not outcome.ok
    assert outcome.survivors == ()


def test_a_keeper_that_is_killed_during_run_ends_the_call_as_failed(tree: Tree) -> None:
    async def scenario() -> None:
        running = asyncio.create_task(run(tree.command("child=child")))
        await until_async(lambda: tree.grown("parent child"))
        tree.keeper().kill()
        completed = await running
        assert (completed.returncode, completed.signal, completed.ok) == (None, None, False)
        assert completed.describe() == "its end was not seen"
        assert tree.alive() == []

    asyncio.run(scenario())


def test_a_term_to_the_keeper_stops_the_tree(tree: Tree) -> None:
    async def scenario() -> Outcome:
        process = await spawn(tree.command(GRANDCHILD))
        await until_async(lambda: tree.grown("parent child grandchild"))
        tree.keeper().terminate()
        outcome = await process.wait()
        await process.stop()
        return outcome

    outcome = asyncio.run(scenario())
    assert (outcome.stopped, outcome.signal, outcome.lost) == (True, signal.SIGTERM, False)
    assert tree.traces() == []


def test_a_stopped_process_can_still_tidy_up(tree: Tree) -> None:
    async def scenario() -> Outcome:
        process = await spawn(tree.command("tidy"))
        await until_async(lambda: tree.grown("parent"))
        tree.members["parent"].suspend()
        return await process.stop()

    outcome = asyncio.run(scenario())
    assert (tree.folder / "tidied").exists()
    assert (outcome.returncode, outcome.killed) == (0, False)


def test_a_well_behaved_tree_is_asked_first_and_may_clean_up(tree: Tree) -> None:
    async def scenario() -> Outcome:
        process = await spawn(tree.command("child=child+tidy"), grace=5.0)
        await until_async(lambda: tree.grown("parent child"))
        return await process.stop()

    outcome = asyncio.run(scenario())
    assert (tree.folder / "tidied").read_text() == "yes"
    assert (outcome.signal, outcome.killed, outcome.stopped) == (signal.SIGTERM, False, True)
    assert tree.traces() == []


def test_one_that_ignores_term_is_killed_after_the_grace_and_not_before(tree: Tree) -> None:
    async def scenario() -> tuple[Outcome, float]:
        process = await spawn(tree.command("stubborn"))
        await until_async(lambda: tree.grown("parent"))
        loop = asyncio.get_running_loop()
        begin = loop.time()
        return await process.stop(grace=0.3), loop.time() - begin

    outcome, seconds = asyncio.run(scenario())
    assert (outcome.signal, outcome.killed) == (signal.SIGKILL, True)
    assert 0.3 <= seconds < 3.0
    assert tree.traces() == []
