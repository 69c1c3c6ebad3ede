"""The guide to watching a host does what it says: its commands are typed against the host that it starts."""

import json
import os
import re
import shlex
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.observe.ledger_page import ledger_page
from holdfast.observe.series import COUNTS
from holdfast.observe.telemetry import Telemetry
from holdfast.settings import SETTINGS
from holdfast.vocabulary.events import CallEnded

pytestmark = pytest.mark.xdist_group("observing")  # one host for all of them

ROOT = Path(__file__).parent.parent.parent
GUIDE = (ROOT / "docs/guides/observing.md").read_text(encoding="utf-8")
START, *COMMANDS = [
    line for block in re.findall(r"```sh\n(.*?)```", GUIDE, flags=re.DOTALL) for line in block.strip().splitlines()
]
SERVER = '''
from holdfast import Server

server = Server("inventory", version="1.0.0")


@server.tool()
def lookup(sku: str) -> str:
    """Find an item."""
    return sku


if __name__ == "__main__":
    server.run()
'''


class Running:
    """The host of the guide, and a port in the place of the one that it names."""

    def __init__(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = str(free.getsockname()[1])
        (folder / "inventory.py").write_text(SERVER)
        self.folder = folder
        self.environ = {**os.environ, "HOLDFAST_STATE_DIR": str(folder / "state"), "HOLDFAST_CONFIG": "none"}
        self.process = subprocess.Popen(
            self.words(START), cwd=folder, env=self.environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def words(self, command: str) -> list[str]:
        python = {"holdfast": [sys.executable, "-m", "holdfast"], "python": [sys.executable]}
        return [
            new for word in shlex.split(command.replace("9464", self.port)) for new in python.get(word, [word])
        ]

    def ask(self, number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def typed(self, command: str) -> str:
        if command.startswith("curl"):
            with urllib.request.urlopen(self.words(command)[-1], timeout=10) as answer:
                return str(answer.read().decode())
        done = subprocess.run(
            self.words(command),
            cwd=self.folder,
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    host = Running(tmp_path_factory.mktemp("observing"))
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "guide", "version": "1"}}
    with host.process:
        host.ask(1, "initialize", client)
        host.ask(2, "tools/call", {"name": "lookup", "arguments": {"sku": "A-1"}})
        yield host
        assert host.process.stdin is not None
        host.process.stdin.close()
        assert host.process.wait(20) == 0


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_guide_tells_something(running: Running, command: str) -> None:
    told = running.typed(command)

    assert "lookup" in told or "ready" in told
    if "--json" in command or "/health" in command:
        assert all(isinstance(json.loads(line), dict) for line in told.splitlines())


def test_the_guide_names_every_field_count_metric_and_flag_as_it_is() -> None:
    figures = Telemetry()
    figures.take(CallEnded(1, "1.1", "t", "ok", 1.0, method="tools/call", ended_by="worker", attempts=1))
    document = {**figures.snapshot({}, []), "tracing": {}}
    named = set(re.findall(r"`([a-z_]+)`", GUIDE))
    page = ledger_page(figures.ledger, {}, [], {}).decode()

    assert document.keys() | set(COUNTS) <= named
    assert set(re.findall(r"`(holdfast_[a-z_]+)`", GUIDE)) <= set(re.findall(r"# TYPE (\S+)", page))
    assert {"--metrics", "--otel"} <= {setting.flag for setting in SETTINGS}


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\((\.\./[^)#]+)\)", GUIDE))))
def test_the_links_of_the_guide_lead_to_files(target: str) -> None:
    assert (ROOT / "docs/guides" / target).resolve().is_file()
