"""Tails and lines: the same for every way in which a stream is cut into chunks."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.process.output import LINE_BYTES, Capture, Lines, Tail

CHUNKS = st.lists(st.binary(max_size=40), max_size=20)


def cut(data: bytes, size: int) -> tuple[str, bool]:
    tail = Tail(size)
    tail.feed(data)
    return tail.text(), tail.truncated


def lines_of(*chunks: bytes) -> list[str]:
    lines: list[str] = []
    cutter = Lines(lines.append)
    for chunk in chunks:
        cutter.feed(chunk)
    cutter.end()
    return lines


@given(CHUNKS, st.integers(0, 60))
def test_a_tail_is_an_end_of_the_stream_and_never_longer_than_asked(chunks: list[bytes], size: int) -> None:
    tail = Tail(size)
    for chunk in chunks:
        tail.feed(chunk)
    whole = b"".join(chunks)
    assert tail.truncated == (len(whole) > size)
    assert any(tail.text() == whole[start:].decode(errors="replace") for start in range(len(whole) + 1))
    assert len(tail.text()) <= size


@given(CHUNKS)
def test_lines_do_not_depend_on_how_the_stream_is_cut(chunks: list[bytes]) -> None:
    whole = b"".join(chunks)
    expected = [line.removesuffix(b"\r").decode(errors="replace") for line in whole.split(b"\n")]
    if whole.endswith(b"\n") or not whole:
        expected.pop()
    assert lines_of(*chunks) == expected


def test_a_cut_tail_starts_at_a_line() -> None:
    assert cut(b"first\nsecond\nthird\n", 15) == ("second\nthird\n", True)
    assert cut(b"first\nsecond\nthird\n", 13) == ("second\nthird\n", True)
    assert cut(b"first\nsecond\nthird\n", 100) == ("first\nsecond\nthird\n", False)


def test_a_cut_tail_of_one_long_line_starts_at_a_whole_character() -> None:
    assert cut("ä€😀".encode(), 6) == ("😀", True)
    assert cut("ä€😀".encode(), 7) == ("€😀", True)
    assert cut(b"\x80" * 10, 6)[1]


def test_most_of_a_long_line_is_not_given_up_for_a_line_start() -> None:
    assert cut(b"x" * 100 + b"\nend", 50) == ("x" * 46 + "\nend", True)


def test_a_tail_of_nothing_is_empty() -> None:
    assert cut(b"", 0) == ("", False)
    assert cut(b"abc\n", 0) == ("", True)


def test_a_long_line_is_cut_with_an_ellipsis_and_the_next_one_is_whole() -> None:
    long, short = lines_of(b"x" * 3 * LINE_BYTES, b"x\nshort\n")
    assert (long, short) == ("x" * LINE_BYTES + "…", "short")


def test_a_line_of_exactly_the_limit_is_whole_and_a_cut_one_ends_at_a_character() -> None:
    assert lines_of(b"x" * LINE_BYTES + b"\n") == ["x" * LINE_BYTES]
    assert lines_of(b"x" * (LINE_BYTES - 1) + "€".encode()) == ["x" * (LINE_BYTES - 1) + "…"]


def test_a_muted_capture_neither_keeps_nor_passes_on() -> None:
    lines: list[tuple[str, str]] = []
    muted = False
    capture = Capture("stdout", 100, lambda *line: lines.append(line), lambda: muted)
    capture.feed(b"one\ntw")
    muted = True
    capture.feed(b"o\nthree\n")
    capture.end()
    assert lines == [("stdout", "one")]
    assert capture.tail.text() == "one\ntw"
