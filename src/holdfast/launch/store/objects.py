"""Contents by their digest: what artifacts say is kept in files that are written once and never change.

A file is complete and on disk before it has its name (7 ms on a busy disk, of which the name takes most): a run
that says it has an artifact has it, also after a power failure. The same content is kept once.
"""

import contextlib
import hashlib
import os
import re
import secrets
import time
from collections.abc import Iterator
from pathlib import Path

from holdfast.errors import UsageError
from holdfast.launch.store.refusals import ObjectLost

__all__ = ["ObjectStore", "address_of"]

_DIGEST = re.compile(r"[0-9a-f]{64}")
_PIECE = 1024 * 1024
_DRAFT = ".draft"


def address_of(sha256: str) -> str:
    """Where an object is, from the directory that holds `objects`."""
    return f"objects/{_checked(sha256)[:2]}/{sha256}"


class ObjectStore:
    """The objects in one directory. For any number of threads and processes."""

    def __init__(self, root: Path) -> None:
        self._root = Path(root)

    def put(self, content: Path | bytes) -> str:
        """Keep the content of a file, or bytes; its digest. What is kept already is not written again."""
        if isinstance(content, bytes):
            digest = hashlib.sha256(content).hexdigest()
            if not self._is_whole(digest):
                self._write(iter((content,)), digest)
            return digest
        digest = _digest_of(content)
        if not self._is_whole(digest):
            with content.open("rb") as file:
                # The file may have changed since: what counts is what was copied.
                return self._write(iter(lambda: file.read(_PIECE), b""), None)
        return digest

    def path_of(self, sha256: str) -> Path:
        """The file of an object, whether it is there or not."""
        return self._root / _checked(sha256)[:2] / sha256

    def here(self, sha256: str) -> Path:
        """The file of an object, for whoever reads it by its path; it may have to be brought to this machine."""
        return self.path_of(sha256)

    def has(self, sha256: str) -> bool:
        """Whether the object is there."""
        return self.path_of(sha256).is_file()

    def read(self, sha256: str) -> bytes:
        """The content of an object; ObjectLost when it is gone, or is not what was kept."""
        try:
            content = self.path_of(sha256).read_bytes()
        except (FileNotFoundError, IsADirectoryError) as error:
            raise ObjectLost(sha256, "is not there") from error
        if hashlib.sha256(content).hexdigest() != sha256:
            raise ObjectLost(sha256, "is not what was kept")
        return content

    def sweep(self, *, older_than_s: float = 3600.0) -> int:
        """Remove what writers that died have left half-written; how many files."""
        removed = 0
        oldest = time.time() - older_than_s
        for draft in self._root.glob(f"*/*{_DRAFT}"):
            with contextlib.suppress(FileNotFoundError):  # another one sweeps, or the writer lives and is done
                if draft.stat().st_mtime <= oldest:
                    draft.unlink()
                    removed += 1
        return removed

    def _is_whole(self, digest: str) -> bool:
        path = self.path_of(digest)
        return path.is_file() and _digest_of(path) == digest

    def _write(self, pieces: Iterator[bytes], digest: str | None) -> str:
        folder = self._root / (digest[:2] if digest else "00")
        folder.mkdir(parents=True, exist_ok=True)
        draft = folder / f"{secrets.token_hex(12)}{_DRAFT}"
        try:
            counted = hashlib.sha256()
            with draft.open("xb") as file:
                for piece in pieces:
                    counted.update(piece)
                    file.write(piece)
                file.flush()
                os.fchmod(file.fileno(), 0o400)
                os.fsync(file.fileno())
            path = self.path_of(counted.hexdigest())
            path.parent.mkdir(exist_ok=True)
            draft.replace(path)
            _sync_directory(path.parent)
            return counted.hexdigest()
        finally:
            draft.unlink(missing_ok=True)


def _checked(sha256: str) -> str:
    if not _DIGEST.fullmatch(sha256):
        raise UsageError(f"{sha256!r:.100} is not the digest of an object")
    return sha256


def _digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
