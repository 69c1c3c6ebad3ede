"""The socket of a host: private, bounded, and indifferent to nonsense. Real sockets throughout."""

import asyncio
import json
import os
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from holdfast.errors import SessionError, UsageError
from holdfast.host.control import LINE_BYTES, MAX_CONNECTIONS, MAX_WAITING, ControlServer
from holdfast.host.records import Registration, list_hosts
from holdfast.host.remote import ask
from holdfast.settings import Settings

T = TypeVar("T")


class Host:
    """A host that answers, fails or blocks as told."""

    def __init__(self) -> None:
        self.stopped = threading.Event()
        self.failure: Exception | None = None
        self.health: Any = {"state": "ready", "name": "shop"}
        self.gate: asyncio.Event | None = None

    def status(self) -> Any:
        if self.failure is not None:
            raise self.failure
        return self.health

    async def restart(self) -> dict[str, Any]:
        if self.gate is not None:
            await self.gate.wait()
        if self.failure is not None:
            raise self.failure
        return {"generation": 2}

    async def rollout(self, command: Any, *, accept_breaking: bool) -> dict[str, Any]:
        return {**await self.restart(), "command": command, "accept_breaking": accept_breaking}

    async def reinstall(self, seconds: float) -> dict[str, Any]:
        return {**await self.restart(), "seconds": seconds}

    def telemetry(self) -> Any:
        return self.status()

    def metrics(self) -> Any:
        return self.status()

    def stop(self) -> None:
        self.stopped.set()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(state_dir=tmp_path / "s")


@asynccontextmanager
async def serving(settings: Settings, host: Host, **options: Any) -> AsyncIterator[Registration]:
    registration = Registration.create(settings, "shop", ["python", "shop.py"])
    server = ControlServer(host, registration, **options)
    await server.start()
    try:
        yield registration
    finally:
        await server.close()


def running(settings: Settings, host: Host, work: Callable[[Registration], T], **options: Any) -> T:
    """Do blocking work in a thread, while the host serves in this one."""

    async def main() -> T:
        async with serving(settings, host, **options) as registration:
            return await asyncio.to_thread(work, registration)

    return asyncio.run(main())


def connected(registration: Registration) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(registration.record.socket)  # without a timeout it waits for a place in the queue
    connection.settimeout(10)
    return connection


def answer_to(connection: socket.socket, data: bytes) -> Any:
    connection.sendall(data)
    return json.loads(read_line(connection))


def read_line(connection: socket.socket) -> bytes:
    data = b""
    while not data.endswith(b"\n") and (piece := connection.recv(65536)):
        data += piece
    return data


def test_status_restart_and_stop_reach_the_host(settings: Settings) -> None:
    host = Host()

    def work(registration: Registration) -> list[Any]:
        return [ask(registration.record, operation, 10) for operation in ("status", "restart", "stop")]

    assert running(settings, host, work) == [{"state": "ready", "name": "shop"}, {"generation": 2}, {}]
    assert host.stopped.is_set()


def test_the_socket_is_for_this_user_alone_and_gone_afterwards(settings: Settings) -> None:
    def work(registration: Registration) -> tuple[int, Path]:
        path = Path(registration.record.socket)
        return stat.S_IMODE(path.stat().st_mode), path

    mode, path = running(settings, Host(), work)

    assert mode == 0o600
    assert not path.exists()
    assert list_hosts(settings) == []


def test_several_requests_of_one_connection_are_answered_in_order(settings: Settings) -> None:
    def work(registration: Registration) -> list[Any]:
        with connected(registration) as connection:
            connection.sendall(b'{"op": "status"}\n{"op": "fly"}\n{"op": "restart"}\n')
            reader = connection.makefile("rb")
            return [json.loads(reader.readline())["ok"] for _ in range(3)]

    assert running(settings, Host(), work) == [True, False, True]


