"""What one tool call costs: an echo tool over real pipes, native mode against what people use today.

In one run, on the same machine, with the same raw client: a bare asyncio loop (the floor: no validation, no
log, no contract), Holdfast's native mode with the event log on, the official SDK's low-level server, and
FastMCP. CPU is user + system time of the server process; the ratios are what counts.

    python benchmarks/call_overhead.py [--calls 2000] [--rounds 3] [--json]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, BinaryIO

import psutil

SERVERS = Path(__file__).parent / "echo_servers"
NAMES = ("bare_loop", "with_holdfast", "with_sdk", "with_fastmcp")
REVISION = "2025-06-18"

# Every server runs from compiled modules, as it does from its second start on, whatever this shell says.
CACHED = {
    "PYTHONDONTWRITEBYTECODE": "",
    "PYTHONPYCACHEPREFIX": str(Path(tempfile.gettempdir()) / "holdfast-bench-pycache"),
}


class Peer:
    """One echo server on pipes, and what it cost so far."""

    def __init__(self, name: str, state: str) -> None:
        self.started = time.perf_counter()
        environ = {**os.environ, **CACHED, "HOLDFAST_STATE_DIR": state, "HOLDFAST_EVENT_LOG": "on"}
        command = [sys.executable, str(SERVERS / f"{name}.py")]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ, bufsize=0
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.writer: BinaryIO = self.process.stdin  # type: ignore[assignment]
        self.reader = os.fdopen(os.dup(self.process.stdout.fileno()), "rb", buffering=1 << 16)
        self.costs = psutil.Process(self.process.pid)
        self.number = 0

    def call_line(self) -> bytes:
        """The next call, as a line."""
        self.number += 1
        params = {"name": "echo", "arguments": {"text": "hello"}}
        return line({"jsonrpc": "2.0", "id": self.number, "method": "tools/call", "params": params})

    def first_answer(self) -> float:
        """Handshake, then the first call; milliseconds since the process was started."""
        info = {"name": "bench", "version": "1"}
        params = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": info}
        self.writer.write(line({"jsonrpc": "2.0", "id": "init", "method": "initialize", "params": params}))
        self.expect("init")
        self.writer.write(line({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        self.writer.write(self.call_line())
        self.expect(self.number)
        return (time.perf_counter() - self.started) * 1000

    def expect(self, wanted: Any) -> None:
        """Read one answer and make sure that it is the right one."""
        answer = json.loads(self.reader.readline())
        if answer.get("id") != wanted or ("hello" not in str(answer) and wanted != "init"):
            raise SystemExit(f"unexpected answer: {answer}")

    def cpu(self) -> float:
        """Seconds of CPU that the server has used."""
        tasks = Path(f"/proc/{self.process.pid}/task")
        if not tasks.exists():
            times = self.costs.cpu_times()
            return times.user + times.system
        # Nanoseconds, where cpu_times counts in hundredths of a second.
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir()) / 1e9

    def sequential(self, calls: int) -> tuple[float, float]:
        """One call after the other: CPU microseconds per call, calls per second."""
        before, began = self.cpu(), time.perf_counter()
        for _ in range(calls):
            self.writer.write(self.call_line())
            self.expect(self.number)
        return self._rates(calls, before, began)

    def concurrent(self, calls: int, width: int = 32) -> tuple[float, float]:
        """`width` calls at once, again and again: CPU microseconds per call, calls per second."""
        before, began = self.cpu(), time.perf_counter()
        for _ in range(calls // width):
            self.writer.write(b"".join(self.call_line() for _ in range(width)))
            for _ in range(width):
                if b"hello" not in self.reader.readline():
                    raise SystemExit("unexpected answer")
        return self._rates(calls // width * width, before, began)

    def _rates(self, calls: int, before: float, began: float) -> tuple[float, float]:
        return (self.cpu() - before) / calls * 1e6, calls / (time.perf_counter() - began)

    def close(self) -> None:
        """Close the pipe and wait for the end of the server."""
        self.writer.close()
        self.process.wait(timeout=10)
        self.reader.close()


def line(message: dict[str, Any]) -> bytes:
    """One compact line of JSON."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def measure(name: str, calls: int) -> dict[str, float]:
    """All figures of one server in one round."""
    with tempfile.TemporaryDirectory() as state:
        peer = Peer(name, state)
        start = peer.first_answer()
        peer.sequential(200)  # warm up
        sequential, rate = peer.sequential(calls)
        at_once, rate_at_once = peer.concurrent(calls * 4)
        rss = peer.costs.memory_info().rss / 2**20
        peer.close()
    return {
        "start_ms": start,
        "rss_mb": rss,
        "seq_cpu_us": sequential,
        "seq_per_s": rate,
        "par_cpu_us": at_once,
        "par_per_s": rate_at_once,
    }


def main() -> None:
    """Measure every server in interleaved rounds and print medians and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for name in NAMES:
        measure(name, 32)
    rounds = [{name: measure(name, options.calls) for name in NAMES} for _ in range(options.rounds)]
    medians = {
        name: {key: statistics.median(result[name][key] for result in rounds) for key in rounds[0][name]}
        for name in NAMES
    }
    bars = ratios(medians)
    if options.json:
        print(json.dumps({"medians": medians, "bars": bars}))
    else:
        show(medians, bars)


def ratios(medians: dict[str, dict[str, float]]) -> dict[str, tuple[float, str]]:
    """Our figures against the others, with the bar that each has to clear."""
    ours, bare, sdk = medians["with_holdfast"], medians["bare_loop"], medians["with_sdk"]
    return {
        "sequential CPU, holdfast / bare loop": (ours["seq_cpu_us"] / bare["seq_cpu_us"], "<= 2"),
        "sequential CPU, SDK / holdfast": (sdk["seq_cpu_us"] / ours["seq_cpu_us"], ">= 4"),
        "32 at once CPU, SDK / holdfast": (sdk["par_cpu_us"] / ours["par_cpu_us"], ">= 10"),
        "start to first answer, holdfast / SDK": (ours["start_ms"] / sdk["start_ms"], "<= 0.5"),
        "RSS of holdfast, MB": (ours["rss_mb"], "<= 40"),
    }


def show(medians: dict[str, dict[str, float]], bars: dict[str, tuple[float, str]]) -> None:
    """Print as tables."""
    print(f"{'server':14} {'start ms':>9} {'RSS MB':>7} {'seq us':>8} {'seq/s':>8} {'32x us':>8} {'32x/s':>8}")
    for name, figures in medians.items():
        print(
            f"{name:14} {figures['start_ms']:9.0f} {figures['rss_mb']:7.1f} {figures['seq_cpu_us']:8.0f} "
            f"{figures['seq_per_s']:8.0f} {figures['par_cpu_us']:8.0f} {figures['par_per_s']:8.0f}"
        )
    print()
    for what, (ratio, bar) in bars.items():
        print(f"{what:40} {ratio:7.2f}   bar {bar}")


if __name__ == "__main__":
    main()
