"""The socket on which a running host is asked how it is, and told to replace its worker or to stop.

One JSON object per line, one answer per line; private to this user by the mode of the socket and, on Linux, by a
look at who is calling. Whatever a caller sends or leaves unsent, the host goes on: lines, connections and waiting
are bounded, and nonsense is answered with an error. There are no Unix sockets on Windows, so there it listens to
nobody.

    {"op": "status"}  ->  {"ok": true, "result": {...}}  |  {"ok": false, "error": {"code": ..., "message": ...}}
"""

import asyncio
import inspect
import os
import socket
import struct
import sys
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from holdfast.errors import HoldfastError, UsageError, WireError
from holdfast.host.private_places import private_directory
from holdfast.host.records import HostRecord, Registration
from holdfast.wire.codec import decode, encode

__all__ = ["LINE_BYTES", "MAX_CONNECTIONS", "MAX_WAITING", "ControlServer", "Controlled"]

LINE_BYTES = 64 * 1024
MAX_CONNECTIONS = 16  # that talk; each for a bounded time
MAX_WAITING = 16  # that wait for a restart, which may take long: these must not keep others from asking
_IDLE = 5.0  # seconds that a caller may take to say something, or to take its answer
_BACKLOG = 64
_FAREWELL = 0.5  # seconds that the end of the host waits for answers under way
_OPERATIONS = ("status", "telemetry", "metrics", "restart", "rollout", "reinstall", "stop")
_REST = 60.0  # seconds that calls in flight have before a host that is to replace itself says that it cannot
_LONGEST_REST = 3600.0
_LONG = frozenset({"restart", "rollout", "reinstall"})


class Controlled(Protocol):
    """The host as the socket sees it. A HoldfastError that it raises is told to the caller."""

    def status(self) -> Mapping[str, Any]:
        """How the host is; cheap."""

    def telemetry(self) -> Mapping[str, Any]:
        """What was asked of the host, and how it went."""

    def metrics(self) -> Mapping[str, Any]:
        """The same for Prometheus, as `text`."""

    def restart(self) -> Mapping[str, Any] | Awaitable[Mapping[str, Any]]:
        """Replace the worker; the result when the new one serves."""

    def rollout(self, command: Sequence[str] | None, *, accept_breaking: bool) -> Awaitable[Mapping[str, Any]]:
        """Have another program serve, or the same as it is now; the result when its first worker serves."""

    def reinstall(self, seconds: float) -> Awaitable[Mapping[str, Any]]:
        """Have the host become the version of itself that is installed now; the result when it begins to."""

    def stop(self) -> None:
        """Begin to end the host; the answer is sent while it does."""


class ControlServer:
    """Listens on the socket of a registration, until closed; then the socket and the record are gone."""

    def __init__(self, controlled: Controlled, registration: Registration, *, idle: float = _IDLE) -> None:
        self._controlled = controlled
        self._registration = registration
        self._idle = idle
        self._server: asyncio.Server | None = None
        self._talks: set[asyncio.Task[None]] = set()
        self._quiet: set[asyncio.Task[None]] = set()  # those that wait for their caller
        self._waiting = 0  # callers whose restart is under way

    @property
    def record(self) -> HostRecord:
        """What is written down about this host."""
        return self._registration.record

    async def start(self) -> None:
        """Begin to listen; UsageError or OSError when that is not possible."""
        if sys.platform == "win32":
            return
        listener = _bound(Path(self._registration.record.socket))
        self._server = await asyncio.start_unix_server(
            self._on_connection, sock=listener, limit=LINE_BYTES, backlog=_BACKLOG
        )

    async def close(self) -> None:
        """Stop listening, let answers under way be sent, and take the socket and the record away."""
        if self._server is not None:
            self._server.close()
        for task in self._quiet:
            task.cancel()
        if self._talks:
            _, late = await asyncio.wait(self._talks, timeout=_FAREWELL)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        self._registration.remove()

    def _on_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        refusal = self._refusal(writer)
        if refusal is not None:
            writer.write(refusal)
            writer.close()
            return
        task = asyncio.ensure_future(self._talk(reader, writer))
        self._talks.add(task)
        task.add_done_callback(self._talks.discard)

    def _refusal(self, writer: asyncio.StreamWriter) -> bytes | None:
        # Without an answer the mode of the socket and of its directory have to do.
        if _caller(writer.get_extra_info("socket")) not in {None, os.getuid(), 0}:
            return _failed("forbidden", "this host belongs to another user")
        if len(self._talks) - self._waiting >= MAX_CONNECTIONS:
            return _failed("busy", f"{MAX_CONNECTIONS} others are talking to this host; try again")
        return None

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        following = asyncio.ensure_future(_line(reader))
        try:
            while line := await self._heard(following):
                if not line.endswith(b"\n"):
                    await self._reply(writer, _TOO_LONG)
                    break
                following = asyncio.ensure_future(_line(reader))
                answer = self._begin(line)
                if isinstance(answer, asyncio.Future):
                    answer = await self._awaited(answer, following)
                await self._reply(writer, answer)
            writer.close()
            await asyncio.wait_for(writer.wait_closed(), self._idle)
        except (TimeoutError, OSError):
            pass  # the caller is silent, or has left: the connection ends, and nobody is left to be told
        finally:
            following.cancel()
            writer.transport.abort()

    async def _reply(self, writer: asyncio.StreamWriter, answer: bytes) -> None:
        writer.write(answer)
        await asyncio.wait_for(writer.drain(), self._idle)

    async def _heard(self, following: "asyncio.Future[bytes]") -> bytes:
        task = asyncio.current_task()
        assert task is not None
        self._quiet.add(task)
        try:
            return await asyncio.wait_for(following, self._idle)
        finally:
            self._quiet.discard(task)

    def _begin(self, line: bytes) -> "bytes | asyncio.Future[Mapping[str, Any]]":
        """The answer, or what it has to be waited for."""
        try:
            operation, arguments = _operation(line)
            if operation in _LONG and self._waiting >= MAX_WAITING:
                return _failed("busy", f"{MAX_WAITING} others wait for a new worker of this host; try again")
            result = getattr(self._controlled, operation)(**arguments)
            return asyncio.ensure_future(result) if inspect.isawaitable(result) else _answer(result)
        except Exception as error:  # noqa: BLE001 - the caller is told; the host has to go on
            return _told(error)

    async def _awaited(
        self, work: "asyncio.Future[Mapping[str, Any]]", following: "asyncio.Future[bytes]"
    ) -> bytes:
        """The answer once the work is done; ConnectionError when the caller is gone before that."""
        both: set[asyncio.Future[Any]] = {work, following}
        self._waiting += 1
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if not work.done() and not following.result():
                raise ConnectionResetError
            await asyncio.wait({work})  # whoever has asked more meanwhile gets both answers
        finally:
            self._waiting -= 1
            if not work.done():
                work.cancel()
        try:
            return _answer(work.result())
        except Exception as error:  # noqa: BLE001 - as above
            return _told(error)


