"""Carries what the outbox owes to telemetry services, in a thread of its own, for as long as it takes.

Nothing waits for it: a service that is dead, hangs or refuses costs its records some time, or for good, and a run
nothing. What is owed to one run is carried in its order, so that a change never arrives before what it changes.
"""

import logging
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from holdfast.errors import HoldfastError

__all__ = ["Delivery", "NotDelivered", "OutboxStore", "Owed", "Send"]

BATCH = 100
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 300.0  # seconds; doubled with every failure of the same row
IDLE = 2.0  # seconds between two looks, where nobody says that there is something new
_log = logging.getLogger("holdfast.launch.telemetry")


class Owed(Protocol):
    """A row of the outbox."""

    @property
    def id(self) -> int:
        """The number of the row."""

    @property
    def run_id(self) -> str:
        """The run that it is about; empty where it is about none."""

    @property
    def method(self) -> str:
        """How to ask."""

    @property
    def path(self) -> str:
        """Where to ask, below the address of the service."""

    @property
    def document(self) -> Mapping[str, Any]:
        """What to send."""

    @property
    def attempts(self) -> int:
        """How often it was put off."""


class OutboxStore(Protocol):
    """The part of the run store that this needs."""

    def outbox(self, limit: int) -> Sequence[Owed]:
        """The rows that are due, the oldest first, and none behind a row of the same run that is not due."""

    def delivered(self, ids: Collection[int]) -> None:
        """These are owed no more."""

    def undeliverable(self, ids: Collection[int]) -> None:
        """These will never be delivered; they are counted."""

    def failed_delivery(self, row_id: int, error: str, next_at: datetime) -> None:
        """This one is due again at that moment."""


class NotDelivered(HoldfastError):  # noqa: N818 - an outcome
    """A service did not take a record; whether it may take it later."""

    def __init__(self, message: str, *, is_passing: bool) -> None:
        super().__init__(message)
        self.is_passing = is_passing


Send = Callable[[Owed], None]
"""Delivers one row, or raises NotDelivered."""


class Delivery:
    """One thread that delivers; `wake` tells it that there is something new."""

    def __init__(self, store: OutboxStore, send: Send, *, pause: float = FIRST_PAUSE, idle: float = IDLE) -> None:
        self._store = store
        self._send = send
        self._pause = pause
        self._idle = idle
        self._changed = threading.Condition()
        self._wanted = 0  # how often somebody asked for a look
        self._looked = 0  # which of these askings was answered: everything due was tried
        self._is_over = False
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin; once is enough."""
        with self._changed:
            if self._thread is None and not self._is_over:
                # A daemon: a service that hangs must not keep the process alive.
                self._thread = threading.Thread(target=self._live, name="holdfast-telemetry", daemon=True)
                self._thread.start()

    def wake(self) -> None:
        """There is something new."""
        with self._changed:
            self._wanted += 1
            self._changed.notify_all()

    def flush(self, timeout: float) -> bool:
        """Wait until everything that is due was tried; False where time ran out."""
        self.start()
        with self._changed:
            self._wanted += 1
            wanted = self._wanted
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._looked >= wanted or self._is_over, timeout)
            return self._looked >= wanted

    def stop(self, timeout: float = 0.9) -> None:
        """End within a second; what is not delivered stays in the outbox."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(timeout)

    # --- the thread ------------------------------------------------------------------------------------------

    def _live(self) -> None:
        while not self._is_over:
            with self._changed:
                wanted = self._wanted
            try:
                is_empty = self._deliver_batch()
            except Exception:  # noqa: BLE001 - nobody else may notice, and it is tried again
                if self._is_over:
                    return  # the store was closed under a call that took its time
                _log.warning("the outbox of telemetry cannot be used", exc_info=True)
                is_empty = True
            with self._changed:
                if is_empty:
                    self._looked = wanted
                    self._changed.notify_all()
                    self._changed.wait_for(lambda: self._is_over or self._wanted > self._looked, self._idle)

    def _deliver_batch(self) -> bool:
        """Carry what is due; whether that was everything."""
        rows = self._store.outbox(BATCH)
        put_off: set[str] = set()
        done: list[int] = []
        try:
            for row in rows:
                if self._is_over:
                    break
                if row.run_id not in put_off:  # or it would arrive before what it is about
                    self._deliver(row, done, put_off)
        finally:
            if done:
                self._store.delivered(done)
        return len(rows) < BATCH

    def _deliver(self, row: Owed, done: list[int], put_off: set[str]) -> None:
        try:
            self._send(row)
        except NotDelivered as error:
            if error.is_passing:
                put_off.add(row.run_id)
                seconds = min(LONGEST_PAUSE, self._pause * 2 ** min(row.attempts, 20))
                self._store.failed_delivery(row.id, str(error), datetime.now(UTC) + timedelta(seconds=seconds))
            else:
                _log.warning("telemetry refused a record: %s", error)
                self._store.undeliverable([row.id])
        else:
            done.append(row.id)
