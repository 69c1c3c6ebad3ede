"""What an index costs: CPU seconds by stage, memory of all processes over time, its size, and updates.

    python -m benchmarks.search_build [--corpora repo14 memory] [--skip-updates] [--json] [--no-bars]

`repo14` is 14 MB in six languages with a history of 300 commits: another indexer (PairOfCleats) took 271 CPU
seconds for as much on a machine like the one these bars were set on. `memory` is 100 MB of Python. The trees are
made of pinned packages in ~/.cache/holdfast-bench (HOLDFAST_BENCH_CACHE). The exit code is 1 when a bar is missed;
`--no-bars` only measures.
"""

import argparse
import json
import shutil
import statistics
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.search.bars import Bars, show_bars, verdict
from benchmarks.search.corpora import CORPORA, corpus_folder
from benchmarks.search.fetch import cache_folder, complain
from benchmarks.search.ours import build, index_bytes, keeper
from benchmarks.search.watching import Observed, observe

ROOT = Path(__file__).parent.parent
OTHER_CPU, OTHER_MB = 271.0, 14.0  # PairOfCleats, 254k lines
Figures = dict[str, Any]


def source_size(tree: Path) -> Figures:
    """Files, megabytes and lines of a tree, without its history."""
    contents = [path.read_bytes() for path in tree.rglob("*") if path.is_file() and ".git" not in path.parts]
    lines = sum(content.count(b"\n") for content in contents)
    return {"files": len(contents), "mb": sum(map(len, contents)) / 1e6, "lines": lines}


def full_build(name: str, cache: Path) -> tuple[Figures, Observed]:
    """Build one corpus from nothing, in a process of its own."""
    tree = corpus_folder(name, cache)
    indexes = cache / "indexes" / f"build-{name}"
    complain(f"building {name}")
    program = [sys.executable, "-m", "benchmarks.search.ours", str(tree), str(indexes)]
    observed = observe(program, ROOT)
    figures = source_size(tree)
    figures |= {
        "cpu_s": observed.cpu,
        "wall_s": observed.seconds,
        "mb_per_cpu_s": figures["mb"] / observed.cpu,
        "peak_pss_mb": observed.peak_mb,
        "index_mb": index_bytes(indexes) / 1e6,
        "index_ratio": index_bytes(indexes) / 1e6 / figures["mb"],
        "chunks": observed.report.get("chunks", 0),
        "stages": observed.report["stages"],
        "skipped": observed.report.get("skipped", {}),
    }
    return figures, observed


def no_op(cache: Path, rounds: int) -> Figures:
    """Updates of 5,000 files of which none has changed."""
    tree = corpus_folder("files5000", cache)
    indexes = cache / "indexes" / "build-files5000"
    complain("updating files5000")
    build(tree, indexes, full=True)
    times = [_timed(tree, indexes) for _ in range(rounds)]
    return {"p50_ms": statistics.median(times), "max_ms": max(times), **source_size(tree)}


