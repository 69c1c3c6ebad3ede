"""Rules of the contracts that are not seen on the wire, or that need more than an exchange to be proven."""

import ast
import asyncio
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from tests.contract.server_under_test import build

import holdfast
from holdfast.contract.snapshot import snapshot, write_snapshot
from holdfast.errors import CODES, UsageError
from holdfast.present.dialects import OUTPUT_TAIL_BYTES, Dialect, failure
from holdfast.process import run, spawn
from holdfast.process.windows import Job, WindowsProcess, taskkill_command
from holdfast.settings import Settings, load_settings
from holdfast.testing import connect
from holdfast.vocabulary.faults import fault

SOURCE = Path(holdfast.__file__).parent
SERVER = Path(__file__).parent / "server_under_test.py"

PUBLIC_CODES = (
    "INVALID_REQUEST",
    "NOT_FOUND",
    "NO_INDEX",
    "CAPABILITY_MISSING",
    "QUEUE_OVERLOADED",
    "TOOL_TIMEOUT",
    "CANCELLED",
    "INTERNAL",
    "UNAUTHORIZED",
    "FORBIDDEN",
    "DOWNLOAD_VERIFY_FAILED",
    "ARCHIVE_UNSAFE",
    "ARCHIVE_TOO_LARGE",
)

