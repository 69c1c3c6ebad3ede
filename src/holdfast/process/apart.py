"""A function in a process of its own, with an end: one that hangs or crashes costs itself and nothing else.

The process is a fork, so it sees what its parent has read without any of it being written or read again; the
parent must have one thread only. It leads a group of its own, and whatever it starts ends with that group. For
plain code without an event loop; everything that is a program of its own goes through `run` and `spawn`.
"""

import json
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Ended", "run_apart"]

_PIECE = 1 << 16
_LARGEST_ANSWER = 1 << 26


@dataclass(frozen=True, slots=True)
class Ended:
    """How it ended: with an `answer`, by `timeout`, or by a `crash`, of which `reason` tells."""

    status: str
    answer: Any = None
    reason: str = ""


def run_apart(work: Callable[[], Any], seconds: float) -> Ended:
    """Do the work in a fork and return what it returned, which must be JSON; after `seconds` it is ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _be_the_child(work, writing)
    os.close(writing)
    with suppress(OSError):  # the child does the same, whoever is first
        os.setpgid(child, child)
    try:
        content = _read(reading, time.monotonic() + seconds)
    finally:
        os.close(reading)
        _end_group(child)
        _, status = os.waitpid(child, 0)
    if content is None:
        return Ended("timeout", reason=f"it did not finish within {seconds:g} seconds")
    return _judged(content, status)


def _be_the_child(work: Callable[[], Any], writing: int) -> None:
    """Never returns: whatever happens in here, nothing of the parent's code runs a second time."""
    code = 1
    try:
        with suppress(OSError):
            os.setpgid(0, 0)
        _be_quiet()
        try:
            told: dict[str, Any] = {"answer": work()}
        except Exception as error:  # noqa: BLE001 - told to the parent, which makes an issue of it
            told = {"crash": _reason(error)}
        _write(writing, json.dumps(told, ensure_ascii=True).encode("ascii"))
        code = 0
    finally:
        os._exit(code)


def _be_quiet() -> None:
    """What a library prints must not get among the events that the worker tells."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    sys.stdin, sys.stdout, sys.stderr = (open(nowhere, mode, closefd=False) for mode in ("r", "w", "w"))  # noqa: SIM115


def _reason(error: Exception) -> str:
    """The kind of error, and where: by module and function, which do not depend on the machine."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {Path(frames[-1].filename).stem}.{frames[-1].name}" if frames else ""
    return f"{type(error).__name__}{place}: {error}"[:2000]


def _write(target: int, content: bytes) -> None:
    while content:
        content = content[os.write(target, content) :]


def _read(source: int, deadline: float) -> bytes | None:
    """All that comes until the end; None when the time is over."""
    parts: list[bytes] = []
    size = 0
    while size <= _LARGEST_ANSWER:
        ready, _, _ = select.select([source], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return None
        piece = os.read(source, _PIECE)
        if not piece:
            return b"".join(parts)
        parts.append(piece)
        size += len(piece)
    return b""


def _end_group(child: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)


def _judged(content: bytes, status: int) -> Ended:
    try:
        told = json.loads(content)
    except ValueError:
        ended = os.waitstatus_to_exitcode(status)
        how = f"signal {signal.Signals(-ended).name}" if ended < 0 else f"exit code {ended}"
        return Ended("crash", reason=f"its process ended without an answer, with {how}")
    if "crash" in told:
        return Ended("crash", reason=told["crash"])
    return Ended("answer", answer=told["answer"])
