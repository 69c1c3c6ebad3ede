"""What MCP Inspector's command line makes of a server: one process, one question, one answer."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.clients.journeys import node, package, server_command, server_environment, survivors

TOOL_ERROR = 5  # the Inspector's exit code for an answer that is a tool error


class Inspector:
    """The Inspector in front of a server in `mode`; afterwards nothing of that server may be left."""

    def __init__(self, directory: Path, mode: str, *, hosted: bool = False) -> None:
        self._directory = directory
        self._server = server_command(hosted=hosted)
        environment = server_environment(directory, mode).items()
        self._settings = [word for name, value in environment for word in ("-e", f"{name}={value}")]

    def ask(self, *options: str) -> tuple[int, dict[str, Any], str]:
        """The exit code, the answer and the remarks."""
        program = package("@modelcontextprotocol/inspector") / "clients" / "launcher" / "build" / "index.js"
        done = node(str(program), "--cli", *options, *self._settings, "--format", "json", "--", *self._server)
        assert survivors(self._directory) == []
        return done.returncode, json.loads(done.stdout), done.stderr


def test_the_inspector_finds_nothing_to_remark_in_the_schemas(tmp_path: Path) -> None:
    inspector = Inspector(tmp_path, "native", hosted=True)
    code, answer, remarks = inspector.ask("--method", "tools/list", "--strict")
    assert (code, remarks) == (0, "")
    assert answer.keys() == {"result"}, "schema findings"
    assert answer["result"]["tools"][0]["_meta"]["io.holdfast/contract"]["version"] == "1.4.0"


def test_the_inspector_calls_a_tool(tmp_path: Path) -> None:
    options = ("--method", "tools/call", "--tool-name", "describe", "--tool-arg", "sku=A-1", "limit=1")
    code, answer, _ = Inspector(tmp_path, "native").ask(*options)
    assert code == 0
    assert answer["result"]["structuredContent"]["shelves"] == [{"row": 1, "label": "left"}]


@pytest.mark.parametrize(("mode", "hosted"), [("sdk", False), ("native", True)], ids=["standalone", "hosted"])
def test_the_inspector_shows_a_declared_error_without_a_handshake(tmp_path: Path, mode: str, hosted: bool) -> None:
    options = ("--method", "tools/call", "--tool-name", "describe", "--tool-arg", "sku=B-2")
    code, answer, _ = Inspector(tmp_path, mode, hosted=hosted).ask(*options, "--protocol-era", "modern")
    assert code == TOOL_ERROR
    assert answer["result"]["content"][0]["text"].startswith("error NOT_FOUND: no such article")
