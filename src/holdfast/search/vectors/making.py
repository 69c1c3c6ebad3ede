"""`holdfast index embed`: the model is brought here, the index gets the vectors that it lacks; what it cost."""

import os
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.errors import ToolError
from holdfast.search.configuration import load_configuration
from holdfast.search.home import IndexHome
from holdfast.search.model import MODES
from holdfast.search.repository import Repository, index_home
from holdfast.search.vectors.available import has_libraries, require_libraries
from holdfast.search.vectors.place import ChosenModel, VectorPlace

if TYPE_CHECKING:
    from holdfast.search.index_writer import Progress, Stop

__all__ = ["embed_index", "keep_known_vectors", "require_model", "wants_vectors"]

_PER = 1000  # chunks that the cost is told for


def embed_index(
    repository: Repository,
    cache_dir: Path,
    *,
    model: str | None = None,
    sha256: str | None = None,
    threads: int | None = None,
    modes: Sequence[str] = MODES,
    progress: "Progress",
    stop: "Stop",
) -> dict[str, Any]:
    """Give every chunk of some modes a vector, with the model of the last time unless another one is named."""
    require_libraries()
    from holdfast.search.vectors.embedding import embed_missing
    from holdfast.search.vectors.model import SentenceModel

    began = time.monotonic()
    home = IndexHome(index_home(repository, cache_dir))
    if home.current() is None:
        raise ToolError("NO_INDEX", "there is no index of this repository yet", hint="run `holdfast index build`")
    place = VectorPlace.of(home)
    with place.making():
        chosen = _chosen(repository, cache_dir, place, model, sha256, progress, stop)
        progress("model", 0, None, chosen.name)
        loaded = SentenceModel(place.model(chosen), threads=threads or max(1, (os.cpu_count() or 1) // 2))
        place.choose(chosen)
        done = embed_missing(home, chosen, loaded, modes, progress, stop)
    total, have = sum(done.chunks.values()), sum(done.vectors.values())
    return {
        "model": chosen.name,
        "digest": chosen.digest,
        "dimensions": chosen.dimensions,
        "chunks": total,
        "vectors": have,
        "embedded": done.embedded,
        "adopted": done.adopted,
        "seconds": round(time.monotonic() - began, 3),
        "cpuSeconds": round(done.cpu_seconds, 3),
        "cpuSecondsPerThousand": round(done.cpu_seconds / done.embedded * _PER, 3) if done.embedded else None,
    }


def wants_vectors(home: IndexHome) -> bool:
    """Whether vectors were asked for in this index, and can be made here."""
    return VectorPlace.of(home).chosen() is not None and has_libraries()


def keep_known_vectors(home: IndexHome, progress: "Progress", stop: "Stop") -> None:
    """After an update: chunks whose content has a vector get it at once; the others wait for `embed_index`."""
    if not wants_vectors(home):
        return
    from holdfast.search.vectors.embedding import adopt_known

    try:
        adopt_known(home, stop)
    except (OSError, sqlite3.Error) as error:  # the index itself is complete, with or without them
        progress("note", 0, None, f"vectors were not kept: {error}")


def require_model(repository: Repository, cache_dir: Path) -> None:
    """CAPABILITY_MISSING unless `embed_index` without a named model would fetch nothing."""
    require_libraries()
    from holdfast.search.downloads.models import is_downloaded
    from holdfast.search.vectors.models import DEFAULT_MODEL, is_ready

    place = VectorPlace.of(IndexHome(index_home(repository, cache_dir)))
    in_use = place.chosen()
    if (in_use is not None and is_ready(place.model(in_use))) or is_downloaded(cache_dir, DEFAULT_MODEL):
        return
    message = f"the model {DEFAULT_MODEL} is not on this machine, and an index build fetches nothing"
    hint = f"Call download_models with model {DEFAULT_MODEL}, or run `holdfast index embed`."
    raise ToolError("CAPABILITY_MISSING", message, hint=hint)


def _chosen(
    repository: Repository,
    cache_dir: Path,
    place: VectorPlace,
    model: str | None,
    sha256: str | None,
    progress: "Progress",
    stop: "Stop",
) -> ChosenModel:
    """The model that is named, or else the one in use, or else the default."""
    from holdfast.search.vectors.models import bring_model, is_ready

    in_use = place.chosen()
    if model is None and sha256 is None and in_use is not None and is_ready(place.model(in_use)):
        return in_use
    # Who names nothing gets what is built in: no repository chooses what is reached then.
    sources = None if model is None else load_configuration(repository).model_sources
    return bring_model(cache_dir, model, sha256, sources=sources, progress=progress, stop=stop)
