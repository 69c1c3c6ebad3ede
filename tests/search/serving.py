"""The search server as its clients meet it: `holdfast serve search` over real pipes, and what runs below it."""

import json
import os
import re
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from holdfast.testing import HostUnderTest
from holdfast.testing.marked import command_line, marked_processes

__all__ = ["CHILD", "FRONT", "QUICK", "WORKER", "SearchServer", "write_many"]

WORKER = ["-m", "holdfast", "serve", "--standalone"]
CHILD = ["-m", "holdfast.worker.isolated_child"]
FRONT = ["-m", "holdfast.search.http"]
QUICK = {"HOLDFAST_RESTART_DELAY": "0.01", "HOLDFAST_RESTART_DELAY_MAX": "0.05"}
_ANNOUNCED = re.compile(r"HTTP on (http://\S+)")


def write_many(root: Path, files: int = 100, functions: int = 30) -> None:
    """So many files that a build takes long enough to be met in its middle."""
    for number in range(files):
        body = "".join(
            f'def many_{number}_{part}(left, right):\n    """Adds {number} and {part}."""\n'
            "    for one in left:\n        print(one, right)\n    return left + right\n\n\n"
            for part in range(functions)
        )
        (root / f"many_{number}.py").write_text(body)


def _runs(line: list[str], command: list[str]) -> bool:
    """Whether a command line of Python is this one, whatever its flags are."""
    at = line.index("-m") if "-m" in line else len(line)
    return line[at : at + len(command)] == command


class SearchServer(HostUnderTest):
    """The server of one repository behind its host, and a client that has shaken hands with it."""

    def __init__(
        self, repo: Path, cache: Path, folder: Path, *words: str, environment: Mapping[str, str] | None = None
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        serve = ["serve", "search", f"--repo={repo}", f"--cache-dir={cache}", *words]
        command = [sys.executable, "-m", "holdfast", *serve]
        super().__init__(command, folder, environment={**QUICK, **(environment or {})})

    def __enter__(self) -> Self:
        super().__enter__()
        self.handshake()
        return self

    def below(self, command: list[str]) -> list[int]:
        """The processes of this server that run a command."""
        return [pid for pid in marked_processes(self.mark) if _runs(command_line(pid), command)]

    def kill(self, command: list[str]) -> None:
        """SIGKILL to every process that runs a command; there must be one."""
        found = self.below(command)
        assert found, f"no process runs {command}"
        for pid in found:
            os.kill(pid, signal.SIGKILL)

    def base(self) -> str:
        """Where HTTP is answered."""
        self.until(lambda: _ANNOUNCED.search(self.stderr()), what="the address")
        announced = _ANNOUNCED.search(self.stderr())
        assert announced is not None
        return announced[1]

    def search(self, query: str, **arguments: Any) -> dict[str, Any]:
        """The payload of a search that has to succeed."""
        return self.done("search", {"query": query, **arguments})

    def done(self, tool: str, arguments: dict[str, Any] | None = None, bound: float = 40.0) -> dict[str, Any]:
        """The payload of a call that has to succeed."""
        result = self.call(tool, arguments, bound)["result"]
        assert not result["isError"], result["content"][0]["text"]
        payload: dict[str, Any] = result["structuredContent"]
        return payload

    def refused(self, tool: str, arguments: dict[str, Any] | None = None) -> dict[str, Any]:
        """The envelope of a call that has to fail."""
        return self.failure(self.call(tool, arguments))

    def failure(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        """What the text of a failed call says."""
        assert answer["result"]["isError"] is True, answer
        told: dict[str, Any] = json.loads(answer["result"]["content"][0]["text"])
        return told

    def progress_of(self, token: str) -> list[dict[str, Any]]:
        """What was told of a call so far."""
        told = [message["params"] for message in self.messages if "params" in message]
        return [params for params in told if params.get("progressToken") == token]

    def begin(self, tool: str, phase: str, **arguments: Any) -> int:
        """Start a call and wait until it is in this phase."""
        token = f"{tool}-{phase}-{len(self.messages)}"
        number = self.start_call(tool, arguments, {"progressToken": token})
        self.until(lambda: any(told["phase"] == phase for told in self.progress_of(token)), what=phase)
        return number
