"""The backends beside the default one: the SQLite file under both of its names, and the stand-in for a lost index.

`auto` means the default backend wherever it can be opened. Where it cannot, it means the SQLite file, if that is
there: `sqlite-fts` if this SQLite has FTS5, `sqlite` otherwise. The backend `memory` is made from an index that is
open, so it cannot stand in for one.
"""

import contextlib
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from holdfast.errors import ToolError
from holdfast.search.engine.portable_file import how_to_build
from holdfast.search.engine.portable_schema import has_fts5
from holdfast.search.home import IndexHome
from holdfast.search.opened import Opened, Standing, standing_of
from holdfast.search.portable_reading import OpenedPortable, open_portable, stamp_of
from holdfast.search.repository import Repository
from holdfast.search.request import SearchRequest
from holdfast.search.request_fields import PORTABLE_BACKENDS

__all__ = ["PortableBackends", "StandIn"]

_Stop = Callable[[], bool]


class PortableBackends:
    """The SQLite file of one index, opened when it is first asked, and again whenever it was replaced."""

    def __init__(self, home: IndexHome, repository: Repository) -> None:
        self._home = home
        self._path = home.portable
        self._repository = repository
        self._open: dict[str, OpenedPortable] = {}

    def search(
        self, name: str, request: SearchRequest, index: Opened | None, stop: _Stop | None
    ) -> dict[str, Any]:
        """The answer of one of the two; `index` is what the file was made from, and may be newer."""
        held = self.opened(name)
        held.opened.vectors = None
        if index is None:
            return held.search(request, stop)
        ours, theirs = held.opened.facts, index.facts
        if ours.build == theirs.build:  # chunks keep their numbers as long as a build lasts
            held.opened.vectors = index.vectors
        answer = held.search(request, stop)
        if (ours.build, ours.generation) != (theirs.build, theirs.generation):
            message = f"the {name} index is older than the default one; {how_to_build(name)}"
            answer["warnings"] = [*answer["warnings"], {"code": "stale", "message": message}]
        return answer

    def opened(self, name: str) -> OpenedPortable:
        """The file, open under one of its names; ToolError NO_INDEX where that cannot be."""
        stamp = stamp_of(self._path)
        if any(held.stamp != stamp for held in self._open.values()):
            self.close()
        if name not in self._open:
            held = self._open[name] = open_portable(
                self._path, self._repository, backend=name, blame=self._home.blame
            )
            held.opened.store.lint = self._home.lint
        return self._open[name]

    def close(self) -> None:
        """Let go of the file."""
        for held in self._open.values():
            held.close()
        self._open = {}


class StandIn:
    """Answers from the SQLite file where the default backend cannot be opened, and says so; for one thread."""

    def __init__(self, repository: Repository, home: IndexHome, refusal: ToolError) -> None:
        self.repository = repository
        self._refusal = refusal
        self._portable = PortableBackends(home, repository)
        self._name = _first_that_opens(self._portable, refusal)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._portable.close()

    def search(self, request: SearchRequest, *, stop: _Stop | None = None) -> dict[str, Any]:
        """The answer to a request; NO_INDEX where a backend is named that needs the index itself."""
        if request.backend != "auto" and request.backend not in PORTABLE_BACKENDS:
            raise ToolError(self._refusal.code, self._refusal.message, hint=self._refusal.hint)
        name = self._name if request.backend == "auto" else request.backend
        answer = self._portable.search(name, request, None, stop)
        message = f"{self._refusal.message}; {name} has answered instead: {self._refusal.hint}"
        answer["warnings"] = [*answer["warnings"], {"code": "backend", "message": message}]
        return answer

    def stand(self, request: SearchRequest, *, stop: _Stop | None = None) -> Standing:
        """What this file has to say in a search over several."""
        return standing_of(self.search(request, stop=stop))


def _first_that_opens(portable: PortableBackends, refusal: ToolError) -> str:
    """The name under which the file can be searched here; the refusal of the index itself where there is none."""
    for name in reversed(PORTABLE_BACKENDS) if has_fts5() else PORTABLE_BACKENDS[:1]:  # FTS5 is the faster one
        with contextlib.suppress(ToolError):
            portable.opened(name)
            return name
    raise refusal
