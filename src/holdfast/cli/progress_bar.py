"""Long work, shown on stderr: one line that redraws itself on a terminal, a plain line now and then elsewhere.

The bar is never data: it is drawn at most ten times a second, not at all for work that is over in a moment, and
it clears itself.
"""

import os
import shutil
import sys
import time
from collections.abc import Callable
from typing import IO, Self

from holdfast.present.bounds import clean_line, truncate_chars
from holdfast.stdio.terminal import CLEAR_LINE, control

__all__ = ["ProgressBar", "length_of_time", "size_of"]

_PATIENCE = 0.25  # seconds before the first drawing; work that is quicker shows nothing
_REDRAW = 0.1
_PLAIN = 5.0  # seconds between two lines where nothing can be redrawn
_BAR = 20  # characters
_UNITS = ("kB", "MB", "GB", "TB")
_SURE = 1.0  # seconds of a stage before its rate means something

_WORDS = {
    "discover": "Looking for files",
    "index": "Indexing",
    "lint": "Linting",
    "download": "Downloading",
    "model": "Preparing the model",
    "embed": "Embedding",
    "graph": "Linking vectors",
    "history": "Reading history",
    "sqlite": "Writing the SQLite file",
    "finish": "Finishing",
}


class ProgressBar:
    """Takes `(stage, done, total, detail)` as often as somebody cares to tell; a context that clears the line."""

    def __init__(
        self,
        stream: IO[str] | None = None,
        *,
        is_quiet: bool = False,
        is_terminal: bool | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._is_quiet = is_quiet
        dumb = os.environ.get("TERM") == "dumb"
        self._is_terminal = (self._stream.isatty() and not dumb) if is_terminal is None else is_terminal
        self._clock = clock
        self._is_drawn = False
        self._next = clock() + (_PATIENCE if self._is_terminal else _PLAIN)
        self._stage, self._since, self._first = "", clock(), 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def __call__(self, stage: str, done: int, total: int | None, detail: str = "") -> None:
        """Note how far the work is, and show it if it is time to; the stage `note` is a line that stays."""
        if stage == "note":
            self._note(detail)
            return
        now = self._clock()
        if stage != self._stage:
            self._stage, self._since, self._first = stage, now, done
        if self._is_quiet or now < self._next:
            return
        self._next = now + (_REDRAW if self._is_terminal else _PLAIN)
        facts = self._facts(done, total, now - self._since)
        if self._is_terminal:
            self._write(control(CLEAR_LINE) + self._fitted(facts, done, total, detail))
            self._is_drawn = True
        else:
            self._write(facts + "\n")

    def clear(self) -> None:
        """Take the bar away; what is printed next begins at an empty line."""
        if self._is_drawn:
            self._write(control(CLEAR_LINE))
            self._is_drawn = False

    def _note(self, text: str) -> None:
        if not self._is_quiet:
            self.clear()
            self._write(f"note: {clean_line(text)}\n")

    def _facts(self, done: int, total: int | None, elapsed: float) -> str:
        words = _WORDS.get(self._stage, clean_line(self._stage))
        if self._stage == "download":
            of = "" if total is None else f" of {size_of(total)}"
            return f"{words} {size_of(done)}{of}" if done else words
        if total is None:
            return f"{words} {done:,}" if done else words
        facts = f"{words} {done:,}/{total:,}"
        rate = (done - self._first) / elapsed if elapsed > 0 else 0.0
        if elapsed >= _SURE and rate > 0:
            unit = " files/s" if self._stage == "index" else "/s"
            facts += (f"  {rate:,.0f}" if rate >= 10 else f"  {rate:.1f}") + unit
            if total > done:
                facts += f"  {length_of_time((total - done) / rate)} left"
        return facts

    def _fitted(self, facts: str, done: int, total: int | None, detail: str) -> str:
        width = shutil.get_terminal_size().columns - 1  # a full line would scroll
        bar = ""
        if total:
            full = min(done * _BAR // total, _BAR)
            bar = f"[{'#' * full}{'.' * (_BAR - full)}] "
        line = bar + facts if len(bar + facts) <= width else facts
        # A detail that only says what the stage is called is for callers that do not show its name.
        if detail and detail.casefold() not in facts.casefold() and len(line) + 12 <= width:
            line += "  " + clean_line(detail)
        return truncate_chars(line, width) if width > 1 else ""

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # nobody looks any more; the work itself is not about that
            self._is_quiet = True


def size_of(count: float) -> str:
    """A number of bytes as a person says it: `12.3 MB`."""
    if count < 1000:
        return f"{count:.0f} bytes"
    for unit in _UNITS:
        count /= 1000
        if count < 999.95 or unit == _UNITS[-1]:
            break
    return f"{count:,.1f} {unit}"


def length_of_time(seconds: float) -> str:
    """A length of time in the two units that matter: `3.2 s`, `41 s`, `2 min 5 s`, `1 h 12 min`, `3 d 4 h`."""
    if seconds < 10:
        return f"{max(seconds, 0):.1f} s"
    whole = round(seconds)
    for unit, size, below, part in (("d", 86400, "h", 3600), ("h", 3600, "min", 60), ("min", 60, "s", 1)):
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size} {unit}" + (f" {rest} {below}" if rest else "")
    return f"{whole} s"
