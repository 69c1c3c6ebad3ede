"""What the host costs: added latency per call, memory, and the time from a crash to the answer of the call.

In one run, with the same worker (a bare asyncio loop) and the same raw client: no front at all, a pass-through
proxy of thirty lines, `holdfast run`, and FastMCP's proxy. What counts are the differences to no front.

    python benchmarks/host_overhead.py [--calls 2000] [--rounds 3] [--json] [--no-bars]

The exit code is 1 when a bar is missed; `--no-bars` only measures.
"""

import argparse
import json
import operator
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
WORKER = [sys.executable, str(HERE / "echo_servers" / "bare_loop.py")]
FRONTS = {
    "no front": [],
    "bare proxy": [sys.executable, str(HERE / "fronts" / "bare_proxy.py")],
    "holdfast": [sys.executable, "-m", "holdfast", "run", "--name", "bench", "--"],
    "FastMCP proxy": [sys.executable, str(HERE / "fronts" / "fastmcp_proxy.py")],
}
SPARE = [sys.executable, "-m", "holdfast", "run", "--name", "bench", "--spare", "1", "--"]
CACHED = {
    "PYTHONDONTWRITEBYTECODE": "",
    "PYTHONPYCACHEPREFIX": str(Path(tempfile.gettempdir()) / "holdfast-bench-pycache"),
}
REVISION = "2025-06-18"


