"""What the checks expect of many answers: all of them, none twice, and no haste."""

import asyncio

import pytest

from holdfast.probe.expect import answered_once
from holdfast.probe.model import FailedError, Options
from holdfast.probe.talk import Delivery, Talk
from holdfast.probe.transcript import Transcript

PATIENCE = 0.2


class _Slow(Talk):
    """A server of which one answer comes after the other, each of them shortly before patience ends."""

    transport = "stdio"

    def answer_slowly(self, ids: list[str]) -> None:
        loop = asyncio.get_running_loop()
        for number, request_id in enumerate(ids, 1):
            frame = f'{{"jsonrpc":"2.0","id":"{request_id}","result":{{}}}}'.encode()
            loop.call_later(number * PATIENCE * 0.6, self.receive, frame)

    async def write(self, data: bytes) -> Delivery:
        raise NotImplementedError

    async def close(self) -> None:
        raise NotImplementedError


def _judged(answered: list[str], asked: list[str]) -> None:
    async def judge() -> None:
        talk = _Slow(Options(timeout=PATIENCE), Transcript())
        talk.answer_slowly(answered)
        await answered_once(talk, asked, "calls", PATIENCE)

    asyncio.run(judge())


def test_a_server_that_goes_on_answering_may_take_its_time() -> None:
    _judged(["a", "b", "c", "d"], ["a", "b", "c", "d"])


def test_an_answer_that_never_comes_is_missed_once_nothing_else_comes() -> None:
    with pytest.raises(
        FailedError, match=r"1 of 3 calls were not answered, such as id 'c'; nothing came for 0.2 s"
    ):
        _judged(["a", "b"], ["a", "b", "c"])


def test_a_second_answer_is_one_too_many() -> None:
    with pytest.raises(FailedError, match="1 of 2 calls were answered twice, such as id 'a'"):
        _judged(["a", "a", "b"], ["a", "b"])


def test_many_ids_are_counted_the_same_way() -> None:
    ids = [f"call-{number}" for number in range(60)]

    with pytest.raises(FailedError, match="57 of 60 calls were not answered, such as id 'call-3'"):
        _judged(ids[:3], ids)
