"""Both stores of an index, written as one: files go in and out, and one commit makes them visible together.

The store says first which generation is about to come, then the term index commits it, then the store makes it the
current one. Whatever is killed in between, `settle` finds out at the next opening which side of the line it was.
"""

import math
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from holdfast.errors import ToolError
from holdfast.search.discover import Discovery
from holdfast.search.embedded import HOSTS
from holdfast.search.engine.tantivy_writer import TermWriter, committed_generation
from holdfast.search.history import History, to_bytes
from holdfast.search.home import Build
from holdfast.search.languages import LANGUAGES
from holdfast.search.parsing_time import EXCESS_USED, excess_of, most_excess, seconds_for
from holdfast.search.pool import Failure, ParsePool
from holdfast.search.prepare import FileToPrepare, Unchanged, Vanished
from holdfast.search.prepared import PreparedFile
from holdfast.search.stages import Progress, Stop
from holdfast.search.store.database import is_damage
from holdfast.search.store.writer import DamagedIndexError, StoreWriter

__all__ = ["IndexWriter", "Ingested", "Progress", "Stop", "check_stop", "settle"]

_CRASHED = "parser-crashed"
_TIMEOUT = "parser-timeout"
_SECOND_CHANCES = 64
_PATIENCE = 8  # files of one language that may hang their parser before the others are not shown to it
_CHECKPOINT = 256  # files between two commits of a store that nobody reads yet


@dataclass(slots=True)
class Ingested:
    """What became of the files."""

    written: list[str] = field(default_factory=list)  # paths
    chunks: int = 0
    bytes: int = 0
    unchanged: list[Unchanged] = field(default_factory=list)
    failures: dict[str, Failure] = field(default_factory=dict)
    vanished: list[str] = field(default_factory=list)  # gone, or not readable, since they were found
    costs: dict[str, float] = field(default_factory=dict)  # CPU seconds of the parser processes, by stage


class IndexWriter:
    """Writes one generation. Leaving the context without `commit` takes everything back."""

    def __init__(self, build: Build, *, fresh: bool) -> None:
        self._fresh = fresh
        self._timeouts: Counter[str] = Counter()  # by language
        self._build = build
        self._excess, self._most_excess = 0.0, math.inf
        self._sealed = build.seal.remove()
        self.store = StoreWriter.create(build.store) if fresh else StoreWriter.open(build.store)
        try:
            self.store.begin()
            self._terms: TermWriter | None = TermWriter(build.terms, fresh=fresh)
        except BaseException:
            self.store.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._terms is not None:
                self._terms.abandon()
                self.store.rollback()
        finally:
            self.store.close(is_given_up=self._terms is not None)
        if self._terms is None or not self._fresh:
            self._build.write_seal(self._sealed)

    def ingest(self, tasks: list[FileToPrepare], pool: ParsePool, progress: Progress, stop: Stop) -> Ingested:
        """Parse files and write them; the versions that they replace die. A bad file costs only itself."""
        done = Ingested()
        self._most_excess = most_excess(len(tasks), sum(map(_size, tasks)))
        self._ingest(tasks, pool, progress, stop, done)
        # A parser may have been killed for reasons of its own: such files get a second chance, one by one.
        crashed = [
            task for task in tasks if task.path in done.failures and done.failures[task.path].reason == _CRASHED
        ]
        for task in crashed[:_SECOND_CHANCES]:
            del done.failures[task.path]
            self._ingest([task], pool, progress, stop, done)
        # What a grammar cannot stand is found by its words all the same.
        failed = [_plain(task, done.failures.pop(task.path)) for task in tasks if _may_be_plain(task, done)]
        if failed:
            self._ingest(failed, pool, progress, stop, done)
        return done

    def _ingest(
        self, tasks: list[FileToPrepare], pool: ParsePool, progress: Progress, stop: Stop, done: Ingested
    ) -> None:
        languages = {task.path: task.language for task in tasks}
        slow = {task.path: task for task in tasks if _has_grammar(task)}
        keyed: Iterable[tuple[str, FileToPrepare]] = ((task.path, self._patiently(task)) for task in tasks)
        for count, (path, outcome) in enumerate(
            _in_order(self._counted(pool.map(keyed, stop, self._patiently), slow), list(languages)), 1
        ):
            check_stop(stop)
            if isinstance(outcome, Failure):
                done.failures[path] = outcome
                self._timeouts[languages[path]] += outcome.reason == _TIMEOUT
                self.remove(path)
            elif isinstance(outcome, Vanished):
                done.vanished.append(path)
                self.remove(path)
            elif isinstance(outcome, Unchanged):
                done.unchanged.append(outcome)
            else:
                self._add(outcome, done)
            if self._fresh and count % _CHECKPOINT == 0:
                self.store.checkpoint()
            progress("index", count, len(tasks), path)

    def _counted(
        self, outcomes: Iterable[tuple[str, Any]], slow: dict[str, FileToPrepare]
    ) -> Iterator[tuple[str, Any]]:
        """Outcomes as they come, after a look at what they took beyond the usual."""
        for path, outcome in outcomes:
            if path in slow and isinstance(outcome, PreparedFile):
                self._excess += excess_of(sum(outcome.costs.values()), outcome.size)
            elif path in slow and isinstance(outcome, Failure) and outcome.reason == _TIMEOUT:
                size = _size(slow[path])
                self._excess += excess_of(seconds_for(size), size)
            yield path, outcome

    def _patiently(self, task: FileToPrepare) -> FileToPrepare:
        """The task as it is, unless its grammar has hung so often that all its files would take for ever."""
        if not _has_grammar(task):
            return task
        if self._excess > self._most_excess:
            return task._replace(plain=EXCESS_USED)
        task = task._replace(most_excess=self._most_excess)
        if self._timeouts[task.language] < _PATIENCE:
            return task
        return task._replace(plain=f"{_PATIENCE} other files of this language took too long")

    def _add(self, file: PreparedFile, done: Ingested) -> None:
        self.remove(file.path)
        number, chunks = self.store.add(file)
        self._open_terms.add(file, number, chunks)
        done.written.append(file.path)
        done.chunks += len(file.chunks)
        done.bytes += file.size
        for stage, seconds in file.costs.items():
            done.costs[stage] = done.costs.get(stage, 0.0) + seconds

    def remove(self, path: str) -> None:
        """The present version of a file dies with this generation."""
        for number in [] if self._fresh else self.store.bury(path):
            self._open_terms.remove(number)

    def note(self, discovery: Discovery, done: Ingested, history: History, facts: dict[str, Any]) -> None:
        """What holds beside the files: what was skipped and why, directories, the history, facts of the index."""
        times = {file.path: (file.size, file.mtime_ns) for file in discovery.files}
        skipped: list[tuple[str, str, str, int, int]] = [
            (skip.path, skip.reason, skip.detail, skip.size, skip.mtime_ns) for skip in discovery.skipped
        ]
        skipped += [(path, f.reason, f.detail, *times[path]) for path, f in done.failures.items()]
        self.store.replace_skipped(skipped)
        directories = discovery.directories
        if done.vanished:  # the tree moved while it was read: the next look has to be a whole one
            directories = directories | {"": -1}
        self.store.replace_directories(directories.items())
        self.store.replace_history(
            (path, one.last_author, one.last_modified, one.churn_added, one.churn_deleted, one.commits)
            for path, one in history.files.items()
        )
        remarks = "; ".join(history.remarks)
        self.store.set_facts({**facts, "history": to_bytes(history), "history_remarks": remarks})

    def commit(self) -> None:
        """Make it all visible, in both stores, as one generation."""
        self.store.prepare()
        self._open_terms.commit(self.store.generation + 1)
        self.store.publish()
        self._open_terms.finish(wait=self._fresh)
        self._terms = None

    def commit_notes(self) -> None:
        """Keep what was noted; no file changed, so there is no new generation."""
        self._open_terms.abandon()
        self._terms = None
        self.store.commit_notes()

    @property
    def _open_terms(self) -> TermWriter:
        assert self._terms is not None, "the writer has committed already"
        return self._terms


