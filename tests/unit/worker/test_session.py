"""What the session decides that no exchange on the wire shows."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from holdfast.errors import ContractError
from holdfast.present.profile import META_CAPABILITIES, META_REVISION
from holdfast.settings import Settings
from holdfast.testing import RecordingLog, connect
from holdfast.vocabulary.call import Stop
from holdfast.wire.codec import encode
from holdfast.worker.server import Server
from holdfast.worker.session import Session

QUIET = replace(Settings(), event_log=False)
HELLO = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}
HANG = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "hang"}}


def make_server() -> Server:
    server = Server("quiet", version="1.0.0", dialect="poc", render="json", presentation="meta")

    @server.tool()
    async def hang() -> None:
        """Never end."""
        await asyncio.Event().wait()

    return server


class Wire:
    """Records what a session sends, and when it asks for a flush."""

    def __init__(
        self, server: Server | None = None, settings: Settings = QUIET, revision: str = "2025-11-25"
    ) -> None:
        self.sent: list[Any] = []
        self.flushed = 0
        self.session = Session(server or make_server(), settings, RecordingLog(), self)
        self.receive({**HELLO, "params": {"protocolVersion": revision}})

    def send(self, message: Any) -> None:
        self.sent.append(message)

    def send_alone(self, message: Any) -> None:
        self.sent.append(message)

    def flush(self) -> None:
        self.flushed += 1

    def receive(self, message: Any) -> None:
        self.session.receive(encode(message))


def test_the_record_of_a_silent_end_is_flushed_although_nothing_is_sent() -> None:
    async def test() -> None:
        wire = Wire()
        wire.receive(HANG)
        wire.receive({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        assert await wire.session.calls.wait_idle(5)

        assert len(wire.sent) == 1
        assert wire.flushed == 1

    asyncio.run(test())


def test_a_server_that_is_going_down_admits_no_further_call() -> None:
    async def test() -> None:
        wire = Wire()
        wire.session.calls.stop_all(Stop.SHUTDOWN)
        wire.receive(HANG)

        assert wire.sent[-1]["error"]["data"]["code"] == "QUEUE_OVERLOADED"
        assert wire.session.calls.is_idle

    asyncio.run(test())


def test_a_revision_that_is_no_text_is_a_bad_parameter_not_an_unsupported_revision() -> None:
    async def test() -> None:
        async with connect(make_server(), settings=QUIET, revision=None) as client:
            meta = {META_REVISION: 7, META_CAPABILITIES: {}}
            answer = await client.request("tools/list", {"_meta": meta})

            assert answer["error"]["code"] == -32602

    asyncio.run(test())


def test_a_decorator_without_parentheses_is_refused_with_what_to_write() -> None:
    server = Server("bare", version="1.0.0")

    with pytest.raises(ContractError, match=r"write @server.tool\(\)"):

        @server.tool
        async def hang() -> None:
            """Never get here."""


def test_a_server_without_a_version_is_refused_with_what_to_write() -> None:
    with pytest.raises(ContractError, match=r'version="1\.0\.0"'):
        Server("versionless")


@pytest.mark.parametrize(
    "options",
    [{"aliases": "find"}, {"errors": "NOT_FOUND"}, {"errors": 5}, {"examples": {"a": 1}}, {"normalize": {}}],
    ids=str,
)
def test_an_option_of_the_wrong_type_is_refused_in_words(options: dict[str, Any]) -> None:
    server = Server("options", version="1.0.0")

    with pytest.raises(ContractError, match="tool 'hang'"):

        @server.tool(**options)
        async def hang() -> None:
            """Never get here."""


def test_the_answers_to_a_batch_are_parted_where_one_message_could_not_hold_them() -> None:
    async def test() -> None:
        server = Server("batch", version="1.0.0", dialect="poc", render="json", presentation="meta")

        @server.tool()
        async def big() -> str:
            """Return a lot."""
            return "x" * 400

        wire = Wire(server, replace(QUIET, max_message_bytes=2600), "2025-03-26")
        calls = [
            {"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": "big"}} for n in range(1, 9)
        ]
        wire.receive(calls)
        assert await wire.session.calls.wait_idle(5)

        parts = wire.sent[1:]
        assert [answer["id"] for part in parts for answer in part] == list(range(1, 9))
        assert 1 < len(parts) < 8
        assert all(len(encode(part)) <= 2600 for part in parts)

    asyncio.run(test())
