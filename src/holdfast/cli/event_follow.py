"""New events as they are written: a log that is followed through its rotations, and before it exists.

Every file of the log is held open while it is part of the log. So a file is the same one under its next name,
nothing is read twice, and a writer that goes on with a file that another has rotated is still heard.
"""

import contextlib
import os
import select
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from holdfast.errors import WireError
from holdfast.observe.rotating_file import rotated_files
from holdfast.wire.codec import decode

__all__ = ["EventFollower", "wait_for_reader"]

_CHUNK = 1024 * 1024
_LONGEST_LINE = 1024 * 1024  # four times what a record may have; more is no record


class EventFollower:
    """Reads the events of some logs, each once: first those that are there, then those that are added."""

    def __init__(self, logs: Callable[[], list[Path]]) -> None:
        self._logs = logs
        self._followed: dict[Path, _Log] = {}

    def poll(self) -> list[dict[str, Any]]:
        """The events since the latest poll, in the order of their time."""
        for path in self._logs():
            if path not in self._followed:
                self._followed[path] = _Log(path)
        found = [event for log in self._followed.values() for event in log.new_events()]
        return sorted(found, key=lambda event: str(event.get("ts", "")))

    def close(self) -> None:
        """Let go of the files."""
        for log in self._followed.values():
            log.close()


class _Log:
    """The files of one log, the oldest first."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._files: dict[tuple[int, int], _File] = {}

    def new_events(self) -> Iterator[dict[str, Any]]:
        absent = self._files.keys() - self._open_new()
        # A rotation at this moment hides a file that is only being renamed; one that was removed has no link.
        gone = [identity for identity in absent if self._files[identity].is_removed()]
        for file in list(self._files.values()):
            for line in file.new_lines():
                event = _event(line)
                if event is not None:
                    yield event
        for identity in gone:
            self._files.pop(identity).close()

    def close(self) -> None:
        for file in self._files.values():
            file.close()

    def _open_new(self) -> set[tuple[int, int]]:
        """Open what is not open yet; the identities of all files that are part of the log now."""
        present = set()
        candidates: list[Path] = []
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            candidates = [*(path for _, path in rotated_files(self._path)), self._path]
        for path in candidates:
            with contextlib.suppress(FileNotFoundError):  # it was just rotated; the next poll finds it again
                opened = path.open("rb", buffering=0)
                status = os.fstat(opened.fileno())
                identity = status.st_dev, status.st_ino
                present.add(identity)
                if identity in self._files:
                    opened.close()
                else:
                    self._files[identity] = _File(opened)
        return present


class _File:
    """One open file and the beginning of a line whose end is not there yet."""

    def __init__(self, opened: IO[bytes]) -> None:
        self._opened = opened
        self._rest = b""

    def new_lines(self) -> Iterator[bytes]:
        while data := self._opened.read(_CHUNK):
            *lines, self._rest = (self._rest + data).split(b"\n")
            yield from lines
            if len(self._rest) > _LONGEST_LINE:
                self._rest = b""

    def is_removed(self) -> bool:
        return os.fstat(self._opened.fileno()).st_nlink == 0

    def close(self) -> None:
        self._opened.close()


def _event(line: bytes) -> dict[str, Any] | None:
    try:
        event = decode(line, max_depth=1000)
    except WireError:
        return None  # torn by a full disk, or none of ours
    return event if isinstance(event, dict) and "event" in event else None


def wait_for_reader(seconds: float) -> bool:
    """Wait; False, and at once, when whoever read our standard output has left."""
    if not hasattr(select, "poll"):
        threading.Event().wait(seconds)
        return True
    watch = select.poll()
    watch.register(sys.stdout.fileno(), 0)  # asked for nothing, it still tells of errors
    return not watch.poll(seconds * 1000)
