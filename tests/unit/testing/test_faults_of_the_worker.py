"""Every fault that a script can order, seen from outside: it does what its name says, when it was told to."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast.testing import Fault, HostUnderTest, Traces
from holdfast.testing.scripted_worker.faults import MOMENTS, NOISES

Start = Callable[..., HostUnderTest]


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def ended(server: HostUnderTest) -> int:
    server.until(lambda: server.ended)
    return server.process.wait(5)


# --- dying ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("do", "answers", "effects"),
    [
        ("kill", 0, 0),
        ("kill_before_read", 0, 0),
        ("kill_after_effect", 0, 1),
        ("kill_before_answer", 0, 1),
        ("kill_after_answer", 1, 1),
    ],
)
def test_a_killed_worker_has_gone_just_as_far_as_ordered(
    worker: Start, traces: Traces, do: str, answers: int, effects: int
) -> None:
    server = worker(Fault.on_request(2, do))  # the first one is the handshake
    server.start_call("write", {"token": "a"})

    assert ended(server) == -signal.SIGKILL
    assert len(server.drain()) == answers
    assert len(traces.effects()) == effects


@pytest.mark.parametrize("do", ["exit", "exit_after_effect", "exit_before_answer", "exit_after_answer"])
def test_a_worker_exits_with_the_code_that_was_ordered(worker: Start, do: str) -> None:
    server = worker(Fault.on_tool("read", do, code=7))
    server.start_call("read")

    assert ended(server) == 7


def test_a_worker_exits_before_it_reads_or_before_it_is_asked_anything(worker: Start) -> None:
    unread = worker(Fault("exit_before_read", arguments={"code": 3}), handshake=False)
    unread.request("ping")

    assert ended(unread) == 3
    assert ended(worker(Fault.on_start("exit", code=4), handshake=False)) == 4


@pytest.mark.parametrize("byte", [0, 1, 40, 100])
def test_an_answer_is_cut_off_at_the_byte(worker: Start, byte: int) -> None:
    server = worker(Fault.on_tool("read", "kill_mid_answer", byte=byte))
    server.start_call("read")

    assert ended(server) == -signal.SIGKILL
    assert len(server.log.broken_laws()) == (1 if byte else 0)
    assert len(server.rest) == byte


def test_an_exit_in_the_middle_of_an_answer_has_its_code(worker: Start) -> None:
    server = worker(Fault.on_method("tools/list", "exit_mid_answer", byte=5, code=9))
    server.request("tools/list")

    assert (ended(server), server.rest) == (9, b'{"jso')


@pytest.mark.parametrize(
    ("method", "do"),
    [("initialize", "kill"), ("initialize", "kill_mid_answer"), ("notifications/initialized", "kill")],
)
def test_a_worker_dies_in_each_phase_of_the_handshake(worker: Start, method: str, do: str) -> None:
    server = worker(Fault.on_method(method, do), handshake=False)
    if method == "initialize":
        with pytest.raises(AssertionError, match="the output has ended"):
            server.handshake()
    else:
        server.handshake()

    assert ended(server) == -signal.SIGKILL


def test_only_the_named_generations_are_concerned(worker: Start) -> None:
    fault = Fault.on_tool("read", "kill", generations=(2, 3))
    outcomes = []
    for _ in range(4):
        server = worker(fault)
        server.start_call("read")
        server.until(lambda server=server: server.ended or server.drain())  # type: ignore[misc]
        outcomes.append(server.ended)

    assert outcomes == [False, True, True, False]


def test_only_the_nth_request_is_concerned_and_so_many_times_at_most(worker: Start, traces: Traces) -> None:
    server = worker(Fault.on_request(3, "answer_error"), Fault("answer_twice", tool="read", times=1))
    answers = [server.call("read") for _ in range(4)]
    server.answer_of(server.request("ping"))

    assert ["error" in answer for answer in answers] == [False, True, False, False]
    assert len(traces.fired("answer_twice")) == 1


def test_chance_follows_the_seed(worker: Start, traces: Traces) -> None:
    def outcomes(seed: int) -> list[bool]:
        server = worker(Fault.sometimes(0.5, "answer_error", tool="read"), seed=seed)
        found = ["error" in server.call("read") for _ in range(30)]
        (traces.directory / "generations").unlink()  # the next one is the first again, and has the same dice
        return found

    assert outcomes(1) == outcomes(1) != outcomes(2)
    assert 5 < sum(outcomes(3)) < 25


# --- hanging -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("do", ["stop_reading", "mute", "never_answer"])
def test_a_hung_worker_lives_and_does_not_answer(worker: Start, traces: Traces, do: str) -> None:
    server = worker(Fault.on_tool("read", do))
    server.start_call("read")
    server.until(lambda: traces.fired(do))
    if do == "never_answer":
        assert "result" in server.call("echo")
    else:
        server.start_call("echo")
        server.turn(0.03)

    assert server.drain() == []
    assert server.process.poll() is None


def test_a_worker_that_stopped_reading_lets_the_pipe_fill(worker: Start) -> None:
    server = worker(Fault.on_tool("read", "stop_reading"))
    server.start_call("read")
    server.send_raw(b"x" * 1_000_000)
    server.turn(0.01)

    assert server.unsent > 500_000


def test_a_frozen_worker_goes_on_when_it_is_told_to(worker: Start) -> None:
    server = worker(Fault.on_tool("read", "freeze"))
    number = server.start_call("read")
    server.until(lambda: state_of(server.process.pid) == "T")
    server.kill_worker(signal.SIGCONT)

    assert "result" in server.answer_of(number)


def test_a_slow_start_delays_the_first_answer(worker: Start, traces: Traces) -> None:
    server = worker(Fault.on_start("delay", seconds=0.1), handshake=False)
    server.request("ping")
    server.until(lambda: traces.fired("delay"))

    assert server.drain() == []
    server.handshake()


@pytest.mark.parametrize("do", ["spin", "await_peer"])
def test_a_block_that_ends_holds_up_everything_and_loses_nothing(worker: Start, traces: Traces, do: str) -> None:
    server = worker(Fault.on_tool("read", do, nth=1, seconds=0.1))
    numbers = [server.start_call("read"), server.request("ping")]

    assert all("result" in server.answer_of(number) for number in numbers)
    assert len(traces.fired(do)) == 1


# --- what is written -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [kind for kind in NOISES if kind not in {"long_line", "glued"}])
def test_noise_stands_in_front_of_an_answer_that_still_comes(worker: Start, kind: str) -> None:
    server = worker(Fault.on_tool("read", "noise", kind=kind))

    assert "result" in server.call("read")
    assert len(server.log.broken_laws()) == NOISES[kind].count(b"\n")
    assert all(law.startswith("law 4") for law in server.log.broken_laws())


def test_noise_without_an_end_of_line_spoils_the_answer_behind_it(worker: Start) -> None:
    server = worker(Fault.on_tool("read", "noise", kind="glued"))
    server.start_call("read")
    server.until(server.log.broken_laws)

    assert server.drain() == []
    assert "result" in server.call("echo")


def test_a_line_of_ten_megabytes_is_one_line_of_noise(worker: Start) -> None:
    server = worker(Fault.on_tool("read", "noise", kind="long_line"))

    assert "result" in server.call("read")
    assert len(server.log.broken_laws()) == 1


def test_stderr_is_flooded(worker: Start) -> None:
    server = worker(Fault.on_tool("read", "flood_stderr", size=3_000_000))
    server.call("read")

    assert (server.folder / "stderr").stat().st_size == 3_000_000


@pytest.mark.parametrize("size", [1, 7, 0])
def test_split_frames_arrive_whole(worker: Start, size: int) -> None:
    server = worker(Fault.on_start("split_writes", size=size))
    texts = [server.call("big", {"bytes": number})["result"]["content"][0]["text"] for number in (0, 1, 900)]

    assert [len(text) for text in texts] == [0, 1, 900]
    assert server.log.broken_laws(is_over=True) == []


def test_an_answer_that_comes_twice_is_noticed(worker: Start) -> None:
    server = worker(Fault.on_tool("read", "answer_twice"))
    server.call("read")
    server.answer_of(server.request("ping"))

    assert server.log.broken_laws() == ["law 1: request 2 (read) was answered 2 times"]


@pytest.mark.parametrize("which", ["unknown", "old", "null", "wrong_type", "boolean", "list"])
def test_an_answer_with_a_foreign_id_comes_before_the_right_one(worker: Start, which: str) -> None:
    server = worker(Fault.on_tool("read", "answer_with_id", which=which))

    assert server.call("read")["result"]["structuredContent"]["generation"] == 1
    assert len(server.log.broken_laws()) == 1


def test_an_answer_with_a_foreign_id_may_be_the_only_one(worker: Start) -> None:
    server = worker(Fault.on_tool("read", "answer_with_id", which="null", then_rightly=False))
    server.start_call("read")
    server.answer_of(server.request("ping"))

    assert [law[:5] for law in server.log.broken_laws(is_over=True)] == ["law 2", "law 1"]


def test_a_cancelled_call_is_answered_all_the_same(worker: Start) -> None:
    server = worker(
        Fault.on_tool("slow", "ignore_cancel", nth=1), Fault.on_tool("slow", "answer_cancelled", nth=2)
    )
    ignoring, answering = server.start_call("slow", {"seconds": 0.02}), server.start_call("slow", {"seconds": 60})
    server.cancel(ignoring)
    server.cancel(answering)

    assert "cancelled" in str(server.answer_of(answering)["result"])
    assert "value" in str(server.answer_of(ignoring)["result"])


def test_progress_after_the_answer_breaks_the_law(worker: Start) -> None:
    server = worker(Fault.on_tool("read", "progress_after_answer"))
    server.start_call("read", meta={"progressToken": 5})
    server.answer_of(server.request("ping"))

    assert server.log.broken_laws()[0].startswith("law 3: progress of request 2 after its answer")


def test_a_worker_asks_and_announces_out_of_the_blue(worker: Start) -> None:
    server = worker(Fault.on_tool("read", "ask_client"), Fault.on_tool("echo", "list_changed"))
    server.call("read")
    server.call("echo")
    methods = [message["method"] for message in server.messages if "method" in message]

    assert methods == ["roots/list", "notifications/tools/list_changed"]


# --- what one generation is like -----------------------------------------------------------------------------


def listed(server: HostUnderTest) -> Any:
    answer = server.answer_of(server.request("tools/list"))
    return [tool["name"] for tool in answer["result"]["tools"]] if "result" in answer else answer["error"]["code"]


def test_a_later_generation_lists_other_tools_or_none(worker: Start) -> None:
    faults = (
        Fault.on_start("list_tools", names=["read", "brand_new"], generations=(2, 2)),
        Fault.on_start("shuffle_tools", generations=(3, 3)),
        Fault.on_start("list_error", generations=(4, 4)),
        Fault.on_start("no_tools", generations=(5, 5)),
    )
    first, second, third, fourth, fifth = [listed(worker(*faults)) for _ in range(5)]

    assert second == ["read", "brand_new"]
    assert sorted(third) == sorted(first) != third != first
    assert (fourth, fifth) == (-32000, -32601)


def test_a_server_without_tools_does_not_claim_any(worker: Start) -> None:
    server = worker(Fault.on_start("no_tools"), handshake=False)

    assert "tools" not in server.handshake()["result"]["capabilities"]


def test_endless_pages_point_at_themselves(worker: Start) -> None:
    server = worker(Fault.on_start("endless_pages"))
    pages = [
        server.answer_of(server.request("tools/list", {"cursor": cursor})) for cursor in ("0", "again", "again")
    ]

    assert {page["result"]["nextCursor"] for page in pages} == {"again"}


def test_a_later_generation_speaks_another_revision(worker: Start) -> None:
    fault = Fault.on_start("other_revision", revision="2024-11-05", generations=(2, 2))
    revisions = [worker(fault, handshake=False).handshake()["result"]["protocolVersion"] for _ in range(2)]

    assert revisions == ["2025-11-25", "2024-11-05"]


def test_a_probe_may_not_know(worker: Start) -> None:
    answer = worker(Fault.on_start("probe_outcome", outcome="unknown")).call("guarded_probe", {"token": "a"})

    assert answer["result"]["structuredContent"] == {"outcome": "unknown"}


def test_a_stubborn_worker_survives_sigterm_and_the_end_of_its_input(worker: Start) -> None:
    server = worker(Fault.on_start("ignore_sigterm"), Fault.on_start("ignore_eof"))
    server.kill_worker(signal.SIGTERM)
    assert "result" in server.call("read")

    with pytest.raises(Exception, match="timed out"):
        server.close(0.1)
    assert state_of(server.process.pid) == "S"


def test_a_worker_closes_its_stdout_and_lives_on(worker: Start, traces: Traces) -> None:
    server = worker(Fault.on_tool("write", "close_stdout"))
    server.start_call("write", {"token": "a"})
    server.until(lambda: server.ended, what="the end of the output")

    assert server.process.poll() is None
    assert traces.fired("close_stdout")


@pytest.mark.parametrize(
    ("kind", "same_group", "same_parent"),
    [("group", True, True), ("session", False, True), ("daemon", False, False)],
)
def test_a_grandchild_lives_on_with_the_mark_in_its_environment(
    worker: Start, traces: Traces, kind: str, same_group: bool, same_parent: bool
) -> None:
    server = worker(Fault.on_tool("read", "grandchild", kind=kind, keeps_pipes=False))
    server.call("read")
    server.until(traces.grandchildren)
    (child,) = traces.grandchildren()
    parent = int(Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[1])

    assert (os.getpgid(child) == os.getpgid(server.process.pid)) is same_group
    assert (parent == server.process.pid) is same_parent
    server.close()
    with pytest.raises(AssertionError, match=f"process {child}"):
        server.assert_nothing_left(0.0)


def test_a_stubborn_grandchild_that_keeps_the_pipes_hides_the_end(worker: Start, traces: Traces) -> None:
    server = worker(Fault.on_tool("read", "grandchild", keeps_pipes=True, stubborn=True))
    server.call("read")
    server.until(traces.grandchildren)
    os.kill(traces.grandchildren()[0], signal.SIGTERM)
    server.process.kill()
    server.turn(0.05)

    assert not server.ended
    assert server.process.wait(5) == -signal.SIGKILL


def test_every_fault_is_named_in_these_tests() -> None:
    here = Path(__file__).read_text()

    assert [do for do in MOMENTS if f'"{do}"' not in here] == []
