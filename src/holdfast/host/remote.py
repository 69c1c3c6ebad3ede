"""The caller's side of a host's socket: one question, one answer, within a time. Plain sockets, no event loop."""

import select
import socket
import time
from contextlib import suppress
from typing import Any

from holdfast.errors import NotAskedError, RefusedError, SessionError, WireError
from holdfast.host.records import HostRecord
from holdfast.wire.codec import decode, encode

__all__ = ["ask"]

_MAX_ANSWER = 4 * 1024 * 1024
_RETRY = 0.1  # seconds until a host that is just starting, or busy, is tried again


def ask(record: HostRecord, operation: str, timeout: float, **arguments: Any) -> dict[str, Any]:
    """The result of an operation (`status`, `restart`, `stop`...) of a host.

    SessionError says why there is none: the host is gone or does not answer in time. NotAskedError: it was never
    asked; RefusedError: it refuses.
    """
    deadline = time.monotonic() + timeout
    who = f"{record.name} (pid {record.pid})"
    if not hasattr(socket, "AF_UNIX"):
        raise NotAskedError(f"{who} cannot be asked: there are no local sockets on this system")
    while True:
        answer = _exchange(record, {"op": operation, **arguments}, deadline, who)
        if answer is not None:
            if answer.get("ok") is True and isinstance(answer.get("result"), dict):
                return dict(answer["result"])
            error = answer.get("error")
            error = error if isinstance(error, dict) else {}
            if error.get("code") != "busy":
                raise RefusedError(f"{who}: {error.get('message') or 'an answer that makes no sense'}")
        if time.monotonic() + _RETRY >= deadline or not record.alive:
            raise NotAskedError(f"{who} {'is too busy to answer' if answer else 'does not answer on its socket'}")
        select.select([], [], [], _RETRY)


def _exchange(record: HostRecord, question: dict[str, Any], deadline: float, who: str) -> dict[str, Any] | None:
    """The answer; None when nobody listens at this moment."""
    is_asked = False
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        try:
            connection.settimeout(_left(deadline))
            connection.connect(record.socket)
            is_asked = True  # as far as we know from here on
            with suppress(BrokenPipeError, ConnectionResetError):  # a busy host answers without listening first
                connection.sendall(encode(question) + b"\n")
            line = _line(connection, deadline)
        except TimeoutError:
            if not is_asked:
                raise NotAskedError(f"{who} could not be reached in time") from None
            raise SessionError(f"{who} did not answer in time") from None
        except (FileNotFoundError, ConnectionRefusedError, BlockingIOError):  # the last: its queue is full
            return None
        except OSError as error:
            raise SessionError(f"{who} cannot be asked: {error.strerror or error}") from error
    try:
        answer = decode(line)
    except WireError as error:
        raise SessionError(f"{who} ended the connection without an answer") from error
    return answer if isinstance(answer, dict) else {}


def _line(connection: socket.socket, deadline: float) -> bytes:
    data = bytearray()
    while b"\n" not in data and len(data) < _MAX_ANSWER:
        connection.settimeout(_left(deadline))
        piece = connection.recv(64 * 1024)
        if not piece:
            break
        data += piece
    return bytes(data.partition(b"\n")[0])


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
