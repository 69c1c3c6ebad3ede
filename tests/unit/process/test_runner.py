"""`run`: the result of a command, its input and output in bounded memory, and no trace of it afterwards."""

import asyncio
import os
import signal
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.unit.process.trees import PYTHON, until_async

from holdfast.errors import ProcessError
from holdfast.process import Completed, run


def finish(argv: Sequence[str], **options: Any) -> Completed:
    return asyncio.run(run(argv, **options))


def python(script: str, **options: Any) -> Completed:
    return finish([*PYTHON, "-c", script], **options)


def test_both_streams_and_the_exit_code_are_returned() -> None:
    completed = finish(["sh", "-c", "echo out; echo err >&2; exit 3"])
    assert (completed.stdout, completed.stderr, completed.returncode) == ("out\n", "err\n", 3)
    assert (completed.signal, completed.timed_out, completed.survivors, completed.ok) == (None, False, (), False)
    assert completed.argv == ("sh", "-c", "echo out; echo err >&2; exit 3")
    assert completed.pid > 0
    assert 0 < completed.duration < 10
    assert completed.describe() == "exit code 3"


def test_a_death_by_signal_is_told_by_its_number() -> None:
    completed = finish(["sh", "-c", "kill -SEGV $$"])
    assert (completed.returncode, completed.signal, completed.ok) == (None, signal.SIGSEGV, False)
    assert completed.describe() == "ended by SIGSEGV"


def test_a_broken_pipe_kills_a_command_as_it_does_in_a_shell() -> None:
    completed = finish(["sh", "-c", "(trap - PIPE; yes; echo $? >&2) | head -1"])
    assert (completed.stdout, completed.stderr) == ("y\n", "141\n")


@pytest.mark.parametrize("size", [0, 5, 3_000_000])
def test_stdin_is_delivered_whole_and_then_ends(size: int) -> None:
    assert finish(["wc", "-c"], stdin=b"x" * size).stdout.strip() == str(size)


def test_a_command_that_does_not_read_its_input_is_no_failure() -> None:
    assert finish(["true"], stdin=b"x" * 3_000_000).ok


def test_without_input_a_command_sees_the_end_of_file_at_once() -> None:
    assert finish(["cat"]).stdout == ""


def test_directory_and_environment_are_the_ones_given(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "WORD": "tür", "EMPTY": ""}
    completed = finish(["sh", "-c", 'pwd; echo "$WORD"; env | cut -d= -f1'], cwd=tmp_path, env=env)
    where, word, *names = completed.stdout.splitlines()
    assert (where, word) == (str(tmp_path), "tür")
    assert set(names) - {"PWD", "SHLVL", "_", "OLDPWD"} == {"PATH", "WORD", "EMPTY", "HOLDFAST_CUSTODY"}


def test_a_directory_is_relative_to_our_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path)
    assert finish(["pwd"], cwd="inner").stdout == f"{tmp_path}/inner\n"


def test_a_program_is_found_on_the_path_of_the_given_environment(tmp_path: Path) -> None:
    program = tmp_path / "greet"
    program.write_text("#!/bin/sh\necho hello\n")
    program.chmod(0o755)
    assert finish(["greet"], env={"PATH": f"/nowhere::{tmp_path}"}).stdout == "hello\n"
    assert finish(["./greet"], cwd=tmp_path, env={}).stdout == "hello\n"


def test_an_argument_is_passed_unchanged() -> None:
    odd = ["a b", "", "'\"$x", "new\nline", "grüße", "\udcff"]
    completed = finish(["printf", "%s|", *odd])
    assert completed.stdout == "a b||'\"$x|new\nline|grüße|\N{REPLACEMENT CHARACTER}|"


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["no-such-program-here"], "no program 'no-such-program-here' on PATH; install it"),
        (["/no/such/program"], "no program '/no/such/program'; check the path"),
        (["/etc/passwd"], "may not be executed; make it executable"),
        (["/etc"], "is a directory; name a program"),
        (["x" * 300], "cannot be executed: File name too long"),
        (["true", "x" * 3_000_000], "too large; pass the data on stdin"),
    ],
)
def test_a_program_that_cannot_be_executed_is_refused_with_a_remedy(argv: list[str], words: str) -> None:
    with pytest.raises(ProcessError, match=words) as caught:
        finish(argv)
    assert caught.value.details["argv"] == argv