async def _line(reader: asyncio.StreamReader) -> bytes:
    """The next line; empty at the end; without its newline when it is too long."""
    try:
        return await reader.readuntil(b"\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""
    except asyncio.LimitOverrunError:
        return b"too long"


def _answer(result: Mapping[str, Any] | None) -> bytes:
    return encode({"ok": True, "result": result or {}}) + b"\n"


def _told(error: Exception) -> bytes:
    if isinstance(error, WireError):
        return _failed("invalid_request", str(error))
    if isinstance(error, HoldfastError):
        return _failed("failed", str(error))
    return _failed("internal", f"{type(error).__name__}: {error}")


def _operation(line: bytes) -> tuple[str, dict[str, Any]]:
    request = decode(line.strip(), max_depth=8)
    operation = request.get("op") if isinstance(request, dict) else None
    if operation not in _OPERATIONS:
        raise WireError(
            -32600, f'send one line such as {{"op": "status"}}; "op" is one of {", ".join(_OPERATIONS)}'
        )
    return str(operation), _ARGUMENTS.get(str(operation), _no_arguments)(request)


def _no_arguments(_: Mapping[str, Any]) -> dict[str, Any]:
    return {}


def _rollout_arguments(request: Mapping[str, Any]) -> dict[str, Any]:
    command, accept = request.get("command"), request.get("accept_breaking", False)
    words = isinstance(command, list) and command and all(isinstance(word, str) and word for word in command)
    if not (command is None or words) or type(accept) is not bool:
        raise WireError(-32600, "command is a list of words, and accept_breaking is true or false")
    return {"command": command, "accept_breaking": accept}


def _reinstall_arguments(request: Mapping[str, Any]) -> dict[str, Any]:
    seconds = request.get("seconds", _REST)
    if type(seconds) not in {int, float} or not 0 <= seconds <= _LONGEST_REST:
        raise WireError(-32600, f"seconds is a number from 0 to {_LONGEST_REST:g}")
    return {"seconds": float(seconds)}


_ARGUMENTS = {"rollout": _rollout_arguments, "reinstall": _reinstall_arguments}


def _failed(code: str, message: str) -> bytes:
    text = message.encode("utf-8", "backslashreplace").decode()
    return encode({"ok": False, "error": {"code": code, "message": text}}) + b"\n"


_TOO_LONG = _failed("invalid_request", f"a line has at most {LINE_BYTES} bytes")


def _caller(connection: Any) -> int | None:
    """The user at the other end; None where the system does not tell."""
    if not hasattr(socket, "SO_PEERCRED"):
        return None
    packed = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _, uid, _ = struct.unpack("3i", packed)
    return int(uid)


def _bound(path: Path) -> socket.socket:
    """A socket at `path` that only this user can open; what a dead host left there is replaced."""
    # Another host that used the directory as the last one may just have removed it.
    private_directory(path.parent, create=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        try:
            listener.bind(str(path))
        except OSError:
            _clear(path)
            listener.bind(str(path))
        path.chmod(0o600)  # before anybody can connect, which needs a listening socket
    except BaseException:
        listener.close()
        raise
    listener.settimeout(0)
    return listener


def _clear(path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        with suppress(ConnectionRefusedError):
            probe.connect(str(path))
            raise UsageError(f"another host listens on {path}", remedy="holdfast ps")
    path.unlink(missing_ok=True)