GARBAGE = {
    "text": b"hello\n",
    "empty": b"\n",
    "array": b"[]\n",
    "no op": b"{}\n",
    "op of another type": b'{"op": ["status"]}\n',
    "a method that is no operation": b'{"op": "__class__"}\n',
    "twice": b'{"op": "status", "op": "stop"}\n',
    "binary": bytes(range(11, 256)) + b"\n",
    "deep": b"[" * 5000 + b"\n",
    "http": b"GET / HTTP/1.1\r\n",
}


@pytest.mark.parametrize("garbage", GARBAGE.values(), ids=GARBAGE)
def test_garbage_gets_an_error_and_the_next_request_its_answer(settings: Settings, garbage: bytes) -> None:
    host = Host()

    def work(registration: Registration) -> tuple[Any, Any]:
        with connected(registration) as connection:
            return answer_to(connection, garbage), answer_to(connection, b'{"op": "status"}\n')

    refused, served = running(settings, host, work)

    assert refused["error"]["code"] == "invalid_request"
    assert served["result"] == host.health
    assert not host.stopped.is_set()


def test_a_line_without_end_is_refused_and_not_kept(settings: Settings) -> None:
    def work(registration: Registration) -> tuple[Any, Any]:
        with connected(registration) as connection:
            refused = answer_to(connection, b"x" * (LINE_BYTES + 2))
            assert connection.recv(1) == b""
        return refused, ask(registration.record, "status", 10)

    refused, health = running(settings, Host(), work)

    assert refused["error"]["message"] == f"a line has at most {LINE_BYTES} bytes"
    assert health["state"] == "ready"


@given(noise=st.binary(max_size=300))
@hypothesis_settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_bytes_at_all_harm_the_host(settings: Settings, noise: bytes) -> None:
    def work(registration: Registration) -> Any:
        with connected(registration) as connection:
            connection.sendall(noise)
        return ask(registration.record, "status", 10)

    assert running(settings, Host(), work)["state"] == "ready"


def test_a_caller_that_says_nothing_is_dropped(settings: Settings) -> None:
    def work(registration: Registration) -> tuple[bytes, bytes]:
        with connected(registration) as silent, connected(registration) as slow:
            slow.sendall(b'{"op": ')
            return silent.recv(1), slow.recv(1)

    assert running(settings, Host(), work, idle=0.05) == (b"", b"")


def test_more_callers_than_allowed_are_told_so_and_later_ones_served(settings: Settings) -> None:
    def work(registration: Registration) -> tuple[list[Any], Any]:
        with ExitStack() as stack:
            crowd = [stack.enter_context(connected(registration)) for _ in range(MAX_CONNECTIONS)]
            assert answer_to(crowd[-1], b'{"op": "status"}\n')["ok"]
            extra = [stack.enter_context(connected(registration)) for _ in range(3)]
            refused = [json.loads(read_line(connection)) for connection in extra]
        return refused, ask(registration.record, "status", 10)

    refused, health = running(settings, Host(), work)

    assert [answer["error"]["code"] for answer in refused] == ["busy"] * 3
    assert health["state"] == "ready"


def test_a_thousand_connections_leave_the_host_answering(settings: Settings) -> None:
    def work(registration: Registration) -> tuple[Any, int]:
        with ExitStack() as stack:
            for number in range(1000):
                connection = connected(registration)
                if number % 5:
                    connection.close()
                else:
                    stack.callback(connection.close)  # these stay, and say nothing
            served = ask(registration.record, "status", 10)
        return served, len(os.listdir("/proc/self/fd"))

    before = len(os.listdir("/proc/self/fd"))
    health, after = running(settings, Host(), work, idle=0.2)

    assert health["state"] == "ready"
    assert after <= before + MAX_CONNECTIONS + 10  # the loop's own included


def test_what_the_host_refuses_is_told_to_the_caller(settings: Settings) -> None:
    host = Host()
    host.failure = UsageError("no worker came up", remedy="holdfast events")

    def work(registration: Registration) -> str:
        with pytest.raises(SessionError) as caught:
            ask(registration.record, "restart", 10)
        return str(caught.value)

    assert running(settings, host, work).endswith("no worker came up (holdfast events)")


