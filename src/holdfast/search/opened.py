"""One backend of an index, open at one generation, and the answers to requests from it.

Which backend it is makes no difference here. What a portable file cannot know where it was copied to, such as how
its repository has changed since, is left open in the answer.
"""

import contextlib
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from holdfast.search.engine.interface import Engine
from holdfast.search.freshness import changed_files, counted_places
from holdfast.search.repository import Repository, head
from holdfast.search.request import SearchRequest, cache_key
from holdfast.search.searching import Found, Searching
from holdfast.search.shape import KEYS, bundles, iso_time
from holdfast.search.store.reader import ChunkRow, IndexFacts, StoreReader
from holdfast.search.vectors.offered import OfferedVectors

__all__ = ["Opened", "Standing", "standing_of"]

_REMEMBERED = 64  # answers
_FRESHNESS_SECONDS = 10.0  # how long a comparison with the files on disk counts

Scores = dict[str, list[float]]


@dataclass(frozen=True, slots=True)
class Standing:
    """What an index has to say in a search over several, before anything of it is shown.

    `scores` are those by words, by mode, in the order of the hits: they can be compared between indexes, whether
    these have vectors or not. `show` makes the answer with the first so many hits of each mode; it is called
    while the index is still held.
    """

    scores: Scores
    show: Callable[[Mapping[str, int]], dict[str, Any]]


def standing_of(answer: dict[str, Any]) -> Standing:
    """The same of an answer that was made as a whole: by a backend that cannot do it in two steps."""

    def show(counts: Mapping[str, int]) -> dict[str, Any]:
        lists = {key: answer[key][: counts.get(mode, 0)] for mode, key in KEYS.items()}
        return {**answer, **lists, "bundles": bundles(lists)}

    return Standing({mode: [hit["sparseScore"] for hit in answer[key]] for mode, key in KEYS.items()}, show)


def _trust() -> None:
    """A portable file is compared when it is opened."""


