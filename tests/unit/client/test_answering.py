"""A client that can be asked: in the middle of a call, and by a result that asks for input."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel

from holdfast.client.answering import answers_to
from holdfast.client.session import ClientSession
from holdfast.client.transports import Link, MemoryTransport
from holdfast.errors import SessionError
from holdfast.settings import Settings
from holdfast.testing import Answers, RecordingLog, accept
from holdfast.vocabulary.call import Stop
from holdfast.worker.context import Context
from holdfast.worker.server import Server
from holdfast.worker.session import DirectOutlet, Session

QUIET = replace(Settings(), event_log=False)


class Name(BaseModel):
    """A name."""

    name: str


def make_server() -> Server:
    server = Server("asking", version="1.0.0")

    @server.tool()
    async def greet(ctx: Context) -> str:
        """Greet."""
        answer = await ctx.elicit("Who?", Name, key="who")
        return answer.value.name if answer.value else answer.action

    return server


def call(revision: str, answerer: Any) -> dict[str, Any]:
    async def main() -> dict[str, Any]:
        log = RecordingLog()

        def link(send: Any) -> Link:
            session = Session(make_server(), QUIET, log, DirectOutlet(log, send))

            async def close() -> None:
                session.calls.stop_all(Stop.DISCONNECT)
                await session.calls.wait_idle(2.0)

            return Link(session.receive, close)

        async with ClientSession(MemoryTransport(link), answerer=answerer) as session:
            await session.connect(revision=revision)
            return await session.call_tool("greet", timeout=20)

    return asyncio.run(main())


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25", "2026-07-28"])
def test_whoever_answers_is_asked_in_both_eras(revision: str) -> None:
    answers = Answers(accept(name="Ann"))
    assert call(revision, answers)["content"][0]["text"] == "Ann"
    assert len(answers.asked) == 1


def test_a_question_that_nobody_could_answer_is_refused_and_not_left_open() -> None:
    class Broken(Answers):
        async def answer(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
            raise ConnectionError("the terminal went away")

    result = call("2025-11-25", Broken(accept(name="Ann")))
    assert result["isError"] is True
    assert "could not answer" in result["content"][0]["text"]
    assert "terminal" not in result["content"][0]["text"]


def test_a_client_with_nobody_behind_it_is_asked_nothing() -> None:
    assert call("2025-11-25", None)["isError"] is True


@pytest.mark.parametrize(
    ("result", "why"),
    [
        ({"inputRequests": {"k": {"method": "roots/list"}}}, "cannot answer"),
        ({"inputRequests": {"k": 5}}, "cannot answer"),
        ({"inputRequests": {}}, "does not say which"),
        ({}, "does not say which"),
        ({"inputRequests": [], "requestState": 5}, "does not say which"),
    ],
)
def test_what_cannot_be_answered_is_one_clear_error(result: dict[str, Any], why: str) -> None:
    with pytest.raises(SessionError, match=why):
        asyncio.run(answers_to(Answers(accept()), result, "tool"))


def test_a_state_alone_is_given_back() -> None:
    assert asyncio.run(answers_to(None, {"requestState": "s"}, "tool")) == {"requestState": "s"}