@pytest.mark.parametrize("breakage", ["raises", "cannot be written"])
def test_a_mistake_inside_the_host_is_an_answer_too(settings: Settings, breakage: str) -> None:
    host = Host()
    if breakage == "raises":
        host.failure = ZeroDivisionError("\udc80")
    else:
        host.health = {"state": object()}

    def work(registration: Registration) -> Any:
        with connected(registration) as connection:
            first = answer_to(connection, b'{"op": "status"}\n')
            return first["error"]["code"], answer_to(connection, b'{"op": "stop"}\n')["ok"]

    assert running(settings, host, work) == ("internal", True)


def test_a_caller_that_leaves_during_a_restart_harms_nobody(settings: Settings) -> None:
    async def main() -> dict[str, Any]:
        host = Host()
        host.gate = asyncio.Event()
        async with serving(settings, host) as registration:
            _, writer = await asyncio.open_unix_connection(registration.record.socket)
            writer.write(b'{"op": "restart"}\n')
            await writer.drain()
            writer.transport.abort()
            answer = await asyncio.to_thread(ask, registration.record, "status", 10.0)
            host.gate.set()
            return answer

    assert asyncio.run(main())["state"] == "ready"


def test_callers_that_wait_for_a_restart_keep_nobody_from_asking(settings: Settings) -> None:
    async def main() -> tuple[Any, Any, bool]:
        host = Host()
        host.gate = asyncio.Event()
        async with serving(settings, host) as registration:
            path = registration.record.socket
            crowd = [await asyncio.open_unix_connection(path) for _ in range(MAX_CONNECTIONS)]
            for _, writer in crowd:
                writer.write(b'{"op": "restart"}\n')
            status = await asyncio.to_thread(ask, registration.record, "status", 10.0)
            with pytest.raises(SessionError, match="busy"):
                await asyncio.to_thread(ask, registration.record, "restart", 0.3)
            await asyncio.to_thread(ask, registration.record, "stop", 10.0)
            host.gate.set()
            served = json.loads(await crowd[-1][0].readline())
            for _, writer in crowd:
                writer.close()
        return status["state"], served["ok"], host.stopped.is_set()

    assert asyncio.run(main()) == ("ready", True, True)


def test_a_restart_that_nobody_waits_for_any_more_gives_its_place_back(settings: Settings) -> None:
    async def main() -> Any:
        host = Host()
        host.gate = asyncio.Event()
        async with serving(settings, host) as registration:
            for _ in range(MAX_WAITING + 1):
                with pytest.raises(SessionError, match="did not answer in time"):
                    await asyncio.to_thread(ask, registration.record, "restart", 0.05)
            host.gate.set()
            return await asyncio.to_thread(ask, registration.record, "restart", 10.0)

    assert asyncio.run(main()) == {"generation": 2}


def test_a_caller_that_never_reads_does_not_hold_up_the_end(settings: Settings) -> None:
    host = Host()
    host.health = {"text": "x" * 1_000_000}

    def work(registration: Registration) -> socket.socket:
        deaf = connected(registration)
        deaf.sendall(b'{"op": "status"}\n')
        ask(registration.record, "status", 10)
        return deaf

    begin = time.monotonic()
    running(settings, host, work).close()

    assert time.monotonic() - begin < 4


def test_a_restart_that_hangs_ends_with_the_host(settings: Settings) -> None:
    async def main() -> bytes:
        host = Host()
        host.gate = asyncio.Event()
        async with serving(settings, host) as registration:
            reader, writer = await asyncio.open_unix_connection(registration.record.socket)
            writer.write(b'{"op": "restart"}\n')
            await asyncio.to_thread(ask, registration.record, "status", 10.0)
        answer = await reader.read()
        writer.close()
        return answer

    assert asyncio.run(main()) == b""