WITHOUT_SDK = """
import runpy, sys
sys.modules["mcp_types"] = None  # as if it were not installed
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def _imports(module: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{name.name}" for name in node.names}
    return found


@pytest.mark.requirement("S0-6-codes")
def test_every_public_code_has_a_meaning_and_a_remedy() -> None:
    for code in PUBLIC_CODES:
        assert CODES[code].meaning.endswith(".")
        assert CODES[code].remedy


@pytest.mark.requirement("S0-5.2-output-trimmed")
def test_captured_output_of_a_failure_is_trimmed_and_bounded() -> None:
    details = {"stderr": "\n  the end \n", "stdout": "x" * 100_000}
    document = failure(Dialect.POC, fault("NOT_FOUND", "gone", details=details))
    assert document["stderr"] == "the end"
    assert len(document["stdout"].encode()) <= OUTPUT_TAIL_BYTES


@pytest.mark.requirement("S0-10-schema-snapshot")
def test_the_snapshot_holds_names_required_fields_and_versions_and_repeats_exactly() -> None:
    document = snapshot(build().surface)
    names = [tool["name"] for tool in document["tools"]]
    assert names == sorted(names)
    for tool in document["tools"]:
        assert tool["description"]
        assert tool["inputSchema"]["type"] == "object"
        assert isinstance(tool["schemaVersion"], int)
    assert write_snapshot(build().surface) == write_snapshot(build().surface)


@pytest.mark.requirement("S1-3.4-single-source")
def test_one_constant_is_the_version_of_the_surface_everywhere() -> None:
    server = build(surface_version="9.8.7")

    async def scenario() -> tuple[Any, Any, Any]:
        async with connect(server, revision=None) as client:
            welcome = await client.handshake("2025-11-25")
            listed = await client.request("tools/list")
            refused = await client.call("refuse", code="NOT_FOUND")
        return welcome["result"], listed["result"], refused.payload

    welcome, listed, refused = asyncio.run(scenario())
    published = {
        welcome["capabilities"]["experimental"]["contract"]["schemaVersion"],
        refused["_meta"]["schemaVersion"],
        snapshot(server.surface)["schemaVersion"],
        *(tool["_meta"]["io.holdfast/contract"]["surfaceVersion"] for tool in listed["tools"]),
    }
    assert published == {"9.8.7"}


@pytest.mark.requirement("S1-6.3-legacy-selected")
def test_legacy_framing_is_never_chosen_unless_it_is_named() -> None:
    assert load_settings(environ={}).mcp_mode == "native"
    assert load_settings(environ={"HOLDFAST_MCP_MODE": "legacy"}).mcp_mode == "legacy"
    with pytest.raises(UsageError, match="HOLDFAST_MCP_MODE"):
        load_settings(environ={"HOLDFAST_MCP_MODE": "content-length"})


@pytest.mark.requirement("OURS-19-grace")
@pytest.mark.requirement("S1-6.10.1-queue-max")
@pytest.mark.requirement("S1-6.10.1-buffer")
@pytest.mark.requirement("S1-6.10.2-default")
def test_the_limits_have_their_contracted_defaults() -> None:
    settings = Settings()
    assert settings.queue_max == 64
    assert settings.max_message_bytes == 8 * 1024 * 1024
    assert settings.tool_timeout == 120.0
    assert settings.kill_grace == 2.0


@pytest.mark.requirement("S1-6.2-sdk-fails-fast")
@pytest.mark.requirement("S1-6.3-no-fallback")
def test_sdk_mode_without_the_sdk_ends_with_one_clear_line_and_tells_the_client(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_SDK, str(SERVER)],
        input=b'{"jsonrpc":"2.0","method":"notifications/x"}\n{"jsonrpc":"2.0","id":"a","method":"initialize"}\n',
        env={**os.environ, "HOLDFAST_MCP_MODE": "sdk", "HOLDFAST_STATE_DIR": str(tmp_path)},
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert done.returncode == 2
    answer = json.loads(done.stdout)
    assert (answer["id"], answer["error"]["data"]["code"]) == ("a", "CAPABILITY_MISSING")
    assert "it is not installed: pip install 'holdfast[sdk]'" in answer["error"]["message"]
    assert len(done.stderr.splitlines()) == 1
    assert b"pip install 'holdfast[sdk]'" in done.stderr


@pytest.mark.requirement("S1-6.2-sdk-framing")
def test_sdk_mode_uses_the_sdks_server_and_transport_and_no_framing_of_its_own() -> None:
    modules = sorted((SOURCE / "worker").glob("sdk*.py"))
    imported = set[str]().union(*map(_imports, modules))
    assert "mcp.server.stdio.stdio_server" in imported
    assert "mcp.server.lowlevel.Server" in imported
    assert not any("framing" in name for name in imported)


@pytest.mark.requirement("S0-P2-2-one-primitive")
def test_only_the_process_room_ends_processes() -> None:
    killers = {"kill", "killpg", "terminate", "send_signal"}
    # Itself, the question whether a process is there, and a host that is asked to end and then ends its own tree.
    others = r"os\.kill\(os\.getpid\(\), .*|os\.kill\(pid, 0\)|os\.kill\(record\.pid, signal\.SIGTERM\)"
    for module in SOURCE.rglob("*.py"):
        # The test kit and the probe send signals to see what happens; both end trees through the process room.
        if module.relative_to(SOURCE).parts[0] in {"process", "testing", "probe"}:
            continue
        text = module.read_text()
        if not any(f".{word}" in text for word in killers):  # most modules, which need not be parsed
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in killers:
                assert re.fullmatch(others, ast.unparse(node)), module


@pytest.mark.requirement("S0-P2-3.1-own-group")
def test_a_subprocess_leads_a_process_group_of_its_own() -> None:
    program = "import json, os; print(json.dumps([os.getpid(), os.getpgid(0)]))"
    done = asyncio.run(run([sys.executable, "-c", program]))
    pid, group = json.loads(done.stdout)
    assert group == pid
    assert group != os.getpgid(0)


@pytest.mark.requirement("S0-P2-3.2-ladder")
def test_a_tree_is_asked_to_end_and_killed_only_when_it_does_not() -> None:
    async def stop(script: str) -> tuple[str, bool]:
        process = await spawn(["sh", "-c", script], stdout="pipe", grace=0.2)
        assert process.stdout is not None
        await process.stdout.readline()
        outcome = await process.stop(grace=20.0 if "exit" in script else 0.2)
        return outcome.describe(), outcome.killed

    willing = asyncio.run(stop("trap 'exit 3' TERM; echo ready; while :; do sleep 600 & wait $!; done"))
    stubborn = asyncio.run(stop("trap '' TERM; echo ready; while :; do sleep 600 & wait $!; done"))
    assert willing[0] == "exit code 3"
    assert stubborn == ("ended by SIGKILL", True)


@pytest.mark.requirement("S0-P2-3.3-already-gone")
def test_stopping_a_process_that_has_ended_is_no_error() -> None:
    async def scenario() -> None:
        process = await spawn(["true"])
        ended = await process.wait()
        assert (await process.stop()).returncode == ended.returncode == 0

    asyncio.run(scenario())


@pytest.mark.requirement("S0-P2-5-exit-event")
def test_whoever_waits_for_an_aborted_parent_is_told_of_its_end() -> None:
    async def scenario() -> None:
        parent = await spawn(["sh", "-c", "sleep 600 & echo ready; wait"], stdout="pipe", grace=20.0)
        waiting = asyncio.ensure_future(parent.wait())
        assert parent.stdout is not None
        await parent.stdout.readline()
        assert not waiting.done()
        stopped = await parent.stop()
        assert await asyncio.wait_for(waiting, 20) == stopped
        assert stopped.describe() == "ended by SIGTERM"

    asyncio.run(scenario())


@pytest.mark.requirement("S0-P2-4.1-taskkill")
def test_the_command_that_would_run_on_windows_ends_the_whole_tree_by_force() -> None:
    assert taskkill_command(4711) == ["taskkill", "/pid", "4711", "/T", "/F"]


class NoJob:
    """In place of a job object, which only Windows has."""

    def close(self) -> None:
        """There are no members."""


@pytest.mark.requirement("S0-P2-4.2-already-exited")
def test_a_taskkill_that_finds_the_process_ended_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = tmp_path / "taskkill"  # what Windows' own answers when the process ends just before it looks
    stand_in.write_text('#!/bin/sh\nkill -KILL "$2"\necho "ERROR: The process $2 not found." >&2\nexit 128\n')
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    async def scenario() -> None:
        deaf = ["sh", "-c", "trap '' HUP; echo ready; exec sleep 600"]  # HUP is the number of CTRL_BREAK
        process = await asyncio.create_subprocess_exec(*deaf, stdout=subprocess.PIPE)
        assert process.stdout is not None
        await process.stdout.readline()
        outcome = await WindowsProcess(process, cast("Job", NoJob()), grace=0.05).stop()
        assert (outcome.stopped, outcome.killed, outcome.survivors) == (True, True, ())
        others = asyncio.all_tasks() - {asyncio.current_task()}
        assert {*await asyncio.gather(*others)} <= {None}  # whoever ran the stand-in does not mind its answer

    asyncio.run(scenario())
