"""The model server on stdio: `python -I -S model_server.py FAULT`. One thread, one loop, no slow library."""

import json
import os
import select
import signal
import sys
import time
from typing import Any

sys.path.append(os.path.dirname(os.path.abspath(__file__)))

from model_core import INVALID, Core, Json, Later, RefusedError, error_of  # type: ignore[import-not-found]

LIFETIME = 30  # seconds after which whatever a failed test left behind ends


class Pending:
    """A call in flight."""

    def __init__(self, request_id: Any, later: Any) -> None:
        self.id, self.later = request_id, later
        self.end = time.monotonic() + later.seconds
        self.steps = [(self.end - later.seconds * 0.6, 1), (self.end - later.seconds * 0.3, 2)]
        self.is_cancelled = False


class Program:
    """The loop around the model."""

    def __init__(self, fault: str) -> None:
        self.core = Core(fault)
        self.pending: list[Pending] = []
        self.held: list[Json] = []
        self.finished: set[str] = set()
        self.child = 0
        self.asked_at_once = 0

    def run(self) -> None:
        """Serve until the input ends and nothing is in flight."""
        self._prepare()
        rest, is_open = bytearray(), True
        while is_open or self.pending:
            ready = select.select([0] if is_open else [], [], [], self._patience())[0]
            if ready:
                data = os.read(0, 1 << 16)
                is_open = bool(data)
                rest += data
                if b"\n" in data:
                    *lines, last = bytes(rest).split(b"\n")
                    rest = bytearray(last)
                    for line in lines:
                        self._line(line)
            self._advance()
            if not is_open:
                break
        self._leave(rest)

    def _prepare(self) -> None:
        signal.alarm(LIFETIME)
        if self.core.has("output.clean"):
            os.write(1, b"Listening on stdio ...\n")
        if self.core.has("ending.sigterm"):
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if self.core.has("orphans.sigterm"):
            signal.signal(signal.SIGTERM, self._leave_an_orphan)
        if self.core.has("orphans.sigkill"):
            self._orphan()
            signal.signal(signal.SIGTERM, self._leave_none)

    def _leave_an_orphan(self, *_: Any) -> None:
        self._orphan()
        os._exit(0)

    def _leave_none(self, *_: Any) -> None:
        os.kill(self.child, signal.SIGKILL)
        os._exit(0)

    def _orphan(self) -> None:
        self.child = os.fork()
        if self.child == 0:
            os.setsid()
            os.closerange(0, 3)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.alarm(LIFETIME)
            signal.pause()

    def _leave(self, rest: bytearray) -> None:
        if self.core.has("orphans.eof"):
            self._orphan()
        elif self.child:
            os.kill(self.child, signal.SIGKILL)
        stays = (
            (self.core.has("ending.half-line") and rest)
            or (self.core.has("ending.eof-busy") and self.pending)
            or (self.core.has("ending.eof") and not rest and not self.pending)
        )
        if stays:
            signal.pause()

    def _patience(self) -> float:
        return 0.02 if self.pending else 5.0

    def _line(self, line: bytes) -> None:
        if self.core.has("malformed.line-ends") and line.endswith(b"\r") and len(line) > 1:
            return
        if not line.strip():
            return
        request_id = None
        try:
            value = self.core.read(line)
            message = None if value is None else self.core.checked(value)
            if message is None:
                return
            request_id = message.get("id")
            self._message(message, request_id)
        except RefusedError as refused:
            self._write(error_of(refused, request_id))

    def _message(self, message: Json, request_id: Any) -> None:
        if message["method"] == "notifications/cancelled":
            self._cancel(message.get("params", {}).get("requestId"))
            return
        is_twin = "id" in message and any(item.id == request_id for item in self.pending)
        if is_twin and not self.core.has("ids.in-flight-twice"):
            raise RefusedError(INVALID, "this id is in flight", request_id)
        answer = self.core.answer(message)
        if isinstance(answer, Later):
            self.pending.append(Pending(request_id, answer))
        elif answer is not None:
            self._answer(request_id, answer)

    def _answer(self, request_id: Any, answer: Json) -> None:
        core = self.core
        shown = request_id
        if core.has("ids.text-and-number") and request_id == "4711":
            shown = 4711
        if core.has("ids.exact") and isinstance(request_id, str):
            shown = request_id[:100]
        if core.has("ids.big") and isinstance(request_id, int):
            shown = int(float(request_id))
        whole = {"jsonrpc": "2.0", "id": shown, "result": answer}
        if core.has("overload.busy") and request_id == "asked":
            self.held.append(whole)
            return
        self._write(whole)
        self.finished.add(json.dumps(request_id))
        if core.has("overload.calls") and request_id == "call-7":
            self._write(whole)

    def _cancel(self, request_id: Any) -> None:
        if request_id is None and self.core.has("cancellation.malformed"):
            os._exit(3)
        if self.core.has("cancellation.unknown-id") and request_id == "never-used":
            raise RefusedError(INVALID, "nothing to cancel")
        if self.core.has("cancellation.finished-id") and json.dumps(request_id) in self.finished:
            self._write({"jsonrpc": "2.0", "id": request_id, "result": {}})
        for item in self.pending:
            if item.id == request_id and not (self.core.has("cancellation.stops") and item.later.token is None):
                item.is_cancelled = True
        if not self.core.has("cancellation.no-progress-after"):
            self.pending = [item for item in self.pending if not item.is_cancelled]

    def _advance(self) -> None:
        now = time.monotonic()
        for item in tuple(self.pending):
            while item.steps and item.steps[0][0] <= now:
                self._progress(item, item.steps.pop(0)[1])
            if item.end <= now:
                self._finish(item)
        if not self.pending:
            for whole in self.held:
                self._write(whole)
            self.held = []

    def _progress(self, item: Pending, number: int) -> None:
        token = item.later.token
        if token is None and self.core.has("progress.unasked"):
            token = "nobody"
        if token is not None:
            number = 1 if self.core.has("progress.valid") else number
            params = {"progressToken": token, "progress": number, "total": 2}
            self._write({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})

    def _finish(self, item: Pending) -> None:
        if item.later.result is None and self.core.has("calls.deadline"):
            item.end += LIFETIME
            return
        self.pending.remove(item)
        if item.is_cancelled:
            return
        result = item.later.result or {"content": [{"type": "text", "text": "it took too long"}], "isError": True}
        self._answer(item.id, result)

    def _write(self, message: Json) -> None:
        data = memoryview(json.dumps(message).encode() + b"\n")
        while data:
            data = data[os.write(1, data) :]


if __name__ == "__main__":
    try:
        Program(sys.argv[1] if len(sys.argv) > 1 else "").run()
    except BrokenPipeError:
        os._exit(0)
