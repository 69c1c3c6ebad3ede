"""Posts of one session that overlap, and readers that wait long."""

import asyncio
import json
from collections.abc import Callable
from typing import Any, cast

from holdfast.api.allowance import Allowances
from holdfast.api.callers import Caller
from holdfast.api.envelope import Stamp
from holdfast.api.exchange import Exchange
from holdfast.api.limits import Slots
from holdfast.api.link import HostCall, HostLink
from holdfast.api.mcp.channel import Channel
from holdfast.api.mcp.scope import Gate
from holdfast.api.mcp.session_requests import SessionRequests
from holdfast.api.metrics import Metrics
from holdfast.api.options import FrontOptions

DISCOVERED = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "harbour", "version": "1.0.0"},
}
INTRODUCTION = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}


class Host:
    """The end of the link: says what it is, and keeps the calls that reach it."""

    def __init__(self) -> None:
        self.asked: list[HostCall[Any]] = []

    def call(self, _method: str) -> HostCall[Any]:
        call = self._new()
        call.answer.set_result(DISCOVERED)
        return call

    def pass_on(self, *_: object, **__: object) -> HostCall[Any]:
        self.asked.append(self._new())
        return self.asked[-1]

    def cancel(self, call: HostCall[Any]) -> None:
        call.answer.cancel()

    def _new(self) -> HostCall[Any]:
        return HostCall("1", shape=lambda response: response)


class SlowGate:
    """Lets calls through when it is opened."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()
        self.waiting = 0

    async def admit(self, _tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        self.waiting += 1
        await self.opened.wait()
        return arguments


def exchange(session: str = "") -> Exchange:
    """A request whose client stays; its caller is known."""

    async def receive() -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(_: object) -> None:
        return

    headers = [(b"mcp-session-id", session.encode())] if session else []
    scope = {"method": "POST", "path": "/mcp", "query_string": b"", "headers": headers}
    made = Exchange(scope, receive, send, Stamp("1", "1"))
    made.caller = Caller("somebody")
    return made


async def until(reached: Callable[[], bool]) -> None:
    """Give the others turns until it is so."""
    for _ in range(1000):
        if reached():
            return
        await asyncio.sleep(0)
    raise AssertionError("it does not come")


def test_of_two_posts_at_once_with_one_id_one_is_refused() -> None:
    async def check() -> None:
        host, gate, options = Host(), SlowGate(), FrontOptions("1.0.0")
        requests = SessionRequests(
            options,
            cast("HostLink", host),
            Metrics(),
            slots=Slots(8),
            allowances=Allowances(options),
            gate=cast("Gate", gate),
        )
        hello = exchange()
        await requests.post(hello, _message(0, "initialize", INTRODUCTION), streams=False, answers=True)
        session = dict(hello.extra_headers)[b"mcp-session-id"].decode()

        call = _message(1, "tools/call", {"name": "look", "arguments": {}})
        posts = [
            asyncio.create_task(requests.post(exchange(session), call, streams=False, answers=True))
            for _ in range(2)
        ]
        await until(lambda: gate.waiting == 2)
        gate.opened.set()
        done, pending = await asyncio.wait(posts, return_when=asyncio.FIRST_COMPLETED)
        refused = done.pop().result()

        assert refused is not None
        assert json.loads(refused.body)["error"]["message"] == "request id 1 is still in flight"
        assert (len(pending), len(host.asked)) == (1, 1)
        requests.delete(exchange(session))
        await asyncio.gather(*pending)

    asyncio.run(check())


def _message(number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


class Presence(asyncio.Future[None]):
    """Whether a client has gone; knows how many want to hear of it."""

    listening = 0

    def add_done_callback(self, *given: Any, **more: Any) -> None:
        self.listening += 1
        super().add_done_callback(*given, **more)

    def remove_done_callback(self, fn: Any, /) -> int:
        removed = super().remove_done_callback(fn)
        self.listening -= removed
        return removed


def test_a_reader_that_waits_often_leaves_nothing_behind_for_it() -> None:
    async def check() -> None:
        reader = exchange()
        gone = Presence()
        reader.__dict__["_gone"] = gone
        channel = Channel()
        for _ in range(10):
            channel.say({"method": "notifications/progress"})
            await channel.wait(reader, 0)
        assert gone.listening == 0

    asyncio.run(check())
