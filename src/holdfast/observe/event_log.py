"""The event log: append-only lines of JSON, one per event, bounded in size, redacted, and never in the way.

`emit` and `flush` do not raise. What cannot be written now is kept, within a bound, and tried again later; what
does not fit the bound is dropped and counted. Reading back is `read_events`.
"""

import contextlib
import re
import threading
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from holdfast.errors import WireError
from holdfast.observe.record import Clock, to_line
from holdfast.observe.redaction import Redactor
from holdfast.observe.rotating_file import RotatingFile, rotated_files
from holdfast.settings import Settings
from holdfast.vocabulary.events import Event
from holdfast.wire.codec import decode

__all__ = ["EventLog", "NullEventLog", "open_event_log", "path_component", "read_events"]

_MAX_RECORD_BYTES = 256 * 1024
_MAX_BUFFER_BYTES = 512 * 1024
_RECORD_START = b'{"event":"'


class EventLog:
    """Writes events to `path`. Safe to use from several threads and, on the same path, several processes.

    `dropped` counts the events that were lost; `last_error` is the latest reason for a failed write, if any.
    """

    def __init__(
        self,
        path: Path,
        *,
        max_bytes: int = 8 * 1024 * 1024,
        max_files: int = 4,
        redact: Redactor | None = None,
        retry_after: float = 1.0,
    ) -> None:
        self.path = path
        self.dropped = 0
        self.last_error: str | None = None
        self._file = RotatingFile(path, max_bytes=max_bytes, max_files=max_files)
        self._redactor = redact
        self._record_limit = min(_MAX_RECORD_BYTES, max_bytes)
        self._clock = Clock()
        self._lines: list[bytes] = []
        self._buffered = 0
        self._retry_after = retry_after
        self._not_before = 0.0  # after a failure: when to try again
        self._lock = threading.Lock()

    def emit(self, event: Event) -> None:
        """Add one event to the buffer."""
        try:
            line = to_line(event, self._clock.now(), self._redactor, self._record_limit)
        except Exception as error:  # noqa: BLE001 - an event that cannot be told must not end what it tells of
            self._drop(1, error)
            return
        with self._lock:
            if self._buffered + len(line) > _MAX_BUFFER_BYTES:
                self._write()
            if len(line) > self._record_limit or self._buffered + len(line) > _MAX_BUFFER_BYTES:
                self.dropped += 1
                return
            self._lines.append(line)
            self._buffered += len(line)

    def flush(self) -> None:
        """Write what is buffered, with one system call as a rule."""
        if self._lines:
            with self._lock:
                self._write()

    def close(self) -> None:
        """Write what is buffered, count what cannot be, and let go of the file. A later event opens it again."""
        with self._lock:
            self._not_before = 0.0
            self._write()
            self.dropped += len(self._lines)
            self._lines.clear()
            self._buffered = 0
            self._let_go()

    def _write(self) -> None:
        if self._not_before and time.monotonic() < self._not_before:
            return
        try:
            self._file.append(self._lines)
            self._not_before = 0.0
            self._buffered = 0
        except OSError as error:
            self._buffered = sum(map(len, self._lines))
            self._not_before = time.monotonic() + self._retry_after
            self._drop(0, error)
            self._let_go()

    def _let_go(self) -> None:
        try:
            self._file.close()
        except OSError as error:
            self._drop(0, error)

    def _drop(self, count: int, reason: Exception) -> None:
        self.dropped += count
        self.last_error = f"{type(reason).__name__}: {reason}"


class NullEventLog:
    """An event log that is switched off."""

    path: Path | None = None
    dropped = 0
    last_error: str | None = None

    def emit(self, event: Event) -> None:
        """Forget the event."""

    def flush(self) -> None:
        """Nothing is buffered."""

    def close(self) -> None:
        """Nothing is open."""


def open_event_log(settings: Settings, server_name: str) -> EventLog | NullEventLog:
    """The event log of a server under the state directory, or one that does nothing when it is switched off."""
    if not settings.event_log:
        return NullEventLog()
    return EventLog(
        settings.state_path() / path_component(server_name) / "events.jsonl",
        max_bytes=settings.event_log_bytes,
        max_files=settings.event_log_files,
        redact=Redactor(),
    )


def path_component(name: str) -> str:
    """The name where it can name a directory; otherwise what can be kept of it, and a checksum."""
    safe = re.sub(r"[^A-Za-z0-9._-]", "_", name)[:80].lstrip(".")
    if safe and safe == name:
        return safe
    return f"{safe or 'server'}-{zlib.crc32(name.encode('utf-8', 'surrogatepass')):08x}"


def read_events(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a log, from its oldest file to its newest; what is not a record is passed over."""
    with contextlib.ExitStack() as stack:
        files = []
        with contextlib.suppress(FileNotFoundError):
            for candidate in [*(old for _, old in rotated_files(path)), path]:
                # A rotation may go on meanwhile; an open file stays the same one, and at worst one is missed.
                with contextlib.suppress(FileNotFoundError):
                    files.append(stack.enter_context(candidate.open("rb")))
        for file in files:
            for line in file:
                record = _record(line)
                if record is not None:
                    yield record


def _record(line: bytes) -> dict[str, Any] | None:
    """The record of a line. One that follows the beginning of another, torn by a full disk, is found too."""
    return _decoded(line) or _decoded(line[line.rfind(_RECORD_START) :])


def _decoded(line: bytes) -> dict[str, Any] | None:
    try:
        record = decode(line.rstrip(b"\n"), max_depth=1000)
    except WireError:
        return None
    return record if isinstance(record, dict) and "event" in record else None
