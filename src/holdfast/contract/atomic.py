"""A file written all or not at all, by one writer at a time.

Locks, snapshots and specifications lie in a repository, where two jobs may write the same one: neither may leave
half a file, a draft, or a file that the other one never saw. A repository may come from a stranger, so a link in
it leads to no file outside of it.
"""

import contextlib
import errno
import os
import secrets
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from holdfast.errors import UsageError

__all__ = ["refuse_link_out", "write_atomically"]


def refuse_link_out(path: Path, project: Path | None = None) -> None:
    """Raise UsageError where a path below the project leads out of it by a link.

    The project is the repository that the path is in as it is spelled, else the working directory. What a link
    leads to below `.git` is no file of the project either.
    """
    root = _project_of(path) if project is None else project
    real, real_root = Path(os.path.realpath(path)), Path(os.path.realpath(root))
    lexical = Path(os.path.abspath(path))
    if not lexical.is_relative_to(root) and not lexical.is_relative_to(real_root):
        return
    if not real.is_relative_to(real_root) or ".git" in real.relative_to(real_root).parts:
        raise UsageError(
            f"{path} is a link that leads out of the project, to {real}",
            remedy="look where it is from; to change that very file, name it by its own path",
        )


def write_atomically(path: Path, data: bytes, *, check: Callable[[], None] = lambda: None) -> None:
    """Put `data` in place of the file; `check` may still raise, and nobody writes between it and the replacing.

    A link stays a link: what it leads to is replaced, and it may not lead out of its repository or of the working
    directory. A device or a pipe is written to and stays what it is.
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
    real = Path(os.path.realpath(path))
    if real.is_symlink():
        raise OSError(errno.ELOOP, "it is a link that leads to itself", str(path))
    refuse_link_out(path)
    return real if path.is_symlink() else path


def _project_of(path: Path) -> Path:
    above = Path(os.path.abspath(path)).parents
    return next((folder for folder in above if os.path.lexists(folder / ".git")), Path.cwd())


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
