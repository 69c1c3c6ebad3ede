"""What MCP Inspector's command line makes of a server: one process, one question, one answer."""

import json
import sys
from pathlib import Path
from typing import Any

from tests.clients.journeys import SERVER, node, package, server_environment, survivors

TOOL_ERROR = 5  # the Inspector's exit code for an answer that is a tool error


class Inspector:
    """The Inspector in front of a server in `mode`; afterwards nothing of that server may be left."""

    def __init__(self, directory: Path, mode: str) -> None:
        self._directory = directory
        environment = server_environment(directory, mode).items()
        self._settings = [word for name, value in environment for word in ("-e", f"{name}={value}")]

    def ask(self, *options: str) -> tuple[int, dict[str, Any], str]:
        """The exit code, the answer and the remarks."""
        program = package("@modelcontextprotocol/inspector") / "clients" / "launcher" / "build" / "index.js"
        command = ["--cli", *self._settings, sys.executable, str(SERVER)]
        done = node(str(program), *command, "--format", "json", *options)
        assert survivors(self._directory) == []
        return done.returncode, json.loads(done.stdout), done.stderr


def test_the_inspector_finds_nothing_to_remark_in_the_schemas(tmp_path: Path) -> None:
    code, answer, remarks = Inspector(tmp_path, "native").ask("--method", "tools/list", "--strict")
    assert (code, remarks) == (0, "")
    assert answer.keys() == {"result"}, "schema findings"
    assert answer["result"]["tools"][0]["_meta"]["io.holdfast/contract"]["version"] == "1.4.0"


def test_the_inspector_calls_a_tool(tmp_path: Path) -> None:
    options = ("--method", "tools/call", "--tool-name", "describe", "--tool-arg", "sku=A-1", "limit=1")
    code, answer, _ = Inspector(tmp_path, "native").ask(*options)
    assert code == 0
    assert answer["result"]["structuredContent"]["shelves"] == [{"row": 1, "label": "left"}]


def test_the_inspector_shows_a_declared_error_without_a_handshake(tmp_path: Path) -> None:
    options = ("--method", "tools/call", "--tool-name", "describe", "--tool-arg", "sku=B-2")
    code, answer, _ = Inspector(tmp_path, "sdk").ask(*options, "--protocol-era", "modern")
    assert code == TOOL_ERROR
    assert answer["result"]["content"][0]["text"].startswith("error NOT_FOUND: no such article")
