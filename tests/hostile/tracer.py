"""Run a program and record each program, connection, write and piece of mapped code of its whole process tree.

Every process in the tree is stopped by the kernel at these system calls until the tracer has recorded them, so
nothing is missed: not a grandchild, not a library written in C, not a thread.
"""

import ctypes
import errno
import fcntl
import os
import select
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

from tests.hostile.syscalls import SYSCALLS, Syscall

__all__ = ["Event", "Traced", "trace"]

_RECEIVE, _SEND, _CONTINUE = 0xC0502100, 0xC0182101, 1
_LAUNCHER = Path(__file__).with_name("launcher.py")
_AT_FDCWD = -100


class Event(NamedTuple):
    """One system call with an effect: its kind, its path or address, and the program that made it."""

    kind: str
    subject: str
    program: str

    def __str__(self) -> str:
        return f"{self.kind} {self.subject} (by {self.program})"


class Traced:
    """A program under watch; its events are complete once the last process of its tree has ended."""

    def __init__(self, process: subprocess.Popen[Any], descriptor: int) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process = process
        self.stdin, self.stdout = process.stdin, process.stdout
        self.events: list[Event] = []
        self._descriptor = descriptor
        self._thread = threading.Thread(target=self._watch, name="tracer")
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(20)
        self._thread.join(30)
        leaked = self._thread.is_alive()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        assert not leaked, "processes of the watched tree outlived it by 30 s"

    def of_kind(self, *kinds: str) -> list[Event]:
        """The events of these kinds, each once, in order."""
        return list(dict.fromkeys(event for event in self.events if event.kind in kinds))

    def _watch(self) -> None:
        poller = select.poll()
        poller.register(self._descriptor, select.POLLIN)
        request = bytearray(80)
        try:
            while True:
                ready = poller.poll()
                if not ready or not ready[0][1] & select.POLLIN:
                    return  # the last process is gone
                request[:] = bytes(80)
                try:
                    fcntl.ioctl(self._descriptor, _RECEIVE, request)
                except OSError as error:
                    if error.errno in {errno.ENOENT, errno.EINTR}:  # the process was killed meanwhile
                        continue
                    raise
                self._record(bytes(request))
                answer = struct.pack("<QqiI", struct.unpack_from("<Q", request)[0], 0, 0, _CONTINUE)
                with suppress(FileNotFoundError):
                    fcntl.ioctl(self._descriptor, _SEND, answer)
        finally:
            os.close(self._descriptor)

    def _record(self, request: bytes) -> None:
        _, pid, _, number, _, _ = struct.unpack_from("<QIIiIQ", request)
        arguments = struct.unpack_from("<6Q", request, 32)
        call = SYSCALLS[number]
        program = _link(f"/proc/{pid}/exe")
        with suppress(ProcessLookupError, FileNotFoundError):  # killed meanwhile: the call was never made
            subject = _subject(pid, call, arguments)
            if call.kind != "exec" or os.path.exists(subject):  # each folder of PATH is tried
                self.events.append(Event(call.kind, subject, program))


def _subject(pid: int, call: Syscall, arguments: Sequence[int]) -> str:
    if call.kind in {"connect", "bind"}:
        return _address(pid, arguments[call.path or 1], arguments[5 if call.name == "sendto" else 2])
    if call.kind == "map":
        return _link(f"/proc/{pid}/fd/{_signed(arguments[4])}")
    if call.path is None:
        return call.name
    path = os.fsdecode(_text(pid, arguments[call.path]))
    if os.path.isabs(path):
        return os.path.normpath(path)
    directory = _signed(arguments[call.directory]) if call.directory is not None else _AT_FDCWD
    base = _link(f"/proc/{pid}/cwd" if directory == _AT_FDCWD else f"/proc/{pid}/fd/{directory}")
    return os.path.normpath(os.path.join(base, path))


def _signed(value: int) -> int:
    return ctypes.c_int(value & 0xFFFFFFFF).value


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except FileNotFoundError:
        return "?"


def _memory(pid: int, address: int, size: int) -> bytes:
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        memory.seek(address)
        return memory.read(size)


def _text(pid: int, address: int) -> bytes:
    """The string at this address; it is read page by page, since the next page need not exist."""
    text = b""
    while len(text) < 65_536:
        part = _memory(pid, address + len(text), 4096 - (address + len(text)) % 4096)
        before, end, _ = part.partition(b"\0")
        text += before
        if end or not part:
            break
    return text


def _address(pid: int, address: int, size: int) -> str:
    raw = _memory(pid, address, min(size, 128))
    family = struct.unpack_from("<H", raw)[0] if len(raw) >= 2 else -1
    if family == socket.AF_UNIX:
        return "unix:" + os.fsdecode(raw[2:].rstrip(b"\0").replace(b"\0", b"@"))
    if family == socket.AF_INET:
        return f"{socket.inet_ntop(socket.AF_INET, raw[4:8])}:{struct.unpack_from('>H', raw, 2)[0]}"
    if family == socket.AF_INET6:
        return f"[{socket.inet_ntop(socket.AF_INET6, raw[8:24])}]:{struct.unpack_from('>H', raw, 2)[0]}"
    return f"family {family}"


def trace(
    command: Sequence[str], *, cwd: Path, environment: Mapping[str, str], stdin: int = subprocess.PIPE
) -> Traced:
    """Start the command under watch, its streams as pipes."""
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-I", str(_LAUNCHER), str(theirs.fileno()), *command],
                cwd=cwd,
                env=dict(environment),
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=[theirs.fileno()],
            )
        ours.settimeout(20)
        data, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
    if not data:
        _, errors = process.communicate(timeout=20)
        raise OSError(f"the filter could not be installed: {errors.decode(errors='replace')}")
    return Traced(process, descriptors[0])
