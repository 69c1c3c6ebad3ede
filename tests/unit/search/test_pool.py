"""The pool of parser processes, with real processes that crash, hang, eat memory and are killed."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from holdfast.errors import ProcessError, ToolError, UsageError
from holdfast.search.pool import Failure, ParsePool

TASK = "hostile_parser:run"

# What a parser may do to its process. The name of an act is the payload.
PARSER = """
import ctypes, os, re, signal, subprocess, sys, time

class Unreadable:
    def __reduce__(self):
        return (int, ("no number",))

class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError("not even this")

def run(payload):
    act = ACTS.get(payload) if isinstance(payload, str) else None
    return act() if act else payload

def loop():
    while True:
        pass

def fail():
    raise ValueError("two\\nlines")

def unprintable():
    raise Unprintable

def chatter():
    print("to standard output", flush=True)
    os.system("echo from a child; echo to standard error >&2")
    return sys.stdin.read(), os.read(0, 1)

def nonsense():
    for descriptor in range(3, 20):
        try:
            os.write(descriptor, b"\\xff" * 64)
        except OSError:
            pass
    loop()

def child():
    return subprocess.Popen(["sleep", "600"]).pid

ACTS = {
    "segfault": lambda: ctypes.string_at(0),
    "abort": os.abort,
    "exit": lambda: os._exit(3),
    "polite exit": sys.exit,
    "loop": loop,
    "loop in C": lambda: re.match("(a+)+$", "a" * 60 + "b"),
    "memory": lambda: len(bytearray(1 << 40)),
    "little by little": lambda: [bytearray(1 << 20) for _ in range(1 << 20)],
    "fail": fail,
    "unprintable": unprintable,
    "recursion": lambda: (lambda f: f(f))(lambda f: f(f)),
    "unpicklable": lambda: loop.__globals__,
    "unreadable": Unreadable,
    "chatter": chatter,
    "nonsense": nonsense,
    "closed": lambda: os.closerange(3, 100),
    "large": lambda: b"x" * 5_000_000,
    "pid": os.getpid,
    "child": child,
    "interrupt": lambda: os.kill(os.getpid(), signal.SIGINT),
}
"""

PARENT = """
import sys
from holdfast.search.pool import ParsePool

pool = ParsePool(2, "hostile_parser:run", timeout=600)
for key, result in pool.map([(1, "pid"), (2, "pid")] * 20):
    print(result, flush=True)
print("warm", flush=True)
for key, result in pool.map([(1, sys.argv[1]), (2, sys.argv[1])]):
    pass
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def parser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hostile_parser.py").write_text(PARSER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


@pytest.fixture
def pool() -> Iterator[ParsePool]:
    with ParsePool(2, TASK, memory_limit=256 << 20) as made:
        yield made


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)


def is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def one(pool: ParsePool, payload: Any) -> Any:
    ((_, result),) = pool.map([("key", payload)])
    return result


@pytest.mark.parametrize(
    ("act", "failure"),
    [
        ("segfault", Failure("parser-crashed", "killed by SIGSEGV")),
        ("abort", Failure("parser-crashed", "killed by SIGABRT")),
        ("exit", Failure("parser-crashed", "exit status 3")),
        ("polite exit", Failure("parser-error", "SystemExit")),
        ("memory", Failure("out-of-memory", "MemoryError")),
        ("little by little", Failure("out-of-memory", "MemoryError")),
        ("fail", Failure("parser-error", "ValueError: two lines")),
        ("unprintable", Failure("parser-error", "Unprintable")),
    ],
)
def test_a_bad_item_is_a_failure_and_all_others_have_their_results(
    pool: ParsePool, act: str, failure: Failure
) -> None:
    items = [(number, act if number == 7 else number) for number in range(40)]

    results = list(pool.map(items))

    assert sorted(key for key, _ in results) == list(range(40))
    assert dict(results) == {number: failure if number == 7 else number for number in range(40)}


@pytest.mark.parametrize("act", ["loop", "loop in C"])
def test_an_item_without_end_is_given_up_after_its_time(act: str) -> None:
    with ParsePool(2, TASK, timeout=1.0) as pool:
        results = dict(pool.map([(number, act if number == 3 else number) for number in range(20)]))

    assert results.pop(3) == Failure("parser-timeout", "no result within 1 s")
    assert results == {number: number for number in range(20) if number != 3}


@pytest.mark.parametrize("act", ["unpicklable", "unreadable", "recursion"])
def test_a_result_that_cannot_be_sent_or_read_is_an_error_of_the_parser(pool: ParsePool, act: str) -> None:
    result = one(pool, act)

    assert result.reason == "parser-error"
    assert one(pool, 1) == 1


def test_a_payload_that_cannot_be_sent_fails_alone(pool: ParsePool) -> None:
    results = dict(pool.map([(1, 1), (2, lambda: 2), (3, 3)]))

    assert (results[1], results[3]) == (1, 3)
    assert results[2].reason == "parser-error"


