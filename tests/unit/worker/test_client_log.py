"""The log of a client: how much of a flood leaves, and what is said about the rest."""

from typing import Any

import pytest

from holdfast.vocabulary.meta import META_OMITTED
from holdfast.worker.client_log import SILENT, ClientLog


class Flood:
    """A log with six messages a second, and a clock that a test moves."""

    def __init__(self, level: str | None = "debug") -> None:
        self.now = 0.0
        self.level = level
        self.sent: list[dict[str, Any]] = []
        self.log = ClientLog(self.sent.append, lambda: self.level, 7, 6, lambda: self.now)

    def tell(self, count: int) -> None:
        for number in range(count):
            self.log.tell("info", number)


def test_a_flood_is_bounded_and_the_next_message_says_how_much_was_left_out() -> None:
    flood = Flood()
    flood.tell(200)
    assert [params["data"] for params in flood.sent] == [0, 1, 2, 3, 4, 5]
    flood.now += 0.5
    flood.tell(200)
    assert [params["data"] for params in flood.sent[6:]] == [0, 1, 2]
    assert [params["_meta"].get(META_OMITTED) for params in flood.sent[6:]] == [194, None, None]
    flood.now += 3600
    flood.tell(200)
    assert len(flood.sent) == 9 + 6


def test_nothing_that_is_unwanted_takes_room() -> None:
    flood = Flood("error")
    flood.tell(200)
    flood.level = "info"
    flood.tell(200)
    assert len(flood.sent) == 6
    assert META_OMITTED not in flood.sent[0]["_meta"]


def test_nothing_leaves_a_log_that_is_closed() -> None:
    flood = Flood()
    flood.log.close()
    flood.tell(5)
    assert flood.sent == []
    assert not flood.log.wants("emergency")


def test_a_silent_log_still_refuses_a_level_that_there_is_not() -> None:
    SILENT.tell("emergency", "nobody hears it")
    with pytest.raises(ValueError, match="loud"):
        SILENT.tell("loud", "x")
