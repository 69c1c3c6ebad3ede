"""A host under test: a real process with a real client at its pipes, while its workers are killed.

The client has no threads: whoever writes or waits also reads, so that neither side can block the other. Everything
that is sent and received goes into a `ChurnLog`, so that a test can ask at any time whether a law was broken.

    with HostUnderTest.running(script().command(folder / "worker"), folder) as host:
        host.handshake()
        number = host.start_call("read")
        host.kill_worker()
        assert "result" in host.answer_of(number)
        host.assert_nothing_left()
"""

import itertools
import json
import os
import select
import signal
import subprocess
import time
import uuid
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from holdfast.interpreter import module_command
from holdfast.present.profile import LATEST_HANDSHAKE, META_CAPABILITIES, META_REVISION, MODERN
from holdfast.testing.churn_log import ChurnLog
from holdfast.testing.marked import MARK, command_line, marked_processes, memory_of

__all__ = ["BOUND", "HostUnderTest"]

BOUND = 20.0  # seconds after which what a test waits for is taken not to come
PIPE_SIZE = 64 * 1024
STDERR_KEPT = 2000

# What the client says to a server that asks it something.
ANSWERS: dict[str, Any] = {
    "ping": {},
    "roots/list": {"roots": []},
    "sampling/createMessage": {
        "role": "assistant",
        "content": {"type": "text", "text": "sampled"},
        "model": "scripted",
    },
    "elicitation/create": {"action": "decline"},
}