def one_file(cache: Path, rounds: int) -> Figures:
    """Updates after a change in one file, another one every time, in a copy of repo14; the parser is warm."""
    tree = cache / "scratch" / "repo14"
    indexes = cache / "indexes" / "build-scratch"
    complain("updating one file of repo14")
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(corpus_folder("repo14", cache), tree, symlinks=True)
    build(tree, indexes, full=True)
    sources = sorted(path for path in tree.rglob("*.py") if ".git" not in path.parts)
    times = []
    with keeper(tree, indexes) as refresh:
        for number, path in enumerate(sources[:: max(1, len(sources) // rounds)][:rounds]):
            text = path.read_text(encoding="utf-8")
            path.write_text(
                f"{text}\n\ndef added_by_the_benchmark_{number}():\n    return {number}\n", encoding="utf-8"
            )
            began = time.perf_counter()
            refresh()
            times.append((time.perf_counter() - began) * 1000)
    shutil.rmtree(tree)
    return {"p50_ms": statistics.median(times), "max_ms": max(times)}


def _timed(tree: Path, indexes: Path) -> float:
    began = time.perf_counter()
    build(tree, indexes, full=False)
    return (time.perf_counter() - began) * 1000


def bars_of(builds: dict[str, Figures], updates: dict[str, Figures]) -> Bars:
    """The bars for what was measured."""
    bars: Bars = {}
    for name, figures in builds.items():
        bars[f"{name}: MB of source per CPU second"] = (figures["mb_per_cpu_s"], ">= 0.7")
        bars[f"{name}: index / source"] = (figures["index_ratio"], "<= 3")
        if name == "repo14":
            other = OTHER_CPU * figures["mb"] / OTHER_MB
            bars[f"{name}: CPU seconds, PairOfCleats / ours (goal 20)"] = (other / figures["cpu_s"], ">= 10")
        if name == "memory":
            bars[f"{name}: PSS of all processes at its peak, MB"] = (figures["peak_pss_mb"], "< 600")
    if "no-op" in updates:
        bars["no-op update of 5,000 files, s"] = (updates["no-op"]["p50_ms"] / 1000, "< 1")
    if "one file" in updates:
        bars["one-file update p50, in process, ms"] = (updates["one file"]["p50_ms"], "< 150")
    return bars


def show(builds: dict[str, Figures], watched: dict[str, Observed], updates: dict[str, Figures]) -> None:
    """Print as tables."""
    head = f"{'corpus':10}{'files':>7}{'MB':>7}{'lines':>9}{'chunks':>8}{'CPU s':>8}{'wall s':>8}{'MB/CPU s':>9}"
    print(f"{head}{'peak MB':>9}{'index MB':>9}")
    for name, row in builds.items():
        print(
            f"{name:10}{row['files']:7}{row['mb']:7.1f}{row['lines']:9}{row['chunks']:8}{row['cpu_s']:8.1f}"
            f"{row['wall_s']:8.1f}{row['mb_per_cpu_s']:9.2f}{row['peak_pss_mb']:9.0f}{row['index_mb']:9.1f}"
        )
    for name, row in builds.items():
        stages = ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in row["stages"].items())
        rest = row["cpu_s"] - sum(row["stages"].values())
        print(f"{name}: CPU seconds by stage: {stages}, everything else {rest:.1f}; skipped: {row['skipped']}")
        memory = watched[name].pss_mb
        shown = memory[:: max(1, len(memory) // 10)]
        print(f"{name}: PSS in MB over time: " + ", ".join(f"{when:.0f}s {mb:.0f}" for when, mb in shown))
    for name, row in updates.items():
        print(f"update, {name}: p50 {row['p50_ms']:.1f} ms, max {row['max_ms']:.1f} ms")


def main() -> int:
    """Build, update, print, and judge; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", nargs="*", choices=[*CORPORA], default=["repo14", "memory"])
    parser.add_argument("--rounds", type=int, default=25, help="updates of one file each")
    parser.add_argument("--skip-updates", action="store_true", help="full builds only")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--no-bars", action="store_true", help="end with 0 whatever was measured")
    options = parser.parse_args()
    cache = cache_folder()
    builds: dict[str, Figures] = {}
    watched: dict[str, Observed] = {}
    for name in options.corpora:
        builds[name], watched[name] = full_build(name, cache)
    updates: dict[str, Figures] = {}
    if not options.skip_updates:
        updates = {"no-op": no_op(cache, 5), "one file": one_file(cache, options.rounds)}
    bars = bars_of(builds, updates)
    if options.json:
        observed = {name: asdict(one) for name, one in watched.items()}
        print(json.dumps({"builds": builds, "observed": observed, "updates": updates, "bars": bars}))
    else:
        show(builds, watched, updates)
        show_bars(bars)
    return verdict(bars, no_bars=options.no_bars)


if __name__ == "__main__":
    sys.exit(main())