def test_a_parser_that_writes_into_the_pipes_of_the_pool_is_taken_for_crashed(pool: ParsePool) -> None:
    results = dict(pool.map([(1, "nonsense"), (2, 2), (3, "closed"), (4, 4)]))

    assert (results[2], results[4]) == (2, 4)
    assert (results[1].reason, results[3].reason) == ("parser-crashed", "parser-crashed")


def test_many_bad_items_in_a_row_cost_only_themselves(pool: ParsePool) -> None:
    acts: list[Any] = ["segfault", "exit", 1, "memory", "fail", 2] * 4

    results = dict(pool.map(enumerate(acts)))

    assert [results[number] for number in range(24) if acts[number] in {1, 2}] == [1, 2] * 4
    assert sum(isinstance(result, Failure) for result in results.values()) == 16


def test_what_a_parser_prints_or_reads_reaches_nobody(pool: ParsePool, capfd: pytest.CaptureFixture[str]) -> None:
    assert one(pool, "chatter") == ("", b"")
    assert capfd.readouterr() == ("", "")


def test_large_payloads_and_results_pass_both_ways_at_once(pool: ParsePool) -> None:
    results = dict(pool.map((number, bytes([number]) * 3_000_000) for number in range(12)))

    assert results == {number: bytes([number]) * 3_000_000 for number in range(12)}
    assert len(one(pool, "large")) == 5_000_000


def test_the_processes_stay_for_the_next_map_and_one_item_starts_only_one(pool: ParsePool) -> None:
    others = set(psutil.Process().children())
    first = one(pool, "pid")

    assert {one(pool, "pid") for _ in range(5)} == {first}
    assert [process.pid for process in set(psutil.Process().children()) - others] == [first]


def test_items_are_taken_only_as_far_as_there_is_room(pool: ParsePool) -> None:
    taken: list[int] = []

    def items() -> Iterator[tuple[int, int]]:
        for number in range(10_000):
            taken.append(number)
            yield number, number

    results = pool.map(items())

    for _ in range(50):
        next(results)

    assert 50 <= len(taken) < 120
    results.close()  # type: ignore[attr-defined]


def test_a_slow_taker_does_not_make_finished_items_late() -> None:
    with ParsePool(1, TASK, timeout=0.5) as pool:
        results = pool.map((number, "large" if number % 2 else number) for number in range(6))
        first = next(results)
        threading.Event().wait(1.0)  # twice the time that a parser has for one item

        assert not [result for _, result in [first, *results] if isinstance(result, Failure)]


def test_a_map_that_is_given_up_leaves_nothing_for_the_next_one(pool: ParsePool) -> None:
    for _, result in pool.map((number, number) for number in range(1000)):
        if result == 10:
            break

    assert dict(pool.map([("a", "A"), ("b", "B")])) == {"a": "A", "b": "B"}


def test_an_error_of_the_iterable_reaches_the_caller_and_the_pool_goes_on(pool: ParsePool) -> None:
    def items() -> Iterator[tuple[int, int]]:
        yield 1, 1
        raise FileNotFoundError("gone")

    with pytest.raises(FileNotFoundError):
        list(pool.map(items()))
    assert one(pool, 5) == 5


def test_a_worker_killed_from_outside_costs_the_item_that_it_was_at() -> None:
    with ParsePool(1, TASK, timeout=30) as pool:
        pid = one(pool, "pid")
        results = pool.map([(1, "pid"), (2, "loop"), (3, 3)])
        assert next(results) == (1, pid)
        os.kill(pid, signal.SIGKILL)

        failure = Failure("parser-crashed", "killed by SIGKILL, perhaps because memory ran out")
        assert list(results) == [(2, failure), (3, 3)]


def test_a_worker_that_died_while_idle_takes_nothing_with_it(pool: ParsePool) -> None:
    pid = one(pool, "pid")
    os.kill(pid, signal.SIGKILL)
    until(lambda: not is_running(pid))

    assert one(pool, 5) == 5


def test_workers_ignore_an_interrupt(pool: ParsePool) -> None:
    assert one(pool, "interrupt") is None


def test_what_a_parser_has_started_dies_with_it() -> None:
    with ParsePool(1, TASK, timeout=0.5) as pool:
        results = dict(pool.map([(1, "child"), (2, "loop")]))

        until(lambda: not is_running(results[1]))
        assert results[2].reason == "parser-timeout"


def test_a_task_that_does_not_exist_is_told_at_once() -> None:
    for task in ("no_such_module:run", "hostile_parser:nothing", "hostile_parser:TEXT", "hostile_parser"):
        with ParsePool(2, task) as pool, pytest.raises(ProcessError, match="cannot be loaded"):
            list(pool.map([(1, 1), (2, 2)]))


