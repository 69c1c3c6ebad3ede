"""The host in memory: what happens when the kernel itself fails, and when a worker is not wanted any more."""

import asyncio
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from holdfast.errors import SessionError
from holdfast.host import host as host_module
from holdfast.host.host import Host
from holdfast.host.outcomes import open_outcomes
from holdfast.host.public_side import PublicSide
from holdfast.host.reaper import Reaped
from holdfast.host.run import _HostProcess
from holdfast.host.worker_process import WorkerOptions
from holdfast.kernel.commands import Command, StopWorker
from holdfast.kernel.inputs import FromClient, Input, ShutDown, Tick, WorkerDown, WorkerUp
from holdfast.kernel.machine import step
from holdfast.kernel.policy import Policy
from holdfast.kernel.state import State
from holdfast.observe.event_log import NullEventLog
from holdfast.process import spawn
from holdfast.settings import Settings, load_configuration
from holdfast.stdio.outbox import Outbox
from holdfast.testing import Traces, script
from holdfast.vocabulary.events import Event, FaultRecorded, KillFailed, LeftoversReaped
from holdfast.wire.envelope import Notification, Request

INITIALIZE = (
    b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
    b'"clientInfo":{"name":"c","version":"1"}}}'
)
CALL = b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read","arguments":{}}}'


class Events(NullEventLog):
    """Keeps what is told."""

    def __init__(self) -> None:
        self.kept: list[Event] = []

    def emit(self, event: Event) -> None:
        self.kept.append(event)


class Sent:
    """What would leave for the client."""

    def __init__(self) -> None:
        self.messages: list[Any] = []

    def send_bytes(self, payload: bytes) -> None:
        self.messages.append(json.loads(payload))


def make_host(folder: Path, sent: Sent, log: Events) -> tuple[Host, PublicSide]:
    public = PublicSide(cast("Outbox", sent), log, max_bytes=100_000)
    options = WorkerOptions(
        script().command(folder / "worker"), is_ours=False, legacy=False, grace=0.2, noise_max=10,
        max_bytes=100_000, max_header_bytes=1000,
    )  # fmt: skip
    host = Host(Policy(), options, public, open_outcomes(folder / "outcomes", 10.0), log, lambda: None)
    public.take = host.take
    return host, public


def test_a_kernel_that_fails_costs_one_request_and_not_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fragile(state: State, now: float, given: Input) -> tuple[State, list[Command]]:
        if isinstance(given, FromClient) and b"poison" in given.frame:
            raise AssertionError("a law was broken")
        return step(state, now, given)

    async def scene() -> None:
        host, public = make_host(tmp_path, sent, log)
        public.receive(b'{"jsonrpc":"2.0","id":1,"method":"poison"}')
        public.receive(b'{"jsonrpc":"2.0","method":"notifications/poison"}')
        public.receive(b'{"jsonrpc":"2.0","id":2,"method":"ping"}')
        host.take(ShutDown())
        await host.close()

    monkeypatch.setattr(host_module, "step", fragile)
    sent, log = Sent(), Events()
    asyncio.run(scene())
    failed, alive = sent.messages
    assert (failed["id"], failed["error"]["code"], failed["error"]["data"]["code"]) == (1, -32603, "INTERNAL")
    assert "a law was broken" not in json.dumps(failed)
    data = failed["error"]["data"]
    assert (data["generation"], data["attempt"], data["retry"]) == (1, 0, {"safe": True, "afterMs": 0})
    assert alive == {"jsonrpc": "2.0", "id": 2, "result": {}}
    faults = [event for event in log.kept if isinstance(event, FaultRecorded)]
    assert ["a law was broken" in fault.traceback for fault in faults] == [True, True]


def failing(monkeypatch: pytest.MonkeyPatch, kind: type, times: int = 1000) -> list[Input]:
    """Have the kernel fail at inputs of this kind; they are kept in the list."""
    failed: list[Input] = []

    def fragile(state: State, now: float, given: Input) -> tuple[State, list[Command]]:
        if isinstance(given, kind) and len(failed) < times:
            failed.append(given)
            raise AssertionError("a law was broken")
        return step(state, now, given)

    monkeypatch.setattr(host_module, "step", fragile)
    return failed


