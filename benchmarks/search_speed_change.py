"""How much slower or faster a build became since an earlier commit: both build the same tree, turn by turn.

    python -m benchmarks.search_speed_change REVISION [--rounds 3] [--no-bars]

The tree is the Python, JavaScript, TypeScript, Go and Java of the corpus `repo14`. Figures are CPU seconds of all
processes, the median of the rounds. The exit code is 1 when a build takes more than 10 % longer than before.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
from io import BytesIO
from pathlib import Path

from benchmarks.search.bars import show_bars, verdict
from benchmarks.search.corpora import corpus_folder
from benchmarks.search.fetch import cache_folder, complain
from benchmarks.search.watching import observe

ROOT = Path(__file__).parent.parent
_ENDINGS = (".py", ".js", ".mjs", ".jsx", ".ts", ".tsx", ".go", ".java")
_BAR = "<= 1.10"


def five_languages(cache: Path) -> Path:
    """The files of the corpus that are written in the five languages, made once."""
    source, tree = corpus_folder("repo14", cache), cache / "scratch" / "five-languages"
    if not tree.exists():
        for path in source.rglob("*"):
            if path.suffix in _ENDINGS and path.is_file() and ".git" not in path.parts:
                target = tree / path.relative_to(source)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
    return tree


def exported(revision: str, place: Path) -> Path:
    """The project as it was at a revision."""
    shutil.rmtree(place, ignore_errors=True)
    packed = subprocess.run(["git", "archive", revision], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=BytesIO(packed)) as archive:
        archive.extractall(place, filter="data")
    return place


def cpu_of_build(project: Path, tree: Path, indexes: Path) -> float:
    """CPU seconds of one full build by one version of the project."""
    shutil.rmtree(indexes, ignore_errors=True)
    path = os.pathsep.join([str(project / "src"), str(project)])  # before what is installed
    command = [
        "env",
        f"PYTHONPATH={path}",
        sys.executable,
        "-m",
        "benchmarks.search.ours",
        str(tree),
        str(indexes),
    ]
    return observe(command, project).cpu


def main() -> int:
    """Build, turn by turn, and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-bars", action="store_true", help="end with 0 whatever was measured")
    options = parser.parse_args()
    cache = cache_folder()
    tree, before = five_languages(cache), exported(options.revision, cache / "scratch" / "before")
    spent: dict[str, list[float]] = {"before": [], "now": []}
    for number in range(options.rounds):
        for name, project in (("before", before), ("now", ROOT)):
            complain(f"round {number + 1}: {name}")
            spent[name].append(cpu_of_build(project, tree, cache / "indexes" / f"speed-{name}"))
    was, now = (statistics.median(spent[name]) for name in ("before", "now"))
    print(f"five languages: {was:.1f} CPU s at {options.revision}, {now:.1f} CPU s now: {now / was:.3f} times")
    bars = {"CPU seconds of a build, against before": (now / was, _BAR)}
    show_bars(bars)
    return verdict(bars, no_bars=options.no_bars)


if __name__ == "__main__":
    sys.exit(main())
