"""How long `holdfast --help` takes, beside the bare interpreter: median of ten runs each, interleaved.

python benchmarks/help_time.py
"""

import statistics
import subprocess
import sys
import time

RUNS = 10
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "python -c 'import click'": [sys.executable, "-c", "import click"],
    "holdfast --help": [sys.executable, "-m", "holdfast", "--help"],
}


def milliseconds(command: list[str]) -> float:
    """Wall time of one run."""
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - began) * 1000


def main() -> None:
    """Print the medians."""
    taken: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(RUNS):
        for name, command in COMMANDS.items():
            taken[name].append(milliseconds(command))
    for name, values in taken.items():
        print(f"{name:26} {statistics.median(values):6.0f} ms (median of {RUNS}; bar for --help: 150 ms)")


if __name__ == "__main__":
    main()