def test_the_socket_of_a_dead_host_is_replaced_and_that_of_a_living_one_is_not(settings: Settings) -> None:
    async def main() -> dict[str, Any]:
        registration = Registration.create(settings, "shop", ["x"])
        with socket.socket(socket.AF_UNIX) as left_behind:
            left_behind.bind(registration.record.socket)  # never listened on, like one whose process is gone
        server, second = ControlServer(Host(), registration), ControlServer(Host(), registration)
        await server.start()
        with pytest.raises(UsageError, match="another host listens"):
            await second.start()
        answer = await asyncio.to_thread(ask, registration.record, "status", 10.0)
        await server.close()
        return answer

    assert asyncio.run(main())["state"] == "ready"


def test_a_stranger_is_refused(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    uid = os.getuid()
    monkeypatch.setattr("holdfast.host.control._caller", lambda _: uid + 7)

    def work(registration: Registration) -> str:
        with connected(registration) as connection:
            return str(json.loads(read_line(connection))["error"]["code"])

    assert running(settings, Host(), work) == "forbidden"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_a_process_of_another_user_cannot_even_connect(settings: Settings, tmp_path: Path) -> None:
    script = "import os, socket, sys; os.setuid(65534); socket.socket(socket.AF_UNIX).connect(sys.argv[1])"

    def work(registration: Registration) -> str:
        command = [sys.executable, "-c", script, registration.record.socket]
        return subprocess.run(command, capture_output=True, text=True, timeout=20, check=False).stderr

    assert "PermissionError" in running(settings, Host(), work)


# --- the caller's side ----------------------------------------------------------------------------------------


@pytest.fixture
def impostor(settings: Settings) -> Iterator[Callable[[bytes | None], Registration]]:
    """A program on the socket that answers its one caller with some bytes, or with nothing at all."""
    registration = Registration.create(settings, "shop", ["x"])
    told = threading.Event()
    threads: list[threading.Thread] = []

    def serve(listener: socket.socket, answer: bytes | None) -> None:
        with listener, listener.accept()[0] as connection:
            connection.recv(1000)
            connection.sendall(answer or b"")
            if answer is None:
                told.wait(10)

    def begin(answer: bytes | None) -> Registration:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(registration.record.socket)
        listener.listen()
        threads.append(threading.Thread(target=serve, args=(listener, answer)))
        threads[0].start()
        return registration

    yield begin
    told.set()
    for thread in threads:
        thread.join(10)
    registration.remove()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "did not answer in time"),
        (b"", "ended the connection without an answer"),
        (b"garbage\n", "ended the connection without an answer"),
        (b"[]\n", "an answer that makes no sense"),
        (b'{"ok": true, "result": 7}\n', "an answer that makes no sense"),
        (b'{"ok": false, "error": "text"}\n', "an answer that makes no sense"),
    ],
)
def test_a_host_that_answers_wrongly_is_told_from_one_that_does_not(
    impostor: Callable[[bytes | None], Registration], answer: bytes | None, message: str
) -> None:
    registration = impostor(answer)
    with pytest.raises(SessionError, match=message):
        ask(registration.record, "status", 0.3)


def test_a_host_without_a_socket_is_waited_for_only_as_long_as_allowed(settings: Settings) -> None:
    registration = Registration.create(settings, "shop", ["x"])
    begin = time.monotonic()
    with pytest.raises(SessionError, match="does not answer on its socket"):
        ask(registration.record, "status", 0.3)

    assert time.monotonic() - begin < 2


def test_a_host_that_is_just_starting_is_waited_for(settings: Settings) -> None:
    async def main() -> dict[str, Any]:
        registration = Registration.create(settings, "shop", ["x"])
        asking: Awaitable[dict[str, Any]] = asyncio.ensure_future(
            asyncio.to_thread(ask, registration.record, "status", 10.0)
        )
        server = ControlServer(Host(), registration)
        await asyncio.sleep(0.05)
        await server.start()
        health = await asking
        await server.close()
        return health

    assert asyncio.run(main())["state"] == "ready"