def test_processes_that_die_before_they_are_ready_are_not_started_for_ever(tmp_path: Path) -> None:
    (tmp_path / "stillborn.py").write_text("import os\nos._exit(9)")

    with ParsePool(2, "stillborn:run") as pool, pytest.raises(ProcessError, match="do not start: exit status 9"):
        list(pool.map([(1, 1), (2, 2)]))


def test_a_module_in_the_current_directory_is_not_taken_for_ours(
    pool: ParsePool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "repository").mkdir()
    (tmp_path / "repository" / "pickle.py").write_text("raise SystemExit")
    monkeypatch.chdir(tmp_path / "repository")

    assert one(pool, 1) == 1


def test_two_maps_at_once_are_refused(pool: ParsePool) -> None:
    first = pool.map([(1, 1), (2, 2)])
    next(first)

    with pytest.raises(UsageError, match="at work"):
        next(pool.map([(3, 3)]))
    assert len(list(first)) == 1


def test_a_stopped_pool_says_so_and_stopping_twice_is_harmless(pool: ParsePool) -> None:
    pool.stop()
    pool.stop()

    with pytest.raises(ProcessError, match="stopped"):
        list(pool.map([(1, 1)]))


def test_stop_from_another_thread_ends_a_map_and_every_process() -> None:
    with ParsePool(2, TASK, timeout=600) as pool:
        pids = {pid for _, pid in pool.map([(number, "pid") for number in range(20)])}
        threading.Timer(0.2, pool.stop).start()

        with pytest.raises(ProcessError, match="stopped"):
            list(pool.map([(1, "loop"), (2, "loop")]))
        assert not any(map(is_running, pids))


def after(calls: int) -> Callable[[], bool]:
    """True from the so many-th time on that somebody asks."""
    answers = iter([False] * calls)
    return lambda: next(answers, True)


@pytest.mark.parametrize("act", ["loop", "loop in C"])
def test_a_map_that_is_told_to_stop_ends_while_every_parser_hangs(act: str) -> None:
    with ParsePool(2, TASK, timeout=600) as pool:
        pids = {pid for _, pid in pool.map([(number, "pid") for number in range(20)])}

        with pytest.raises(ToolError, match="the old index is untouched") as stopped:
            list(pool.map([(number, act) for number in range(20)], stop=after(3)))
        assert stopped.value.code == "CANCELLED"
        assert not any(map(is_running, pids))
        assert one(pool, 5) == 5


def test_a_map_that_is_told_to_stop_ends_while_its_processes_start(tmp_path: Path) -> None:
    (tmp_path / "slow_start.py").write_text("import signal\nsignal.pause()")
    others = set(psutil.Process().children())

    with ParsePool(2, "slow_start:run") as pool, pytest.raises(ToolError) as stopped:
        list(pool.map([(1, 1), (2, 2)], stop=after(3)))
    assert stopped.value.code == "CANCELLED"
    assert set(psutil.Process().children()) == others


def test_a_map_that_is_told_to_stop_before_it_begins_starts_nothing(pool: ParsePool) -> None:
    others = set(psutil.Process().children())

    with pytest.raises(ToolError):
        list(pool.map([(1, 1)], stop=lambda: True))
    assert set(psutil.Process().children()) == others


def test_an_interrupt_of_the_consumer_ends_everything() -> None:
    pids: set[int] = set()

    def consume() -> None:
        with ParsePool(2, TASK, timeout=600) as pool:
            pids.update(pid for _, pid in pool.map([(number, "pid") for number in range(20)]))
            for _ in pool.map([(0, 0), (1, "loop"), (2, "loop in C")]):
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        consume()
    assert not any(map(is_running, pids))


def test_it_works_from_a_thread(pool: ParsePool) -> None:
    results: dict[int, Any] = {}
    thread = threading.Thread(target=lambda: results.update(pool.map((n, n) for n in range(100))))
    thread.start()
    thread.join(20)

    assert results == {number: number for number in range(100)}
    assert one(pool, 1) == 1


@pytest.mark.parametrize("act", ["idle", "loop", "loop in C"])
def test_no_worker_outlives_a_parent_that_is_killed(act: str) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, act], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with parent:
        assert parent.stdout is not None
        pids = {int(line) for line in iter(parent.stdout.readline, "warm\n")}
        parent.kill()

        until(lambda: not any(map(is_running, pids)))


def test_thousands_of_small_items_are_sent_ahead_of_their_answers(pool: ParsePool) -> None:
    results = pool.map((number, "x") for number in range(2000))
    next(results)

    assert sum(len(worker.jobs) for worker in pool._workers) > len(pool._workers)
    assert sum(1 for _ in results) == 1999


def test_a_pool_without_workers_or_time_is_refused() -> None:
    for workers, timeout in ((0, 1.0), (-1, 1.0), (1, 0.0)):
        with pytest.raises(UsageError):
            ParsePool(workers, TASK, timeout=timeout)
