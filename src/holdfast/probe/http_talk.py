"""A server behind an address: every message is a POST of its own, and all that comes back lands in one inbox."""

import asyncio
from collections.abc import Mapping
from typing import Any

from holdfast.probe.http1 import exchange, head_of
from holdfast.probe.model import Options
from holdfast.probe.talk import Delivery, Talk
from holdfast.probe.target import HttpTarget
from holdfast.probe.transcript import Transcript
from holdfast.wire.codec import encode

__all__ = ["HttpTalk"]

SESSION = "mcp-session-id"
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


class HttpTalk(Talk):
    """Streamable HTTP; a session of its own where the server has sessions."""

    transport = "http"

    def __init__(self, options: Options, transcript: Transcript, target: HttpTarget) -> None:
        super().__init__(options, transcript)
        self.target = target
        self.session_id = ""
        self._tasks: set[asyncio.Task[None]] = set()

    def headers(self) -> dict[str, str]:
        """What every POST of this session carries."""
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self.session_id:
            headers["Mcp-Session-Id"] = self.session_id
        if self.revision:
            headers["MCP-Protocol-Version"] = self.revision
        return headers

    async def write(self, data: bytes) -> Delivery:
        """POST these bytes."""
        return await self.post(data)

    async def send(self, message: Any) -> Delivery:
        """POST one message, with the headers that its era wants."""
        extra: dict[str, str] = {}
        if self.meta and isinstance(message, dict) and "method" in message:
            extra["Mcp-Method"] = str(message["method"])
            name = message.get("params", {}).get(NAMED.get(message["method"], ""))
            if isinstance(name, str) and name.isascii() and name.isprintable():
                extra["Mcp-Name"] = name
        delivery = await self.post(encode(message), extra)
        delivery.opens_session = isinstance(message, dict) and message.get("method") == "initialize"
        return delivery

    async def post(self, data: bytes, headers: Mapping[str, str] | None = None) -> Delivery:
        """POST these bytes with other headers on top of the usual ones; an empty value leaves a header out."""
        return await self.begin("POST", data, {**self.headers(), **(headers or {})})

    async def begin(self, method: str, data: bytes, headers: Mapping[str, str]) -> Delivery:
        """Start any exchange; it goes on while the check does something else."""
        delivery, _ = self._start(method, data, headers)
        await asyncio.sleep(0)
        return delivery

    async def whole(self, method: str, data: bytes, headers: Mapping[str, str]) -> Delivery:
        """One exchange, waited for until its head is there, or the time is up."""
        delivery = await self.begin(method, data, headers)
        await self.wait(lambda: delivery.status or delivery.is_done or None, self.options.timeout)
        return delivery

    async def closed_early(self, message: Any) -> None:
        """POST a request and close the connection without waiting for its answer."""
        extra = {"Mcp-Method": message["method"], "Mcp-Name": message["params"].get("name", "")}
        headers = {**self.headers(), **(extra if self.meta else {})}
        _, task = self._start("POST", encode(message), headers)
        await self.wait(lambda: None, self.options.settle)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        self.transcript.note("the connection is closed by the client")

    async def close(self) -> None:
        """End the session and every exchange."""
        if self.session_id and self.revision:
            delivery = await self.whole("DELETE", b"", {"Mcp-Session-Id": self.session_id})
            self.transcript.note(f"the session is deleted: HTTP {delivery.status}")
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _start(
        self, method: str, data: bytes, headers: Mapping[str, str]
    ) -> tuple[Delivery, "asyncio.Task[None]"]:
        wanted = {name: value for name, value in {**self.target.headers, **headers}.items() if value}
        if data:
            wanted["Content-Length"] = str(len(data))
        self.transcript.note(f"{method} {_shown(headers)}".rstrip())
        if data:
            self.transcript.sent(data)
        delivery = Delivery()
        task = asyncio.ensure_future(self._carry_out(head_of(self.target.parts, method, wanted) + data, delivery))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return delivery, task

    async def _carry_out(self, request: bytes, delivery: Delivery) -> None:
        pending = bytearray()

        def on_head() -> None:
            self.transcript.note(f"HTTP {delivery.status} {delivery.headers.get('content-type', '')}".rstrip())
            if delivery.opens_session and delivery.status == 200:
                self.session_id = delivery.headers.get(SESSION, "")
            self._tell()

        def on_body(data: bytes) -> None:
            pending.extend(data)
            if _is_stream(delivery):
                self._take_events(pending)

        try:
            await exchange(self.target.parts, request, delivery, on_head=on_head, on_body=on_body)
        finally:
            self._finish(delivery, pending)

    def _finish(self, delivery: Delivery, pending: bytearray) -> None:
        if delivery.failure:
            self.transcript.note(f"the connection failed: {delivery.failure}")
        if _is_stream(delivery):
            self._take_events(pending)
        elif pending:
            delivery.body = bytes(pending)
            if "json" in delivery.headers.get("content-type", ""):
                self.receive(delivery.body)
            else:
                self.transcript.received(delivery.body)
        delivery.is_done = True
        self._tell()

    def _take_events(self, pending: bytearray) -> None:
        """Take the events that are complete out of the bytes of a stream."""
        if pending.endswith(b"\r"):
            return  # perhaps half of a line end
        text = bytes(pending).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *events, rest = text.split(b"\n\n")
        pending[:] = rest
        for event in events:
            lines = [line[5:].removeprefix(b" ") for line in event.split(b"\n") if line.startswith(b"data:")]
            if data := b"\n".join(lines).strip():
                self.receive(data)


def _is_stream(delivery: Delivery) -> bool:
    return delivery.headers.get("content-type", "").startswith("text/event-stream")


def _shown(headers: Mapping[str, str]) -> str:
    """The headers that a check chose; those of the person at the keyboard may be secret."""
    return ", ".join(f"{name}: {value}" for name, value in headers.items() if value)
