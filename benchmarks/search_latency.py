"""How fast the search answers: warm queries with three filters on 100k+ chunks, and one cold run of the command.

    python -m benchmarks.search_latency [--queries 400] [--rounds 3] [--reuse] [--json] [--no-bars]

Warm queries are first lines of documentation, each with three filters that fit the package it comes from; no
request is repeated within a round, and there are more of them than answers that the engine remembers. Cold is
`holdfast search` on the same index in a new process, beside an interpreter that does nothing. The tree is
that of three packages of the task `large` of search_quality, about 100,000 chunks. The exit code is 1 when a
bar is missed; `--no-bars` only measures.
"""

import argparse
import itertools
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.search.bars import Bars, percentile, show_bars, verdict
from benchmarks.search.fetch import cache_folder, complain
from benchmarks.search.known_item import Task, load_task
from benchmarks.search.ours import Ours, build

from holdfast.errors import ToolError

# Three at a time, of the kinds that people combine: where, what it is, what it does.
FILTERS: tuple[dict[str, Any], ...] = (
    {"lang": "python", "type": "function"},
    {"ext": "py", "type": "method"},
    {"lang": "python", "branchesMin": 2},
    {"ext": "py", "calls": "len"},
    {"returns": True, "loopsMin": 1},
    {"throws": "ValueError", "lang": "python"},
)
PACKAGES = ("django", "sqlalchemy", "sympy")
COMPILED = {
    "PYTHONDONTWRITEBYTECODE": "",
    "PYTHONPYCACHEPREFIX": str(Path(tempfile.gettempdir()) / "holdfast-bench-pycache"),
}


def requests(task: Task, count: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Queries with three filters each: the folder of the package and two others."""
    questions = random.Random(7).sample(task.questions, min(count, len(task.questions)))
    for question, others in zip(questions, itertools.cycle(FILTERS)):
        yield question.query, {"path": question.file.partition("/")[0] + "/", **others}


def warm(index: Ours, wanted: list[tuple[str, dict[str, Any]]]) -> tuple[list[float], int]:
    """Milliseconds of every request that was not refused, and how many of them found something."""
    times, found = [], 0
    for query, filters in wanted:
        began = time.perf_counter()
        try:
            payload = index.ask(query, **filters)
        except ToolError as error:
            index.refused.append(f"{query!r}: {error}")
            continue
        times.append((time.perf_counter() - began) * 1000)
        found += bool(payload["code"])
    return times, found


def cold(command: list[str]) -> float:
    """Milliseconds of one process from its start to its end."""
    began = time.perf_counter()
    done = subprocess.run(command, env={**os.environ, **COMPILED}, capture_output=True, text=True, check=False)
    took = (time.perf_counter() - began) * 1000
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}")
    return took


def hundred_thousand_chunks(cache: Path) -> Task:
    """The packages of the task `large` that give about 100,000 chunks together, and the questions about them."""
    large = load_task("large", cache)
    folder = cache / "scratch" / "latency"
    shutil.rmtree(folder, ignore_errors=True)
    for package in PACKAGES:
        shutil.copytree(large.folder / package, folder / package)
    questions = [question for question in large.questions if question.file.partition("/")[0] in PACKAGES]
    return Task("latency", folder, questions, large.about)


def measure(options: argparse.Namespace, cache: Path) -> dict[str, Any]:
    """All figures."""
    task = hundred_thousand_chunks(cache)
    indexes = cache / "indexes" / "latency"
    complain("building the tree" if not options.reuse else "updating the tree")
    chunks = build(task.folder, indexes, full=not options.reuse).get("chunks", 0)
    asked = list(requests(task, options.queries + 50))
    wanted = asked[50:]
    index = Ours(task.folder, indexes)
    warm(index, asked[:50])
    rounds = [warm(index, wanted) for _ in range(options.rounds)]
    plain: list[tuple[str, dict[str, Any]]] = [(query, {}) for query, _ in wanted]
    unfiltered = [warm(index, plain)[0] for _ in range(options.rounds)]
    index.close()
    search = [sys.executable, "-m", "holdfast", "search", "--repo", str(task.folder), "--cache-dir", str(indexes)]
    search = [*search, "--mode", "code", "compute the determinant of a matrix"]
    bare = [sys.executable, "-c", "pass"]
    cold(search)  # compiles the modules
    pairs = [(cold(bare), cold(search)) for _ in range(options.runs)]
    times = list(itertools.chain.from_iterable(took for took, _ in rounds))
    free = list(itertools.chain.from_iterable(unfiltered))
    return {
        "chunks": chunks,
        "filtered_p50_ms": percentile(times, 0.5),
        "filtered_p99_ms": percentile(times, 0.99),
        "filtered_max_ms": max(times),
        "refused": sorted(set(index.refused)),
        "filtered_found": rounds[0][1] / len(wanted),
        "plain_p50_ms": percentile(free, 0.5),
        "plain_p99_ms": percentile(free, 0.99),
        "interpreter_ms": statistics.median(one for one, _ in pairs),
        "cold_ms": statistics.median(other for _, other in pairs),
    }


def bars_of(figures: dict[str, Any]) -> Bars:
    """The bars."""
    return {
        "warm query with three filters p50, ms": (figures["filtered_p50_ms"], "<= 5"),
        "warm query with three filters p99, ms": (figures["filtered_p99_ms"], "<= 60"),
        "cold `holdfast search`, median, ms": (figures["cold_ms"], "< 400"),
    }


def show(figures: dict[str, Any], queries: int) -> None:
    """Print as a table."""
    print(f"{figures['chunks']:,} chunks")
    print(f"{'warm, ' + str(queries) + ' queries':26}{'p50 ms':>9}{'p99 ms':>9}")
    print(f"{'  three filters':26}{figures['filtered_p50_ms']:9.2f}{figures['filtered_p99_ms']:9.2f}", end="")
    print(f"   max {figures['filtered_max_ms']:.1f}; {figures['filtered_found']:.0%} found something")
    print(f"{'  no filter':26}{figures['plain_p50_ms']:9.2f}{figures['plain_p99_ms']:9.2f}")
    for refused in figures["refused"]:
        print(f"refused: {refused}")
    ratio = figures["cold_ms"] / figures["interpreter_ms"]
    print(f"cold: bare interpreter {figures['interpreter_ms']:.0f} ms, ", end="")
    print(f"`holdfast search` {figures['cold_ms']:.0f} ms ({ratio:.1f}x)")


def main() -> int:
    """Measure, print, and judge; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=10, help="cold runs")
    parser.add_argument("--reuse", action="store_true", help="update our index instead of building it anew")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--no-bars", action="store_true", help="end with 0 whatever was measured")
    options = parser.parse_args()
    figures = measure(options, cache_folder())
    bars = bars_of(figures)
    if options.json:
        print(json.dumps({"figures": figures, "bars": bars}))
    else:
        show(figures, options.queries)
        show_bars(bars)
    return verdict(bars, no_bars=options.no_bars)


if __name__ == "__main__":
    sys.exit(main())
