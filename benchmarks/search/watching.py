"""A program under observation: its CPU seconds and the memory of all its processes together, over time."""

import json
import resource
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

__all__ = ["Observed", "observe"]

INTERVAL = 0.2  # seconds between two looks at the memory


@dataclass(frozen=True)
class Observed:
    """What a program cost, and the JSON that it printed."""

    seconds: float
    cpu: float
    pss_mb: list[tuple[float, float]]  # (seconds since the start, megabytes of all processes together)
    report: dict[str, Any]

    @property
    def peak_mb(self) -> float:
        """The most memory that was seen."""
        return max((megabytes for _, megabytes in self.pss_mb), default=0.0)


def observe(command: list[str], folder: Path) -> Observed:
    """Run a program to its end; CPU seconds are those of it and of all its children that it waited for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    memory: list[tuple[float, float]] = []
    with tempfile.TemporaryFile("w+") as output:
        process = psutil.Popen(command, cwd=folder, stdout=output)
        while True:
            try:
                code = process.wait(timeout=INTERVAL)
                break
            except (psutil.TimeoutExpired, subprocess.TimeoutExpired):
                memory.append((time.perf_counter() - began, _pss(process)))
        seconds = time.perf_counter() - began
        output.seek(0)
        text = output.read()
    if code != 0:
        raise SystemExit(f"{' '.join(command)} ended with {code}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Observed(seconds, cpu, memory, json.loads(text))


def _pss(process: psutil.Process) -> float:
    """Megabytes that a process and its descendants have together, shared pages counted once."""
    total = 0
    try:
        family = [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0.0
    for member in family:
        try:
            rows = Path(f"/proc/{member.pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue  # it ended between the two looks
        total += sum(int(row.split()[1]) for row in rows if row.startswith("Pss:"))
    return total / 1000
