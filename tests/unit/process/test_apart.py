"""Work in a fork: its answer, its end by time, by error and by signal; nothing of it stays."""

import faulthandler
import os
import signal
import subprocess
import sys
import time
from typing import Any

import pytest
from tests.unit.process.trees import until

from holdfast.process.apart import run_apart


def test_the_answer_comes_back_and_what_is_printed_does_not(capfd: pytest.CaptureFixture[str]) -> None:
    def work() -> Any:
        print("noise")
        os.write(2, b"noise")
        return {"a": [1, "é", None]}

    assert run_apart(work, 20).answer == {"a": [1, "é", None]}
    assert capfd.readouterr() == ("", "")


def test_a_large_answer_comes_back_whole() -> None:
    assert run_apart(lambda: "x" * 3_000_000, 30).answer == "x" * 3_000_000


def test_an_error_is_told_without_paths() -> None:
    def work() -> Any:
        raise ValueError("no")

    outcome = run_apart(work, 20)

    assert (outcome.status, outcome.reason) == ("crash", "ValueError in test_apart.work: no")


@pytest.mark.parametrize(
    ("number", "told"),
    [(signal.SIGKILL, "signal SIGKILL"), (signal.SIGSEGV, "signal SIGSEGV"), (None, "exit code 7")],
)
def test_an_end_without_an_answer_is_a_crash(number: int | None, told: str) -> None:
    def work() -> Any:
        faulthandler.disable()  # of pytest: its report of a crash that is meant would look like one that is not
        os._exit(7) if number is None else os.kill(os.getpid(), number)

    outcome = run_apart(work, 20)

    assert outcome.status == "crash"
    assert told in outcome.reason


def test_an_answer_that_is_no_json_is_a_crash() -> None:
    assert run_apart(object, 20).status == "crash"


def test_after_its_time_the_work_and_all_that_it_started_are_gone() -> None:
    marker = f"marker-{os.getpid()}"
    command = [sys.executable, "-c", "import time; time.sleep(300)", marker]

    def work() -> Any:
        subprocess.Popen(command)
        subprocess.run(command, check=True)

    begun = time.monotonic()
    outcome = run_apart(work, 0.5)

    assert (outcome.status, outcome.reason) == ("timeout", "it did not finish within 0.5 seconds")
    assert time.monotonic() - begun < 10
    until(lambda: marker not in subprocess.check_output(["ps", "-eo", "args"], text=True))


def test_what_the_work_leaves_running_ends_with_it() -> None:
    marker = f"left-{os.getpid()}"

    def work() -> Any:
        subprocess.Popen(
            [sys.executable, "-c", "import time; time.sleep(300)", marker],
            stdout=subprocess.DEVNULL,
            close_fds=True,
        )
        return "done"

    assert run_apart(work, 20).answer == "done"
    until(lambda: marker not in subprocess.check_output(["ps", "-eo", "args"], text=True))
