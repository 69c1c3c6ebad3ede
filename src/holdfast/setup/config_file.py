"""One file of somebody else's configuration: read whole, replaced whole or not at all, with a copy of what it was.

Nothing here knows what the file says. A file that changed since it was read is never replaced, and whatever goes
wrong, the file is afterwards what it was before. A file of a project is never one outside of it: a link that a
repository brings along may lead to the settings of its reader.
"""

import contextlib
import hashlib
import os
import secrets
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from holdfast.contract.atomic import refuse_link_out
from holdfast.errors import UsageError
from holdfast.host.private_places import private_directory
from holdfast.settings import default_state_dir

__all__ = ["ConfigFile", "Written", "read_config", "replace_config", "take_back"]

_BACKUPS = "config-backups"
MAX_BYTES = 32 * 1024 * 1024
_MARK = b"\xef\xbb\xbf"  # which some editors put in front of UTF-8
_SAME = "nothing was changed"


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A file as it was read. `real` is where its links lead; `data` is None where there is none."""

    path: Path
    real: Path
    data: bytes | None
    mode: int | None = None
    owner: tuple[int, int] | None = None

    @property
    def text(self) -> str:
        """What it says, without a mark in front; UsageError where it is no text."""
        try:
            text = (self.data or b"").removeprefix(_MARK).decode()
        except UnicodeDecodeError as error:
            remedy = f"save it as UTF-8; byte {error.start} is the first that is not"
            raise UsageError(f"{self.path} is not text", remedy=remedy) from None
        if "\0" in text:
            raise UsageError(f"{self.path} is not text: it holds a NUL character", remedy="is it the right file?")
        return text

    def encoded(self, text: str) -> bytes:
        """A new text as bytes, with the mark where the file had one."""
        return (_MARK if (self.data or b"").startswith(_MARK) else b"") + text.encode()

    @property
    def backup(self) -> Path:
        """Where the copy of what the file was before us lies, if there is one: where our state is, for its owner.

        Not where a configuration file of a repository might put it.
        """
        named = os.environ.get("HOLDFAST_STATE_DIR")
        state = Path(named).expanduser() if named else default_state_dir()
        digest = hashlib.sha256(os.fsencode(self.real)).hexdigest()[:16]
        return state / _BACKUPS / f"{digest}-{self.real.name[:100]}"


@dataclass(frozen=True, slots=True)
class Written:
    """What was done to a file, so that it can be taken back. `data` is what it holds now, None when it is gone."""

    before: ConfigFile
    data: bytes | None
    made: tuple[Path, ...] = ()  # directories, the outermost first
    backup: Path | None = None


def read_config(path: Path, project: Path | None = None) -> ConfigFile:
    """The file, followed to where its links lead; UsageError where it is none that can be edited.

    With `project`, links may not lead out of that directory.
    """
    if project is not None:
        refuse_link_out(path, project)
    real = Path(os.path.realpath(path))
    try:
        if real.is_symlink():
            raise UsageError(f"{path} is a link that leads to itself", remedy="remove the link")
        status = real.stat()
        if stat.S_ISDIR(status.st_mode):
            raise UsageError(f"{path} is a directory", remedy="move it out of the way, or name a file with --file")
        if not stat.S_ISREG(status.st_mode):
            raise UsageError(f"{path} is not a regular file", remedy="name another one with --file")
        with real.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return ConfigFile(path, real, None)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{path} cannot be read: {reason}", remedy="check its permissions") from error
    if len(data) > MAX_BYTES:
        raise UsageError(f"{path} is larger than {MAX_BYTES} bytes", remedy="is it the right file?")
    return ConfigFile(path, real, data, stat.S_IMODE(status.st_mode), (status.st_uid, status.st_gid))


def replace_config(file: ConfigFile, data: bytes | None, *, keep_copy: bool = True) -> Written:
    """Put `data` in place of the file, or remove it where that is None. UsageError: the file is as it was.

    What was there before our first change is kept once, for its owner alone, where our state is.
    """
    made: list[Path] = []
    backup: Path | None = None
    try:
        if file.data is not None and not os.access(file.real, os.W_OK):
            raise PermissionError(13, "it is write-protected", str(file.path))
        _make_directories(file.real.parent, made)
        if keep_copy and file.data is not None and data is not None and not os.path.lexists(file.backup):
            private_directory(file.backup.parent, create=True)
            _place(file.backup, file.data, replace(file, mode=0o600, owner=None), lambda: None)
            backup = file.backup
        if data is None:
            with _alone_in(file.real.parent):
                _refuse_if_changed(file)
                file.real.unlink()
        else:
            _place(file.real, data, file, lambda: _refuse_if_changed(file))
    except (OSError, UsageError) as error:
        _remove(backup, made)
        if isinstance(error, UsageError):
            raise
        remedy = "check permissions and free space, or name another file with --file"
        raise UsageError(f"{file.path} cannot be written: {error.strerror}; {_SAME}", remedy=remedy) from error
    return Written(file, data, tuple(made), backup)


def take_back(written: Written) -> None:
    """Make everything as it was before a change; UsageError where the file was changed again meanwhile."""
    replace_config(replace(written.before, data=written.data), written.before.data, keep_copy=False)
    _remove(written.backup, written.made)


def _refuse_if_changed(file: ConfigFile) -> None:
    try:
        now: bytes | None = file.real.read_bytes()
    except FileNotFoundError:
        now = None
    if now != file.data:
        raise UsageError(f"{file.path} was changed by somebody else meanwhile; {_SAME}", remedy="try again")


def _place(path: Path, data: bytes, like: ConfigFile, check: Callable[[], None]) -> None:
    """Write a file, with the permissions and the owner of the one that it is in place of."""
    draft = path.with_name(f".{path.name[:100]}.{secrets.token_hex(6)}.draft")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if like.mode else 0o666)
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            if like.owner is not None and hasattr(os, "fchown"):
                with contextlib.suppress(PermissionError):  # only root can give a file to somebody
                    os.fchown(descriptor, *like.owner)
            if like.mode is not None and hasattr(os, "fchmod"):
                os.fchmod(descriptor, like.mode)
            os.fsync(descriptor)
        with _alone_in(path.parent):
            check()
            draft.replace(path)
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def _make_directories(directory: Path, made: list[Path]) -> None:
    missing = [place for place in (directory, *directory.parents) if not os.path.lexists(place)]
    for place in reversed(missing):
        place.mkdir()
        made.append(place)


def _remove(backup: Path | None, made: Sequence[Path]) -> None:
    """Take away what only we had put there; a directory that somebody uses by now stays."""
    with contextlib.suppress(OSError):
        if backup is not None:
            backup.unlink(missing_ok=True)
        for place in reversed(made):
            place.rmdir()


@contextlib.contextmanager
def _alone_in(directory: Path) -> Iterator[None]:
    """Hold the directory while a file in it is replaced, so that two of us never do it at once."""
    if sys.platform == "win32":  # pragma: no cover
        yield
        return
    import fcntl

    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)  # whoever else holds it only compares and renames one file
        yield
        os.fsync(descriptor)  # the new name, too, survives a power cut
    finally:
        os.close(descriptor)
