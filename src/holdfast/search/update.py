"""Bringing an index up to date: only files that changed are read, and one commit in place makes them visible.

A file counts as unchanged when its size and time are those of the index and nothing about it changed since the
last look: a program may set the time of a file back. One that was written at about the time of the index itself
is compared by its content too: a clock has a grain, and two writes may fall into one of it.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from holdfast.search.build import checked_rules, parser_pool, report, tasks_for
from holdfast.search.capabilities import reading_abilities
from holdfast.search.configuration import Indexing, load_configuration
from holdfast.search.discover import Discovery, FoundFile, KnownFile, discover
from holdfast.search.engine.tantivy_writer import committed_generation
from holdfast.search.filed import add_records
from holdfast.search.history import History, from_bytes
from holdfast.search.history_reading import HistoryReading
from holdfast.search.home import Build
from holdfast.search.index_writer import IndexWriter, Ingested, Progress, Stop, check_stop, settle
from holdfast.search.pool import ParsePool
from holdfast.search.repository import Repository, head
from holdfast.search.stages import Stages, files_found
from holdfast.search.store.reader import FileRow, IndexFacts, StoreReader

__all__ = ["Changes", "update"]

_GRAIN_NS = 2_000_000_000  # the coarsest time stamps of a file system in use


@dataclass(frozen=True, slots=True)
class Changes:
    """What differs between a repository and its index."""

    discovery: Discovery
    touched: list[FoundFile]  # new, or perhaps changed
    gone: list[str]
    digests: dict[str, bytes]  # of what the index holds
    chunks: dict[str, int]  # how many chunks each file has there
    notes_differ: bool  # other things are skipped, directories have other times, or the configuration is another


def update(
    repository: Repository, build: Build, *, progress: Progress, stop: Stop, pool: ParsePool | None = None
) -> dict[str, Any]:
    """Bring the current build up to date in place. Needs the writer's lock; a warm `pool` saves its start."""
    stages = Stages()
    indexing, rules = load_configuration(repository).indexing, checked_rules(repository)
    settle(build)
    checked_at = time.time()
    with stages.measure("discover"):
        facts, changes, old_history = _look(repository, build, indexing, rules, stop, files_found(progress))
    commit, branch = head(repository)
    moved = (commit, branch) != (facts.commit, facts.branch)
    if not (changes.touched or changes.gone or changes.notes_differ or moved):
        unchanged = report("unchanged", changes.discovery, Ingested(), stages, build, facts.generation)
        return unchanged | {"chunks": sum(changes.chunks.values())}
    with HistoryReading(repository, old_history, stop=stop) as history, IndexWriter(build, fresh=False) as writer:
        with stages.measure("write"):
            done = _parse(repository, changes, writer, progress, stop, pool)
        for path in changes.gone:
            writer.remove(path)
        writer.store.touch(done.unchanged)
        noted = {"commit": commit, "branch": branch, "checked_at": checked_at}
        noted |= {"rules": rules, "configuration": indexing.digest(), "abilities": reading_abilities()}
        writer.note(changes.discovery, done, history.result(), noted)
        check_stop(stop)
        changed = bool(done.written or changes.gone or done.failures or done.vanished)
        with stages.measure("commit"):
            writer.commit() if changed else writer.commit_notes()
        generation = writer.store.generation
    stages.add_all(done.costs)
    added = sum(path not in changes.digests for path in done.written)
    replaced = {*done.written, *done.failures, *done.vanished, *changes.gone}
    kept = sum(count for path, count in changes.chunks.items() if path not in replaced)
    counts = {
        "chunks": kept + done.chunks,
        "added": added,
        "changed": len(done.written) - added,
        "removed": len(changes.gone),
    }
    action = "updated" if changed else "unchanged"
    return report(action, changes.discovery, done, stages, build, generation) | counts