@dataclass(slots=True)
class Opened:
    """A backend with the store beside it; one thread at a time."""

    engine: Engine
    store: StoreReader
    facts: IndexFacts
    repository: Repository | None  # None: a copy of a portable file, wherever it is
    blame: Path | None = None
    vectors: OfferedVectors | None = None  # None: they are elsewhere, if there are any
    check: Callable[[], None] = _trust  # raises where the bytes on disk are not what was written
    _answers: OrderedDict[Hashable, bytes] = field(default_factory=OrderedDict)
    _scores: OrderedDict[Hashable, Scores] = field(default_factory=OrderedDict)
    _freshness: tuple[float, int | None] = (0.0, None)

    def renew(self) -> None:
        """The store says something new: look again at whatever was remembered of it."""
        self.facts = self.store.facts()
        self._answers.clear()
        self._scores.clear()
        self._freshness = (0.0, None)

    def answer(
        self, request: SearchRequest, started: float, stop: Callable[[], bool] | None = None
    ) -> dict[str, Any]:
        """The answer to a request that came at a time of `time.perf_counter`, as one JSON-like payload.

        `stop` is asked again and again; ToolError CANCELLED when it says so.
        """
        with self._stopped_by(stop):
            return self._answer(request, started, *self._found(request, self._key(request)))

    def stand(self, request: SearchRequest, stop: Callable[[], bool] | None = None) -> Standing:
        """How well the hits of a request do, so that it can be decided which of them are worth showing."""
        started, key = time.perf_counter(), self._key(request)
        looked: list[tuple[Searching, dict[str, Found] | None]] = []
        scores = self._scores.get(key) if key is not None else None
        if scores is None:
            with self._stopped_by(stop):
                looked.append(self._look(request, is_one_of_several=True))
            scores = _scores_of(looked[0][1] or {}, request)
            _remember(self._scores, key, scores)

        def show(counts: Mapping[str, int]) -> dict[str, Any]:
            with self._stopped_by(stop):
                shown = None if key is None else (key, *sorted(counts.items()))
                return self._answer(request, started, *self._found(request, shown, counts, looked))

        return Standing(scores, show)

    @contextlib.contextmanager
    def _stopped_by(self, stop: Callable[[], bool] | None) -> Iterator[None]:
        self.store.stop, never = stop or self.store.stop, self.store.stop
        try:
            yield
        finally:
            self.store.stop = never

    def _answer(
        self, request: SearchRequest, started: float, found: dict[str, Any], remembered: bool
    ) -> dict[str, Any]:
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

    def _found(
        self,
        request: SearchRequest,
        key: Hashable | None,
        counts: Mapping[str, int] | None = None,
        looked: list[tuple[Searching, dict[str, Found] | None]] | None = None,
    ) -> tuple[dict[str, Any], bool]:
        """What a request finds, and whether that was known already. Only what is found is remembered, as bytes: an
        answer that a caller changes stays theirs, and how fresh the index is, is told anew every time."""
        known = self._answers.get(key) if key is not None else None
        if known is not None:
            self._answers.move_to_end(key)
            return orjson.loads(known), True
        searching, found = looked[0] if looked else self._look(request, is_one_of_several=counts is not None)
        shown = self._show(request, searching, found, counts)
        _remember(self._answers, key, orjson.dumps(shown) if key is not None else b"")
        return shown, False

    def _key(self, request: SearchRequest) -> Hashable | None:
        """What names an answer for as long as the index stays as it is; None where none lasts."""
        # "in the last two days" is another question tomorrow, and blame looks at the files as they are now
        if request.modified_since is not None or request.chunk_author is not None:
            return None
        return (cache_key(request), self.store.lint_stamp(), self._vector_stamp(request))

    def _look(
        self, request: SearchRequest, *, is_one_of_several: bool
    ) -> tuple[Searching, dict[str, Found] | None]:
        """What is found in its order; None where the index is of another branch than was asked for."""
        self.check()  # what is remembered was found in sound files
        searching = Searching(
            request,
            self.engine,
            self.store,
            chunk_authors=self._chunk_authors,
            vectors=self.vectors,
            is_one_of_several=is_one_of_several,
        )
        wrong_branch = request.branch is not None and not _same_branch(request, self.facts.branch)
        return searching, None if wrong_branch else searching.look()

    def _show(
        self,
        request: SearchRequest,
        searching: Searching,
        looked: dict[str, Found] | None,
        counts: Mapping[str, int] | None,
    ) -> dict[str, Any]:
        branch = self.facts.branch
        if looked is None:
            found = searching.nothing()
        else:
            found = searching.show(looked, dict.fromkeys(looked, request.top) if counts is None else counts)
        if request.ann and self.vectors is None:
            searching.warn("ann", "there are no vectors in this index; the answer is by words alone")
        self._warn_about_lint(searching, request)
        if looked is None:
            searching.warn("branch", f"the index is of {f'the branch {branch}' if branch else 'no branch'}")
            found["stats"] = {"branchMatch": False}
        return {**found, "warnings": searching.warnings}

    def _vector_stamp(self, request: SearchRequest) -> Hashable:
        return None if self.vectors is None or request.ann is False else self.vectors.stamp()

    def _warn_about_lint(self, searching: Searching, request: SearchRequest) -> None:
        if self.store.lint is None or self.store.lint_stamp() == (0, 0):
            if request.lint is not None:
                searching.warn("field-unavailable", "lint: no linter was asked yet; run `holdfast index lint`")
            return
        from holdfast.search.linting.findings import is_damaged, outdated_linters

        if is_damaged(self.store.lint):
            searching.warn("field-unavailable", "lint: what linters found is damaged; run `holdfast index lint`")
        if request.lint is None:
            return
        outdated = ", ".join(outdated_linters(self.store.lint, self.store))
        if outdated:
            searching.warn("stale", f"lint: {outdated} has another configuration now; run `holdfast index lint`")

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


def _scores_of(found: Mapping[str, Found], request: SearchRequest) -> Scores:
    """The scores by words of what may be shown."""
    return {
        mode: [one.more.get("sparseScore", one.score) for one in got.ranked[: request.top]]
        for mode, got in found.items()
    }


def _remember(place: OrderedDict[Hashable, Any], key: Hashable | None, value: Any) -> None:
    if key is None:
        return
    place[key] = value
    if len(place) > _REMEMBERED:
        place.popitem(last=False)


def _same_branch(request: SearchRequest, branch: str | None) -> bool:
    """Whether the index is of the branch that was asked for."""
    wanted = request.branch or ""
    return branch is not None and (branch == wanted if request.case else branch.lower() == wanted.lower())


def _staleness(changed: int | None) -> dict[str, str]:
    what = "it was left half written" if changed is None else f"{counted_places(changed)} changed since"
    return {"code": "stale", "message": f"the index is not up to date: {what}"}


def _as_of(build: str, commit: str | None) -> dict[str, Any]:
    every = ("code", "prose", "extracted-prose", "records")
    return {
        "ref": "latest",
        "identityHash": build,
        "resolved": {"type": "latest", "commit": commit, "buildIdByMode": dict.fromkeys(every, build)},
    }
