"""What each backend costs against the default one: how long its build takes, how large it is, how fast it answers.

    python -m benchmarks.search_backends [--tree src] [--rounds 3] [--json]

The tree is this repository's `src` and `docs`, unless another one is named. Two hundred requests are asked of each
backend, round after round, more than an index remembers the answers of; the first round is not counted. All is
measured in one run, so only the ratios mean something elsewhere. `sqlite` and `sqlite-fts` are one file with one
build, which needs the index; `memory` is made by its first requests.
"""

import argparse
import json
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.search.bars import percentile
from benchmarks.search.two_hundred import two_hundred_requests

from holdfast.search.library import SearchIndex, build_index, open_index
from holdfast.search.portable import build_portable
from holdfast.search.repository import Repository, find_repository
from holdfast.search.request import SearchRequest

__all__ = ["main", "measure"]

PROJECT = Path(__file__).resolve().parents[1]
BACKENDS = ("tantivy", "sqlite-fts", "sqlite", "memory")
FIRST = ({"query": "where is the first request"}, {"query": "/fir.t/"}, {"query": "*", "lang": "python"})


def own_tree(place: Path) -> Path:
    """A copy of what this repository says, away from its history."""
    for part in ("src", "docs"):
        shutil.copytree(PROJECT / part, place / part, ignore=shutil.ignore_patterns("__pycache__"))
    return place


def built(repository: Repository, cache: Path) -> dict[str, dict[str, float]]:
    """Seconds and megabytes of each backend."""
    began = time.perf_counter()
    report = build_index(repository, cache, full=True)
    seconds = time.perf_counter() - began
    began = time.perf_counter()
    made = build_portable(repository, cache, progress=lambda *_: None, stop=lambda: False)
    portable = {"build_s": time.perf_counter() - began, "disk_MB": made["bytes"] / 1e6}
    default = {"build_s": seconds, "disk_MB": report["bytes"] / 1e6}
    return {"tantivy": default, "sqlite-fts": portable, "sqlite": dict(portable), "memory": {"disk_MB": 0.0}}


def memory_in_use() -> int:
    """Bytes that this process has in memory now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def asked(index: SearchIndex, backend: str, arguments: dict[str, Any]) -> float:
    """Milliseconds of one request."""
    request = SearchRequest.from_arguments({**arguments, "backend": backend})
    began = time.perf_counter()
    index.search(request)
    return (time.perf_counter() - began) * 1000


def measure(tree: Path, cache: Path, rounds: int) -> dict[str, Any]:
    """All figures."""
    repository = find_repository(tree)
    figures = built(repository, cache)
    wanted = two_hundred_requests(tree)
    with open_index(repository, cache) as index:
        for backend in BACKENDS:
            before = memory_in_use()
            figures[backend]["first_s"] = sum(asked(index, backend, one) for one in FIRST) / 1000
            figures[backend]["memory_MB"] = max(0, memory_in_use() - before) / 1e6
            times = [[asked(index, backend, one) for one in wanted] for _ in range(rounds + 1)][1:]
            flat = [took for one in times for took in one]
            figures[backend] |= {"p50_ms": percentile(flat, 0.5), "p99_ms": percentile(flat, 0.99)}
        figures["memory"]["build_s"] = figures["memory"]["first_s"]
        chunks = sum(index.status()["chunks"].values())
    return {"chunks": chunks, "backends": figures}


def show(figures: dict[str, Any]) -> None:
    """Print as a table, with ratios to the default backend."""
    print(f"{figures['chunks']:,} chunks; times and sizes, and how many times those of the default backend")
    columns = ("build_s", "disk_MB", "memory_MB", "first_s", "p50_ms", "p99_ms")
    print(f"{'':12}" + "".join(f"{name:>20}" for name in columns))
    default = figures["backends"]["tantivy"]
    for backend, told in figures["backends"].items():
        cells = (f"{told[name]:,.2f} ({told[name] / (default[name] or 1):.1f}x)" for name in columns)
        print(f"{backend:12}" + "".join(f"{cell:>20}" for cell in cells))


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        tree = options.tree or own_tree(Path(place, "tree"))
        figures = measure(tree, Path(place, "cache"), options.rounds)
    print(json.dumps(figures)) if options.json else show(figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