async def eventually(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - whatever is waited for sets no event
            await asyncio.sleep(0.01)


async def live(host: Host, public: PublicSide, sent: Sent) -> None:
    """Go through the handshake, and call a tool."""
    public.receive(INITIALIZE)
    await eventually(lambda: len(sent.messages) == 1)
    public.receive(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    public.receive(CALL % 1)
    await eventually(lambda: len(sent.messages) == 2)
    assert host.health()["state"] == "ready"


async def over(host: Host) -> None:
    host.take(ShutDown())
    await host.close()


def test_a_look_at_the_clock_that_fails_is_not_repeated_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene() -> float:
        host, _ = make_host(tmp_path, Sent(), log)
        host.state.wake_at = host._loop.time()
        host._set_alarm()
        await eventually(lambda: failed)
        host.take(FromClient(Notification("notifications/x", {}), b"{}"))
        assert host._alarm is not None
        left = host._alarm.when() - host._loop.time()
        await over(host)
        return left

    failed, log = failing(monkeypatch, Tick), Events()
    assert asyncio.run(scene()) > 0.5
    assert len(failed) == len([event for event in log.kept if isinstance(event, FaultRecorded)]) == 1


def test_a_kernel_that_fails_at_the_end_of_a_worker_begins_anew_and_the_session_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene() -> Any:
        host, public = make_host(tmp_path, sent, Events())
        await live(host, public, sent)
        public.receive(CALL % 2)
        public.receive(b'{"jsonrpc":"2.0","id":3,"method":"ping"}')
        os.kill(host._workers[1].pid or 0, signal.SIGKILL)
        await eventually(lambda: failed)
        public.receive(CALL % 4)
        await eventually(lambda: {2, 3, 4} <= {message.get("id") for message in sent.messages})
        health = host.health()
        await over(host)
        return health

    monkeypatch.setattr("holdfast.host.revival.PAUSE", 0.05)
    failed, sent = failing(monkeypatch, WorkerDown, 1), Sent()
    health = asyncio.run(scene())
    assert (health["state"], health["generation"]) == ("ready", 2)
    answers = {message["id"]: message for message in sent.messages}
    assert answers[2]["result"]["structuredContent"]["generation"] in {1, 2}
    assert answers[4]["result"]["structuredContent"]["generation"] == 2


def test_a_kernel_that_fails_at_the_start_of_a_worker_ends_all_of_them_before_it_begins_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene() -> int:
        host, public = make_host(tmp_path, sent, Events())
        await live(host, public, sent)
        pid = host._workers[1].pid or 0
        failing(monkeypatch, WorkerUp, 1)
        restarting = asyncio.ensure_future(host.restart())
        with pytest.raises(SessionError, match="begins anew"):
            await restarting
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
        public.receive(CALL % 2)
        await eventually(lambda: len(sent.messages) == 3)
        generation = host.state.active
        await over(host)
        return generation

    monkeypatch.setattr("holdfast.host.revival.PAUSE", 0.05)
    sent = Sent()
    assert asyncio.run(scene()) == 3


def test_a_start_that_fails_in_a_way_that_nobody_foresaw_is_a_lost_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail_once(*words: Any, **options: Any) -> Any:
        monkeypatch.setattr("holdfast.host.worker_process.spawn", spawn)
        raise RuntimeError("no more threads")

    async def scene() -> Any:
        host, public = make_host(tmp_path, sent, log)
        await live(host, public, sent)
        await over(host)
        return host.state.active

    monkeypatch.setattr("holdfast.host.worker_process.spawn", fail_once)
    sent, log = Sent(), Events()
    assert asyncio.run(scene()) == 2
    (fault,) = [event for event in log.kept if isinstance(event, FaultRecorded)]
    assert "no more threads" in fault.traceback


def test_what_the_host_counts_itself_is_told_beside_what_the_kernel_counts(tmp_path: Path) -> None:
    async def scene() -> tuple[Any, dict[str, int]]:
        host, _ = make_host(tmp_path, Sent(), Events())
        before = host.state
        host.worker_noise(1, b"x", 1)
        host.worker_unheard(1)
        assert before.counts.get("noise_lines") is None  # a state is never changed from outside
        told = host.health()["counters"], host.counts()
        await over(host)
        return told

    counters, counts = asyncio.run(scene())
    assert (counters["noise_lines"], counters["dropped_for_worker"], counters["requests"]) == (1, 1, 0)
    assert (counts["noise_lines"], counts["dropped_for_worker"]) == (1, 1)


def test_what_a_reaper_could_not_clean_up_is_on_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def reap(settings: Settings) -> list[Reaped]:
        return [Reaped("aa", "shop", 5, left=(7,), problem="the engine is gone")]

    monkeypatch.setattr("holdfast.host.run.reap", reap)
    log = Events()
    configuration = load_configuration({"state_dir": str(tmp_path)}, {"HOLDFAST_CONFIG": "none"})
    process = _HostProcess(["x"], configuration, "shop", "t", cast("NullEventLog", log), is_ours=False)
    asyncio.run(process._reap())

    told = [event for event in log.kept if not isinstance(event, LeftoversReaped)]
    assert told == [
        KillFailed(None, (7,), "processes that the host aa left are still alive"),
        FaultRecorded("leftovers", None, None, "HoldfastError", "what the host aa left: the engine is gone", ""),
    ]


def test_a_worker_that_is_ended_while_it_is_being_started_ends(tmp_path: Path) -> None:
    async def scene() -> None:
        host, _ = make_host(tmp_path, Sent(), Events())
        for _ in range(5):  # turns of the loop, after which it is being started
            await asyncio.sleep(0)
        host._stop_worker(StopWorker(1, politely=False))
        worker = host._workers[1]
        await asyncio.wait(host._tasks)
        async with asyncio.timeout(5):
            await worker.wait_ended()
        host.take(ShutDown())
        await host.close()

    asyncio.run(scene())
    assert Traces(tmp_path / "worker").generations() <= 2


def test_a_client_on_stdio_cannot_say_that_it_is_somebody() -> None:
    sent, taken = Sent(), list[FromClient]()
    public = PublicSide(cast("Outbox", sent), Events(), max_bytes=100_000)
    public.take = taken.append
    claim = '"_meta":{"io.holdfast/principal":"ci"}'
    public.receive(f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"t",{claim}}}}}'.encode())
    public.receive(b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t","_meta":{}}}')

    (refused,) = sent.messages
    assert (refused["id"], refused["error"]["code"]) == (1, -32602)
    assert "io.holdfast/principal" in refused["error"]["message"]
    assert refused["error"]["data"]["code"] == "INVALID_REQUEST"
    assert [one.message.id for one in taken if isinstance(one.message, Request)] == [2]
