"""How a command is ended from outside: SIGTERM and SIGHUP stop it as Ctrl-C does; the exit code tells which.

A command that is interrupted ends what it has started and says what it left; by default, these two signals would
end the process before it can do either. They go to whatever Ctrl-C reaches at that moment, so that no command has
to know of them. Servers (`serve`, `run`) and members of a pool have their own way, which they set over this one.
"""

import contextlib
import signal
import threading
from collections.abc import Iterator
from time import monotonic

__all__ = ["INTERRUPTED", "EndedFromOutside", "heeding_signals"]

INTERRUPTED = 128 + signal.SIGINT
_HEEDED = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
_SAME = (
    1.0  # seconds in which signals are one request: `timeout` sends its own twice, to the process and its group
)


class EndedFromOutside:
    """Which signal came, if any did, and what it makes of the exit code."""

    def __init__(self) -> None:
        self._first = 0
        self._last = 0.0

    def exit_code(self, code: int) -> int:
        """The code of an interrupted command says by which signal; an answer that was ready stays what it is."""
        return 128 + self._first if self._first and code == INTERRUPTED else code

    def hear(self, number: int, frame: object) -> None:
        """Do what Ctrl-C would do now. A second one must not tear the work out of the cleaning up of the first."""
        now = monotonic()
        if self._first and now - self._last < _SAME:
            return
        self._first, self._last = self._first or number, now
        handler = signal.getsignal(signal.SIGINT)
        if not callable(handler):  # a shell has us run in the background, where Ctrl-C is not for us
            raise KeyboardInterrupt
        handler(signal.SIGINT, frame)  # type: ignore[arg-type]


@contextlib.contextmanager
def heeding_signals() -> Iterator[EndedFromOutside]:
    """Heed them inside; what somebody has set already (`nohup`: to ignore SIGHUP) stays."""
    ended = EndedFromOutside()
    if threading.current_thread() is not threading.main_thread():
        yield ended
        return
    ours = [number for number in _HEEDED if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, ended.hear)
    try:
        yield ended
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)
