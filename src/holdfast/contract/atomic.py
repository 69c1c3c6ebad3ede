"""A file written all or not at all, by one writer at a time.

Locks, snapshots and specifications lie in a repository, where two jobs may write the same one: neither may leave
half a file, a draft, or a file that the other one never saw.
"""

import contextlib
import errno
import os
import secrets
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

__all__ = ["write_atomically"]


def write_atomically(path: Path, data: bytes, *, check: Callable[[], None] = lambda: None) -> None:
    """Put `data` in place of the file; `check` may still raise, and nobody writes between it and the replacing.

    A link stays a link: what it leads to is replaced. A device or a pipe is written to and stays what it is.
    """
    path = _behind_links(path)
    if path.exists() and not path.is_file() and not path.is_dir():
        check()
        path.write_bytes(data)
        return
    draft = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}.draft")
    try:
        with draft.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with _alone_in(path.parent):
            check()
            draft.replace(path)
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def _behind_links(path: Path) -> Path:
    if not path.is_symlink():
        return path
    real = Path(os.path.realpath(path))
    if real.is_symlink():
        raise OSError(errno.ELOOP, "it is a link that leads to itself", str(path))
    return real


@contextlib.contextmanager
def _alone_in(directory: Path) -> Iterator[None]:
    """Hold the directory while a file in it is replaced; it needs no file of its own that would be left behind."""
    if sys.platform == "win32":  # pragma: no cover
        yield  # a directory cannot be held there; replacing is still all or nothing
        return
    import fcntl

    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)  # whoever else holds it only reads and renames one file
        yield
    finally:
        os.close(descriptor)
