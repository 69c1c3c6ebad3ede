"""What crossed the wire during one check, kept short enough to be shown: long lines are cut, so is the middle."""

import time
from typing import Literal

from holdfast.present.bounds import clean_line
from holdfast.probe.model import Line

__all__ = ["Transcript"]

MAX_TEXT = 400  # characters of one line
MAX_HEAD = 12  # lines kept from the beginning
MAX_TAIL = 24  # lines kept from the end


class Transcript:
    """Grows during a check; never beyond its bounds."""

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._head: list[Line] = []
        self._tail: list[Line] = []
        self._left_out = 0
        self.has_answers = False  # the server has said something

    def sent(self, data: bytes) -> None:
        """Note bytes that were written to the server."""
        self._add(">", _shown(data))

    def received(self, data: bytes) -> None:
        """Note bytes that the server wrote."""
        self.has_answers = True
        self._add("<", _shown(data))

    def note(self, text: str) -> None:
        """Note what happened around the exchange: an end, a signal, a status."""
        self._add("*", _shown(text.encode()))

    @property
    def seconds(self) -> float:
        """How long the check has been running."""
        return time.monotonic() - self._begin

    def lines(self) -> tuple[Line, ...]:
        """The exchange as it is shown."""
        if not self._left_out:
            return (*self._head, *self._tail)
        gap = Line("*", f"… {self._left_out} lines left out", self._tail[0].at)
        return (*self._head, gap, *self._tail)

    def _add(self, mark: Literal[">", "<", "*"], text: str) -> None:
        line = Line(mark, text, round(self.seconds, 3))
        if len(self._head) < MAX_HEAD:
            self._head.append(line)
            return
        self._tail.append(line)
        if len(self._tail) > MAX_TAIL:
            del self._tail[0]
            self._left_out += 1


def _shown(data: bytes) -> str:
    start = data[: 4 * MAX_TEXT].decode(errors="backslashreplace").rstrip("\n")
    text = clean_line(start)
    if len(data) > 4 * MAX_TEXT or len(text) > MAX_TEXT:
        return f"{text[:MAX_TEXT]}… ({len(data)} bytes)"
    return text
