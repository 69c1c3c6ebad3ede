"""How long a session keeps a stream that nobody reads any more."""

import asyncio

import pytest
from tests.api.mcp_server import initialize_params

from holdfast.api.callers import Caller
from holdfast.api.link import HostLink
from holdfast.api.mcp import session as module
from holdfast.api.mcp.listening import Listening
from holdfast.api.mcp.session import McpSession
from holdfast.present.handshake_session import HandshakeSession
from holdfast.wire.envelope import Request

DISCOVERED = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "harbour", "version": "1.0.0"},
}


def new_session() -> McpSession:
    link = HostLink("front-", on_lost=lambda _: None)
    translation = HandshakeSession(DISCOVERED, initialize_params("2025-11-25"))
    return McpSession("one", Caller("address 127.0.0.1"), link, Listening(link), translation)


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
