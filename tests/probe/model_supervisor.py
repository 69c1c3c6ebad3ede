"""A supervisor in front of the model server: `python -I -S model_supervisor.py FAULT`.

It passes lines on, starts another worker when one dies, opens its session again, and answers for the calls that
were lost. Its faults are the two of a crash.
"""

import json
import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
LIFETIME = 30


class Supervisor:
    """One client, one worker at a time."""

    def __init__(self, fault: str) -> None:
        self.fault = fault
        self.generation = 0
        self.opening: list[bytes] = []
        self.lost: dict[str, Any] = {}
        self.worker = self._start()

    def _start(self) -> "subprocess.Popen[bytes]":
        self.generation += 1
        other = "catalog.names" if self.fault == "crash.worker" and self.generation > 1 else ""
        command = [sys.executable, "-I", "-S", f"{HERE}/model_server.py", other]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)

    def run(self) -> None:
        """Relay until the client leaves."""
        while True:
            assert self.worker.stdout is not None
            output = self.worker.stdout.fileno()
            ready = select.select([0, output], [], [])[0]
            if output in ready and not self._from_worker(os.read(output, 1 << 20)):
                self._replace()
            elif 0 in ready:
                data = os.read(0, 1 << 20)
                if not data:
                    break
                self._from_client(data)
        self.worker.kill()
        self.worker.wait()

    def _from_client(self, data: bytes) -> None:
        for line in data.splitlines(keepends=True):
            message = json.loads(line)
            if message["method"] in {"initialize", "notifications/initialized"}:
                self.opening.append(line)
            elif "id" in message:
                self.lost[json.dumps(message["id"])] = message
        self._send(data)

    def _from_worker(self, data: bytes) -> bool:
        for line in data.splitlines():
            self.lost.pop(json.dumps(json.loads(line).get("id")), None)
        os.write(1, data)
        return bool(data)

    def _replace(self) -> None:
        self.worker.wait()
        self.worker = self._start()
        for line in self.opening:
            self._send(line)
        assert self.worker.stdout is not None
        os.read(self.worker.stdout.fileno(), 1 << 20)  # the welcome, which the client has had
        lost, self.lost = self.lost, {}
        for key, message in lost.items():
            if message["method"] != "tools/call":  # nothing was done yet, so it can be asked again
                self.lost[key] = message
                self._send(json.dumps(message).encode() + b"\n")
            elif self.fault != "crash.in-flight":
                error = {"code": -32000, "message": "the worker died"}
                os.write(1, json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}).encode() + b"\n")

    def _send(self, data: bytes) -> None:
        assert self.worker.stdin is not None
        with suppress(BrokenPipeError):  # it has died; what was lost is seen to when that is noticed
            self.worker.stdin.write(data)


if __name__ == "__main__":
    signal.alarm(LIFETIME)
    Supervisor(sys.argv[1] if len(sys.argv) > 1 else "").run()