class HostUnderTest:
    """A server process, the client at its pipes, and everything that was said.

    `folder` gets the state directory of the host, its temporary directory and its stderr. `worker` is the command
    of the worker behind the host, by which `kill_worker` recognizes it; without a host it is the command itself.
    `messages` keeps the last `kept` messages. Leaving the `with` block kills whatever is left.
    """

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        *,
        worker: Sequence[str] | None = None,
        environment: Mapping[str, str] | None = None,
        kept: int = 10_000,
    ) -> None:
        self.folder = folder
        self.mark = uuid.uuid4().hex
        self.temporary = folder / "tmp"
        self.temporary.mkdir(parents=True, exist_ok=True)
        self.worker = list(command if worker is None else worker)
        self.log = ChurnLog()
        self.messages: deque[Any] = deque(maxlen=kept)
        self.answers = dict(ANSWERS)
        self.ended = False
        self._open: dict[str, Any] = {}  # answers by id, as JSON, that nobody has asked for yet
        self._meta: dict[str, Any] = {}
        self._numbers = itertools.count(1)
        self._incoming = bytearray()
        self._outgoing = bytearray()
        outer = {key: value for key, value in os.environ.items() if not key.startswith("HOLDFAST_")}
        own = {
            MARK: self.mark,
            "TMPDIR": str(self.temporary),
            "HOLDFAST_STATE_DIR": str(folder / "state"),
            "HOLDFAST_CONFIG": "none",  # no file on this machine has a say
        }
        with (folder / "stderr").open("wb") as stderr:
            self.process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env={**outer, **own, **(environment or {})},
                bufsize=0,
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._input, self._output = self.process.stdin, self.process.stdout
        os.set_blocking(self._input.fileno(), False)

    @classmethod
    def running(
        cls,
        worker: Sequence[str],
        folder: Path,
        *options: str,
        environment: Mapping[str, str] | None = None,
        kept: int = 10_000,
    ) -> Self:
        """`holdfast run OPTIONS -- WORKER`."""
        command = module_command("holdfast", "run", *options, "--", *worker, user_code=True)
        return cls(command, folder, worker=worker, environment=environment, kept=kept)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait(BOUND)
        deadline = time.monotonic() + BOUND
        while (left := marked_processes(self.mark)) and time.monotonic() < deadline:
            for pid in left:
                _signal(pid, signal.SIGKILL)
            select.select([], [], [], 0.005)
        self._input.close()
        self._output.close()

    # --- sending ---------------------------------------------------------------------------------------------

    def send(self, message: Mapping[str, Any]) -> None:
        """Send one message as it is; it is on its way when this returns, or waits until the host reads."""
        self.log.sent(message)
        self.send_raw(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    def send_raw(self, data: bytes) -> None:
        """Send bytes as they are."""
        self._outgoing += data
        self.turn(0.0)

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        """Send a request and return its id without waiting."""
        number = next(self._numbers)
        whole = dict(params or {})
        if self._meta:
            whole["_meta"] = {**self._meta, **whole.get("_meta", {})}
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": whole})
        return number

    def start_call(
        self, tool: str, arguments: Mapping[str, Any] | None = None, meta: Mapping[str, Any] | None = None
    ) -> int:
        """Send a tool call and return its id without waiting."""
        params: dict[str, Any] = {"name": tool, "arguments": dict(arguments or {})}
        return self.request("tools/call", {**params, "_meta": dict(meta)} if meta else params)

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send a notification."""
        self.send({"jsonrpc": "2.0", "method": method, "params": dict(params or {})})

    def cancel(self, number: int) -> None:
        """Tell the host that nobody waits for this request any more."""
        self.notify("notifications/cancelled", {"requestId": number})

    # --- waiting ---------------------------------------------------------------------------------------------

    def handshake(self, revision: str = LATEST_HANDSHAKE) -> dict[str, Any]:
        """Open the session, in either era; what the server says of itself."""
        if revision == MODERN:
            self._meta = {META_REVISION: MODERN, META_CAPABILITIES: {}}
            return self.answer_of(self.request("server/discover"))
        info = {"name": "churn", "version": "1.0.0"}
        can: dict[str, Any] = {"roots": {}, "sampling": {}, "elicitation": {}}
        params = {"protocolVersion": revision, "capabilities": can, "clientInfo": info}
        answer = self.answer_of(self.request("initialize", params))
        self.notify("notifications/initialized")
        return answer

    def call(self, tool: str, arguments: Mapping[str, Any] | None = None, bound: float = BOUND) -> dict[str, Any]:
        """Call a tool and wait for its answer, whichever it is."""
        return self.answer_of(self.start_call(tool, arguments), bound)

    def answer_of(self, number: int | str, bound: float = BOUND) -> dict[str, Any]:
        """The answer to this request, once; an AssertionError when it does not come in time."""
        key = json.dumps(number)
        self.until(lambda: key in self._open, bound, f"an answer to request {key}")
        answer: dict[str, Any] = self._open.pop(key)
        return answer

    @property
    def rest(self) -> bytes:
        """The beginning of a line whose end has not come."""
        return bytes(self._incoming)

    @property
    def unsent(self) -> int:
        """How many bytes wait for the host to read."""
        return len(self._outgoing)

    def drain(self) -> list[dict[str, Any]]:
        """The answers that came and that nobody has asked for; they are taken."""
        answers = list(self._open.values())
        self._open.clear()
        return answers

    def until(self, condition: Callable[[], object], bound: float = BOUND, what: str = "the condition") -> None:
        """Read until the condition holds; an AssertionError when it does not in time, or the output has ended."""
        deadline = time.monotonic() + bound
        while not condition():
            left = deadline - time.monotonic()
            if left <= 0 or self.ended:
                why = "the output has ended" if self.ended else f"not within {bound:g} s"
                raise AssertionError(f"{what} did not come: {why}; stderr: {self.stderr()}")
            self.turn(min(left, 0.01))

    def turn(self, bound: float) -> bool:
        """Read what is there and write what can be written; waits `bound` seconds at most. False: nothing was."""
        readers = [] if self.ended else [self._output]
        writers = [self._input] if self._outgoing else []
        readable, writable, _ = select.select(readers, writers, [], bound)
        if readable:
            self._read()
        if writable:
            self._write()
        return bool(readable or writable)

    def _read(self) -> None:
        data = os.read(self._output.fileno(), PIPE_SIZE)
        self.ended = not data
        self._incoming += data
        if b"\n" in data:
            *lines, self._incoming = self._incoming.split(b"\n")
            for line in lines:
                self._receive(bytes(line))
        if self.ended and self._incoming:
            self.log.read_noise(bytes(self._incoming))  # half a message is no message

    def _receive(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except ValueError:
            self.log.read_noise(line)
            return
        self.messages.append(message)
        self.log.received(message)
        if not isinstance(message, dict):
            return
        if "method" not in message:
            self._open[json.dumps(message.get("id"))] = message
        elif "id" in message:
            self._answer(message)

    def _answer(self, request: Mapping[str, Any]) -> None:
        result = self.answers.get(request["method"])
        refusal = {"error": {"code": -32601, "message": "unknown method"}}
        answer = {"jsonrpc": "2.0", "id": request["id"], **(refusal if result is None else {"result": result})}
        self._outgoing += json.dumps(answer).encode() + b"\n"  # written in the next turn: this one is reading

    def _write(self) -> None:
        try:
            del self._outgoing[: os.write(self._input.fileno(), self._outgoing[:PIPE_SIZE])]
        except BrokenPipeError:
            self._outgoing.clear()  # nobody reads any more, which the end of the output tells better

    # --- processes -------------------------------------------------------------------------------------------

    def worker_pids(self) -> list[int]:
        """The living processes that run the worker's command, oldest number first."""
        return sorted(pid for pid in marked_processes(self.mark) if command_line(pid) == self.worker)

    def worker_pid(self) -> int:
        """The worker's own word for its process; a call of its `pid` tool."""
        answer = self.call("pid")
        return int(answer["result"]["structuredContent"]["pid"])

    def kill_worker(self, number: signal.Signals = signal.SIGKILL) -> list[int]:
        """Send a signal to every process that runs the worker's command; those that were there to get it."""
        return [pid for pid in self.worker_pids() if _signal(pid, number)]

    def memory(self) -> int:
        """The resident memory of the host in bytes."""
        return memory_of(self.process.pid)

    def stderr(self) -> str:
        """The end of what the host and its workers wrote to stderr."""
        return (self.folder / "stderr").read_text(errors="replace")[-STDERR_KEPT:]

    # --- ending ----------------------------------------------------------------------------------------------

    def close(self, bound: float = BOUND) -> int:
        """Close the host's input, read to the end of its output, and wait for its exit code."""
        deadline = time.monotonic() + bound
        while self._outgoing and not self.ended and time.monotonic() < deadline:
            self.turn(0.05)
        self._input.close()
        self._outgoing.clear()
        while not self.ended and time.monotonic() < deadline:
            self.turn(0.05)
        return self.process.wait(max(0.1, deadline - time.monotonic()))

    def disconnect(self) -> None:
        """Go away without a word, as a client that died."""
        self._input.close()
        self._output.close()
        self._outgoing.clear()
        self.ended = True

    def leftovers(self) -> list[str]:
        """What the host has left behind: processes and temporary files, in words."""
        living = [f"process {pid}: {' '.join(command_line(pid))}" for pid in marked_processes(self.mark)]
        return living + [f"file {path}" for path in sorted(self.temporary.rglob("*"))]

    def assert_nothing_left(self, bound: float = 5.0, exit_code: int | None = 0) -> None:
        """Fail unless the host ends as it should (None: however it likes) and leaves nothing behind in time."""
        code = self.close(bound + BOUND) if not self._input.closed else self.process.wait(BOUND)
        deadline = time.monotonic() + bound
        while self.leftovers() and time.monotonic() < deadline:
            select.select([], [], [], 0.01)
        assert not self.leftovers(), f"left behind: {self.leftovers()}"
        assert exit_code is None or code == exit_code, f"exit code {code}; stderr: {self.stderr()}"


def _signal(pid: int, number: signal.Signals) -> bool:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False  # it ended by itself meanwhile
    return True
