"""Puts the bootstrap skill where agents look for skills: as a link to the one that came with this package.

A link, so that an upgrade of the package is an upgrade of the skill. What somebody else has put in its place is
left alone, and a directory that we did not write is never removed. A copy bears a note of what was copied, so that
one that was edited since is told from one that was not.
"""

import contextlib
import errno
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

from holdfast.errors import UsageError
from holdfast.version import __version__

__all__ = ["NAME", "Placed", "default_directories", "install_skill", "problem_at", "remove_skill", "skill_source"]

NAME = "mcp-bootstrap"
_NOTE = ".holdfast-skill.json"
_CLIENTS = (".claude", ".codex")
_ENTRY = "SKILL.md"
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.ENOSYS}  # of file systems that have none
_NO_RIGHT_TO_LINK = 1314  # on Windows, for users who may not


class _Found(Enum):
    """What is at the place of the skill."""

    ABSENT = auto()
    LINK = auto()
    COPY = auto()
    OTHER_LINK = auto()
    EDITED_COPY = auto()
    NOT_OURS = auto()


@dataclass(frozen=True, slots=True)
class Placed:
    """What was done at one place: `change` is created, replaced, unchanged, removed or absent."""

    path: Path
    change: str
    how: str = "link"

    def to_json(self) -> dict[str, str]:
        """For programs."""
        return {"path": str(self.path), "change": self.change, "how": self.how}


def skill_source() -> Path:
    """The directory of the skill: inside an installed package, or in the checkout that the package runs from."""
    package = Path(__file__).resolve().parents[1]
    for root in (package, package.parents[1]):
        if (root / "skills" / NAME / _ENTRY).is_file():
            return root / "skills" / NAME
    raise UsageError(
        f"this installation has no skill {NAME}", remedy="install holdfast again, from a complete wheel"
    )


def default_directories() -> list[Path]:
    """Where the clients on this machine look for skills."""
    try:
        home = Path.home()
    except RuntimeError as error:
        raise UsageError(
            f"there is no home directory: {error}", remedy="holdfast skill install --dir DIR"
        ) from error
    found = [home / client / "skills" for client in _CLIENTS if (home / client).is_dir()]
    if not found:
        raise UsageError(
            "no client that reads skills was found: there is neither ~/.claude nor ~/.codex",
            remedy="holdfast skill install --dir DIR",
        )
    return found


def install_skill(directories: Sequence[Path], *, copy: bool = False, force: bool = False) -> list[Placed]:
    """Put the skill into every directory, or into none of them."""
    source = skill_source()
    for directory in directories:
        _refuse_directory(directory, source)
        _refuse(directory / NAME, _found(directory / NAME, source), force=force)
    done: list[Placed] = []
    try:
        for directory in directories:
            done.append(_install(directory, source, copy=copy))  # noqa: PERF401 - the next one may fail
    except BaseException:
        for placed in done:
            if placed.change == "created":
                _remove(placed.path)
        raise
    return done


def remove_skill(directories: Sequence[Path], *, force: bool = False) -> list[Placed]:
    """Take the skill out of every directory, where it is ours."""
    source = skill_source()
    found = {directory / NAME: _found(directory / NAME, source) for directory in directories}
    for place, kind in found.items():
        _refuse(place, kind, force=force)
    for place, kind in found.items():
        if kind is not _Found.ABSENT:
            with _told(place.parent):
                _remove(place)
    return [
        Placed(
            place,
            "absent" if kind is _Found.ABSENT else "removed",
            "copy" if kind in {_Found.COPY, _Found.EDITED_COPY} else "link",
        )
        for place, kind in found.items()
    ]


def problem_at(place: Path) -> UsageError | None:
    """What is wrong with the skill at this place, and what to do about it; None where nothing is."""
    source = skill_source()
    kind = _found(place, source)
    try:
        _refuse(place, kind, force=False)
    except UsageError as error:
        if place.is_symlink() and not place.exists():
            return UsageError(f"{place} leads nowhere", remedy="holdfast skill install --force")
        install = "holdfast skill install"
        again = f"{error.remedy}, then: {install}" if kind is _Found.NOT_OURS else f"{install} --force"
        return UsageError(error.message, remedy=again)
    if kind is _Found.COPY and _digests(place) != _digests(source):
        return UsageError(f"{place} is a copy of another version", remedy="holdfast skill install")
    return None


def _refuse_directory(directory: Path, source: Path) -> None:
    remedy = "name another one with --dir"
    with _told(directory):
        real = Path(os.path.realpath(directory))
        if real == source.parent or source in (real, *real.parents):
            raise UsageError(f"{directory} is where the skill itself lives", remedy=remedy)
        if os.path.lexists(directory) and not directory.is_dir():
            raise UsageError(f"{directory} is not a directory", remedy=remedy)