class Session:
    """A raw client, the front and the worker behind it."""

    def __init__(self, front: list[str], state: str) -> None:
        self.started = time.perf_counter()
        environ = {**os.environ, **CACHED, "HOLDFAST_STATE_DIR": state, "XDG_RUNTIME_DIR": state}
        self.process = subprocess.Popen(
            [*front, *WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environ,
            bufsize=0,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.writer = self.process.stdin
        self.reader = os.fdopen(os.dup(self.process.stdout.fileno()), "rb", buffering=1 << 16)
        self.number = 0

    def handshake(self) -> float:
        """Milliseconds from the start of the process to the answer of the first call."""
        info = {"name": "bench", "version": "1"}
        params = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": info}
        self.writer.write(line({"jsonrpc": "2.0", "id": "init", "method": "initialize", "params": params}))
        self.reader.readline()
        self.writer.write(line({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        self.call("hello")
        return (time.perf_counter() - self.started) * 1000

    def request(self, text: str) -> bytes:
        """The next call, as a line."""
        self.number += 1
        params = {"name": "echo", "arguments": {"text": text}}
        return line({"jsonrpc": "2.0", "id": self.number, "method": "tools/call", "params": params})

    def call(self, text: str) -> float:
        """One call and its answer; seconds."""
        request = self.request(text)
        began = time.perf_counter()
        self.writer.write(request)
        while True:
            answer = self.reader.readline()
            if b'"method"' not in answer:
                break
        took = time.perf_counter() - began
        if text.encode() not in answer:
            raise SystemExit(f"unexpected answer: {answer!r}")
        return took

    def at_once(self, calls: int, width: int = 32) -> float:
        """Calls per second with `width` of them in flight."""
        began = time.perf_counter()
        for _ in range(calls // width):
            self.writer.write(b"".join(self.request("hello") for _ in range(width)))
            for _ in range(width):
                self.reader.readline()
        return calls // width * width / (time.perf_counter() - began)

    def pss(self) -> float:
        """Megabytes that the front process has for itself, with its share of what is shared."""
        for row in Path(f"/proc/{self.process.pid}/smaps_rollup").read_text().splitlines():
            if row.startswith("Pss:"):
                return int(row.split()[1]) / 1000
        raise SystemExit("the kernel tells no PSS")

    def close(self) -> None:
        """Close the pipe and wait for the end."""
        self.writer.close()
        self.process.wait(timeout=20)
        self.reader.close()


def line(message: dict[str, Any]) -> bytes:
    """One compact line of JSON."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def measure(name: str, calls: int) -> dict[str, float]:
    """All figures of one front in one round."""
    with tempfile.TemporaryDirectory() as state:
        session = Session(FRONTS[name], state)
        start = session.handshake()
        for _ in range(200):
            session.call("hello")
        times = sorted(session.call("hello") for _ in range(calls))
        rate = session.at_once(calls * 2)
        pss = session.pss()
        session.close()
    middle, tail = times[len(times) // 2], times[len(times) * 99 // 100]
    return {"start_ms": start, "p50_us": middle * 1e6, "p99_us": tail * 1e6, "per_s": rate, "pss_mb": pss}


def recovery(front: list[str]) -> float:
    """Milliseconds from the kill of the worker, in the middle of a call, to the answer of that call."""
    with tempfile.TemporaryDirectory() as state:
        session = Session(front, state)
        session.handshake()
        settled = time.perf_counter() + 1.0  # a spare has this long to get ready
        while time.perf_counter() < settled:
            session.call("hello")
        took = session.call(f"die once: {state}/died")
        session.close()
    return took * 1000


def main() -> int:
    """Measure every front in interleaved rounds and print medians, differences and ratios; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--no-bars", action="store_true", help="end with 0 whatever was measured")
    options = parser.parse_args()
    for name in FRONTS:
        measure(name, 32)
    rounds = [{name: measure(name, options.calls) for name in FRONTS} for _ in range(options.rounds)]
    medians = {
        name: {key: statistics.median(result[name][key] for result in rounds) for key in rounds[0][name]}
        for name in FRONTS
    }
    crashes = {
        "cold": statistics.median(recovery(FRONTS["holdfast"]) for _ in range(2 * options.rounds + 1)),
        "spare": statistics.median(recovery(SPARE) for _ in range(2 * options.rounds + 1)),
    }
    bars = ratios(medians, crashes)
    if options.json:
        print(json.dumps({"medians": medians, "recovery_ms": crashes, "bars": bars}))
    else:
        show(medians, crashes, bars)
    return 1 if missed(bars) and not options.no_bars else 0


def missed(bars: dict[str, tuple[float, str]]) -> list[str]:
    """The bars that were not cleared."""
    ways = {"<=": operator.le, ">=": operator.ge, "<": operator.lt}
    found = []
    for what, (ratio, bar) in bars.items():
        way, limit = bar.split()
        if not ways[way](ratio, float(limit)):
            found.append(what)
    return found


def ratios(medians: dict[str, dict[str, float]], crashes: dict[str, float]) -> dict[str, tuple[float, str]]:
    """Our figures against the others, with the bar that each has to clear."""
    floor = medians["no front"]["p50_us"]
    added = {name: figures["p50_us"] - floor for name, figures in medians.items()}
    worker_start = medians["no front"]["start_ms"]
    return {
        "added p50, holdfast / bare proxy": (added["holdfast"] / added["bare proxy"], "<= 2"),
        "added p50, FastMCP proxy / holdfast": (added["FastMCP proxy"] / added["holdfast"], ">= 5"),
        "PSS of holdfast, MB": (medians["holdfast"]["pss_mb"], "<= 35"),
        "crash to answer minus worker start, ms": (crashes["cold"] - worker_start, "<= 50"),
        "crash to answer with a spare, ms": (crashes["spare"], "< 50"),
    }


def show(
    medians: dict[str, dict[str, float]], crashes: dict[str, float], bars: dict[str, tuple[float, str]]
) -> None:
    """Print as tables."""
    floor = medians["no front"]["p50_us"]
    print(f"{'front':14} {'start ms':>9} {'p50 us':>8} {'added':>8} {'p99 us':>8} {'32x/s':>8} {'PSS MB':>7}")
    for name, row in medians.items():
        print(
            f"{name:14} {row['start_ms']:9.0f} {row['p50_us']:8.0f} {row['p50_us'] - floor:8.0f} "
            f"{row['p99_us']:8.0f} {row['per_s']:8.0f} {row['pss_mb']:7.1f}"
        )
    cold, spare = crashes["cold"], crashes["spare"]
    print(f"\nkill -9 to the answer of the repeated call: {cold:.0f} ms, with a spare {spare:.1f} ms\n")
    below = missed(bars)
    for what, (ratio, bar) in bars.items():
        print(f"{what:40} {ratio:7.2f}   bar {bar}{'   MISSED' if what in below else ''}")


if __name__ == "__main__":
    sys.exit(main())
