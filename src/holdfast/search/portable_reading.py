"""A portable file, open to be searched: in its place beside the index, or a copy of it anywhere else.

It answers to two names: as `sqlite` from plain tables, with any SQLite, and as `sqlite-fts` from FTS5. The file is
never written to while it has its name: a newer one takes its place, and an open one stays as it is.
"""

import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.errors import ToolError
from holdfast.search.engine.portable_file import damage_told, how_to_build
from holdfast.search.engine.portable_postings import PortablePostings
from holdfast.search.engine.scored import ScoredEngine
from holdfast.search.home import FORMAT
from holdfast.search.opened import Opened
from holdfast.search.repository import Repository
from holdfast.search.request import SearchRequest, modes
from holdfast.search.store.reader import StoreReader

__all__ = ["OpenedPortable", "Stamp", "open_portable", "stamp_of"]

_ATTEMPTS = 5

Stamp = tuple[int, int]


def stamp_of(path: Path) -> Stamp:
    """Changes whenever a file is replaced; (0, 0) where there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return (0, 0)
    return (status.st_mtime_ns, status.st_ino)


@dataclass(slots=True)
class OpenedPortable:
    """A portable file, open to be searched; a mode that it lacks, and damage that is met, are NO_INDEX."""

    stamp: Stamp
    modes: tuple[str, ...]
    has_fts: bool
    opened: Opened
    resources: contextlib.ExitStack

    def search(self, request: SearchRequest, stop: Callable[[], bool] | None = None) -> dict[str, Any]:
        """The answer to a request, as one JSON-like payload; `stop` ends it with CANCELLED."""
        started = time.perf_counter()
        missing = [mode for mode in modes(request) if mode not in self.modes]
        if missing:
            raise ToolError(
                "NO_INDEX",
                f"the SQLite file of the index has no {' and no '.join(missing)}, only {' and '.join(self.modes)}",
                hint=f"{how_to_build(self.opened.engine.name)} with the mode all; or search another mode",
            )
        with damage_told(self.opened.engine.name):
            return self.opened.answer(request, started, stop)

    def close(self) -> None:
        """Let go of the file."""
        self.resources.close()


def open_portable(
    path: Path, repository: Repository | None = None, *, backend: str | None = None, blame: Path | None = None
) -> OpenedPortable:
    """A portable file, wherever it is; ToolError NO_INDEX where it cannot be searched.

    Without the name of a backend it is `sqlite`, which every SQLite can read.
    """
    for _ in range(_ATTEMPTS):  # it may be replaced between two looks at it
        stamp = stamp_of(path)
        name = backend or "sqlite"
        with damage_told(name), contextlib.ExitStack() as held:
            postings = PortablePostings(path, name)
            held.callback(postings.close)
            store = StoreReader(path, postings.generation)
            held.callback(store.close)
            facts = store.facts()
            if stamp_of(path) != stamp:
                continue
            if facts.values.get("format") != FORMAT:
                message = f"the SQLite file is of an index of the other format {facts.values.get('format')}"
                raise ToolError("NO_INDEX", message, hint=how_to_build(name))
            if name == "sqlite-fts" and not postings.has_fts:
                message = "the SQLite file of the index was made without FTS5"
                raise ToolError("NO_INDEX", message, hint=f"{how_to_build(name)}; or use the backend sqlite")
            opened = Opened(ScoredEngine(name, postings), store, facts, repository, blame)
            return OpenedPortable(stamp, postings.modes, postings.has_fts, opened, held.pop_all())
    raise ToolError("NO_INDEX", "the SQLite file of the index is replaced again and again", hint="search again")
