"""A command typed in a hostile repository starts, reaches, writes and loads only what is listed."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.hostile.places import HOLDFAST, Place, make_place
from tests.hostile.repositories import lose_a_blob, plant_everything
from tests.hostile.syscalls import SUPPORTED
from tests.hostile.tracer import Traced, trace

pytestmark = [
    pytest.mark.skipif(not SUPPORTED, reason="the tracer needs seccomp of Linux"),
    pytest.mark.xdist_group("hostile-repository"),
]

_SERVER = '''from holdfast import Server

server = Server("shop", version="1.0.0")


@server.tool()
def find(number: int) -> int:
    """Find an order."""
    return number
'''


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A hostile repository and an empty home; all commands of this file run in it, one after the other."""
    place = make_place(tmp_path_factory.mktemp("hostile"))
    plant_everything(place.repository, place.outside)
    lose_a_blob(place.repository, "lock.json")
    return place


def run(place: Place, *words: str, stdin: bytes = b"", cwd: Path | None = None) -> tuple[Traced, str, str]:
    """Run a command of ours to its end under watch; the trace, and what it printed."""
    with trace([HOLDFAST, *words], cwd=cwd or place.repository, environment=place.environment) as traced:
        try:
            out, errors = traced.process.communicate(stdin, timeout=50)
        except subprocess.TimeoutExpired:
            traced.process.kill()
            raise
    return traced, out.decode(errors="replace"), errors.decode(errors="replace")


def session(*calls: tuple[str, dict[str, Any]]) -> bytes:
    """A whole MCP session with these tool calls, as one piece of input."""
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    messages: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    ]
    for number, (name, arguments) in enumerate(calls, 2):
        params = {"name": name, "arguments": arguments}
        messages.append({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


COMMANDS: list[Sequence[str]] = [
    ("contract", "diff", "git:HEAD:lock.json", "lock.json"),
]
# The whole list runs with `make hostile`.
MORE_COMMANDS: list[Sequence[str]] = [
    ("search", "find order"),
    ("index", "build"),
    ("search", "find order", "--json"),
    ("index", "status"),
    ("config", "show"),
    ("doctor",),
    ("contract", "snapshot", "search"),
    ("triage", "list"),
    ("install", "search", "--client", "claude", "--yes", "--no-check"),
    ("ps",),
    ("events",),
    ("tools", "search"),
    ("call", "search", "search", "query=find order"),
    ("probe", "--only", "malformed", "search"),
    ("launch", "init", ".", "."),
]
if os.environ.get("HOLDFAST_HOSTILE") == "full":
    COMMANDS += MORE_COMMANDS


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_in_a_hostile_repository_does_only_what_is_listed(place: Place, words: Sequence[str]) -> None:
    traced, _, _ = run(place, *words)
    assert place.unlisted(traced.events) == []
    assert not (place.outside / "trapped").exists()


def test_a_search_server_in_a_hostile_repository_does_only_what_is_listed(place: Place) -> None:
    calls = session(("search", {"query": "find order"}), ("index_status", {}), ("build_index", {}))
    command = [HOLDFAST, "serve", "search"]
    with trace(command, cwd=place.repository, environment=place.environment) as traced:
        traced.stdin.write(calls)
        traced.stdin.flush()
        answers: dict[Any, Any] = {}
        while len(answers) < 5:
            message = json.loads(traced.stdout.readline())
            if "id" in message:
                answers[message["id"]] = message
        traced.process.communicate(timeout=50)
    assert "result" in answers[2], "the session itself works"
    assert place.unlisted(traced.events) == []
    assert not (place.outside / "trapped").exists()


def test_a_server_of_the_user_in_another_folder_imports_nothing_of_the_hostile_one(place: Place) -> None:
    mine = place.root / "mine"
    mine.mkdir()
    (mine / "shop_server.py").write_text(_SERVER)
    traced, out, _ = run(place, "call", str(mine / "shop_server.py"), "find", "number=7")
    assert "7" in out
    assert place.unlisted(traced.events) == []


def test_the_tracer_reports_a_trap_that_is_sprung(place: Place) -> None:
    command = [sys.executable, "-c", "import colorama"]
    with trace(command, cwd=place.repository, environment=place.environment) as traced:
        traced.process.communicate(timeout=50)
    mark = place.outside / "trapped"
    assert any(event.startswith("exec /bin/sh") or "/bin/sh" in event for event in place.unlisted(traced.events))
    assert any(str(mark) in event for event in place.unlisted(traced.events))
    mark.unlink(missing_ok=True)