def _look(
    repository: Repository,
    build: Build,
    indexing: Indexing,
    rules: str,
    stop: Stop,
    found: Callable[[int], None],
) -> tuple[IndexFacts, Changes, History | None]:
    reader = StoreReader(build.store, committed_generation(build.terms))
    try:
        facts = reader.facts()
        values = facts.values
        same_rules = values.get("rules") == rules and values.get("abilities") == reading_abilities()
        changes = _compare(
            repository, build, reader, facts, indexing, same_rules=same_rules, stop=stop, found=found
        )
        history = _stored_history(reader.history())
    finally:
        reader.close()
    return facts, changes, history


def _compare(
    repository: Repository,
    build: Build,
    reader: StoreReader,
    facts: IndexFacts,
    indexing: Indexing,
    *,
    same_rules: bool,
    stop: Stop,
    found: Callable[[int], None],
) -> Changes:
    rows = {row.path: row for row in reader.files().values()}
    skipped = reader.skipped()
    same_configuration = facts.values.get("configuration") == indexing.digest()
    # Under another configuration what was decided about a file does not count; what was read from it still does.
    known = _known(rows, skipped) if same_configuration and same_rules else {}
    checked_at = int((facts.values.get("checked_at") or 0.0) * 1e9)
    discovery = discover(
        repository,
        limits=indexing.limits,
        ignore=indexing.ignore_file(),
        known=known,
        known_at=checked_at,
        on_progress=found,
        stop=stop,
    )
    add_records(discovery, build.records)
    now = time.time_ns()
    touched = [
        file
        for file in discovery.files
        if not same_rules or _may_differ(file, rows.get(file.path), checked_at, now)
    ]
    gone = sorted(rows.keys() - {file.path for file in discovery.files})
    now_skipped = [(one.path, one.reason, one.detail, one.size, one.mtime_ns) for one in discovery.skipped]
    return Changes(
        discovery=discovery,
        touched=touched,
        gone=gone,
        # Under other rules the same text means something else: nothing counts as unchanged then.
        digests={path: row.digest if same_rules else b"" for path, row in rows.items()},
        chunks={path: row.chunks for path, row in rows.items()},
        notes_differ=not same_configuration
        or sorted(now_skipped) != skipped
        or discovery.directories != reader.directories(),
    )


def _known(rows: dict[str, FileRow], skipped: list[tuple[str, str, str, int, int]]) -> dict[str, KnownFile]:
    """What the index says about files, for as long as they stay as they are."""
    known = {path: KnownFile(row.size, row.mtime_ns, row.mode, row.language) for path, row in rows.items()}
    looked_at = {
        path: KnownFile(size, mtime_ns, skipped_reason=reason, detail=detail)
        for path, reason, detail, size, mtime_ns in skipped
        if mtime_ns >= 0
    }
    return known | looked_at


def _may_differ(file: FoundFile, row: FileRow | None, checked_at: int, now: int) -> bool:
    if row is None or (file.size, file.mtime_ns) != (row.size, row.mtime_ns):
        return True
    # A time beyond the last look is somebody's wish, not a write that we may have missed; one to come is another
    # clock's.
    recent = abs(file.mtime_ns - checked_at) <= _GRAIN_NS or checked_at < file.ctime_ns <= now
    return (file.mode, file.language) != (row.mode, row.language) or recent


def _parse(
    repository: Repository,
    changes: Changes,
    writer: IndexWriter,
    progress: Progress,
    stop: Stop,
    pool: ParsePool | None,
) -> Ingested:
    tasks = tasks_for(repository, changes.touched, changes.digests)
    if not tasks:
        return Ingested()
    if pool is not None:
        return writer.ingest(tasks, pool, progress, stop)
    with parser_pool(len(tasks)) as own_pool:
        return writer.ingest(tasks, own_pool, progress, stop)


def _stored_history(stored: bytes | None) -> History | None:
    try:
        return from_bytes(stored) if stored else None
    except ValueError:
        return None
