"""A front under a flood: how long a client with a token waits, and what the front's memory and time come to.

    python benchmarks/http_flood.py --connections 30 --seconds 10

Connections from one address pipeline `GET /` without a token, 257 KB at a time, as fast as they are taken. Beside
them one client asks for `/health`, each time on a connection of its own. Everything runs on loopback.
"""

import argparse
import http.client
import json
import multiprocessing
import os
import re
import selectors
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

TOKEN = "f" * 40
FLOOD = 257_000  # bytes that are sent at once
SERVER = Path(__file__).parent.parent / "tests" / "clients" / "server.py"
PATIENCE = 60.0


def main() -> None:
    """Flood a front, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connections", type=int, default=30, help="flooding connections [30]")
    parser.add_argument("--seconds", type=float, default=10.0, help="how long they flood [10]")
    parser.add_argument("--once", action="store_true", help="each sends its bytes once, and reads nothing")
    parser.add_argument("--wrong-token", action="store_true", help="they send a token, and the wrong one")
    given = parser.parse_args()
    print(json.dumps(_measured(given), indent=1))


def _measured(given: argparse.Namespace) -> dict[str, Any]:
    with _served() as (port, host):
        front = _front_of(host)
        waits = [_health(port) for _ in range(20)]
        before = front.memory_info().rss
        used = sum(front.cpu_times()[:2])
        peak = _Peak(front)
        start = multiprocessing.get_context("spawn")
        flood = start.Process(target=_flood, args=(port, vars(given)), daemon=True)
        flood.start()
        pause = threading.Event()
        loaded, deadline = [], time.monotonic() + given.seconds
        pause.wait(0.5)
        while time.monotonic() < deadline:
            loaded.append(_health(port))
            pause.wait(0.05)
        flood.kill()
        flood.join()
        lives = front.is_running() and front.status() != psutil.STATUS_ZOMBIE
        cpu = sum(front.cpu_times()[:2]) - used if lives else None
        return {
            "connections": given.connections,
            "health_quiet_ms": _of(waits),
            "health_flood_ms": _of(loaded),
            "unanswered": sum(wait is None for wait in loaded),
            "rss_before_mb": round(before / 1e6, 1),
            "rss_growth_mb": round((peak.stop() - before) / 1e6, 1),
            "front_cpu_s": cpu and round(cpu, 1),
            "front_lives": lives,
        }


def _of(waits: list[float | None]) -> dict[str, Any]:
    known = sorted(wait * 1000 for wait in waits if wait is not None)
    if not known:
        return {"count": 0}
    return {"count": len(known), "p50": round(known[len(known) // 2], 1), "max": round(known[-1], 1)}


@contextmanager
def _served() -> Iterator[tuple[int, psutil.Process]]:
    with tempfile.TemporaryDirectory() as place:
        environment = {**os.environ, "HOLDFAST_HTTP_TOKEN": TOKEN, "HOLDFAST_STATE_DIR": f"{place}/state"}
        words = ["serve", str(SERVER), "--http", "127.0.0.1:0", "--name", "flooded"]
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "holdfast", *words],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment,
        )  # fmt: skip
        try:
            assert process.stderr is not None
            port = next(
                int(found[1]) for line in process.stderr if (found := re.search(rb"HTTP on .*:(\d+) ", line))
            )
            threading.Thread(target=process.stderr.read, daemon=True).start()
            while _health(port) is None:
                threading.Event().wait(0.1)
            yield port, psutil.Process(process.pid)
        finally:
            process.terminate()
            process.wait(PATIENCE)


def _front_of(host: psutil.Process) -> psutil.Process:
    return next(one for one in host.children(recursive=True) if "holdfast.api.program" in one.cmdline())


def _health(port: int) -> float | None:
    """Seconds until `/health` answers a client with the token; None where it does not."""
    begun = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    with suppress(OSError, http.client.HTTPException):
        connection.request("GET", "/health", headers={"Authorization": f"Bearer {TOKEN}"})
        if connection.getresponse().status == 200:
            return time.monotonic() - begun
    connection.close()
    return None


class _Peak:
    """The most memory that a process has had."""

    def __init__(self, process: psutil.Process) -> None:
        self._process = process
        self._most = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> int:
        """It, in bytes."""
        self._over.set()
        self._thread.join()
        return self._most

    def _watch(self) -> None:
        with suppress(psutil.Error):
            while not self._over.wait(0.02):
                self._most = max(self._most, self._process.memory_info().rss)


def _flood(port: int, given: dict[str, Any]) -> None:
    """Keep connections full of requests, and read what comes, unless only one burst is wanted."""
    wrong = "Authorization: Bearer wrong\r\n" if given["wrong_token"] else ""
    request = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{wrong}\r\n".encode()
    if not wrong:
        request = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    burst = request * (FLOOD // len(request))
    with selectors.DefaultSelector() as waiting:
        for _ in range(given["connections"]):
            _connect(port, waiting)
        while True:
            for key, events in waiting.select(1.0):
                if not _exchange(key, events, burst, waiting, once=given["once"]):
                    waiting.unregister(key.fileobj)
                    key.fileobj.close()  # type: ignore[union-attr]
                    with suppress(OSError):
                        _connect(port, waiting)


def _connect(port: int, waiting: selectors.BaseSelector) -> None:
    connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    connection.settimeout(0)
    waiting.register(connection, selectors.EVENT_READ | selectors.EVENT_WRITE, [0])


def _exchange(
    key: selectors.SelectorKey, events: int, burst: bytes, waiting: selectors.BaseSelector, *, once: bool
) -> bool:
    connection, sent = key.fileobj, key.data
    assert isinstance(connection, socket.socket)
    try:
        if events & selectors.EVENT_WRITE:
            sent[0] += connection.send(burst[sent[0] % len(burst) :])
            if once and sent[0] >= len(burst):
                waiting.modify(connection, selectors.EVENT_READ, sent)
        if events & selectors.EVENT_READ and not once:
            return bool(connection.recv(1 << 20))
    except BlockingIOError:
        pass
    except OSError:
        return False
    return True


if __name__ == "__main__":
    main()
