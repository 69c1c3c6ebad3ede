"""Objects of FastMCP and of the official SDK as TARGET: found, refused, listed, called, locked and served."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.client.session import ClientSession
from holdfast.client.transports import ProcessTransport
from holdfast.errors import TargetError
from holdfast.worker.foreign import ForeignServer, foreign_server, looks_foreign
from holdfast.worker.targets import load_any, load_target

FILE = str(Path(__file__).with_name("foreign_objects.py"))
FAST = str(Path(__file__).with_name("foreign_fast.py"))
BOUND = 240

pytestmark = pytest.mark.timeout(300)  # these toolkits take their time to load


def holdfast(state: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "HOLDFAST_STATE_DIR": str(state), "HOLDFAST_CONFIG": "none"}
    return subprocess.run(
        [sys.executable, "-m", "holdfast", *words],
        capture_output=True,
        text=True,
        timeout=BOUND,
        check=False,
        env=environment,
        stdin=subprocess.DEVNULL,
        cwd=state,
    )


@pytest.mark.parametrize(
    ("target", "name", "is_low_level"),
    [
        (FAST, "fast", False),
        (f"{FAST}:mcp", "fast", False),
        (f"{FILE}:sdk", "high", False),
        (f"{FILE}:make_sdk", "high", False),
        (f"{FILE}:low", "low", True),
    ],
)
def test_a_server_of_another_toolkit_is_found(target: str, name: str, is_low_level: bool) -> None:
    found = load_any(target)
    assert isinstance(found, ForeignServer)
    assert (found.name, found.is_low_level) == (name, is_low_level)
    with pytest.raises(TargetError, match="another toolkit"):
        load_target(target)


@pytest.mark.parametrize(("attribute", "kind"), [("number", "an int"), ("pretender", "a Pretender")])
def test_what_is_no_server_is_refused_with_those_that_are(attribute: str, kind: str) -> None:
    with pytest.raises(TargetError, match=f"not a server but {kind}") as refused:
        load_any(f"{FILE}:{attribute}")
    assert all(f"{FILE}:{name}" in refused.value.remedy for name in ("sdk", "low"))


def test_of_several_servers_one_must_be_named() -> None:
    with pytest.raises(TargetError, match="2 servers"):
        load_any(FILE)


def test_an_object_that_answers_to_every_name_is_no_server() -> None:
    class Anything:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError(f"{name} was asked for")

    assert foreign_server(Anything()) is None
    assert foreign_server(ForeignServer) is None
    assert foreign_server(json) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from fastmcp import FastMCP\n", True),
        ("import mcp.server\n", True),
        ("from fastmcp import FastMCP\nfrom holdfast import Server\n", False),
        ("import os\n", False),
        ("import mcpx\n", False),
        ("", False),
    ],
)
def test_a_file_looks_foreign_by_what_it_imports(tmp_path: Path, text: str, expected: bool) -> None:
    file = tmp_path / "file.py"
    file.write_text(text)
    assert looks_foreign(str(file)) is looks_foreign(f"{file}:mcp") is expected
    assert not looks_foreign(str(tmp_path / "missing.py"))
    assert not looks_foreign("search")


@pytest.mark.parametrize("target", [FAST, f"{FILE}:low"])
def test_its_tools_are_called(tmp_path: Path, target: str) -> None:
    done = holdfast(tmp_path, "call", target, "add", "a=1", "b=2")
    assert (done.returncode, done.stdout.strip()) == (0, "3"), done.stderr


def test_its_tools_are_listed_and_its_contract_is_locked_and_compared(tmp_path: Path) -> None:
    target = f"{FILE}:sdk"
    listed = holdfast(tmp_path, "tools", target)
    assert listed.returncode == 0, listed.stderr
    assert listed.stdout.startswith("high 1.2.3: 1 tool")
    taken = holdfast(tmp_path, "contract", "snapshot", target, "-o", "snapshot.json")
    assert taken.returncode == 0, taken.stderr
    assert json.loads((tmp_path / "snapshot.json").read_text())["tools"][0]["name"] == "add"
    same = holdfast(tmp_path, "contract", "diff", "snapshot.json", target)
    assert same.returncode == 0, same.stdout + same.stderr


def test_it_is_served_by_its_own_transport_only(tmp_path: Path) -> None:
    refused = holdfast(tmp_path, "serve", "--standalone", "--mcp-mode", "legacy", f"{FILE}:low")
    assert refused.returncode == 2
    assert "low is served by its own transport" in refused.stderr


def test_a_file_that_is_none_is_refused_in_one_line(tmp_path: Path) -> None:
    refused = holdfast(tmp_path, "serve", "--standalone", f"{FILE}:number")
    assert refused.returncode == 2
    assert "is not a server but an int" in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_it_is_served_behind_the_host_in_both_eras(tmp_path: Path, revision: str) -> None:
    async def scenario() -> Any:
        words = (sys.executable, "-m", "holdfast", "serve", "--state-dir", str(tmp_path), f"{FILE}:sdk")
        session = ClientSession(ProcessTransport(words, grace=2.0), request_timeout=BOUND)
        async with session:
            await session.connect(revision=revision, timeout=BOUND)
            return await session.call_tool("add", {"a": 1, "b": 2}, timeout=BOUND)

    assert asyncio.run(scenario())["content"][0]["text"] == "3"
