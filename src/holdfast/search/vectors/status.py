"""What `index status` tells about vectors: which model, how many chunks have one, how much room they take."""

import os
from pathlib import Path
from typing import Any

from holdfast.search.home import Build, IndexHome
from holdfast.search.store.reader import StoreReader
from holdfast.search.vectors.available import has_libraries
from holdfast.search.vectors.place import VectorPlace

__all__ = ["vector_status"]


def vector_status(build: Build, store: StoreReader) -> dict[str, Any] | None:
    """The state of the vectors of a build; None where nobody has asked for any."""
    place = VectorPlace.of(IndexHome(build.directory.parent.parent))
    chosen = place.chosen()
    if chosen is None:
        return None
    chunks = store.chunk_counts()
    have: dict[str, int] | None = None
    if has_libraries():
        from holdfast.search.vectors.neighbours import Neighbours
        from holdfast.search.vectors.table import seal_of

        files = store.files()
        tables = {mode: place.table(build, chosen, mode) for mode in chunks}
        have = {
            mode: 0 if seal_of(table).damage() else Neighbours(table, chosen.dimensions, files).count
            for mode, table in tables.items()
        }
    return {
        "model": chosen.name,
        "modelIsHere": place.model(chosen).is_dir(),
        "dimensions": chosen.dimensions,
        "chunks": sum(chunks.values()),
        "vectors": None if have is None else sum(have.values()),
        "byMode": have,
        "bytes": _bytes_below(place.table(build, chosen, "code").parent),
        "cacheBytes": sum(map(_bytes, place.home.glob("vectors.db*"))),
    }


def _bytes_below(directory: Path) -> int:
    return sum(_bytes(Path(place, name)) for place, _, names in os.walk(directory) for name in names)


def _bytes(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # gone a moment ago
        return 0
