"""Streams of bytes to frames: every split gives the same frames, and no input is fatal."""

import time
import tracemalloc
from collections.abc import Callable, Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import WireError
from holdfast.wire.envelope import INVALID_REQUEST
from holdfast.wire.framing import ContentLengthFramer, LineFramer

Framer = LineFramer | ContentLengthFramer
MIB = 1024 * 1024
BROKEN = object()  # stands for a WireError where frames are compared


def lines() -> LineFramer:
    return LineFramer(max_bytes=24)


def headers() -> ContentLengthFramer:
    return ContentLengthFramer(max_bytes=24, max_header_bytes=80)


def frames_of(framer: Framer, chunks: Iterable[bytes]) -> list[object]:
    found = [frame for chunk in chunks for frame in framer.feed(chunk)] + framer.finish()
    assert all(frame.jsonrpc_code == INVALID_REQUEST for frame in found if isinstance(frame, WireError))
    return [BROKEN if isinstance(frame, WireError) else frame for frame in found]


# What is sent, and the frame that it is (None: no frame).
LINE_PARTS: list[tuple[bytes, object]] = [
    (b'\xef\xbb\xbf{"id":1}\n', b'{"id":1}'),
    (b"\n \t\r\n", None),
    (b'{"id":2}\r\n', b'{"id":2}'),
    (b"x" * 24 + b"\r\n", b"x" * 24),
    (b"y" * 25 + b"\r\n", BROKEN),
    (b"z" * 24 + b"\r\r\n", BROKEN),
    (b"w" * 90 + b"\n", BROKEN),
    (b"\xff\x00\n", b"\xff\x00"),
    (b'{"id":"\xc3\xbc"}\r', b'{"id":"\xc3\xbc"}'),
]
HEADER_PARTS: list[tuple[bytes, object]] = [
    (b'\xef\xbb\xbfContent-Length: 8\r\n\r\n{"id":1}', b'{"id":1}'),
    (b'\r\ncontent-LENGTH:8\nContent-Type: text/x; charset=utf-8\n\n{"id":2}', b'{"id":2}'),
    (b"Content-Length: 0\r\n\r\n", b""),
    (b"Content-Length: 30\r\n\r\nx\n\nContent-Length: 1\r\n\r\n1234567", BROKEN),
    (b"noise\r\n\r\nmore noise\n", BROKEN),
    (b"Content-Length: 3\r\n\r\n1\r\n", b"1\r\n"),
    (b"Content-Length: 2\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n[]", BROKEN),
    (b"Content-Length: 4\r\nContent-Length: 4\r\n\r\ntrue", b"true"),
    (b"1true", BROKEN),
    (b"Content-Length: 5\r\n\r\nfalse", b"false"),
    (b"X: " + b"z" * 200, BROKEN),
    (b"Content-Length: 2\r\n\r\n{}", b"{}"),
    (b"Content-Length: 9", BROKEN),
]

STREAMS = pytest.mark.parametrize(
    ("make", "stream", "expected"),
    [
        (make, b"".join(sent for sent, _ in parts), [frame for _, frame in parts if frame is not None])
        for make, parts in [(lines, LINE_PARTS), (headers, HEADER_PARTS)]
    ],
    ids=["lines", "headers"],
)


@STREAMS
def test_every_split_position_gives_the_same_frames(
    make: Callable[[], Framer], stream: bytes, expected: list[object]
) -> None:
    for cut in range(len(stream) + 1):
        assert frames_of(make(), [stream[:cut], stream[cut:]]) == expected


@STREAMS
@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
def test_pieces_of_any_size_give_the_same_frames(
    make: Callable[[], Framer], stream: bytes, expected: list[object], size: int
) -> None:
    pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
    assert frames_of(make(), pieces) == expected


FRAGMENTS = st.sampled_from(
    [
        *b"Content-Length: |content-length:|X-Content-Length: 5|A: b|5|30|-1|9999999999|{}|hello".split(b"|"),
        *[b"\r\n", b"\n", b"\r", b"\r\n\r\n", b" ", b"\t" * 40, b"x" * 60, b"\xef\xbb\xbf", b"\x00"],
    ]
)


@pytest.mark.parametrize("make", [lines, headers])
@settings(deadline=None)
@given(stream=st.lists(FRAGMENTS | st.binary(max_size=4)).map(b"".join), data=st.data())
def test_hostile_bytes_give_the_same_frames_in_any_chunking(
    make: Callable[[], Framer], stream: bytes, data: st.DataObject
) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)))))
    pieces = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    whole = frames_of(make(), [stream])
    assert frames_of(make(), pieces) == whole
    assert frames_of(make(), [bytes([byte]) for byte in stream]) == whole


@pytest.mark.parametrize("make", [lines, headers])
@settings(deadline=None)
@given(st.lists(st.binary(min_size=1, max_size=24).filter(lambda p: not p.isspace() and b"\n" not in p)))
def test_what_is_wrapped_is_unwrapped(make: Callable[[], Framer], payloads: list[bytes]) -> None:
    framer = make()
    payloads = [b"{" + payload.strip()[1:-1] + b"}" for payload in payloads]
    stream = b"".join(map(framer.wrap, payloads))
    assert frames_of(framer, [stream]) == payloads


