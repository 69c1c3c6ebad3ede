"""How much one caller may have: requests at once and a second, sessions, open streams. One too many is refused.

Where there are several tokens, none of them can take everything: of places that are few, half is the most that one
has. Callers that cannot be told apart, with one token or none, share all of them.

Only so many callers are remembered; one that has nothing open and has been quiet is forgotten first, and with it
nothing but a full bucket.
"""

import math
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic

from holdfast.api.callers import Caller
from holdfast.api.envelope import HttpError, refusal
from holdfast.api.options import FrontOptions

__all__ = ["Allowance", "Allowances"]

MOST_CALLERS = 10_000
# Streams of `subscriptions/listen`, of all callers. A worker has 64; the rest is for what sessions listen for.
MOST_LISTENING = 48
_SOON = [(b"retry-after", b"1")]
_BURST = 2.0  # seconds' worth of requests that may come at once after a pause


@dataclass(slots=True)
class Allowance:
    """What one caller has of each kind, and what is left in its bucket."""

    left: float
    looked_at: float
    running: int = 0
    streams: int = 0
    listening: int = 0  # of the streams, and subscriptions of sessions
    sessions: int = 0

    @property
    def is_idle(self) -> bool:
        """Whether nothing of the caller is open."""
        return not (self.running or self.streams or self.listening or self.sessions)


class Allowances:
    """The limits of one front, for all its callers."""

    def __init__(self, options: FrontOptions, clock: Callable[[], float] = monotonic) -> None:
        self._rate = options.client_rate
        share = 2 if len(options.tokens) > 1 else 1
        self._most_running = options.client_concurrency or max(1, options.concurrency // share)
        self._most_listening = MOST_LISTENING // share
        self._listening = 0
        self._most_streams = options.client_streams
        self._most_sessions = options.client_sessions
        self._clock = clock
        self._known: OrderedDict[str, Allowance] = OrderedDict()

    def count(self, caller: Caller) -> None:
        """Take one request of a caller out of its bucket, or refuse it."""
        if not self._rate:
            return
        now, most = self._clock(), max(1.0, self._rate * _BURST)
        entry = self._of(caller)
        entry.left = min(most, entry.left + (now - entry.looked_at) * self._rate)
        entry.looked_at = now
        if entry.left < 1:
            wait = (1 - entry.left) / self._rate
            raise _too_much(f"more than {self._rate:g} requests a second", wait)
        entry.left -= 1

    @contextmanager
    def request(self, caller: Caller) -> Iterator[None]:
        """A place among the requests of a caller that are being worked on."""
        entry = self._of(caller)
        if entry.running >= self._most_running:
            raise _too_much(f"{entry.running} requests at the same time")
        entry.running += 1
        try:
            yield
        finally:
            entry.running -= 1

    @contextmanager
    def stream(self, caller: Caller) -> Iterator[None]:
        """A place among the open streams of a caller."""
        entry = self._of(caller)
        if entry.streams >= self._most_streams:
            raise _too_much(f"{entry.streams} open streams")
        entry.streams += 1
        try:
            yield
        finally:
            entry.streams -= 1

    @contextmanager
    def listen(self, caller: Caller) -> Iterator[None]:
        """The same for a stream that holds a place in the worker for as long as it is open."""
        with self.share_of_listening(caller), self.place_to_listen(), self.stream(caller):
            yield

    @contextmanager
    def share_of_listening(self, caller: Caller) -> Iterator[None]:
        """A part of what one caller may listen to."""
        entry = self._of(caller)
        if entry.listening >= self._most_listening:
            raise _too_much(f"{entry.listening} streams that listen")
        entry.listening += 1
        try:
            yield
        finally:
            entry.listening -= 1

    @contextmanager
    def place_to_listen(self) -> Iterator[None]:
        """A place in the worker, whoever share it."""
        if self._listening >= MOST_LISTENING:
            raise refusal("QUEUE_OVERLOADED", f"{MOST_LISTENING} streams that listen are open", headers=_SOON)
        self._listening += 1
        try:
            yield
        finally:
            self._listening -= 1

    def has_room_for_session(self, caller: Caller) -> bool:
        """Whether a caller may begin another session."""
        return self._of(caller).sessions < self._most_sessions

    def session(self, caller: Caller, by: int) -> None:
        """A caller has one session more, or less."""
        self._of(caller).sessions += by

    def sessions_refused(self, caller: Caller) -> HttpError:
        """The answer to one session too many."""
        return _too_much(f"{self._of(caller).sessions} sessions")

    def _of(self, caller: Caller) -> Allowance:
        entry = self._known.get(caller.key)
        if entry is None:
            entry = Allowance(max(1.0, self._rate * _BURST), self._clock())
            self._known[caller.key] = entry
            self._forget()
        else:
            self._known.move_to_end(caller.key)
        return entry

    def _forget(self) -> None:
        if len(self._known) <= MOST_CALLERS:
            return
        for key, entry in list(self._known.items())[:-1]:
            if entry.is_idle:
                del self._known[key]
                return


def _too_much(what: str, wait: float = 1.0) -> HttpError:
    seconds = max(1, math.ceil(wait))
    return refusal(
        "RATE_LIMITED",
        f"one client may not have {what}",
        details={"retry": {"safe": True, "afterMs": seconds * 1000}},
        headers=[(b"retry-after", str(seconds).encode())],
    )
