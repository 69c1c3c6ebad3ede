"""The portable file: the whole index as one SQLite file, made and compacted.

It is written as a draft beside its place and takes that place as the last step, so whatever happens before leaves
the old file as it was. Searching it is done elsewhere (`portable_reading`).
"""

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from holdfast.errors import ToolError
from holdfast.search.engine.portable_file import DAMAGE, seal
from holdfast.search.engine.portable_schema import FIELDS, has_fts5
from holdfast.search.engine.tantivy_figures import TermsError, read_figures, segments_digest
from holdfast.search.home import Build, IndexHome
from holdfast.search.index_writer import settle
from holdfast.search.model import MODES
from holdfast.search.portable_placing import check_stop, checked_target, copied, copy_blocks, placed, trouble_told
from holdfast.search.portable_reading import OpenedPortable, open_portable
from holdfast.search.portable_writer import PortableWriter, differs_in_notes, held_files, optimize, source_files
from holdfast.search.repository import Repository, index_home
from holdfast.search.store.database import is_damage
from holdfast.search.store.writer import DamagedIndexError

if TYPE_CHECKING:
    from holdfast.search.index_writer import Progress, Stop

__all__ = ["build_portable", "compact_portable"]

_MODES = {"all": MODES, "code": ("code",), "prose": ("prose", "extracted-prose")}
_STAGE = "sqlite"
_WITHOUT_FTS = {"code": "fts", "message": "this SQLite has no FTS5: the file is for the backend sqlite alone"}
_STEPS = 100_000  # of SQLite between two questions whether to stop


@dataclass(slots=True)
class _Done:
    """What became of a request to build."""

    incremental: bool = False
    compacted: bool = False
    unchanged: bool = False
    warnings: list[dict[str, str]] = field(default_factory=list)


def build_portable(
    repository: Repository,
    cache_dir: Path,
    *,
    mode: str = "all",
    incremental: bool = False,
    compact: bool = False,
    out: Path | None = None,
    backend: str = "sqlite",
    progress: "Progress",
    stop: "Stop",
) -> dict[str, Any]:
    """Write the portable file of the present index, and a copy of it to `out`; what was done, with figures.

    It is for both backends, unless SQLite has no FTS5 here: then only for `sqlite`. Whoever needs the other one
    names it as the `backend`; CAPABILITY_MISSING where it cannot be had.
    """
    started = time.monotonic()
    modes = _modes_of(mode)
    if backend == "sqlite-fts" and not has_fts5():
        message, hint = "the SQLite of this Python has no FTS5", "use the backend sqlite, which needs none"
        raise ToolError("CAPABILITY_MISSING", message, hint=hint)
    home = IndexHome(index_home(repository, cache_dir))
    target = None if out is None else checked_target(Path(repository.root, out))
    with _writing(repository, home, stop) as build:
        done = _Done()
        if incremental:
            done = _brought_up(home, build, modes, progress, stop, compact=compact)
        if not done.incremental:
            _written(home, build, modes, progress, stop)
            done.compacted = True  # a new file has no gaps
        if target is not None:
            copied(home.portable, target, stop)
        with contextlib.closing(open_portable(home.portable)) as held:
            facts, counts = held.opened.facts, held.opened.store.chunk_counts()
    path = target or home.portable
    return {
        "repoPath": repository.shown,
        "mode": mode,
        "path": str(path),
        "bytes": path.stat().st_size,
        "build": facts.build,
        "generation": facts.generation,
        "chunks": {one: counts.get(one, 0) for one in modes},
        "incremental": done.incremental,
        "compacted": done.compacted,
        "unchanged": done.unchanged,
        "elapsedMs": round((time.monotonic() - started) * 1000),
        "warnings": done.warnings + ([] if has_fts5() else [_WITHOUT_FTS]),
    }


