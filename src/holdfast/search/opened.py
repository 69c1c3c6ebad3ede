"""One backend of an index, open at one generation, and the answers to requests from it.

Which backend it is makes no difference here. What a portable file cannot know where it was copied to, such as how
its repository has changed since, is left open in the answer.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from holdfast.search.engine.interface import Engine
from holdfast.search.freshness import changed_files
from holdfast.search.repository import Repository, head
from holdfast.search.request import SearchRequest, cache_key
from holdfast.search.searching import Searching
from holdfast.search.shape import iso_time
from holdfast.search.store.reader import ChunkRow, IndexFacts, StoreReader

__all__ = ["Opened"]

_REMEMBERED = 64  # answers
_FRESHNESS_SECONDS = 10.0  # how long a comparison with the files on disk counts


@dataclass(slots=True)
class Opened:
    """A backend with the store beside it; one thread at a time."""

    engine: Engine
    store: StoreReader
    facts: IndexFacts
    repository: Repository | None  # None: a copy of a portable file, wherever it is
    blame: Path | None = None
    _answers: OrderedDict[Hashable, bytes] = field(default_factory=OrderedDict)
    _freshness: tuple[float, int | None] = (0.0, None)

    def renew(self) -> None:
        """The store says something new: look again at whatever was remembered of it."""
        self.facts = self.store.facts()
        self._answers.clear()
        self._freshness = (0.0, None)

    def answer(
        self, request: SearchRequest, started: float, stop: Callable[[], bool] | None = None
    ) -> dict[str, Any]:
        """The answer to a request that came at a time of `time.perf_counter`, as one JSON-like payload.

        `stop` is asked again and again; ToolError CANCELLED when it says so.
        """
        self.store.stop, never = stop or self.store.stop, self.store.stop
        try:
            return self._answer(request, started)
        finally:
            self.store.stop = never

    def _answer(self, request: SearchRequest, started: float) -> dict[str, Any]:
        found, remembered = self._found(request)
        about = self._about()
        answer = {"backend": self.engine.name, "query": request.query, **found, **about}
        changed = about["index"]["changedFiles"]
        if self.repository is not None and changed != 0:
            answer["warnings"] = [*found["warnings"], _staleness(changed)]
        elapsed = answer["elapsedMs"] = round((time.perf_counter() - started) * 1000, 3)
        if request.explain:
            answer["stats"] = {**found.get("stats", {}), "elapsedMs": elapsed, "cache": {"hit": remembered}}
        return answer

    def changed_files(self) -> int | None:
        """How many files differ from the index by size or time; None where that cannot be told."""
        if self.repository is None:
            return None
        when, changed = self._freshness
        if time.monotonic() - when > _FRESHNESS_SECONDS or not when:
            changed = changed_files(self.repository, self.store)
            self._freshness = (time.monotonic(), changed)
        return changed

    def head_moved(self) -> bool:
        """Whether another commit is checked out than the one that was indexed."""
        return self.repository is not None and head(self.repository)[0] != self.facts.commit

    def _found(self, request: SearchRequest) -> tuple[dict[str, Any], bool]:
        """What a request finds, and whether that was known already. Only what is found is remembered, as bytes: an
        answer that a caller changes stays theirs, and how fresh the index is, is told anew every time."""
        key = cache_key(request)
        # "in the last two days" is another question tomorrow, and blame looks at the files as they are now
        lasting = request.modified_since is None and request.chunk_author is None
        known = self._answers.get(key) if lasting else None
        if known is not None:
            self._answers.move_to_end(key)
            return orjson.loads(known), True
        found = self._look_for(request)
        if lasting:
            self._answers[key] = orjson.dumps(found)
            if len(self._answers) > _REMEMBERED:
                self._answers.popitem(last=False)
        return found, False

    def _look_for(self, request: SearchRequest) -> dict[str, Any]:
        branch = self.facts.branch
        searching = Searching(request, self.engine, self.store, chunk_authors=self._chunk_authors)
        wrong_branch = request.branch is not None and not _same_branch(request, branch)
        found = searching.nothing() if wrong_branch else searching.run()
        if request.ann:
            searching.warn("ann", "there are no vectors in this index; the answer is by words alone")
        if request.lint is not None:
            searching.warn("field-unavailable", "lint: no linter findings are in this index")
        if wrong_branch:
            searching.warn("branch", f"the index is of {f'the branch {branch}' if branch else 'no branch'}")
            found["stats"] = {"branchMatch": False}
        return {**found, "warnings": searching.warnings}

    def _about(self) -> dict[str, Any]:
        facts = self.facts
        about = {
            "build": facts.build,
            "generation": facts.generation,
            "commit": facts.commit,
            "branch": facts.branch,
            "builtAt": iso_time(facts.written_at),
            "changedFiles": self.changed_files(),
            "headMoved": self.head_moved(),
        }
        return {"index": about, "asOf": _as_of(facts.build, facts.commit)}

    def _chunk_authors(self, rows: list[ChunkRow], author: str) -> tuple[list[ChunkRow], list[str]]:
        if self.repository is None or self.blame is None:
            reason = "this file is away from its repository: the last author of a file stands for all of its lines"
            files, needle = self.store.file_rows({row.file for row in rows}), author.lower()
            return [row for row in rows if needle in (files[row.file].author or "").lower()], [reason]
        from holdfast.search.authors import rows_by_author

        return rows_by_author(self.repository, self.store, self.blame, rows, author, stop=self.store.stop)


def _same_branch(request: SearchRequest, branch: str | None) -> bool:
    """Whether the index is of the branch that was asked for."""
    wanted = request.branch or ""
    return branch is not None and (branch == wanted if request.case else branch.lower() == wanted.lower())


def _staleness(changed: int | None) -> dict[str, str]:
    what = "it was left half written" if changed is None else f"{changed} files or directories changed since"
    return {"code": "stale", "message": f"the index is not up to date: {what}"}


def _as_of(build: str, commit: str | None) -> dict[str, Any]:
    every = ("code", "prose", "extracted-prose", "records")
    return {
        "ref": "latest",
        "identityHash": build,
        "resolved": {"type": "latest", "commit": commit, "buildIdByMode": dict.fromkeys(every, build)},
    }
