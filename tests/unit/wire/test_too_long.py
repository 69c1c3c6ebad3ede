"""Messages that are too long, with both ends kept: told at their end, in any split."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import WireError
from holdfast.wire.framing import ContentLengthFramer, LineFramer
from holdfast.wire.legible import TooLongError

LONG = b"<" + b"x" * 500 + b">"
STREAM = b"first\n" + LONG + b"\r\nlast\n"


def line_frames(chunks: list[bytes]) -> list[tuple[bytes, bytes] | bytes]:
    framer = LineFramer(100, ends_kept=8)
    return [told(frame) for chunk in chunks for frame in framer.feed(chunk)]


def told(frame: bytes | WireError) -> tuple[bytes, bytes] | bytes:
    if isinstance(frame, TooLongError):
        return frame.head, frame.tail
    assert isinstance(frame, bytes)
    return frame


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_both_ends_of_a_line_are_the_same_in_any_split(cuts: list[int]) -> None:
    edges = sorted({0, len(STREAM), *cuts})
    chunks = [STREAM[start:end] for start, end in pairwise(edges)]

    first, ends, last = line_frames(chunks)

    assert (first, last) == (b"first", b"last")
    assert ends in {(b"<xxxxxxx", b"xxxxxxx>"), (b"<xxxxxxx", b"xxxxxx>\r")}


def test_a_line_of_one_byte_more_than_the_limit_keeps_its_ends_too() -> None:
    (frame,) = LineFramer(10, ends_kept=4).feed(b"0123456789a\n")

    assert told(frame) == (b"0123", b"789a")


def test_a_line_that_never_ends_is_not_told() -> None:
    framer = LineFramer(10, ends_kept=4)

    assert framer.feed(b"x" * 100) == []
    assert framer.finish() == []


@given(st.lists(st.integers(0, 700), max_size=12))
def test_both_ends_of_a_body_are_the_same_in_any_split(cuts: list[int]) -> None:
    stream = b"Content-Length: %d\r\n\r\n%bContent-Length: 2\r\n\r\n{}" % (len(LONG), LONG)
    edges = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    framer = ContentLengthFramer(100, ends_kept=8)

    frames = [told(frame) for start, end in pairwise(edges) for frame in framer.feed(stream[start:end])]

    assert frames == [(b"<xxxxxxx", b"xxxxxxx>"), b"{}"]
