"""Where records live, and how they are written: all of a batch or none of it, by one process at a time.

    <index of the repository>/triage/
        records/<id>.json, <id>.md    a record, and the same for people
        context-packs/<id>.json
        writer.lock                   held by the one process that writes
        staging-*/                    what a writer has prepared and not yet put in place

Everything is prepared in a directory beside the records and then moved into place, so whatever ends a writer
before that leaves the old state. The text for people is moved first: where a record is new, so is its text.
"""

import contextlib
import os
import re
import secrets
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import orjson

from holdfast.errors import ToolError
from holdfast.search.home import IndexHome
from holdfast.search.private import make_private, open_private, private_files
from holdfast.search.repository import Repository, index_home
from holdfast.search.triage.markdown import render
from holdfast.search.triage.record import by_time, decision_prefix, is_safe_name

__all__ = ["Batch", "RecordFiles", "as_json", "explained", "write_file"]

_LONGEST = 4 * 1024 * 1024  # bytes of a record that are read
_PATIENCE = 60.0  # seconds that another process may take
_POLL = 0.05
_SYNCING = 8  # a disk confirms several files at once almost as fast as one
_MANY = 256  # files from which on one flush of everything is quicker than one of each
_DECISION = re.compile(r"[0-9a-f]{40}\.json")


class RecordFiles:
    """The records of one repository."""

    def __init__(self, repository: Repository, cache_dir: Path) -> None:
        self.records = IndexHome(index_home(repository, cache_dir)).records
        self.directory = self.records.parent
        self.packs = self.directory / "context-packs"

    def json_path(self, record_id: str) -> Path:
        """Where a record is."""
        return self.records / f"{record_id}.json"

    def markdown_path(self, record_id: str) -> Path:
        """Where the text for people is."""
        return self.records / f"{record_id}.md"

    def read(self, record_id: str) -> dict[str, Any] | None:
        """A record; None where there is none that can be read."""
        if not is_safe_name(record_id):
            return None
        try:
            with self.json_path(record_id).open("rb") as file:
                record = orjson.loads(file.read(_LONGEST))
        except (OSError, ValueError):
            return None
        return record if isinstance(record, dict) and isinstance(record.get("recordType"), str) else None

    def every(self) -> Iterator[dict[str, Any]]:
        """All records that can be read, by name."""
        try:
            names = sorted(name for name in os.listdir(self.records) if name.endswith(".json"))
        except FileNotFoundError:
            return
        for name in names:
            record = self.read(name.removesuffix(".json"))
            if record is not None:
                yield record

    def decisions(self, finding_id: str) -> list[dict[str, Any]]:
        """The decisions about a finding, the newest first."""
        prefix = decision_prefix(finding_id)
        try:
            names = [name for name in os.listdir(self.records) if name.startswith(prefix)]
        except FileNotFoundError:
            return []
        read = (self.read(name.removesuffix(".json")) for name in names if _DECISION.fullmatch(name))
        about = [record for record in read if record is not None and _is_about(record, finding_id)]
        return sorted(about, key=by_time, reverse=True)

    @contextlib.contextmanager
    def writing(self, stop: Callable[[], bool], *, wait: float = _PATIENCE) -> "Iterator[Batch]":
        """A batch that is put in place when the block ends well, and forgotten when it does not."""
        with explained(), private_files(), self._locked(wait, stop):
            make_private(self.directory)
            for left in self.directory.glob("staging-*"):  # of a writer that is dead, since we hold the lock
                shutil.rmtree(left, ignore_errors=True)
            staging = self.directory / f"staging-{secrets.token_hex(4)}"
            self.records.mkdir(exist_ok=True)
            staging.mkdir()
            try:
                batch = Batch(self, staging)
                yield batch
                batch.finish(stop)
            finally:
                shutil.rmtree(staging, ignore_errors=True)

    @contextlib.contextmanager
    def _locked(self, wait: float, stop: Callable[[], bool]) -> Iterator[None]:
        self._make()
        with (self.directory / "writer.lock").open("a+") as file:
            until = time.monotonic() + wait
            pause = threading.Event()
            while not _lock(file):
                if stop():
                    raise ToolError("CANCELLED", "waiting for another writer was stopped; no record was changed")
                if time.monotonic() >= until:
                    raise _busy(file)
                pause.wait(_POLL)
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
            yield

    def _make(self) -> None:
        """Make the directory; the one above it may be removed at any moment, as long as it is empty."""
        for attempt in range(3):
            try:
                self.directory.mkdir(parents=True, exist_ok=True)
                break
            except FileNotFoundError:
                if attempt == 2:
                    raise
        ignore = self.directory / ".gitignore"
        if not ignore.exists():  # a cache inside of a repository must not be committed or indexed as its text
            ignore.write_text("*\n")


class Batch:
    """Records that are written together."""

    def __init__(self, files: RecordFiles, staging: Path) -> None:
        self._files = files
        self._staging = staging
        self._ids: list[str] = []

    def put(self, record: Mapping[str, Any]) -> None:
        """Prepare a record."""
        name = record["recordId"]
        text = render(record)
        for suffix, data in ((".md", text.encode()), (".json", as_json(record))):
            with open(f"{self._staging}/{name}{suffix}", "wb") as file:
                file.write(data)
        self._ids.append(name)

    def finish(self, stop: Callable[[], bool]) -> None:
        """Put everything in place; up to the first file that is moved, the work may still be stopped."""
        from concurrent.futures import ThreadPoolExecutor

        names = [f"{record_id}{suffix}" for record_id in self._ids for suffix in (".md", ".json")]
        if stop():
            raise ToolError("CANCELLED", "writing records was stopped; no record was changed")
        if len(names) > _MANY and sys.platform == "linux":
            os.sync()  # once for all of them; elsewhere it does not wait
        else:
            with ThreadPoolExecutor(_SYNCING) as pool:
                list(pool.map(_sync, (self._staging / name for name in names)))
        staged, placed = f"{self._staging}/", f"{self._files.records}/"
        for name in names:
            os.replace(staged + name, placed + name)
        if names:
            _sync(self._files.records)


def as_json(value: Mapping[str, Any]) -> bytes:
    """A record or a pack as it is stored: for programs, and still legible."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def write_file(path: Path, value: Mapping[str, Any]) -> None:
    """Write one file as a whole or not at all."""
    draft = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}.draft")
    try:
        with open(draft, "xb", opener=open_private) as file:
            file.write(as_json(value))
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    _sync(path.parent)


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Say in a caller's words what a disk refuses."""
    try:
        yield
    except PermissionError as error:
        raise ToolError("FORBIDDEN", f"writing is not permitted here: {error.strerror}") from error
    except OSError as error:
        raise ToolError(
            "CAPABILITY_MISSING",
            f"this could not be written: {error.strerror or type(error).__name__}",
            hint="make room on the disk of the cache, or choose another cache directory",
        ) from error


def _is_about(record: Mapping[str, Any], finding_id: str) -> bool:
    decision = record.get("decision")
    return isinstance(decision, dict) and decision.get("findingRecordId") == finding_id


def _lock(file: IO[str]) -> bool:
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _busy(file: IO[str]) -> ToolError:
    file.seek(0)
    holder = file.read(40).strip() or "unknown"
    message = f"the records of this repository are being written by process {holder}"
    return ToolError("QUEUE_OVERLOADED", message, hint="call again when it has finished")


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
