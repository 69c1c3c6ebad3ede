"""What a search costs through the server: latency and throughput over MCP and HTTP, the start, and memory.

    python -m benchmarks.serve_search [--queries 400] [--seconds 4] [--starts 7] [--reuse] [--json] [--no-bars]

The tree is that of the task `django` of search_quality, about 150,000 lines; queries are first lines of
documentation, no two the same. The server is `holdfast serve search` as a client starts it, host and front
included. A warm search of PairOfCleats over a tree of this size took 77 to 83 ms on this class of machine; the
ratio is to 80. The exit code is 1 when a bar is missed; `--no-bars` only measures.
"""

import argparse
import contextlib
import json
import os
import random
import re
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import IO, Any

from benchmarks.search.bars import Bars, percentile, show_bars, verdict
from benchmarks.search.fetch import cache_folder, complain
from benchmarks.search.known_item import load_task
from benchmarks.search.ours import build

THEIRS_MS = 80.0
CLIENTS = (1, 8, 32)
PARTS = {
    "worker": ["-m", "holdfast", "serve", "--standalone"],
    "front": ["-m", "holdfast.search.http"],
    "host": ["-m", "holdfast", "serve", "search"],
}
_ANNOUNCED = re.compile(rb"HTTP on http://127\.0\.0\.1:(\d+)")
Figures = dict[str, Any]


class Session:
    """A client at the pipes of a server."""

    def __init__(self, tree: Path, indexes: Path, scratch: Path, *words: str) -> None:
        command = [sys.executable, "-m", "holdfast", "serve", "search"]
        command += [f"--repo={tree}", f"--cache-dir={indexes}", *words]
        outer = {key: value for key, value in os.environ.items() if not key.startswith("HOLDFAST_")}
        outer |= {"HOLDFAST_STATE_DIR": str(scratch / "state"), "HOLDFAST_CONFIG": "none"}
        outer |= {"PYTHONDONTWRITEBYTECODE": ""}  # a start is measured with compiled modules
        self.stderr = scratch / "stderr"
        with self.stderr.open("wb") as stderr:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, env=outer
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._in: IO[bytes] = self.process.stdin
        self._out: IO[bytes] = self.process.stdout
        self._number = 0

    def close(self) -> None:
        """End it."""
        self._in.close()
        self.process.wait(30)
        self._out.close()

    def send(self, method: str, params: dict[str, Any]) -> None:
        """Send a request."""
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self._in.write(json.dumps(message).encode() + b"\n")
        self._in.flush()

    def read(self) -> bytes:
        """The next answer, unread."""
        line = self._out.readline()
        if not line:
            raise SystemExit(f"the server has ended: {self.stderr.read_text()[-500:]}")
        return line

    def handshake(self) -> None:
        """Open the session."""
        client = {"name": "benchmark", "version": "1"}
        self.send("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.read()
        self._in.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    def ask(self, arguments: dict[str, Any]) -> None:
        """Send a search."""
        self.send("tools/call", {"name": "search", "arguments": arguments})

    def search(self, arguments: dict[str, Any]) -> float:
        """Milliseconds of one search, to the last byte of its answer."""
        began = time.perf_counter()
        self.ask(arguments)
        line = self.read()
        took = (time.perf_counter() - began) * 1000
        if b'"isError":false' not in line:
            raise SystemExit(f"a search failed: {line[:500]!r}")
        return took

    def rate(self, in_flight: int, wanted: Iterator[dict[str, Any]], seconds: float) -> float:
        """Searches per second with so many in flight."""
        for _ in range(in_flight):
            self.ask(next(wanted))
        began, done = time.perf_counter(), 0
        while time.perf_counter() - began < seconds:
            self.read()
            done += 1
            self.ask(next(wanted))
        took = time.perf_counter() - began
        for _ in range(in_flight):
            self.read()
        return done / took

    def port(self) -> int:
        """Where HTTP is answered."""
        announced = _ANNOUNCED.search(self.stderr.read_bytes())
        assert announced is not None  # it is said before the worker is started
        return int(announced[1])

    def memory(self) -> Figures:
        """Resident and proportional memory of the parts, in MB."""
        import psutil

        found: Figures = {}
        for process in [
            psutil.Process(self.process.pid),
            *psutil.Process(self.process.pid).children(recursive=True),
        ]:
            words = process.cmdline()[1:]
            for part, command in PARTS.items():
                if words[: len(command)] == command:
                    memory = process.memory_full_info()
                    found[part] = {"rss": memory.rss / 1e6, "pss": memory.pss / 1e6}
        return found


class HttpClients:
    """So many connections that each keep one search in flight; one thread, so that the client costs little."""

    def __init__(self, port: int, count: int) -> None:
        self._port = port
        self._connections = [socket.create_connection(("127.0.0.1", port)) for _ in range(count)]
        self._selector = selectors.DefaultSelector()
        self._received: dict[socket.socket, bytearray] = {}
        for connection in self._connections:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._selector.register(connection, selectors.EVENT_READ)

    def close(self) -> None:
        """Close every connection."""
        self._selector.close()
        for connection in self._connections:
            connection.close()

    def rate(self, wanted: Iterator[dict[str, Any]], seconds: float) -> float:
        """Searches per second."""
        for connection in self._connections:
            self._ask(connection, next(wanted))
        began, done, waiting = time.perf_counter(), 0, len(self._connections)
        while waiting:
            for key, _ in self._selector.select():
                answered: Any = key.fileobj
                if not self._is_answered(answered):
                    continue
                if time.perf_counter() - began < seconds:
                    done += 1
                    self._ask(answered, next(wanted))
                else:
                    waiting -= 1
        return done / seconds

    def _ask(self, connection: socket.socket, arguments: dict[str, Any]) -> None:
        self._received[connection] = bytearray()
        body = json.dumps(arguments).encode()
        head = [
            "POST /search HTTP/1.1",
            f"Host: 127.0.0.1:{self._port}",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
        ]
        connection.sendall("\r\n".join(head).encode() + b"\r\n\r\n" + body)

    def _is_answered(self, connection: socket.socket) -> bool:
        received = self._received[connection]
        received += connection.recv(1 << 20)
        head, found, body = received.partition(b"\r\n\r\n")
        if not found:
            return False
        if not head.startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"a search failed: {bytes(received[:500])!r}")
        length = re.search(rb"(?i)content-length: *(\d+)", head)
        assert length is not None
        return len(body) >= int(length[1])


