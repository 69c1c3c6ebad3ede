"""The program of one parser process: take a payload, run the task, send the result back; again until the end.

It is started by `pool` as `python -P -m holdfast.search.pool_worker TASK MEMORY LIFE`. A frame in either direction
is its length in eight bytes and that many bytes; those of an answer start with one of the letters below. Standard
input and output carry the frames, so they are moved out of the way of the parser before it is loaded.

When the other end dies, the kernel ends this process by signal, even in the middle of a loop in C.
"""

import fcntl
import gc
import importlib
import os
import pickle
import resource
import select
import signal
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any

from holdfast.errors import HoldfastError

__all__ = ["BROKEN", "ERROR", "HEADER", "MEMORY", "READY", "RESULT", "described", "main"]

HEADER = struct.Struct("<Q")
READY, BROKEN, RESULT, ERROR, MEMORY = b"+", b"!", b"R", b"E", b"M"

_LONGEST_DETAIL = 500


def main() -> None:
    """Serve one pool; never returns, so that nothing a parser left behind can hold the process up."""
    task, memory, life = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _die_with(life)
    requests, answers = _own_streams()
    _limit(memory)
    gc.set_threshold(100_000)  # a parser makes many objects and few cycles; looking for them costs much
    with suppress(BrokenPipeError):
        _serve(task, requests, answers)
    os._exit(0)


def described(trouble: BaseException) -> str:
    """An exception in one line, even one that cannot be printed."""
    try:
        # What was refused on purpose says all by itself; of others the name is half of the news.
        is_told = isinstance(trouble, HoldfastError)
        text = str(trouble) if is_told else f"{type(trouble).__name__}: {trouble}".removesuffix(": ")
    except Exception:  # noqa: BLE001 - the parser's own exceptions may raise anything here
        text = type(trouble).__name__
    return " ".join(text.split())[:_LONGEST_DETAIL]


def _serve(task: str, requests: IO[bytes], answers: IO[bytes]) -> None:
    try:
        run = _load(task)
    except BaseException as trouble:  # noqa: BLE001 - told to the pool, which raises
        _send(answers, BROKEN, described(trouble).encode("utf-8", "replace"))
        return
    _send(answers, READY)
    while header := requests.read(HEADER.size):
        body = requests.read(HEADER.unpack(header)[0])
        _send(answers, *_outcome(run, body))


def _outcome(run: Callable[[Any], Any], body: bytes) -> tuple[bytes, bytes]:
    try:
        return RESULT, pickle.dumps(run(pickle.loads(body)), pickle.HIGHEST_PROTOCOL)  # noqa: S301 - from our pool
    except MemoryError as trouble:
        return MEMORY, described(trouble).encode("utf-8", "replace")
    except BaseException as trouble:  # noqa: BLE001 - SystemExit of a parser is its failure too
        return ERROR, described(trouble).encode("utf-8", "replace")


def _send(answers: IO[bytes], kind: bytes, body: bytes = b"") -> None:
    answers.write(HEADER.pack(len(body) + 1) + kind)
    answers.write(body)
    answers.flush()


def _load(task: str) -> Callable[[Any], Any]:
    module, _, name = task.partition(":")
    loaded = getattr(importlib.import_module(module), name)
    if not callable(loaded):
        raise TypeError(f"{task} cannot be called")
    run: Callable[[Any], Any] = loaded
    return run


def _die_with(life: int) -> None:
    """Have the kernel end this process when the other end of a pipe, on which nothing is ever sent, is closed.

    A thread that waits for it would not do: it cannot run while a parser in C holds the interpreter.
    """
    fcntl.fcntl(life, fcntl.F_SETFD, fcntl.FD_CLOEXEC)
    fcntl.fcntl(life, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(life, fcntl.F_SETFL, fcntl.fcntl(life, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([life], [], [], 0)[0]:  # closed before the kernel was told to watch it
        os._exit(0)


def _own_streams() -> tuple[IO[bytes], IO[bytes]]:
    """The streams to the pool; what a parser reads or prints goes to nobody from here on."""
    requests, answers = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
    return os.fdopen(requests, "rb"), os.fdopen(answers, "wb")


def _limit(memory: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash of a parser is told in words
    if memory > 0:
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        bound = memory if most == resource.RLIM_INFINITY else min(memory, most)
        with suppress(OSError, ValueError):  # not every system can
            resource.setrlimit(resource.RLIMIT_AS, (bound, most))


if __name__ == "__main__":
    main()