def compact_portable(
    repository: Repository,
    cache_dir: Path,
    *,
    mode: str = "all",
    dry_run: bool = False,
    keep_backup: bool = False,
    progress: "Progress",
    stop: "Stop",
) -> dict[str, Any]:
    """Give back the space that updates have left in the portable file; with `dry_run`, only say how much it is."""
    modes = _modes_of(mode)
    home = IndexHome(index_home(repository, cache_dir))
    with _writing(repository, home, stop):
        _check_holds(home, mode, modes)
        before = home.portable.stat().st_size
        backup = home.portable.with_name(f"{home.portable.name}.bak")
        with _draft(home) as draft:
            progress(_STAGE, 0, None, "compacting")
            copy_blocks(home.portable, draft, stop)
            _compacted(draft, stop)
            after = draft.stat().st_size
            keeps = keep_backup and not dry_run
            if keeps:
                copied(home.portable, backup, stop)
            if not dry_run:
                placed(draft, home.portable)
    freed = max(0, before - after)
    verb = "can be freed" if dry_run else "were freed"
    return {
        "repoPath": repository.shown,
        "mode": mode,
        "dryRun": dry_run,
        "path": str(home.portable),
        "bytesBefore": before,
        "bytes": after,
        "freedBytes": freed,
        "backup": str(backup) if keeps else None,
        "output": f"{home.portable.name}: {freed} of {before} bytes {verb}",
    }


def _modes_of(mode: str) -> tuple[str, ...]:
    if mode not in _MODES:
        raise ToolError(
            "INVALID_REQUEST", f"mode: there is no portable file of {mode}", hint=f"use {', '.join(_MODES)}"
        )
    return _MODES[mode]


@contextlib.contextmanager
def _writing(repository: Repository, home: IndexHome, stop: "Stop") -> Iterator[Build]:
    """The current build, whole, and nobody else who writes; ToolError where there is none."""
    if home.current() is None:  # asked before the lock as well, which would leave a directory behind
        raise _no_index(repository)
    with trouble_told(home.portable), home.writing(stop=stop):
        home.remove_drafts()
        build = home.current()
        if build is None:
            raise _no_index(repository)
        with _damage_of_index_told(repository):
            _settle(build)
            yield build


def _settle(build: Build) -> None:
    try:
        settle(build)
    except ValueError as error:  # the term index quotes what the system said
        raise OSError(str(error)) from error


def _no_index(repository: Repository) -> ToolError:
    name = repository.root.name or "/"
    return ToolError(
        "NO_INDEX", f"{name}: there is no index of this repository yet", hint="call build_index first"
    )


@contextlib.contextmanager
def _damage_of_index_told(repository: Repository) -> Iterator[None]:
    """The file is made from the index: whatever is broken here is broken there."""
    try:
        yield
    except (DamagedIndexError, TermsError, *DAMAGE) as error:
        if isinstance(error, sqlite3.OperationalError) and not is_damage(error):
            raise
        name = repository.root.name or "/"
        why = error.message if isinstance(error, DamagedIndexError) else str(error)
        message = f"{name}: its index is damaged: {why}"
        raise ToolError("NO_INDEX", message, hint="run `holdfast index build --full`") from error


@contextlib.contextmanager
def _draft(home: IndexHome) -> Iterator[Path]:
    draft = home.portable_draft()
    try:
        yield draft
    finally:
        draft.unlink(missing_ok=True)


def _written(home: IndexHome, build: Build, modes: tuple[str, ...], progress: "Progress", stop: "Stop") -> None:
    """A new file in place of whatever is there."""
    with _draft(home) as draft:
        _fill(draft, build, modes, progress, stop, fresh=True, compact=True)
        placed(draft, home.portable)


def _brought_up(
    home: IndexHome, build: Build, modes: tuple[str, ...], progress: "Progress", stop: "Stop", *, compact: bool
) -> _Done:
    """The file that is there, with what changed since; not `incremental` where only a new one will do."""
    if not home.portable.exists():
        return _Done()
    try:
        with contextlib.closing(open_portable(home.portable)) as held:
            reason = _other_than(held, build, modes)
            differs = not reason and _differs(home, build, modes)
        if not reason and not differs and not compact:
            return _Done(incremental=True, unchanged=True)
        if not reason:
            with _draft(home) as draft:
                copy_blocks(home.portable, draft, stop)
                _fill(draft, build, modes, progress, stop, fresh=False, compact=compact)
                placed(draft, home.portable)
            return _Done(incremental=True, compacted=compact, unchanged=not differs)
    except ToolError as error:
        if error.code != "NO_INDEX":
            raise
        reason = error.message
    except DAMAGE as error:
        if isinstance(error, sqlite3.OperationalError) and not is_damage(error):
            raise
        reason = "the SQLite file of the index is damaged"
    return _Done(warnings=[{"code": "full", "message": f"the file was written anew: {reason}"}])


