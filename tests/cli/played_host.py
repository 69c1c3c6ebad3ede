"""A process that plays a host for the tests of `ps`, `status`, `restart` and `stop`: its socket is the real one.

    played_host.py NAME [FIELD=JSON ...]    the fields change what it says about its health

`"deaf": true` makes it register and never listen, `"stubborn": true` makes it ignore being stopped.
"""

import asyncio
import json
import os
import signal
import sys
from typing import Any

from holdfast.errors import UsageError
from holdfast.host.control import ControlServer
from holdfast.host.records import Registration
from holdfast.settings import load_settings

COUNTERS = {
    "requests": 120, "answered": 118, "replayed": 3, "ambiguous": 1, "cancelled": 0, "timeouts": 0, "late": 0,
    "noise_lines": 2, "workers_lost": 2,
}  # fmt: skip
FAULT = {"class": "process", "code": "WORKER_LOST", "message": "the worker was ended by SIGKILL", "generation": 2}


class PlayedHost:
    """A host whose health is what it was told to say."""

    def __init__(self, name: str, fields: dict[str, Any]) -> None:
        self.ended = asyncio.Event()
        self.health: dict[str, Any] = {
            "state": "ready", "worker_handshake": "ready", "generation": 3, "uptime_ms": 11_520_000,
            "consecutive_failures": 0, "restart_count": 2, "rollout": "stable", "release": 2,
            "probation_ms": 12_000, "last_fault": FAULT, "name": name,
            "last_rollout": {"outcome": "failed", "release": 3, "reason": "it breaks callers"},
            "pid": os.getpid(), "command": ["python", "shop.py"], "session": "live", "degraded": False,
            "pending": 2, "queued": 0, "held_for_probe": 0, "spare": "none", "worker_pid": 4720,
            "counters": COUNTERS, "started": "2026-01-02T03:04:05Z", **fields,
        }  # fmt: skip

    def status(self) -> dict[str, Any]:
        return self.health

    async def restart(self) -> dict[str, Any]:
        if self.health.get("broken"):
            raise UsageError("the new worker did not come up", remedy="holdfast events")
        self.health["generation"] += 1
        return {"generation": self.health["generation"], "worker_pid": 4721}

    async def rollout(self, command: Any, *, accept_breaking: bool) -> dict[str, Any]:
        return {**await self.restart(), "release": 3}

    async def reinstall(self, seconds: float) -> dict[str, Any]:
        return {"pid": os.getpid()}

    def telemetry(self) -> dict[str, Any]:
        return {}

    def metrics(self) -> dict[str, str]:
        return {"text": ""}

    def stop(self) -> None:
        if not self.health.get("stubborn"):
            self.ended.set()


async def main(name: str, *words: str) -> None:
    fields = {key: json.loads(value) for key, value in (word.split("=", 1) for word in words)}
    host = PlayedHost(name, fields)
    registration = Registration.create(load_settings(), name, ["python", "shop.py"])
    server = ControlServer(host, registration)
    if not fields.get("deaf"):
        await server.start()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, host.ended.set)
    print("ready", flush=True)
    await host.ended.wait()
    await server.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
