"""What a tool tells its client's log: what the client wants to hear, not too much at once, nothing at the end.

In the older era a client says once how much it wants to hear (`logging/setLevel`), in the newer one with each
request. Who says nothing hears nothing.
"""

from collections.abc import Callable
from typing import Any

from holdfast.present.compact import json_ready
from holdfast.present.eras import LEVELS
from holdfast.vocabulary.ids import RequestId
from holdfast.vocabulary.meta import META_OMITTED, META_REQUEST
from holdfast.wire.codec import encode

__all__ = ["SILENT", "ClientLog"]

MAX_BYTES = 64 * 1024  # of one message; a log is read by somebody
_SHOWN = 4000  # characters of one that is longer

Send = Callable[[dict[str, Any]], None]


class ClientLog:
    """The log of one call: `level` tells how much its client wants to hear at this moment, None nothing."""

    __slots__ = ("_clock", "_closed", "_level", "_omitted", "_request_id", "_room", "_send", "_since", "_rate")  # noqa: RUF023

    def __init__(
        self,
        send: Send,
        level: Callable[[], str | None],
        request_id: RequestId,
        rate: int,
        clock: Callable[[], float],
    ) -> None:
        self._send = send
        self._level = level
        self._request_id = request_id
        self._rate = rate
        self._clock = clock
        self._room = float(rate)
        self._since = clock()
        self._omitted = 0
        self._closed = False

    def wants(self, level: str) -> bool:
        """Whether a message of this level would be sent; ValueError for a level that there is not."""
        if level not in LEVELS:
            raise ValueError(f"a log message has a level of {', '.join(LEVELS)}, not {level!r}")
        least = self._level() if not self._closed else None
        return least is not None and LEVELS.index(level) >= LEVELS.index(least)

    def tell(self, level: str, data: Any, logger: str | None = None) -> None:
        """Send one message, if it is wanted and there is room for it."""
        if not self.wants(level):
            return
        if not self._takes_room():
            self._omitted += 1
            return
        meta: dict[str, Any] = {META_REQUEST: self._request_id}
        if self._omitted:
            meta[META_OMITTED], self._omitted = self._omitted, 0
        told: dict[str, Any] = {"level": level, "data": _bounded(json_ready(data)), "_meta": meta}
        self._send({**told, "logger": logger} if logger else told)

    def close(self) -> None:
        """The call is over or being stopped: nothing is sent from now on."""
        self._closed = True

    def _takes_room(self) -> bool:
        now = self._clock()
        self._room = min(float(self._rate), self._room + (now - self._since) * self._rate)
        self._since = now
        if self._room < 1.0:
            return False
        self._room -= 1.0
        return True


def _bounded(data: Any) -> Any:
    encoded = encode(data)
    if len(encoded) <= MAX_BYTES:
        return data
    text = data if isinstance(data, str) else encoded.decode()
    return f"{text[:_SHOWN]}… ({len(encoded)} bytes)"


SILENT = ClientLog(lambda _: None, lambda: None, 0, 1, lambda: 0.0)
