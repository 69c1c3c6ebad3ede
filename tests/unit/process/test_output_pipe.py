"""Output handed to a callable: all of it, in order, one end, whatever becomes of the command."""

import asyncio
import os
import signal
from typing import Any, cast

import pytest
from tests.unit.process.trees import PYTHON, until_async

from holdfast.errors import ProcessError
from holdfast.process import Process, spawn
from holdfast.process.output_pipe import READ_BYTES, OutputPipe
from holdfast.process.windows import Job, WindowsProcess

WRITE_AND_DIE = """
import os, signal, sys
out = b"x" * int(sys.argv[1])
while out:
    out = out[os.write(1, out):]
os.kill(os.getpid(), signal.SIGKILL)
"""
ENDLESS = [*PYTHON, "-c", "import os\nwhile True: os.write(1, b'y' * 4096)"]
A_WHILE = 0.2


class Taken(list[bytes]):
    """The pieces that a callable got."""

    @property
    def ended(self) -> bool:
        return bool(self) and self[-1] == b""

    def checked(self) -> bytes:
        """The whole output, once it is certain that its end was told exactly once and last."""
        assert [at for at, piece in enumerate(self) if not piece] == [len(self) - 1]
        return b"".join(self)


def test_both_outputs_arrive_in_their_callables_and_end_once() -> None:
    async def scenario() -> tuple[bytes, bytes]:
        out, err = Taken(), Taken()
        script = ["sh", "-c", "echo out; echo err >&2; echo more"]
        async with await spawn(script, on_stdout=out.append, on_stderr=err.append) as process:
            assert (process.stdout, process.stderr) == (None, None)
            assert (out, err) == ([], [])  # never before `spawn` has returned
            await until_async(lambda: out.ended and err.ended)
        return out.checked(), err.checked()

    assert asyncio.run(scenario()) == (b"out\nmore\n", b"err\n")


def test_a_dialogue_needs_no_reading_task() -> None:
    async def scenario() -> bytes:
        out = Taken()
        async with await spawn(["cat"], stdin="pipe", on_stdout=out.append) as process:
            assert process.stdin is not None
            process.stdin.write(b"one\n")
            await until_async(lambda: out == [b"one\n"])
            process.stdin.write(b"two\n")
            await until_async(lambda: out == [b"one\n", b"two\n"])
            process.stdin.close()
            await until_async(lambda: out.ended)
        return out.checked()

    assert asyncio.run(scenario()) == b"one\ntwo\n"


def test_all_that_a_killed_command_wrote_comes_before_the_end() -> None:
    async def scenario() -> bytes:
        out = Taken()
        process = await spawn([*PYTHON, "-c", WRITE_AND_DIE, "204800"], on_stdout=out.append)
        assert (await process.wait()).signal == signal.SIGKILL
        await until_async(lambda: out.ended)
        await process.stop()
        return out.checked()

    assert asyncio.run(scenario()) == b"x" * 204_800


def test_what_is_left_in_the_pipe_of_a_dead_command_is_handed_over_by_stop() -> None:
    async def scenario() -> bytes:
        out = Taken()
        process = await spawn([*PYTHON, "-c", WRITE_AND_DIE, "50000"], on_stdout=out.append)
        process.pause_stdout(True)
        assert (await process.wait()).signal == signal.SIGKILL
        assert out == []
        await process.stop()
        return out.checked()

    assert asyncio.run(scenario()) == b"x" * 50_000


def test_a_stopped_command_that_was_still_writing_ends_its_output() -> None:
    async def scenario() -> Taken:
        out, err = Taken(), Taken()
        process = await spawn(ENDLESS, on_stdout=out.append, on_stderr=err.append)
        await until_async(lambda: len(out) > 3)
        first, second = await asyncio.gather(process.stop(), process.stop())
        assert first == second == await process.stop()
        assert err.checked() == b""
        return out

    out = asyncio.run(scenario())
    assert set(out.checked()) == {ord("y")}
    assert max(map(len, out)) <= READ_BYTES


