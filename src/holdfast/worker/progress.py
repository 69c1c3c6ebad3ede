"""Progress of one call: throttled, rising, and silent once the call has its answer.

The newest report wins: what comes too soon replaces what was waiting. Reports that nobody asked for are
dropped at once, so a tool may report as often as it likes.
"""

import asyncio
import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from holdfast.errors import WireError
from holdfast.wire.codec import decode, encode

__all__ = ["ProgressMeter"]

# A report without a number, such as a line of a program's output, must rise too; by so little that the numbers
# that the tool itself gives stay ahead of it.
UNNUMBERED_STEP = 0.000001


class ProgressMeter:
    """Turns the reports of a tool into `notifications/progress` parameters, at most one per interval."""

    __slots__ = ("_closed", "_fixed", "_interval", "_last", "_loop", "_next", "_send", "_timer", "_waiting")

    def __init__(
        self,
        send: Callable[[dict[str, Any]], None] | None,
        fixed: dict[str, Any],
        interval: float,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._send = send
        self._fixed = fixed  # the fields that every notice of this call shares: token, tool, id
        self._interval = interval
        self._loop = loop
        self._last = -math.inf  # nothing was told yet; a tool may begin with 0
        self._next = 0.0
        self._waiting: dict[str, Any] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._closed = send is None

    @property
    def is_open(self) -> bool:
        """Whether somebody reads what is reported."""
        return not self._closed

    def report(
        self,
        message: str,
        progress: float | None = None,
        total: float | None = None,
        stream: str = "info",
        phase: str = "progress",
        data: Mapping[str, Any] | None = None,
    ) -> None:
        """Send or keep one report. A `progress` number that does not rise is not news and is dropped."""
        for number in (progress, total):
            if number is not None and not (type(number) in (int, float) and math.isfinite(number)):
                raise ValueError(f"progress is told in finite numbers, not {number!r}")
        if self._closed:
            return
        text = str(message)[:2000].encode("utf-8", "replace").decode()
        notice = {**self._fixed, "message": text, "stream": stream, "phase": phase}
        if progress is not None:
            notice["progress"] = progress
        if total is not None:
            notice["total"] = total
        if data is not None:
            notice["data"] = _as_sent(data)
        now = self._loop.time()
        if now >= self._next:
            self._drop_waiting()  # older than this one, and its timer would let the next one through too soon
            self._emit(notice, now)
            return
        self._waiting = notice
        if self._timer is None:
            self._timer = self._loop.call_at(self._next, self._emit_waiting)

    def close(self) -> None:
        """The call is over or being stopped: nothing is sent from now on."""
        self._closed = True
        self._drop_waiting()

    def _drop_waiting(self) -> None:
        self._waiting = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _emit_waiting(self) -> None:
        self._timer = None
        notice, self._waiting = self._waiting, None
        if notice is not None and not self._closed:
            self._emit(notice, self._loop.time())

    def _emit(self, notice: dict[str, Any], now: float) -> None:
        number = notice.setdefault("progress", round(max(self._last, 0.0) + UNNUMBERED_STEP, 6))
        if number <= self._last or self._send is None:
            return
        self._last = number
        self._next = now + self._interval
        notice["ts"] = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self._send(notice)


def _as_sent(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data as JSON has it now: a report may wait, and what cannot be sent is the error of who reports it."""
    try:
        copied: dict[str, Any] = decode(encode(dict(data)))
    except (TypeError, ValueError, WireError) as error:
        raise ValueError(f"the data of a progress report has to be JSON: {error}") from error
    return copied