def latencies(session: Session, asked: list[dict[str, Any]]) -> Figures:
    """p50 and p99 of a list of searches."""
    times = [session.search(arguments) for arguments in asked]
    return {"p50": percentile(times, 0.5), "p99": percentile(times, 0.99)}


def start(tree: Path, indexes: Path, query: str) -> float:
    """Milliseconds from the start of the server to its first answer to a search."""
    with tempfile.TemporaryDirectory() as scratch:
        began = time.perf_counter()
        session = Session(tree, indexes, Path(scratch))
        try:
            session.handshake()
            session.search({"query": query, "mode": "code", "top": 5})
            return (time.perf_counter() - began) * 1000
        finally:
            session.close()


def measure(options: argparse.Namespace, cache: Path) -> Figures:
    """All figures."""
    task = load_task("django", cache)
    indexes = cache / "indexes" / "serve"
    complain("building the index" if not options.reuse else "updating the index")
    chunks = build(task.folder, indexes, full=not options.reuse).get("chunks", 0)
    questions = list(dict.fromkeys(question.query for question in task.questions))
    random.Random(7).shuffle(questions)
    queries = questions[: options.queries]
    code = [{"query": query, "mode": "code", "top": 5} for query in queries]
    figures: Figures = {"chunks": chunks, "load": os.getloadavg()[0]}
    with tempfile.TemporaryDirectory() as scratch, contextlib.ExitStack() as stack:
        session = Session(task.folder, indexes, Path(scratch), "--http=127.0.0.1:0")
        stack.callback(session.close)
        session.handshake()
        latencies(session, code[:50])
        complain("latency")
        figures["code"] = latencies(session, code[50:])
        figures["default"] = latencies(session, [{"query": query} for query in queries[50:]])
        figures["repeated"] = latencies(session, code[-20:] * 10)
        complain("throughput")
        wanted = cycle(code)
        figures["mcp"] = {count: session.rate(count, wanted, options.seconds) for count in CLIENTS}
        figures["http"] = {count: _http(session.port(), count, wanted, options.seconds) for count in CLIENTS}
        figures["memory"] = session.memory()
    complain("starts")
    starts = [start(task.folder, indexes, queries[0]) for _ in range(options.starts)]
    return {**figures, "ready_ms": statistics.median(starts), "ready_all_ms": starts}


def _http(port: int, count: int, wanted: Iterator[dict[str, Any]], seconds: float) -> float:
    clients = HttpClients(port, count)
    try:
        return clients.rate(wanted, seconds)
    finally:
        clients.close()


def bars_of(figures: Figures) -> Bars:
    """The bars."""
    resident = sum(part["rss"] for part in figures["memory"].values())
    return {
        "times faster than 80 ms, warm search, mode code, top 5": (THEIRS_MS / figures["code"]["p50"], ">= 10"),
        "ready: from the start to the first answer, median, s": (figures["ready_ms"] / 1000, "<= 0.7"),
        "RSS of host, front and worker after all this, MB": (resident, "<= 200"),
    }


def show(figures: Figures) -> None:
    """Print as tables."""
    print(f"{figures['chunks']:,} chunks; load of the machine {figures['load']:.1f}")
    print(f"{'warm search over MCP':34}{'p50 ms':>9}{'p99 ms':>9}{'to 80 ms':>10}")
    for name, words in (("code", "code, top 5"), ("default", "default"), ("repeated", "code, top 5, repeated")):
        one = figures[name]
        print(f"  {words:32}{one['p50']:9.2f}{one['p99']:9.2f}{THEIRS_MS / one['p50']:9.1f}x")
    print(f"{'searches per second':34}" + "".join(f"{f'{count} clients':>12}" for count in CLIENTS))
    for name in ("mcp", "http"):
        print(f"  {name.upper():32}" + "".join(f"{figures[name][count]:12.0f}" for count in CLIENTS))
    print(f"{'memory after load':34}{'RSS MB':>9}{'PSS MB':>9}")
    for name, part in figures["memory"].items():
        print(f"  {name:32}{part['rss']:9.1f}{part['pss']:9.1f}")
    print(f"ready: {', '.join(f'{took:.0f}' for took in figures['ready_all_ms'])} ms")


def main() -> int:
    """Measure, print, and judge; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=400)
    parser.add_argument("--seconds", type=float, default=4.0, help="of each throughput")
    parser.add_argument("--starts", type=int, default=7)
    parser.add_argument("--reuse", action="store_true", help="update our index instead of building it anew")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--no-bars", action="store_true", help="end with 0 whatever was measured")
    options = parser.parse_args()
    figures = measure(options, cache_folder())
    bars = bars_of(figures)
    if options.json:
        print(json.dumps({"figures": figures, "bars": bars}))
    else:
        show(figures)
        show_bars(bars)
    return verdict(bars, no_bars=options.no_bars)


if __name__ == "__main__":
    sys.exit(main())