@pytest.mark.parametrize(
    ("text", "words"),
    [("#!/no/such/interpreter\n", "interpreter that .* does not exist"), ("echo hello\n", "add a #! line")],
)
def test_a_script_that_nothing_can_interpret_is_refused(tmp_path: Path, text: str, words: str) -> None:
    script = tmp_path / "script"
    script.write_text(text)
    script.chmod(0o755)
    with pytest.raises(ProcessError, match=words):
        finish([str(script)])


def test_check_turns_a_failure_into_an_error_with_the_details() -> None:
    with pytest.raises(ProcessError, match="'sh' failed, exit code 4: second") as caught:
        finish(["sh", "-c", "echo first >&2; echo second >&2; exit 4"], check=True)
    assert caught.value.details["returncode"] == 4
    assert caught.value.details["stderr"] == "first\nsecond\n"


def test_check_counts_a_timeout_as_a_failure() -> None:
    with pytest.raises(ProcessError, match="'sleep' failed, stopped after its timeout") as caught:
        finish(["sleep", "60"], timeout=0.05, check=True)
    assert caught.value.details["timed_out"]


def test_check_lets_a_success_through() -> None:
    assert finish(["true"], check=True, timeout=30).ok


@pytest.mark.parametrize("options", [{"timeout": -1}, {"timeout": float("nan")}, {"tail_bytes": -1}])
def test_a_senseless_bound_is_refused(options: dict[str, float]) -> None:
    with pytest.raises(ProcessError, match="give "):
        finish(["true"], **options)


def test_no_time_at_all_still_leaves_nothing_alive() -> None:
    completed = finish(["sleep", "60"], timeout=0)
    assert completed.timed_out
    assert not psutil.pid_exists(completed.pid)