def test_a_paused_output_makes_the_command_wait_and_a_resumed_one_loses_nothing() -> None:
    script = "import os\nfor part in range(300): os.write(1, b'%04d' % part * 256); os.write(2, b'.')"

    async def scenario() -> bytes:
        out, err = Taken(), Taken()
        process = await spawn([*PYTHON, "-c", script], on_stdout=out.append, on_stderr=err.append)
        process.pause_stdout(True)
        process.pause_stdout(True)
        await until_async(lambda: sum(map(len, err)) >= 60)  # the pipe holds 64 KiB, a kibibyte for each dot
        await asyncio.wait((asyncio.ensure_future(process.wait()),), timeout=A_WHILE)
        assert (len(out), err.ended) == (0, False)
        process.pause_stdout(False)
        await until_async(lambda: out.ended and err.ended)
        await process.stop()
        process.pause_stdout(True)
        return out.checked()

    assert asyncio.run(scenario()) == b"".join(b"%04d" % part * 256 for part in range(300))


def test_a_command_that_cannot_be_started_calls_nobody() -> None:
    async def scenario() -> Taken:
        out = Taken()
        with pytest.raises(ProcessError, match="no program"):
            await spawn(["no-such-program"], on_stdout=out.append, on_stderr=out.append)
        return out

    assert asyncio.run(scenario()) == []


@pytest.mark.parametrize("output", ["null", "inherit"])
def test_a_callable_for_an_output_that_is_no_pipe_is_refused(output: Any) -> None:
    with pytest.raises(ProcessError, match=f"on_stdout gets nothing where stdout is '{output}'"):
        asyncio.run(spawn(["true"], stdout=output, on_stdout=print))


def test_a_callable_that_raises_at_the_end_leaves_no_stream_open() -> None:
    def fail(data: bytes) -> None:
        raise ValueError("no more of this")

    async def scenario() -> Taken:
        err = Taken()
        process = await spawn(["sleep", "60"], stdin="pipe", on_stdout=fail, on_stderr=err.append)
        process.pause_stdout(True)  # so that `stop` is what hands over the end
        with pytest.raises(ValueError, match="no more of this"):
            await process.stop()
        await process.stop()
        return err

    assert asyncio.run(scenario()).checked() == b""


def test_an_output_that_somebody_else_holds_open_ends_when_it_is_finished() -> None:
    async def scenario() -> Taken:
        out = Taken()
        reading, writing = os.pipe()
        os.write(writing, b"last words")
        pipe = OutputPipe(os.fdopen(reading, "rb", buffering=0), out.append)
        pipe.start()
        pipe.finish()
        pipe.finish()
        os.close(writing)
        return out

    assert asyncio.run(scenario()).checked() == b"last words"


def test_the_token_is_the_mark_that_the_tree_carries() -> None:
    async def scenario() -> tuple[str, bytes]:
        out = Taken()
        process: Process = await spawn(["sh", "-c", "echo $HOLDFAST_CUSTODY"], on_stdout=out.append)
        await until_async(lambda: out.ended)
        await process.stop()
        return process.token, out.checked()

    token, marker = asyncio.run(scenario())
    assert token == marker.decode().strip().split(":")[-1]


class NoJob:
    """In place of a job object, which only Windows has."""

    def close(self) -> None:
        """There are no members."""


def test_on_windows_a_task_hands_over_the_same_bytes_and_one_end() -> None:
    async def scenario() -> tuple[bytes, bytes]:
        out, err = Taken(), Taken()
        command, pipe = [*PYTHON, "-c", WRITE_AND_DIE, "50000"], asyncio.subprocess.PIPE
        started = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=pipe)
        job = cast("Job", NoJob())
        process = WindowsProcess(started, job, 0.1, token="t", on_stdout=out.append, on_stderr=err.append)
        assert (process.stdout, process.stderr, process.token) == (None, None, "t")
        process.pause_stdout(True)
        await process.wait()
        assert out == []
        await process.stop()
        return out.checked(), err.checked()

    assert asyncio.run(scenario()) == (b"x" * 50_000, b"")
