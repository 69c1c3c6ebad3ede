"""How long a session keeps a stream that nobody reads any more."""

import asyncio
from typing import cast

import pytest
from tests.api.mcp_server import initialize_params

from holdfast.api.allowance import Allowances
from holdfast.api.callers import Caller
from holdfast.api.link import HostCall, HostLink
from holdfast.api.mcp import listening as listening_module
from holdfast.api.mcp import session as module
from holdfast.api.mcp.listening import Listener, Listening
from holdfast.api.mcp.session import McpSession
from holdfast.api.options import FrontOptions
from holdfast.present.handshake_session import HandshakeSession
from holdfast.vocabulary.faults import Fault
from holdfast.wire.envelope import Request, Response

ALLOWANCES = Allowances(FrontOptions("1.0.0"))
DISCOVERED = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "harbour", "version": "1.0.0"},
}


def new_session() -> McpSession:
    link = HostLink("front-", on_lost=lambda _: None)
    translation = HandshakeSession(DISCOVERED, initialize_params("2025-11-25"))
    return McpSession("one", Caller("address 127.0.0.1"), link, Listening(link, ALLOWANCES), translation)


async def later() -> None:
    """Come back after every timer that was to fire by now."""
    reached = asyncio.Event()
    asyncio.get_running_loop().call_later(0.05, reached.set)
    await reached.wait()


def test_a_stream_that_ended_is_not_kept_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    async def check() -> None:
        session = new_session()
        channel = session.new_channel()
        channel.answer({"jsonrpc": "2.0", "id": 1, "result": {}})
        channel.close()
        session.left(channel)
        assert session.channel(channel.name) is channel
        await later()
        assert session.channel(channel.name) is None

    monkeypatch.setattr(module, "RESUME_WITHIN", 0.01)
    asyncio.run(check())


def test_a_reader_that_came_back_and_left_again_has_its_time_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    async def check() -> None:
        session = new_session()
        channel = session.new_channel()
        session.take([Request(1, "tools/list", {})], channel)
        session.left(channel)
        monkeypatch.setattr(module, "RESUME_WITHIN", 600.0)
        session.left(channel)
        await later()
        assert session.is_pending(1)
        session.close()

    monkeypatch.setattr(module, "RESUME_WITHIN", 0.01)
    asyncio.run(check())


def test_lists_are_listened_for_again_where_there_was_no_place_and_a_resource_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    full = {"code": 1001, "message": "64 streams are open already", "data": {"code": "QUEUE_OVERLOADED"}}

    class Crowded:
        """A host that has no place for a stream at first."""

        def __init__(self) -> None:
            self.asked: list[HostCall[Response]] = []
            self.counted: list[bool] = []  # as what a client has asked for

        def pass_on(self, _method: str, _params: object, _note: object, *, is_own: bool) -> HostCall[Response]:
            self.counted.append(not is_own)
            self.asked.append(HostCall(str(len(self.asked)), shape=lambda response: response))
            return self.asked[-1]

    async def check() -> None:
        link, ended = Crowded(), list[Response | Fault]()
        listening = Listening(cast("HostLink", link), ALLOWANCES)
        listener = Listener(lambda _: None, ended.append, Caller("address 127.0.0.1"))
        listening.join({"notifications": {"toolsListChanged": True}}, listener)
        link.asked[0].answer.set_result(Response("0", None, full))
        await later()
        assert (len(link.asked), ended) == (2, [])
        listening.join({"notifications": {"resourceSubscriptions": ["a://b"]}}, listener)
        link.asked[2].answer.set_result(Response("2", None, full))
        await later()
        assert (len(link.asked), len(ended)) == (3, 1)
        assert link.counted == [False, False, True]

    monkeypatch.setattr(listening_module, "REOPEN_AFTER", 0.001)
    asyncio.run(check())
