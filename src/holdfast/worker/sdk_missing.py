"""The answer to a client whose server cannot start in SDK mode: the reason, as the error of its first request.

A client shows its user the answers of a server, and seldom its stderr. The process ends all the same.
"""

import os
import select
import sys
import time

from holdfast.errors import UsageError, WireError
from holdfast.vocabulary.faults import fault
from holdfast.wire.codec import decode, encode
from holdfast.wire.envelope import INTERNAL_ERROR, Request, error_message, parse
from holdfast.worker.answer import error_data

__all__ = ["refuse_first_request"]

_PATIENCE = 5.0  # seconds until the first request has come; clients send it at once
_PIECE = 1 << 16


def refuse_first_request(error: UsageError, max_bytes: int) -> None:
    """Answer the first request on stdin with the reason why there is no server; nothing where none comes."""
    if sys.stdin is None or os.isatty(0):
        return
    until, pending = time.monotonic() + _PATIENCE, b""
    while len(pending) <= max_bytes:
        ready, _, _ = select.select([0], [], [], max(0.0, until - time.monotonic()))
        piece = os.read(0, _PIECE) if ready else b""
        *lines, pending = (pending + piece).split(b"\n")
        request = next(filter(None, map(_request, lines)), None)
        if request is not None:
            _answer(request, error)
        if request is not None or not piece:
            return


def _request(line: bytes) -> Request | None:
    try:
        message = parse(decode(line))
    except (WireError, ValueError):
        return None
    return message if isinstance(message, Request) else None


def _answer(request: Request, error: UsageError) -> None:
    problem = fault("CAPABILITY_MISSING", f"{error.message}: {error.remedy}")  # of the rest a client shows nothing
    answer = error_message(request.id, INTERNAL_ERROR, problem.message, error_data(problem))
    try:
        sys.stdout.buffer.write(encode(answer) + b"\n")
        sys.stdout.buffer.flush()
    except OSError:  # the client has left
        return
