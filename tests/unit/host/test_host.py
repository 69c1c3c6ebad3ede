"""The host in memory: what happens when the kernel itself fails, and when a worker is not wanted any more."""

import asyncio
import json
from pathlib import Path
from typing import Any, cast

import pytest

from holdfast.host import host as host_module
from holdfast.host.host import Host
from holdfast.host.outcomes import open_outcomes
from holdfast.host.public_side import PublicSide
from holdfast.host.worker_process import WorkerOptions
from holdfast.kernel.commands import Command, StopWorker
from holdfast.kernel.inputs import FromClient, Input, ShutDown
from holdfast.kernel.machine import step
from holdfast.kernel.policy import Policy
from holdfast.kernel.state import State
from holdfast.observe.event_log import NullEventLog
from holdfast.stdio.outbox import Outbox
from holdfast.testing import Traces, script
from holdfast.vocabulary.events import Event, FaultRecorded


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
    public = PublicSide(cast("Outbox", sent), log, max_depth=32, max_bytes=10_000)
    options = WorkerOptions(
        script().command(folder / "worker"), is_ours=False, legacy=False, grace=0.2, noise_max=10,
        max_bytes=10_000, max_header_bytes=1000, max_depth=32,
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
    assert alive == {"jsonrpc": "2.0", "id": 2, "result": {}}
    faults = [event for event in log.kept if isinstance(event, FaultRecorded)]
    assert ["a law was broken" in fault.traceback for fault in faults] == [True, True]


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