def test_of_huge_output_only_the_tail_is_kept() -> None:
    tracemalloc.start()
    completed = finish(["sh", "-c", "yes 0123456789 | head -c 50000000; echo; echo the end"], tail_bytes=1000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert completed.stdout.endswith("\nthe end\n")
    assert completed.stdout.startswith("0123456789\n")
    assert len(completed.stdout) <= 1000
    assert (completed.stdout_truncated, completed.stderr_truncated) == (True, False)
    assert peak < 5_000_000


def test_an_endless_line_does_not_grow_the_server() -> None:
    lines: list[tuple[str, str]] = []
    tracemalloc.start()
    completed = finish(["head", "-c", "50000000", "/dev/zero"], on_line=lambda *line: lines.append(line))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert lines == [("stdout", "\0" * 8192 + "…")]
    assert len(completed.stdout) == 64 * 1024
    assert peak < 5_000_000


def test_binary_output_is_shown_with_replacement_characters() -> None:
    completed = python(r"import sys; sys.stdout.buffer.write(bytes(range(256)))")
    assert len(completed.stdout) == 256
    assert completed.stdout[:128] == bytes(range(128)).decode()
    assert set(completed.stdout[128:]) == {"\N{REPLACEMENT CHARACTER}"}


def test_lines_are_passed_on_while_the_command_runs(tmp_path: Path) -> None:
    lines: list[tuple[str, str]] = []

    async def scenario() -> None:
        script = "echo one; echo two >&2; while [ ! -e go ]; do sleep 0.01; done; printf three"
        running = asyncio.create_task(
            run(["sh", "-c", script], cwd=tmp_path, on_line=lambda *line: lines.append(line))
        )
        await until_async(lambda: len(lines) == 2)
        assert set(lines) == {("stdout", "one"), ("stderr", "two")}
        (tmp_path / "go").touch()
        assert (await running).stdout == "one\nthree"

    asyncio.run(scenario())
    assert lines[2:] == [("stdout", "three")]


def test_no_line_is_passed_on_after_a_cancellation() -> None:
    lines: list[str] = []

    async def scenario() -> None:
        script = "trap 'echo goodbye; exit' TERM; while :; do echo on; done"
        running = asyncio.create_task(run(["sh", "-c", script], on_line=lambda _, line: lines.append(line)))
        await until_async(lambda: len(lines) > 100)
        running.cancel()
        count = len(lines)
        with pytest.raises(asyncio.CancelledError):
            await running
        assert len(lines) == count

    asyncio.run(scenario())


def test_after_a_timeout_the_output_is_what_had_arrived_by_then() -> None:
    script = "trap 'echo goodbye; exit 0' TERM; echo begun; while :; do sleep 0.01; done"
    lines: list[str] = []
    completed = finish(["sh", "-c", script], timeout=0.5, on_line=lambda _, line: lines.append(line))
    assert (completed.timed_out, completed.returncode, completed.ok) == (True, 0, False)
    assert (completed.stdout, lines) == ("begun\n", ["begun"])


def test_an_error_of_the_callback_stops_the_command_and_is_raised() -> None:
    pids: list[int] = []

    def fail(_: str, line: str) -> None:
        pids.append(int(line))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        finish(["sh", "-c", "echo $$; echo $$ >&2; exec sleep 60"], on_line=fail)
    assert not psutil.pid_exists(pids[0])


def test_the_call_ends_although_a_stranger_holds_its_output_open(tmp_path: Path) -> None:
    held: list[int] = []

    def hold(_: str, line: str) -> None:
        if not held:
            held.append(os.open(f"/proc/{line}/fd/1", os.O_WRONLY))
            (tmp_path / "go").touch()

    script = "echo $$; while [ ! -e go ]; do sleep 0.01; done; echo done"
    completed = finish(["sh", "-c", script], cwd=tmp_path, on_line=hold)
    os.close(held[0])
    assert completed.stdout.endswith("done\n")
    assert completed.ok


def test_output_that_comes_after_the_end_of_the_command_is_kept() -> None:
    script = "(trap 'echo from the leftover; exit' TERM; while :; do sleep 0.01; done) & sleep 0.1; echo parent"
    completed = finish(["sh", "-c", script])
    assert sorted(completed.stdout.splitlines()) == ["from the leftover", "parent"]
    assert completed.ok


def test_fifty_runs_leave_no_descriptor_no_zombie_and_no_thread() -> None:
    async def scenario() -> None:
        await run(["true"])
        before = len(os.listdir("/proc/self/fd"))
        threads = psutil.Process().num_threads()
        others = set(psutil.Process().children())  # servers that other tests share; theirs come and go
        for number in range(50):
            if number % 10 == 0:
                with pytest.raises(ProcessError):
                    await run(["no-such-program-here"], stdin=b"x")
            await run(["true"], stdin=b"x")
        await until_async(lambda: len(os.listdir("/proc/self/fd")) <= before)
        assert set(psutil.Process().children()) <= others
        assert psutil.Process().num_threads() <= threads  # others may end meanwhile

    asyncio.run(scenario())


def test_twenty_commands_run_at_once() -> None:
    async def scenario() -> list[Completed]:
        return list(await asyncio.gather(*(run(["sh", "-c", f"echo {n}; exit {n}"]) for n in range(20))))

    results = asyncio.run(scenario())
    assert [(result.stdout, result.returncode) for result in results] == [(f"{n}\n", n) for n in range(20)]


def test_a_server_without_free_descriptors_gets_an_error_and_no_leak() -> None:
    import resource

    async def scenario() -> None:
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        held = len(os.listdir("/proc/self/fd"))
        os.close(lowest := os.dup(0))
        for spare in range(8):
            resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + spare, limits[1]))
            try:
                with pytest.raises(ProcessError, match="check the limits"):
                    await run(["true"])
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        await until_async(lambda: len(os.listdir("/proc/self/fd")) <= held)

    asyncio.run(scenario())
