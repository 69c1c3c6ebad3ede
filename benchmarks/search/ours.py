"""Holdfast's own search engine as the benchmarks call it; and, as a program, one build that can be watched.

python -m benchmarks.search.ours TREE INDEXES        builds the index of TREE below INDEXES, prints the report
"""

import contextlib
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.search.model import Hit

from holdfast.errors import ToolError

__all__ = ["Ours", "build", "embed", "index_bytes", "keeper"]


def build(tree: Path, indexes: Path, *, full: bool = True) -> dict[str, Any]:
    """Build or update the index of a tree; the engine's own report."""
    from holdfast.search.library import build_index
    from holdfast.search.repository import find_repository

    return build_index(find_repository(tree), indexes, full=full)


def embed(tree: Path, indexes: Path, cache: Path) -> dict[str, Any]:
    """Give the code in the index of a tree vectors; what an earlier run has made costs nothing.

    The report is the engine's own, with the CPU seconds per 1,000 chunks of all runs together.
    """
    from holdfast.search.downloads import download_models
    from holdfast.search.repository import find_repository
    from holdfast.search.vectors.making import embed_index
    from holdfast.search.vectors.models import DEFAULT_MODEL

    def watch(stage: str, done: int, total: int | None, _: str) -> None:
        if stage in ("embed", "graph") and done % 8192 < 32:
            sys.stderr.write(f"{stage} {done}/{total}\n")

    def never() -> bool:
        return False

    fetched = download_models(cache / "vectors", model=DEFAULT_MODEL, progress=watch, stop=never)
    report = embed_index(
        find_repository(tree),
        indexes,
        model=fetched["dir"],
        threads=1,
        modes=("code",),
        progress=watch,
        stop=never,
    )
    costs = indexes / "embedding-costs.json"
    noted = json.loads(costs.read_text()) if costs.exists() else {"embedded": 0, "cpuSeconds": 0.0}
    if report["embedded"]:
        noted = {name: noted[name] + report[name] for name in noted}
        costs.write_text(json.dumps(noted))
    return report | {"cpuSecondsPerThousand": noted["cpuSeconds"] / max(noted["embedded"], 1) * 1000}


@contextlib.contextmanager
def keeper(tree: Path, indexes: Path) -> Iterator[Callable[[], dict[str, Any]]]:
    """What `holdfast index watch` runs at every change: an update by a process that stays."""
    from holdfast.search.keeper import IndexKeeper
    from holdfast.search.repository import find_repository

    with IndexKeeper(find_repository(tree), indexes) as kept:
        kept.stay_warm()
        yield lambda: kept.refresh(progress=lambda *_: None, stop=lambda: False)


def index_bytes(indexes: Path) -> int:
    """How much room everything below a folder takes."""
    return sum(path.stat().st_size for path in indexes.rglob("*") if path.is_file())


class Ours:
    """An open index; questions that it refuses are counted and have no hits. `ann`: by meaning, too."""

    def __init__(self, tree: Path, indexes: Path, *, ann: bool = False) -> None:
        from holdfast.search.library import open_index
        from holdfast.search.repository import find_repository

        self.index = open_index(find_repository(tree), indexes)
        self.ann = ann
        self.refused: list[str] = []

    def close(self) -> None:
        """Let go of the index."""
        self.index.close()

    def ask(self, query: str, **arguments: Any) -> dict[str, Any]:
        """One request for ten pieces of code, with filters if wanted."""
        from holdfast.search.request import SearchRequest

        wanted = {"query": query, "mode": "code", "top": 10, "ann": self.ann, **arguments}
        return self.index.search(SearchRequest.from_arguments(wanted))

    def search(self, query: str) -> list[Hit]:
        """The first ten hits of a plain query, passed as it is."""
        try:
            found = self.ask(query)["code"]
        except ToolError as error:
            self.refused.append(f"{query!r}: {error}")
            return []
        return [Hit(hit["file"], hit["startLine"], hit["endLine"]) for hit in found]


def main() -> int:
    """Build once, from nothing."""
    tree, indexes = Path(sys.argv[1]), Path(sys.argv[2])
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(indexes)
    print(json.dumps(build(tree, indexes)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
