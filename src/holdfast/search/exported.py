"""An index as files that can be carried to another machine: made by one build in CI, taken up by everybody else.

    <directory>/
        .holdfastignore  leaves all of it out where the directory is part of a repository
        manifest.json    {"holdfast": "exported index", "format", "build", "files": [{"path", "bytes", "sha256"}]}
        index/           store.db, terms/...

Whoever takes it up brings it up to date with the files on disk, so it need not be of the same commit. The sums
tell damage, not intent: what it says is believed, so whoever takes it up has to trust where it comes from.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from holdfast.errors import ToolError
from holdfast.search.home import FORMAT, Build, IndexHome
from holdfast.search.private import make_private, private_files
from holdfast.search.repository import Repository, index_home

if TYPE_CHECKING:
    from holdfast.search.index_writer import Stop

__all__ = ["DIRECTORY", "export_index", "restore_index"]

DIRECTORY = "ci-artifacts"  # where one is looked for inside of a repository
MANIFEST = "manifest.json"
_IGNORE = ".holdfastignore"
_MARK = "exported index"
_INDEX = "index"
_FILE = re.compile(r"store\.db|terms/[A-Za-z0-9._-]{1,200}")
_BUILD = re.compile(r"[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}")
_LARGEST_MANIFEST = 16 * 1024 * 1024
_LARGEST = 64 * 1024 * 1024 * 1024  # bytes of all files
_DRAFT = f".{_INDEX}.draft"
_BEGUN = frozenset({_DRAFT, f".{MANIFEST}.draft", _IGNORE})
_CHUNK = 1024 * 1024
_EXAMINATION = 60.0  # seconds


def export_index(repository: Repository, cache_dir: Path, directory: Path) -> dict[str, Any]:
    """Write the index of a repository into a directory that is empty, new, or holds an earlier export."""
    with private_files():
        return _exported(repository, IndexHome(index_home(repository, cache_dir)), directory)


def _exported(repository: Repository, home: IndexHome, directory: Path) -> dict[str, Any]:
    # What an export that was killed had begun is no reason to refuse the next one.
    there = {path.name for path in directory.iterdir()} - _BEGUN if directory.exists() else set()
    if there and _noted(directory) is None:
        raise ToolError("FORBIDDEN", f"{directory.name} holds something else", hint="Name an empty directory.")
    if home.current() is None:
        raise _no_index(repository)
    with home.writing():
        build = home.current()
        if build is None:
            raise _no_index(repository)
        draft = directory / _DRAFT
        with _drafted(draft):
            shutil.copytree(build.terms, draft / "terms", ignore=shutil.ignore_patterns("*.lock", ".*.lock"))
            _copy_store(build.store, draft / "store.db")
    (directory / _IGNORE).write_text("*\n")  # before there is anything that could be taken for content
    (directory / MANIFEST).unlink(missing_ok=True)  # without it, a half-written export is none
    shutil.rmtree(directory / _INDEX, ignore_errors=True)
    draft.rename(directory / _INDEX)
    files = [
        _entry(path, directory / _INDEX) for path in sorted((directory / _INDEX).rglob("*")) if path.is_file()
    ]
    manifest = {"holdfast": _MARK, "format": FORMAT, "build": build.name, "files": files}
    temporary = directory / f".{MANIFEST}.draft"
    temporary.write_text(json.dumps(manifest, indent=1))
    temporary.replace(directory / MANIFEST)
    make_private(directory)
    return {
        "path": str(directory),
        "build": build.name,
        "files": len(files),
        "bytes": sum(f["bytes"] for f in files),
    }


def restore_index(
    repository: Repository, cache_dir: Path, directory: Path, *, stop: "Stop", wait: float = 0.0
) -> bool:
    """Make an exported index the current one; False where there is none, or one of another format.

    Another writer is waited for, no longer than `wait` seconds.
    """
    manifest = _noted(directory)
    if manifest is None or manifest.get("format") != FORMAT:
        return False
    name, files = _checked(manifest)
    home = IndexHome(index_home(repository, cache_dir))
    with home.writing(wait=wait, stop=stop):
        if (current := home.current()) is not None and current.name == name:
            return True
        build = Build(home.builds / name)
        shutil.rmtree(build.directory, ignore_errors=True)
        try:
            for entry in files:
                _take(directory / _INDEX / entry["path"], build.directory / entry["path"], entry, stop)
            _examine(home, build)
            build.write_seal()
            home.promote(build, repository.root)
        except BaseException:
            if home.current() != build:
                shutil.rmtree(build.directory, ignore_errors=True)
            raise
    return True


def _examine(home: IndexHome, build: Build) -> None:
    """Refuse what is no index that can be searched, before it takes the place of one that can."""
    from holdfast.search.integrity import damage_of
    from holdfast.search.store.database import is_made_like_ours

    build.directory.mkdir(parents=True, exist_ok=True)
    (build.directory / "readers.lock").touch()
    if not build.store.is_file() or not is_made_like_ours(build.store):
        raise _damaged("its store has other tables than an index")
    found, is_complete = damage_of(home, build, seconds=_EXAMINATION)
    if found or not is_complete:
        raise _damaged(found[0] if found else "a part of it is missing")


@contextlib.contextmanager
def _drafted(draft: Path) -> Iterator[None]:
    """Nothing is left of a draft that could not be written to its end; why not is told in one line."""
    shutil.rmtree(draft, ignore_errors=True)
    try:
        yield
    except BaseException as error:
        shutil.rmtree(draft, ignore_errors=True)
        if isinstance(error, OSError | sqlite3.Error):
            raise ToolError(
                "CAPABILITY_MISSING",
                f"the export could not be written: {_reason(error)}",
                hint="Make room there, or name a directory elsewhere.",
            ) from error
        raise


def _reason(error: OSError | sqlite3.Error) -> str:
    """Why a copy failed; one of a whole directory lists its failures, each of which is a text."""
    if isinstance(error, shutil.Error):
        failures = error.args[0] if error.args and isinstance(error.args[0], list) else []
        text = str(failures[0][2]) if failures else ""
        found = re.match(r"\[Errno \d+\] ([^:]+)", text)
        return (found[1] if found else "some files cannot be copied").lower()
    if isinstance(error, OSError):
        return (error.strerror or type(error).__name__).lower()
    return str(error)


def _no_index(repository: Repository) -> ToolError:
    return ToolError(
        "NO_INDEX", f"there is no index of {repository.root.name} to export", hint="run `holdfast index build`"
    )


def _copy_store(source: Path, target: Path) -> None:
    """One consistent file, whatever is still in the log of the other."""
    with (
        contextlib.closing(sqlite3.connect(f"file:{quote(str(source))}?mode=ro", uri=True)) as reading,
        contextlib.closing(sqlite3.connect(target)) as writing,
    ):
        reading.backup(writing)


def _entry(path: Path, root: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"path": path.relative_to(root).as_posix(), "bytes": path.stat().st_size, "sha256": digest}


def _noted(directory: Path) -> dict[str, Any] | None:
    """The manifest of an exported index; None where there is none."""
    path = directory / MANIFEST
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST_MANIFEST:
            return None
        noted = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return noted if isinstance(noted, dict) and noted.get("holdfast") == _MARK else None


def _checked(manifest: dict[str, Any]) -> tuple[str, list[dict[str, Any]]]:
    """The name of the build and its files, none of which lies anywhere else; it comes from who knows where."""
    name, files = manifest.get("build"), manifest.get("files")
    if not isinstance(name, str) or not _BUILD.fullmatch(name) or not isinstance(files, list):
        raise _damaged("its manifest names no build")
    seen: set[str] = set()
    for entry in files:
        path = entry.get("path") if isinstance(entry, dict) else None
        if not isinstance(path, str) or not _FILE.fullmatch(path) or path.endswith(("/.", "/..")):
            raise ToolError("ARCHIVE_UNSAFE", "the exported index names a file that no index has",
                            details={"entry": str(path)[:200]})  # fmt: skip
        if path in seen:
            raise ToolError("ARCHIVE_UNSAFE", "the exported index names a file twice", details={"entry": path})
        seen.add(path)
        if type(entry.get("bytes")) is not int or not 0 <= entry["bytes"] <= _LARGEST:
            raise _damaged(f"the size of {path} is none")
    if sum(entry["bytes"] for entry in files) > _LARGEST:
        raise ToolError("ARCHIVE_TOO_LARGE", "the exported index is too large", details={"limitBytes": _LARGEST})
    return name, files


def _take(source: Path, target: Path, entry: dict[str, Any], stop: "Stop") -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    digest, size = hashlib.sha256(), 0
    try:
        descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise _damaged(f"{entry['path']} cannot be read: {error.strerror}") from error
    with os.fdopen(descriptor, "rb") as reading, target.open("xb") as writing:
        while data := reading.read(_CHUNK):
            if stop():
                raise ToolError("CANCELLED", "taking up an exported index was stopped; the old index is untouched")
            size += len(data)
            if size > entry["bytes"]:
                break
            digest.update(data)
            writing.write(data)
    if size != entry["bytes"] or digest.hexdigest() != entry.get("sha256"):
        raise _damaged(f"{entry['path']} is not what the manifest says")


def _damaged(why: str) -> ToolError:
    return ToolError("DOWNLOAD_VERIFY_FAILED", f"the exported index is damaged: {why}", hint="Export it again.")
