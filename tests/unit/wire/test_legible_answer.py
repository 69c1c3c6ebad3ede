"""Answers behind text that a server printed without a newline."""

import pytest

from holdfast.wire.legible_answer import answer_behind_text

ANSWER = b'{"jsonrpc":"2.0","id":7,"result":{"content":[]}}'


@pytest.mark.parametrize(
    "text", [b"DEBUG ", b"loaded {1: 2} and { ", b"\xff\xfe\x00", b'{"id": 3, "level": "info"} ']
)
def test_the_answer_is_separated_from_the_text_in_front_of_it(text: bytes) -> None:
    found = answer_behind_text(text + ANSWER)
    assert found is not None
    assert (found[0], found[1], found[2].id) == (text, ANSWER, 7)


@pytest.mark.parametrize(
    "line",
    [
        ANSWER,
        b"  " + ANSWER,
        b"DEBUG " + ANSWER[:-1],
        b'received {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{}}',
        b'sent {"jsonrpc":"2.0","method":"notifications/message","params":{}}',
        b'DEBUG {"jsonrpc":"2.0","id":7,"result":NaN}',
        b"",
    ],
)
def test_half_answers_and_quoted_requests_stay_noise(line: bytes) -> None:
    assert answer_behind_text(line) is None


def test_a_line_of_nothing_but_beginnings_is_given_up_after_a_few() -> None:
    assert answer_behind_text(b'{"id":' * 200_000 + b"}") is None
