"""`spawn`: streams, waiting, stopping, and what happens when starting goes wrong half-way."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from tests.unit.process.trees import PYTHON, Tree, changed_keeper, powerless_keeper, until_async

from holdfast.errors import ProcessError
from holdfast.process import Outcome, keeper, posix, spawn
from holdfast.process.custody import finished
from holdfast.process.posix import KeptProcess


def test_a_spawned_program_talks_over_its_pipes() -> None:
    async def scenario() -> tuple[bytes, Outcome]:
        async with await spawn(["cat"], stdin="pipe") as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(b"hello\n")
            await process.stdin.drain()
            line = await process.stdout.readline()
            process.stdin.close()
            await process.stdin.wait_closed()
            return line, await process.wait()

    assert asyncio.run(scenario())[0] == b"hello\n"
    assert asyncio.run(scenario())[1].ok


def test_a_line_longer_than_the_default_is_read_when_the_limit_says_so() -> None:
    async def scenario() -> int:
        script = "print('x' * 1_000_000)"
        async with await spawn([*PYTHON, "-c", script], limit=2_000_000) as process:
            assert process.stdout is not None
            return len(await process.stdout.readline())

    assert asyncio.run(scenario()) == 1_000_001


def test_inherited_output_goes_where_the_servers_own_goes() -> None:
    server = (
        "import asyncio\nfrom holdfast.process import spawn\n"
        "async def main():\n"
        "    process = await spawn(['sh', '-c', 'echo out; echo err >&2'], stdout='inherit', stderr='inherit')\n"
        "    assert process.stdout is process.stderr is process.stdin is None\n"
        "    await process.wait()\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", server], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("out\n", "err\n")


def test_null_streams_are_empty_and_swallow() -> None:
    async def scenario() -> Outcome:
        process = await spawn(["sh", "-c", "cat; echo lost"], stdout="null", stderr="null")
        return await process.wait()

    assert asyncio.run(scenario()).returncode == 0


def test_cancelling_a_wait_leaves_the_process_alone() -> None:
    async def scenario() -> None:
        async with await spawn(["sleep", "60"]) as process:
            waiting = asyncio.create_task(process.wait())
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            assert psutil.Process(process.pid).is_running()

    asyncio.run(scenario())


def test_stopping_twice_and_stopping_the_dead_is_harmless() -> None:
    async def scenario() -> None:
        process = await spawn(["sleep", "60"])
        first, second = await asyncio.gather(process.stop(), process.stop(grace=0))
        assert first == second == await process.stop() == await process.wait()
        assert first.signal == signal.SIGTERM

    asyncio.run(scenario())


@pytest.mark.parametrize("grace", [-1, float("nan"), float("inf"), "2", None, True])
def test_a_grace_that_is_no_time_is_refused(grace: float) -> None:
    with pytest.raises(ProcessError, match=r"grace is .*; give a number of seconds"):
        asyncio.run(spawn(["true"], grace=grace))


def test_cancelling_a_start_leaves_nothing_behind(tmp_path: Path) -> None:
    async def scenario(steps: int) -> None:
        starting = asyncio.create_task(spawn(["sleep", "60"], stdin="pipe"))
        for _ in range(steps):
            await asyncio.sleep(0)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting

    others = set(psutil.Process().children(recursive=True))  # servers that other tests share
    for steps in (0, 1, 2, 3, 5, 8, 13):
        asyncio.run(scenario(steps))
        new = set(psutil.Process().children(recursive=True)) - others
        assert not [one for one in new if not others & set(one.parents())]  # those servers start processes too


def test_the_command_leads_its_own_session_and_the_keeper_is_not_in_it() -> None:
    async def scenario() -> None:
        async with await spawn(["sleep", "60"]) as process:
            assert isinstance(process, KeptProcess)
            assert os.getsid(process.pid) == os.getpgid(process.pid) == process.pid
            assert len({os.getsid(0), os.getsid(process.keeper_pid), process.pid}) == 3

    asyncio.run(scenario())


def test_the_command_gets_no_descriptor_and_no_signal_setting_of_ours() -> None:
    script = "import os; print(sorted(os.listdir('/proc/self/fd'))); print(open('/proc/self/status').read())"

    async def scenario() -> str:
        async with await spawn([*PYTHON[:1], "-c", script]) as process:
            assert process.stdout is not None
            return (await process.stdout.read()).decode()

    descriptors, status = asyncio.run(scenario()).split("\n", 1)
    assert descriptors == "['0', '1', '2', '3']"  # the fourth is the listing itself
    assert "SigBlk:\t0000000000000000" in status


def test_a_keeper_that_hangs_is_given_up_and_its_tree_swept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posix, "KILL_BOUND", 0.2)
    monkeypatch.setattr(posix, "_MARGIN", 0.1)
    tree = Tree(tmp_path)

    async def scenario() -> Outcome:
        process = await spawn(tree.command("child=daemon+daemon"))
        await until_async(lambda: tree.grown("parent daemon"))
        tree.keeper().suspend()
        return await process.stop(grace=0.0)

    outcome = asyncio.run(scenario())
    assert (outcome.lost, outcome.stopped, tree.alive()) == (True, True, [])


def test_what_cannot_be_killed_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper, "__file__", powerless_keeper(tmp_path))
    tree = Tree(tmp_path)

    async def scenario() -> Outcome:
        process = await spawn(tree.command("child=child"))
        await until_async(lambda: tree.grown("parent child"))
        return await process.stop(grace=0.0)

    outcome = asyncio.run(scenario())
    survivors = tuple(sorted(member.pid for member in tree.members.values()))
    tree.members["child"].kill()
    assert outcome.survivors == survivors
    assert outcome.describe() == f"its end was not seen, still alive: {survivors[0]}, {survivors[1]}"


def test_without_a_subreaper_and_proc_the_tree_is_found_by_ps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = changed_keeper(
        tmp_path, "keeper._prctl = lambda *_: False; keeper.process_table = keeper._table_of_ps"
    )
    monkeypatch.setattr(keeper, "__file__", plain)
    tree = Tree(tmp_path)

    async def scenario() -> Outcome:
        process = await spawn(tree.command("child=child+>grandchild", "child=loner+loner+stubborn"), grace=0.2)
        await until_async(lambda: tree.grown("parent child grandchild loner"))
        return await process.stop()

    outcome = asyncio.run(scenario())
    assert (outcome.signal, outcome.killed, outcome.survivors) == (signal.SIGTERM, True, ())
    assert tree.alive() == []


def test_a_keeper_that_cannot_even_start_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper, "__file__", str(tmp_path / "missing.py"))
    with pytest.raises(ProcessError, match="the keeper of 'true' ended before it could start it"):
        asyncio.run(spawn(["true"], stderr="null"))


def test_finished_raises_the_cancellation_only_after_the_result() -> None:
    async def scenario() -> None:
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        waiting = asyncio.create_task(finished(future))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.sleep(0)
        assert not waiting.done()
        future.set_result(1)
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(scenario())
