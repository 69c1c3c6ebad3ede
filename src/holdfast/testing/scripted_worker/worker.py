"""The scripted worker's loop: reads lines, runs what they ask for, writes answers, lets faults happen.

What can be asked for and what can go wrong is handed in, so that neither `tools` nor `faults` is known here.
"""

import json
import os
import select
import signal
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from .messages import SERVER_INFO, Call, encoded, is_modern, tool_result
from .state import Dice, State

__all__ = ["FAILED", "INVALID_PARAMS", "LIFETIME", "Method", "Tool", "Trigger", "Worker", "die", "linger"]

Json = dict[str, Any]

METHOD_NOT_FOUND, INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, FAILED = -32601, -32602, -32600, -32700, -32000
LIFETIME = 900  # seconds after which a forgotten worker or grandchild ends by itself

Method = Callable[["Worker", Call], None]
Tool = Callable[["Worker", Call], Json | str | None]


class Trigger(Protocol):
    """A fault, as far as the loop knows it."""

    do: str
    arguments: Json

    def fires(self, moment: str, call: Call | None, number: int) -> bool:
        """Whether now is the time."""


class Worker:
    """The server: reads lines, answers them, and obeys the faults."""

    def __init__(
        self,
        script: Json,
        state: State,
        methods: Mapping[str, Method],
        tools: Mapping[str, tuple[Json, Tool]],
    ) -> None:
        self.state = state
        self.methods = methods
        self.tools = tools
        self.faults: list[tuple[Trigger, Callable[..., None]]] = []
        self.page_size: int = script.get("page_size", 0)
        self.records = bool(script.get("record"))
        self.dice = Dice(script.get("seed", 0), state.generation)
        self.traits: Json = {"tools": list(tools)}  # what faults have changed for good
        self.revision: str | None = None
        self.level: str | None = None
        self.subscriptions: list[str] = []
        self.last_id: Any = "none-yet"
        self._buffer = b""
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._count = self._requests = 0
        self._running: dict[str, Call] = {}
        self._asked: dict[str, Call | None] = {}

    # --- input -----------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Serve until the input ends."""
        self.fire("start")
        while True:
            self._run_due()
            pause = max(0.0, self._timers[0][0] - time.monotonic()) if self._timers else None
            readable, _, _ = select.select([0], [], [], pause)
            if not readable:
                continue
            self.fire("input")
            data = os.read(0, 65536)
            if not data:
                if self.traits.get("ignores_eof"):
                    linger()
                return
            *lines, self._buffer = (self._buffer + data).split(b"\n")
            for line in lines:
                self._receive(line)

    def _receive(self, line: bytes) -> None:
        if self.records:
            self.state.note("received", line=line.decode("utf-8", "backslashreplace"))
        try:
            message = json.loads(line)
        except ValueError:
            self.write(encoded({"id": None, "error": {"code": PARSE_ERROR, "message": "not JSON"}}))
            return
        for item in message if isinstance(message, list) else [message]:
            if not isinstance(item, dict):
                self.write(encoded({"id": None, "error": {"code": INVALID_REQUEST, "message": "no message"}}))
            elif "method" in item:
                self._dispatch(Call(item, line))
            elif (call := self._asked.pop(str(item.get("id")), None)) is not None:
                self._finish(call, {"response": item})

    def _dispatch(self, call: Call) -> None:
        self._requests += call.is_request
        call.number = self._requests
        self.fire("read", call)
        if not call.is_request:
            if call.method == "notifications/cancelled":
                self._cancel(call.params.get("requestId"))
            return
        method = self.methods.get(call.method)
        if method is None or (call.method == "tools/list" and self.traits.get("no_tools")):
            self.refuse(call, METHOD_NOT_FOUND, f"unknown method {call.method}")
        elif self.revision is None and call.method not in {"initialize", "ping"} and not is_modern(call):
            self.refuse(call, INVALID_REQUEST, f"{call.method} before the handshake")
        else:
            method(self, call)

    def _cancel(self, request_id: Any) -> None:
        call = self._running.get(json.dumps(request_id))
        if call is None:
            return
        self.fire("cancel", call)
        if call.heeds_cancel:
            call.is_open = False
            self._running.pop(call.key, None)
        if call.answers_cancel:
            self.answer(call, {"result": tool_result({"cancelled": True})})

    # --- work ------------------------------------------------------------------------------------------------

    def call_tool(self, call: Call) -> None:
        """Run a tool; its effect comes first, then the time that the caller asked for, then the answer."""
        tool = self.tools.get(str(call.tool)) if call.tool in self.traits["tools"] else None
        if tool is None:
            self.refuse(call, INVALID_PARAMS, f"unknown tool {call.tool}")
            return
        self._running[call.key] = call
        payload = tool[1](self, call)
        if payload is not None:
            self.fire("effect", call)
            self.later(call.arguments.get("seconds", 0), call, lambda: self._finish(call, payload))

    def ask(self, call: Call | None, method: str, params: Json) -> None:
        """Send a request to the client; its response is what the call, if there is one, returns."""
        self._count += 1
        request_id = f"ask-{self.state.generation}-{self._count}"
        self._asked[request_id] = call
        self.write(encoded({"id": request_id, "method": method, "params": params}))

    def step(self, call: Call, number: int, steps: int, pause: float) -> None:
        """One progress notice, and the next one later; after the last one the call ends."""
        if number > steps:
            self._finish(call, {"steps": steps})
            return
        self.notify_progress(call, number, steps)
        self.later(pause, call, lambda: self.step(call, number + 1, steps, pause))

    def notify_progress(self, call: Call, number: int, total: int) -> None:
        """One progress notice, if the caller asked for them."""
        token = call.meta.get("progressToken")
        if token is not None:
            params = {"progressToken": token, "progress": number, "total": total}
            self.write(encoded({"method": "notifications/progress", "params": params}))

    def later(self, seconds: float, call: Call, then: Callable[[], None]) -> None:
        """Do something after a time, unless the call is over by then."""
        if seconds <= 0:
            then()
            return
        self._count += 1
        self._timers.append((time.monotonic() + seconds, self._count, lambda: then() if call.is_open else None))
        self._timers.sort(key=lambda timer: timer[:2])

    def _run_due(self) -> None:
        while self._timers and self._timers[0][0] <= time.monotonic():
            self._timers.pop(0)[2]()

    def _finish(self, call: Call, payload: Json | str) -> None:
        if call.is_open:
            self.answer(call, {"result": tool_result(payload)})

    # --- output ----------------------------------------------------------------------------------------------

    def refuse(self, call: Call, code: int, message: str) -> None:
        """Answer with a JSON-RPC error."""
        self.answer(call, {"error": {"code": code, "message": message}})

    def answer(self, call: Call, body: Json) -> None:
        """Write the answer, unless a fault says otherwise."""
        call.is_open = False
        self._running.pop(call.key, None)
        if "result" in body and is_modern(call):
            meta = {"io.modelcontextprotocol/serverInfo": SERVER_INFO}
            body = {"result": {"resultType": "complete", **body["result"], "_meta": meta}}
        call.lines = [encoded({"id": call.id, **body})]
        self.fire("answer", call)
        if self.traits.get("is_mute"):
            return
        for line in call.lines:
            self.write(line if call.cut is None else line[: call.cut])
        if call.cut is not None:
            die(call.exit_code)
        self.last_id = call.id
        self.fire("answered", call)

    def write(self, data: bytes) -> None:
        """Write bytes to stdout, in as many pieces as ordered."""
        size: int | None = self.traits.get("split")
        rest = memoryview(data)
        while rest:
            piece = len(rest) if size is None else size or 1 + int(self.dice.roll() * 64)
            rest = rest[os.write(1, rest[:piece]) :]

    def fire(self, moment: str, call: Call | None = None) -> None:
        """Let every fault happen whose time is now."""
        for fault, action in self.faults:
            if fault.fires(moment, call, call.number if call else self._requests + 1):
                self.state.note("fired", do=fault.do, at=moment)
                action(self, call, **fault.arguments)


def linger(seconds: float | None = None) -> None:
    """Live on without doing anything, for a time or for good."""
    select.select([], [], [], seconds)


def die(code: int | None) -> None:
    """End at once: by an exit code, or by SIGKILL where there is none."""
    if code is not None:
        os._exit(code)
    os.kill(os.getpid(), signal.SIGKILL)
    linger()
