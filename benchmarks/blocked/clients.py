"""Raw MCP clients, so that no library adds its own patience: on stdio, over HTTP, and mcporter's program."""

import json
import os
import queue
import select
import subprocess
import threading
import time
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["HttpClient", "ProgramClient", "StdioClient", "pause"]

_HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


def pause(seconds: float) -> None:
    """Let time pass: here it is what is measured."""
    threading.Event().wait(seconds)


def _is_good(answer: Mapping[str, Any] | None) -> bool:
    return answer is not None and "result" in answer and not answer["result"].get("isError")


class StdioClient:
    """A session on the pipes of a process."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], folder: Path) -> None:
        with (folder / "stderr").open("wb") as stderr:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, env=dict(environment)
            )
        self._number = 0
        self._answers: dict[int, dict[str, Any]] = {}
        self._rest = b""

    def open(self, bound: float) -> None:
        """Shake hands."""
        if not _is_good(self._answer(self._send("initialize", _HELLO), bound)):
            raise RuntimeError("no handshake")
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def start(self, tool: str, arguments: Mapping[str, Any]) -> int:
        """Call a tool and do not wait."""
        return self._send("tools/call", {"name": tool, "arguments": dict(arguments)})

    def call(self, tool: str, arguments: Mapping[str, Any], bound: float) -> bool:
        """Whether a call is answered, and well, within a bound."""
        return _is_good(self._answer(self.start(tool, arguments), bound))

    def cancel(self, number: int) -> None:
        """Cancel a call."""
        self._write({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})

    def _send(self, method: str, params: Any) -> int:
        self._number += 1
        self._write({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        return self._number

    def _write(self, message: Any) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # no answer will come either

    def _answer(self, number: int, bound: float) -> dict[str, Any] | None:
        until = time.monotonic() + bound
        assert self.process.stdout is not None
        while number not in self._answers:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                return None
            data = os.read(self.process.stdout.fileno(), 65536)
            if not data:
                pause(min(left, 1.0))
                return None
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in filter(None, lines):
                message = json.loads(line)
                if "method" not in message:
                    self._answers[message.get("id")] = message
        return self._answers.pop(number)


class HttpClient:
    """A session over streamable HTTP."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._number = 0
        self._headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}

    def open(self, bound: float) -> None:
        """Shake hands; the server may still be on its way."""
        until = time.monotonic() + bound
        while time.monotonic() < until:
            try:
                self._post("initialize", _HELLO, 10.0)
                self._headers["mcp-protocol-version"] = _HELLO["protocolVersion"]  # type: ignore[assignment]
                self._post("notifications/initialized", None, 5.0, is_request=False)
            except OSError:
                pause(0.3)
            else:
                return
        raise RuntimeError("no handshake")

    def start(self, tool: str, arguments: Mapping[str, Any]) -> int:
        """Call a tool and do not wait."""
        threading.Thread(target=self.call, args=(tool, arguments, 300.0), daemon=True).start()
        pause(0.1)
        return self._number

    def call(self, tool: str, arguments: Mapping[str, Any], bound: float) -> bool:
        """Whether a call is answered, and well, within a bound."""
        found: queue.Queue[bool] = queue.Queue()

        def ask() -> None:
            try:
                found.put(_is_good(self._post("tools/call", {"name": tool, "arguments": dict(arguments)}, bound)))
            except (OSError, ValueError):
                found.put(False)  # noqa: FBT003

        threading.Thread(target=ask, daemon=True).start()
        try:
            return found.get(timeout=bound)
        except queue.Empty:
            return False

    def cancel(self, number: int) -> None:
        """Cancel a call."""
        self._post("notifications/cancelled", {"requestId": number}, 5.0, is_request=False)

    def _post(self, method: str, params: Any, bound: float, *, is_request: bool = True) -> dict[str, Any] | None:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        if is_request:
            self._number += 1
            message["id"] = self._number
        request = urllib.request.Request(self._url, json.dumps(message).encode(), self._headers)
        with urllib.request.urlopen(request, timeout=bound) as reply:
            session = reply.headers.get("mcp-session-id")
            if session:
                self._headers["mcp-session-id"] = session
            if not is_request:
                return None
            for line in reply:
                text = line.strip().removeprefix(b"data:").strip()
                if text.startswith(b"{"):
                    told: dict[str, Any] = json.loads(text)
                    if told.get("id") == message["id"]:
                        return told
        return None


class ProgramClient:
    """mcporter: a program per call, in front of a daemon that keeps the server."""

    def __init__(self, program: str, folder: Path, command: Sequence[str], environment: Mapping[str, str]) -> None:
        config = folder / "mcporter.json"
        entry = {"command": command[0], "args": list(command[1:]), "lifecycle": "keep-alive"}
        config.write_text(json.dumps({"mcpServers": {"backend": entry}, "imports": []}))
        self._command = [program, "--config", str(config)]
        self._environment = {**environment, "HOME": str(folder)}
        self._running: list[subprocess.Popen[bytes]] = []

    def open(self, bound: float) -> None:
        """Start the daemon."""
        self._run("daemon", "start", bound=bound)

    def start(self, tool: str, arguments: Mapping[str, Any]) -> int:
        """Call a tool and do not wait."""
        words = [*self._command, "call", f"backend.{tool}", "--timeout", "300000", *_words(arguments)]
        quiet: Any = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._running.append(subprocess.Popen(words, env=self._environment, **quiet))
        pause(1.5)  # that the program takes to get there
        return 0

    def call(self, tool: str, arguments: Mapping[str, Any], bound: float) -> bool:
        """Whether a call is answered, and well, within a bound."""
        words = ("call", f"backend.{tool}", "--timeout", str(round(bound * 1000)), *_words(arguments))
        return self._run(*words, bound=bound)

    def cancel(self, number: int) -> None:  # noqa: ARG002
        """Cancel a call: whoever has started the program interrupts it."""
        for process in self._running:
            process.terminate()

    def close(self) -> None:
        """Stop the daemon."""
        self._run("daemon", "stop", bound=10.0)

    def _run(self, *words: str, bound: float) -> bool:
        try:
            quiet: Any = {"stdin": subprocess.DEVNULL, "capture_output": True}
            done = subprocess.run(
                [*self._command, *words], env=self._environment, timeout=bound, check=False, **quiet
            )
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0 and b'"isError": true' not in done.stdout


def _words(arguments: Mapping[str, Any]) -> list[str]:
    return [f"{name}={value}" for name, value in arguments.items()]