def _found(place: Path, source: Path) -> _Found:
    """What is at the place now."""
    with _told(place.parent):
        if not os.path.lexists(place):
            return _Found.ABSENT
        if place.is_symlink():
            same = os.path.realpath(place) == os.path.realpath(source)
            return _Found.LINK if same else _Found.OTHER_LINK
        if not place.is_dir():
            return _Found.NOT_OURS
        noted = _note_of(place)
        if noted is None:
            return _Found.NOT_OURS
        return _Found.COPY if noted == _digests(place) else _Found.EDITED_COPY


def _refuse(place: Path, kind: _Found, *, force: bool) -> None:
    """Refuse what is not ours to replace or remove; `force` gives up links and copies, never a directory."""
    if kind is _Found.NOT_OURS:
        raise UsageError(f"{place} is there and was not put there by holdfast", remedy=f"move it away: {place}")
    if kind is _Found.OTHER_LINK and not force:
        raise UsageError(f"{place} is a link to {os.readlink(place)}", remedy="--force, if it may go")
    if kind is _Found.EDITED_COPY and not force:
        raise UsageError(f"{place} is a copy that was edited", remedy="--force, if the edits may go")


def _install(directory: Path, source: Path, *, copy: bool) -> Placed:
    place = directory / NAME
    kind = _found(place, source)
    how = "copy" if copy else "link"
    if (kind is _Found.LINK and not copy) or (
        kind is _Found.COPY and copy and _note_of(place) == _digests(source)
    ):
        return Placed(place, "unchanged", how)
    with _told(directory), _directory_made(directory):
        if kind is _Found.ABSENT and not copy:
            _write_first_link(place, source)
        else:
            _swap_in(place, source, copy=copy)
    return Placed(place, "created" if kind is _Found.ABSENT else "replaced", how)


def _write_first_link(place: Path, source: Path) -> None:
    """Make a link where nothing is; what came there meanwhile is not replaced."""
    try:
        _write_link(place, source)
    except FileExistsError:
        if _found(place, source) is not _Found.LINK:  # otherwise somebody else has done the same
            raise


def _swap_in(place: Path, source: Path, *, copy: bool) -> None:
    """Make it beside the place, then let them change places: whatever fails, one of them is there as a whole."""
    draft, old = (place.with_name(f".{NAME}.{secrets.token_hex(6)}.{end}") for end in ("draft", "old"))
    try:
        _write_copy(draft, source) if copy else _write_link(draft, source)
        if os.path.lexists(place):
            place.rename(old)
        try:
            draft.rename(place)
        except BaseException:
            if os.path.lexists(old):
                old.rename(place)
            raise
    finally:
        for left in (draft, old):
            if os.path.lexists(left):
                _remove(left)


def _write_link(place: Path, source: Path) -> None:
    try:
        place.symlink_to(source, target_is_directory=True)
    except OSError as error:
        if error.errno in _NO_LINKS or getattr(error, "winerror", 0) == _NO_RIGHT_TO_LINK:
            raise UsageError(f"no link can be made in {place.parent}", remedy="make a copy: --copy") from error
        raise


def _write_copy(draft: Path, source: Path) -> None:
    shutil.copytree(source, draft)
    note = {"skill": NAME, "version": __version__, "files": _digests(source)}
    (draft / _NOTE).write_text(json.dumps(note, indent=1) + "\n", encoding="utf-8")


def _remove(place: Path) -> None:
    if place.is_symlink():
        place.unlink()
    else:
        shutil.rmtree(place)


def _note_of(place: Path) -> dict[str, str] | None:
    """The digests that were noted when the copy was made; None where there is no readable note."""
    if not (place / _NOTE).is_file():
        return None
    try:
        note = json.loads((place / _NOTE).read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return None
    files = note.get("files") if isinstance(note, dict) else None
    return files if isinstance(files, dict) else None


def _digests(directory: Path) -> dict[str, str]:
    """What is in the directory; a link, a pipe or a device is never what we wrote, and is not read."""
    return {
        path.relative_to(directory).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        if path.is_file() and not path.is_symlink()
        else "not a file"
        for path in sorted(directory.rglob("*"))
        if path != directory / _NOTE and (path.is_symlink() or not path.is_dir())
    }


@contextlib.contextmanager
def _directory_made(directory: Path) -> Iterator[None]:
    """Make the directory, and unmake what was made of it when the rest fails."""
    missing = [path for path in (directory, *directory.parents) if not path.exists()]
    directory.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        for path in missing:
            with contextlib.suppress(OSError):  # somebody uses it by now
                path.rmdir()
        raise


@contextlib.contextmanager
def _told(directory: Path) -> Iterator[None]:
    """Trouble with a directory, as one line with a remedy."""
    try:
        yield
    except (OSError, ValueError) as error:
        why = error.strerror or str(error) if isinstance(error, OSError) else str(error)
        raise UsageError(f"{directory}: {why}", remedy="name another directory with --dir") from error