def settle(build: Build) -> str:
    """Bring both halves of an index together after a crash; what was done. DamagedIndexError: nothing can be."""
    broken = build.seal.damage()
    if broken:
        raise DamagedIndexError("INTERNAL", f"{broken} is not what was written")
    is_sealed = build.seal.stamp() != (0, 0)
    done = _settled(build)
    if not is_sealed or done != "clean":
        build.write_seal(build.seal.remove())
    return done


def _settled(build: Build) -> str:
    try:
        committed = committed_generation(build.terms)
        store = StoreWriter.open(build.store)
    except ValueError as error:  # tantivy tells everything that it cannot read like this
        if "os error" in str(error).lower():  # a full disk or missing rights are not the fault of the index
            raise
        raise DamagedIndexError("INTERNAL", f"the term index cannot be read: {error}") from error
    except FileNotFoundError as error:
        raise DamagedIndexError("INTERNAL", f"a part of the index is gone: {error}") from error
    except sqlite3.DatabaseError as error:
        raise _damage(error) from error
    try:
        return store.settle(committed)
    finally:
        store.close()


def _damage(error: sqlite3.DatabaseError) -> Exception:
    return DamagedIndexError("INTERNAL", f"the store cannot be read: {error}") if is_damage(error) else error


def _size(task: FileToPrepare) -> int:
    try:
        return task.location.stat().st_size
    except OSError:
        return 0


def _has_grammar(task: FileToPrepare) -> bool:
    if task.plain:
        return False
    return task.language in HOSTS or (task.mode == "code" and task.language in LANGUAGES)


def _may_be_plain(task: FileToPrepare, done: Ingested) -> bool:
    return task.path in done.failures and _has_grammar(task)


def _plain(task: FileToPrepare, failure: Failure) -> FileToPrepare:
    return task._replace(plain=f"{failure.reason}, {failure.detail}", known_digest=None)


def _in_order(outcomes: Iterable[tuple[str, Any]], paths: list[str]) -> Iterator[tuple[str, Any]]:
    """Outcomes in the order of their files, whichever parser was faster: the same tree makes the same index."""
    waiting: dict[str, Any] = {}
    wanted = iter(paths)
    next_path = next(wanted, None)
    for path, outcome in outcomes:
        waiting[path] = outcome
        while next_path is not None and next_path in waiting:
            yield next_path, waiting.pop(next_path)
            next_path = next(wanted, None)


def check_stop(stop: Stop) -> None:
    """End the work where the caller has asked for it."""
    if stop():
        raise ToolError("CANCELLED", "indexing was stopped; the old index is untouched")
