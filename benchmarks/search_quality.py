"""How well the search finds things: plain-word BM25, ours, and other tools, on the same questions in one run.

A question is the first line of the documentation of a function, method or class; the tree that is searched has no
such documentation in it. How questions are made and what counts as found: benchmarks/search/known_item.py.

    python -m benchmarks.search_quality [--tasks drawn small large mixed] [--split test] [--vectors]
                                        [--competitors]

`large` is 119k definitions of Python; `drawn` is 8k of them with the same questions, `small` is 8k of them as
whole files; `mixed` is Go, Java, JavaScript, Rust and TypeScript.

`--vectors` asks the same index again with vectors (holdfast[vector]). They are made with one thread, and kept: the
first run on `large` takes half an hour of CPU, later ones nothing.

The trees are made of pinned packages, in ~/.cache/holdfast-bench (HOLDFAST_BENCH_CACHE). `--competitors` installs
semble, probe and codegraph there and compares them on one package that all of them can handle. The exit code is 1
when a bar is missed; `--no-bars` only measures. Tune on `--split dev`; the bars are about `test`.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.search.bars import Bars, percentile, show_bars, verdict
from benchmarks.search.competitors import COMPETITORS, Competitor, UnavailableError
from benchmarks.search.fetch import cache_folder, complain
from benchmarks.search.known_item import TASKS, Score, Task, load_task, score
from benchmarks.search.model import Hit, Question
from benchmarks.search.ours import Ours, build, embed
from benchmarks.search.plain_bm25 import PlainBM25

SYSTEMS = ("plain", "ours")
ARENA = "django"  # the task that every competitor can handle


@dataclass
class Row:
    """What one system did on one task."""

    task: str
    system: str
    questions: int
    score: Score
    index_s: float
    p50_ms: float
    p99_ms: float
    note: str = ""


class Clock:
    """Times every search."""

    def __init__(self, search: Callable[[str], list[Hit]]) -> None:
        self.search = search
        self.times: list[float] = []

    def __call__(self, query: str) -> list[Hit]:
        """Search, and note how long it took."""
        began = time.perf_counter()
        hits = self.search(query)
        self.times.append((time.perf_counter() - began) * 1000)
        return hits

    def row(self, task: str, system: str, questions: list[Question], seconds: float, note: str = "") -> Row:
        """Ask all questions."""
        found = score(questions, self)
        return Row(
            task,
            system,
            len(questions),
            found,
            seconds,
            percentile(self.times, 0.5),
            percentile(self.times, 0.99),
            note,
        )


def plain(task: Task, questions: list[Question]) -> Row:
    """The yardstick."""
    began = time.perf_counter()
    index = PlainBM25(task.folder)
    seconds = time.perf_counter() - began
    return Clock(index.search).row(task.name, "plain", questions, seconds, f"{len(index.hits)} chunks")


def ours(task: Task, questions: list[Question], cache: Path, *, reuse: bool) -> Row:
    """The engine of this repository."""
    indexes = cache / "indexes" / f"quality-{task.name}"
    report = build(task.folder, indexes, full=not reuse)
    index = Ours(task.folder, indexes)
    try:
        note = f"{report.get('chunks', 0)} chunks"
        row = Clock(index.search).row(task.name, "ours", questions, report["seconds"], note)
    finally:
        index.close()
    if index.refused:
        row.note += f", {len(index.refused)} questions refused, such as {index.refused[0]}"
    return row


def with_vectors(task: Task, questions: list[Question], cache: Path) -> Row:
    """The engine of this repository, with vectors of the same index that `ours` has just built."""
    indexes = cache / "indexes" / f"quality-{task.name}"
    report = embed(task.folder, indexes, cache)
    index = Ours(task.folder, indexes, ann=True)
    try:
        cost = report["cpuSecondsPerThousand"]
        note = f"{report['vectors']} vectors, {cost:.2f} CPU s per 1,000 chunks"
        return Clock(index.search).row(task.name, "vectors", questions, report["seconds"], note)
    finally:
        index.close()


def competitor(tool: Competitor, task: Task, questions: list[Question]) -> Row:
    """One other tool in the configuration that suits it best; raises UnavailableError."""
    tool.prepare(task.folder)
    failures: list[str] = []

    def search_with(configuration: dict[str, Any]) -> Callable[[str], list[Hit]]:
        def search(query: str) -> list[Hit]:
            try:
                return tool.search(query, configuration)
            except Exception as error:
                failures.append(str(error))
                return []

        return search

    try:
        trials = task.part("dev")[: tool.trials]
        best = max(tool.configurations, key=lambda one: score(trials, search_with(one)).mrr)
        failures.clear()
        note = f"{tool.how}, {json.dumps(best)}"
        row = Clock(search_with(best)).row(task.name, tool.name, questions, tool.index_seconds, note)
    finally:
        tool.close()
    if len(failures) == len(questions):
        raise UnavailableError(failures[0])
    if failures:
        row.note += f", {len(failures)} questions failed, such as: {failures[0][-120:]}"
    return row


def bars_of(rows: list[Row]) -> Bars:
    """The bars for what was measured."""
    mrr = {(row.task, row.system): row.score.mrr for row in rows}
    bars: Bars = {}
    for task in ("large", "drawn", "small", "mixed"):
        if (task, "ours") not in mrr or (task, "plain") not in mrr:
            continue
        mine, yard = mrr[task, "ours"], mrr[task, "plain"]
        if task in ("large", "mixed"):
            bars[f"{task}: MRR@10, ours / plain"] = (mine / yard, ">= 2.3")
        else:
            bars[f"{task}: MRR@10, ours minus plain"] = (mine - yard, ">= 0.15")
        if task == "drawn":
            bars["drawn: MRR@10 of ours"] = (mine, ">= 0.50")
    for task, least in (("drawn", 1.15), ("large", 1.0)):
        if (task, "vectors") in mrr and (task, "ours") in mrr:
            ratio = mrr[task, "vectors"] / mrr[task, "ours"]
            bars[f"{task}: MRR@10, with vectors / by words"] = (ratio, f">= {least}")
    for (task, system), value in mrr.items():
        if system not in (*SYSTEMS, "vectors") and (task, "ours") in mrr:
            bars[f"{task}: MRR@10, ours / {system}"] = (mrr[task, "ours"] / max(value, 1e-9), "> 1")
    return bars


def show(rows: list[Row], missing: dict[str, str]) -> None:
    """Print as one table."""
    head = f"{'task':8}{'system':10}{'n':>6}{'MRR@10':>8}{'R@1':>7}{'R@10':>7}{'/plain':>8}"
    print(f"{head}{'index s':>9}{'p50 ms':>9}{'p99 ms':>9}  note")
    yard = {row.task: row.score.mrr for row in rows if row.system == "plain"}
    for row in rows:
        got = row.score
        ratio = got.mrr / yard[row.task] if yard.get(row.task) else float("nan")
        print(
            f"{row.task:8}{row.system:10}{row.questions:6}{got.mrr:8.3f}{got.recall_1:7.3f}{got.recall_10:7.3f}"
            f"{ratio:7.2f}x{row.index_s:9.1f}{row.p50_ms:9.2f}{row.p99_ms:9.2f}  {row.note}"
        )
    for name, reason in missing.items():
        print(f"{name} was not measured: {reason}")


def measure(options: argparse.Namespace, cache: Path) -> tuple[list[Row], dict[str, str]]:
    """Everything that was asked for, and what could not be measured with the reason."""
    rows: list[Row] = []
    missing: dict[str, str] = {}
    tasks = [*options.tasks, *([ARENA] if options.competitors is not None and ARENA not in options.tasks else [])]
    for name in tasks:
        task = load_task(name, cache)
        questions = task.part(options.split)[: options.limit]
        if "plain" in options.systems:
            complain(f"{name}: plain")
            rows.append(plain(task, questions))
        if "ours" in options.systems:
            complain(f"{name}: ours")
            rows.append(ours(task, questions, cache, reuse=options.reuse))
        if options.vectors:
            complain(f"{name}: vectors")
            rows.append(with_vectors(task, questions, cache))
        for tool in (
            (options.competitors or COMPETITORS) if name == ARENA and options.competitors is not None else ()
        ):
            complain(f"{name}: {tool}")
            try:
                rows.append(competitor(COMPETITORS[tool](cache), task, questions))
            except UnavailableError as reason:
                missing[tool] = str(reason)
    return rows, missing


def main() -> int:
    """Measure, print, and judge; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="*", choices=[*TASKS], default=["drawn", "small", "large", "mixed"])
    parser.add_argument("--systems", nargs="*", choices=SYSTEMS, default=[*SYSTEMS])
    parser.add_argument(
        "--competitors", nargs="*", choices=[*COMPETITORS], help="these, or all when none is named"
    )
    parser.add_argument("--split", choices=("dev", "test", "all"), default="test")
    parser.add_argument("--limit", type=int, help="ask only so many questions of each task")
    parser.add_argument("--vectors", action="store_true", help="ask our index again with vectors")
    parser.add_argument("--reuse", action="store_true", help="update our index instead of building it anew")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--no-bars", action="store_true", help="end with 0 whatever was measured")
    options = parser.parse_args()
    rows, missing = measure(options, cache_folder())
    bars = bars_of(rows)
    if options.json:
        print(json.dumps({"rows": [asdict(row) for row in rows], "missing": missing, "bars": bars}))
    else:
        show(rows, missing)
        show_bars(bars)
    return verdict(bars, no_bars=options.no_bars)


if __name__ == "__main__":
    sys.exit(main())