@settings(deadline=None)
@given(
    st.binary(max_size=120).map(lambda noise: noise.replace(b"-", b"_")),
    st.sampled_from([b"", b"\n", b"\r\n", b"\r\n\r\n"]),
)
def test_a_message_with_an_intact_header_is_found_after_any_noise(noise: bytes, line_end: bytes) -> None:
    stream = noise + line_end + b"Content-Length: 2\r\n\r\n{}"
    found = frames_of(headers(), [stream, headers().wrap(b"[1]")])
    assert found[-2:] == [b"{}", b"[1]"]
    assert found[:-2] in ([], [BROKEN])


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: -5",
        b"Content-Length: +5",
        b"Content-Length: 0x5",
        b"Content-Length: 5.0",
        b"Content-Length: five",
        b"Content-Length:",
        b"Content-Length: 5, 5",
        b"Content-Length: 5\r\nContent-Length: 6",
        b"Content-Length: 4294967296",
        b"Content-Length: " + b"9" * 30,
        b"Content-Length: \xd9\xa5",
        b"Content-Type: text/plain",
        b"X-Content-Length: 5",
        b"no header at all",
        b"\x00\xff\xfe",
        b": 5",
        b"A: b\r\n" * 20,
    ],
)
def test_a_broken_header_is_answered_once_and_skipped_to_the_next_valid_one(header: bytes) -> None:
    stream = header + b"\r\n\r\n{}\nnoise\n\n" + headers().wrap(b'{"id":2}')
    assert frames_of(headers(), [stream]) == [BROKEN, b'{"id":2}']


def test_a_declared_length_over_the_limit_skips_exactly_that_many_bytes() -> None:
    framer = ContentLengthFramer(max_bytes=10)
    body = b"Content-Length: 2\r\n\r\n[]" * 100
    assert frames_of(framer, [framer.wrap(body), framer.wrap(b"{}")]) == [BROKEN, b"{}"]


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        (b"", []),
        (b"\r\n", []),
        (b"\xef\xbb\xbf", []),
        (b"C", [BROKEN]),
        (b"Content-Length: 5\r\n", [BROKEN]),
        (b"Content-Length: 5\r\n\r\n", [BROKEN]),
        (b"Content-Length: 5\r\n\r\n1234", [BROKEN]),
        (b"Content-Length: 99\r\n\r\n1234", [BROKEN]),
        (b"noise\nmore", [BROKEN]),
    ],
)
def test_half_a_message_at_the_end_is_one_error(rest: bytes, expected: list[object]) -> None:
    assert frames_of(headers(), [rest]) == expected


@pytest.mark.parametrize("rest", [b"", b"\r", b" \t", b"\xef\xbb\xbf", b"\n\n\r\n"])
def test_a_blank_unterminated_line_is_no_frame(rest: bytes) -> None:
    assert frames_of(lines(), [rest]) == []


def test_a_line_over_the_limit_is_answered_before_it_ends() -> None:
    framer = lines()
    assert len(framer.feed(b"x" * 30)) == 1
    assert framer.feed(b"x" * 30) == []
    assert framer.feed(b"x\n{}\n") == [b"{}"]


@pytest.mark.parametrize(
    ("framer", "opening"),
    [
        (LineFramer(), b""),
        (ContentLengthFramer(), b""),
        (ContentLengthFramer(), b"Content-Length: 20971520\r\n\r\n"),
    ],
)
def test_twenty_megabytes_without_an_end_are_not_kept(framer: Framer, opening: bytes) -> None:
    piece = b"x" * 65536
    tracemalloc.start()
    found = framer.feed(opening)
    for _ in range(320):
        found += framer.feed(piece)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found) == 1
    assert peak < 2.5 * framer.max_bytes
    good = framer.wrap(b"{}")
    assert framer.feed(good if opening else b"\n" + good) == [b"{}"]


@pytest.mark.parametrize("size", [1, 65536])
@pytest.mark.parametrize("framer", [LineFramer(), ContentLengthFramer()])
def test_a_large_message_in_small_pieces_takes_linear_time(framer: Framer, size: int) -> None:
    payload = b"x" * (MIB if size == 1 else 8 * MIB)
    stream = framer.wrap(payload)
    started = time.process_time()
    found = [frame for at in range(0, len(stream), size) for frame in framer.feed(stream[at : at + size])]
    assert found == [payload]
    assert time.process_time() - started < 5


@pytest.mark.parametrize("framer", [LineFramer(), ContentLengthFramer()])
def test_ten_thousand_messages_at_once_are_ten_thousand_frames(framer: Framer) -> None:
    payloads = [b'{"id":%d}' % number for number in range(10_000)]
    started = time.process_time()
    assert framer.feed(b"".join(map(framer.wrap, payloads))) == payloads
    assert time.process_time() - started < 2
