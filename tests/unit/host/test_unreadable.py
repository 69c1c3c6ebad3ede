"""Answers that cannot be read: which of them are recognized, and as what."""

import pytest

from holdfast.errors import WireError
from holdfast.host.unreadable import recognize
from holdfast.wire.codec import decode
from holdfast.wire.framing import LineFramer
from holdfast.wire.legible import ENDS_KEPT

FILLER = b'"' + b"x" * 3000 + b'"'


def recognized(line: bytes, max_bytes: int = 2000) -> tuple[int, str] | None:
    """What is made of a line that is too long or no JSON."""
    (frame,) = LineFramer(max_bytes, ends_kept=ENDS_KEPT).feed(line + b"\n")
    if isinstance(frame, WireError):
        answer = recognize(frame)
    else:
        with pytest.raises(WireError) as caught:
            decode(frame)
        answer = recognize(caught.value, frame)
    return None if answer is None else (answer.id, answer.problem.code)


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":7,"result":{"content":%b}}',
        b'{"id":7,"jsonrpc":"2.0","result":%b}',
        b'{"id":7,"result":%b,"jsonrpc":"2.0"}',
        b' { "jsonrpc" : "2.0" , "id" : 7 , "error" : {"code":1,"message":%b} } ',
        b'{"result":{"content":%b},"jsonrpc":"2.0","id":7}',
        b'{"jsonrpc":"2.0","result":{"content":%b},"id":7}',
        b'{"jsonrpc":"2.0","result":%b, "id" : 7 } ',
        b'{"result":{"id":5,"content":%b,"id":6},"id":7,"jsonrpc":"2.0"}',
    ],
)
def test_the_id_of_an_answer_that_is_too_long_is_found_wherever_it_stands(line: bytes) -> None:
    assert recognized(line % FILLER) == (7, "RESULT_TOO_LARGE")


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":%b}',  # a question of its own
        b'{"method":"sampling/createMessage","params":%b,"jsonrpc":"2.0","id":7}',
        b'{"jsonrpc":"2.0","method":"notifications/message","params":{"id":7,"result":%b}}',
        b'{"jsonrpc":"2.0","id":"7","result":%b}',  # the host's own ids are numbers
        b'{"jsonrpc":"2.0","result":{"content":%b,"id":7}}',
        b'{"jsonrpc":"2.0","result":{"text":"%b,\\"id\\":7}"}}',
        b'[{"jsonrpc":"2.0","id":7,"result":%b}]',
        b'log: {"jsonrpc":"2.0","id":7,"result":%b}',
        b"%b",
    ],
)
def test_what_may_be_anything_else_is_left_alone(line: bytes) -> None:
    assert recognized(line % FILLER) is None


@pytest.mark.parametrize(
    "value", [b"NaN", b"-Infinity", b'"\\ud800"', b'"\xff"', b'{"a":1,"a":2}', b"1e999", b"["]
)
def test_an_answer_that_is_no_json_is_recognized_by_its_id(value: bytes) -> None:
    assert recognized(b'{"jsonrpc":"2.0","id":7,"result":%b}' % value) == (7, "INTERNAL")


def test_half_an_answer_is_recognized_only_as_far_as_it_is_one() -> None:
    assert recognized(b'{"jsonrpc": "2.0", "id": 1, "resu') is None