def _other_than(held: OpenedPortable, build: Build, modes: tuple[str, ...]) -> str:
    """Why the file cannot be brought up to date, if so."""
    facts = held.opened.facts
    if set(held.modes) != set(modes):
        return f"the one that is there is of {', '.join(held.modes)}"
    if held.has_fts != has_fts5():
        return f"the one that is there is {'with' if held.has_fts else 'without'} FTS5"
    with contextlib.closing(_reading(build.store)) as store:
        current = dict(store.execute("SELECT key, value FROM facts_of_index WHERE key IN ('build', 'generation')"))
    if facts.build != current.get("build") or facts.generation > current.get("generation", 0):
        return "the one that is there is of another build"
    return ""


def _reading(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)


def _differs(home: IndexHome, build: Build, modes: tuple[str, ...]) -> bool:
    """Whether the index says anything that the file does not say."""
    with contextlib.closing(_reading(home.portable)) as db:
        noted = db.execute("SELECT value FROM portable WHERE key = 'segments'").fetchone()
        if noted != (segments_digest(build.terms),):
            return True
        db.execute("ATTACH ? AS source", (f"file:{quote(str(build.store))}?mode=ro",))
        generation = db.execute("SELECT value FROM source.facts_of_index WHERE key = 'generation'").fetchone()[0]
        held, wanted = held_files(db, "main", modes), source_files(db, "source", generation, modes)
        return set(held) != set(wanted) or differs_in_notes(db, generation)


def _fill(
    draft: Path,
    build: Build,
    modes: tuple[str, ...],
    progress: "Progress",
    stop: "Stop",
    *,
    fresh: bool,
    compact: bool,
) -> None:
    progress(_STAGE, 0, None, "reading the figures of the index")
    segments = segments_digest(build.terms)  # nobody writes the index meanwhile
    figures = read_figures(build.terms, FIELDS)

    def tick(done: int, total: int, path: str) -> None:
        check_stop(stop)
        progress(_STAGE, done, total, path)

    writer = PortableWriter(draft, build.store, modes, fresh=fresh, fts=has_fts5())
    try:
        with _stoppable(writer.db, stop):
            writer.bring_up(figures, segments, tick)
            progress(_STAGE, 0, None, "finishing")
            writer.finish(compact=compact)
    finally:
        writer.close()
    seal(draft)


def _compacted(draft: Path, stop: "Stop") -> None:
    with contextlib.closing(sqlite3.connect(draft, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = OFF")
        db.execute("PRAGMA synchronous = OFF")
        with _stoppable(db, stop):
            if has_fts5() and db.execute("SELECT value FROM portable WHERE key = 'fts'").fetchone() == (1,):
                optimize(db)
            db.execute("VACUUM")
    seal(draft)


@contextlib.contextmanager
def _stoppable(db: sqlite3.Connection, stop: "Stop") -> Iterator[None]:
    """Ask whether to stop in the middle of long statements too."""
    db.set_progress_handler(lambda: 1 if stop() else 0, _STEPS)
    try:
        yield
    except sqlite3.OperationalError:
        check_stop(stop)
        raise
    finally:
        db.set_progress_handler(None, _STEPS)


def _check_holds(home: IndexHome, mode: str, modes: tuple[str, ...]) -> None:
    """The file is whole, and of the modes that were named; `all` means whatever it has."""
    with contextlib.closing(open_portable(home.portable)) as held:
        if mode != "all" and set(held.modes) != set(modes):
            message = f"there is no SQLite file of {mode} alone: it has {', '.join(held.modes)}"
            raise ToolError("NO_INDEX", message, hint="use the mode all")
