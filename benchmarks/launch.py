"""What a launch run costs: seconds by worker, by file and by page; many runs at once; and a plain build beside it.

    python -m benchmarks.launch [--files 2000] [--runs 20] [--json] [--no-bars]

The product is a made-up Python library of 2,000 files, the site has 50 pages. "Without Hugo" is the time of the
run less that of the gates which build the site and look at what was built. The alternative is what nobody can do
without: cloning both repositories and building the site once. The cost of a page is that of a reference of about
100 pages beside that of one of 10. The exit code is 1 when a bar is missed; `--no-bars` only measures.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.launching.product import product_files
from benchmarks.launching.watching import Repositories, Timed, config_for, timed_run, workspace_in
from benchmarks.search.bars import Bars, show_bars, verdict
from tests.launch.products import make_product, make_repository, make_site

from holdfast.launch import states
from holdfast.launch.service import RunService
from holdfast.launch.toolchain import hugo_executable

__all__ = ["main"]

Figures = dict[str, Any]
_SITE_PAGES = 50
_BOUND = 900.0
_ABOUT_FILES = ("repo_scout", "facts_builder", "snippet_curator")


def complain(text: str) -> None:
    """Say on stderr what is being done."""
    print(f"-- {text}", file=sys.stderr, flush=True)


def repositories(folder: Path, files: int) -> Repositories:
    """The product with so many files, and the site."""
    modules = files // 2
    few = (files - modules - modules // 20) // 3
    product = product_files(modules, few, few, files - modules - modules // 20 - 2 * few - 6)
    sha = make_repository(folder / "product", product)
    return folder / "product", sha, folder / "site", make_site(folder / "site", _SITE_PAGES)


def large(folder: Path, files: int) -> tuple[Timed, float]:
    """One run on the large product, and the seconds of cloning both repositories and building the site once."""
    made = repositories(folder, files)
    complain(f"one run on {files} files")
    timed = timed_run(workspace_in(folder / "ws"), config_for(made))
    complain("cloning and building without a run")
    site = next((folder / "ws" / "runs").iterdir()) / "work" / "site"
    begun = time.perf_counter()
    for source, name in ((made[0], "a"), (made[2], "b")):
        subprocess.run(["git", "clone", "--quiet", "--no-local", source, folder / name], check=True)
    command: list[str | Path] = [
        hugo_executable() or "hugo",
        "--quiet",
        "--source",
        site,
        "--destination",
        folder / "public",
    ]
    subprocess.run(command, check=True)
    return timed, time.perf_counter() - begun


def at_once(folder: Path, runs: int) -> Figures:
    """A small product: one run alone, then many in one workspace."""
    made = folder / "product", make_product(folder / "product"), folder / "site", make_site(folder / "site")
    complain("one small run")
    alone = timed_run(workspace_in(folder / "alone"), config_for(made))
    complain(f"{runs} runs at once")
    with RunService(workspace_in(folder / "many")) as service:
        begun = time.perf_counter()
        names = [service.start(config_for(made))[0].run_id for _ in range(runs)]
        waited = threading.Event()
        while time.perf_counter() - begun < _BOUND:
            found = [service.run(name) for name in names]
            if all(run.state in (states.READY_FOR_PR, *states.TERMINAL) and not run.holder for run in found):
                break
            waited.wait(0.2)
        seconds = time.perf_counter() - begun
    ready = sum(run.state == states.READY_FOR_PR for run in found)
    return {
        "runs": runs,
        "ready": ready,
        "alone_s": alone.seconds,
        "wall_s": seconds,
        "of_one": seconds / alone.seconds,
    }


def by_page(folder: Path, modules: int) -> Timed:
    """A run that writes about so many pages of reference."""
    sha = make_repository(folder / "product", product_files(modules, 0, 1))
    made = folder / "product", sha, folder / "site", make_site(folder / "site", _SITE_PAGES)
    complain(f"a reference of about {modules} pages")
    config = config_for(made, required_sections=["reference"], launch_tier="rich")
    return timed_run(workspace_in(folder / "ws"), config)


def show(files: int, timed: Timed, plain: float, many: Figures, few: Timed, hundred: Timed) -> None:
    """Print as tables."""
    print(f"{files} files into a site of {_SITE_PAGES} pages: {timed.pages} pages, {timed.state}")
    print(f"{'worker':18}{'seconds':>9}{'per 100 files':>15}{'per page':>10}")
    for name, seconds in timed.workers.items():
        share = f"{seconds / files * 100:15.2f}" if name in _ABOUT_FILES else f"{'':15}"
        page = "" if name in _ABOUT_FILES else f"{seconds / timed.pages:10.3f}"
        print(f"{name:18}{seconds:9.1f}{share}{page}")
    print(f"{'wall':18}{timed.seconds:9.1f}, without Hugo {timed.seconds - timed.hugo:.1f}")
    worst = sorted(timed.gates.items(), key=lambda item: -item[1])
    print("gates: " + ", ".join(f"{name} {seconds:.1f}" for name, seconds in worst if seconds >= 0.05))
    print(f"both clones and one build: {plain:.1f} s; the run takes {timed.seconds / plain:.0f} times as long")
    print(
        f"{many['runs']} runs at once: {many['wall_s']:.1f} s, {many['ready']} ready; one alone takes "
        f"{many['alone_s']:.1f} s: {many['of_one']:.1f} times one, {many['of_one'] / many['runs']:.2f} for each"
    )
    for one in (few, hundred):
        each = one.writing / one.pages * 1000
        print(f"{one.pages} pages: {one.writing:.1f} s for pages without Hugo, {each:.0f} ms each")
    further = (hundred.writing - few.writing) / (hundred.pages - few.pages) * 1000
    print(f"a further page: {further:.0f} ms")


def main() -> int:
    """Run, print, and judge; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=20, help="how many small runs are made at once")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--no-bars", action="store_true", help="end with 0 whatever was measured")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="holdfast-launch-bench-") as name:
        folders = [Path(name, part) for part in ("large", "many", "few", "hundred")]
        for folder in folders:
            folder.mkdir()
        timed, plain = large(folders[0], options.files)
        many = at_once(folders[1], options.runs)
        few, hundred = by_page(folders[2], 9), by_page(folders[3], 99)
    ratio = (hundred.writing / hundred.pages) / (few.writing / few.pages)
    bars: Bars = {
        f"{options.files} files, without Hugo, s": (timed.seconds - timed.hugo, "<= 120"),
        f"{options.runs} runs at once: share that is ready": (many["ready"] / options.runs, ">= 1"),
        f"cost of a page, {hundred.pages} pages : {few.pages} pages": (ratio, "<= 1.5"),
    }
    if options.json:
        runs = {"large": asdict(timed), "few": asdict(few), "hundred": asdict(hundred)}
        print(json.dumps({"runs": runs, "plain_s": plain, "at_once": many, "bars": bars}))
    else:
        show(options.files, timed, plain, many, few, hundred)
        show_bars(bars)
    return verdict(bars, no_bars=options.no_bars)


if __name__ == "__main__":
    sys.exit(main())
