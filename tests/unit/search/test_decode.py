"""Bytes of files in every encoding that turns up, and the lines of their text."""

import codecs
import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.search.decode import BOM, MAX_CHUNK_BYTES, LineTable, decode

TEXT = "Größe: 3 €\nnaïve café\n日本語\n"


@pytest.mark.parametrize("text", ["", "plain\n", TEXT, "\x00\x00", "a" * 99])
def test_valid_utf_8_is_handed_on_as_the_very_same_bytes(text: str) -> None:
    data = text.encode()

    decoded = decode(data)

    assert decoded.text_bytes is data
    assert (decoded.encoding, decoded.remarks) == ("utf-8", [])


def test_a_byte_order_mark_stays_so_that_offsets_are_those_of_the_file() -> None:
    data = BOM + TEXT.encode()

    decoded = decode(data)

    assert decoded.text_bytes is data
    assert decoded.encoding == "utf-8-sig"


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_marked_wide_text_becomes_utf_8_without_its_mark(mark: bytes, encoding: str) -> None:
    decoded = decode(mark + TEXT.encode(encoding))

    assert decoded.text_bytes == TEXT.encode()
    assert (decoded.encoding, decoded.remarks) == (encoding, [])


def test_half_a_character_of_wide_text_is_one_damaged_character() -> None:
    decoded = decode(codecs.BOM_UTF16_LE + "abc".encode("utf-16-le")[:-1])

    assert decoded.text_bytes == "ab�".encode()
    assert decoded.remarks == ["1 characters are damaged"]


def test_wide_text_that_begins_with_a_nul_is_not_taken_for_a_still_wider_one() -> None:
    decoded = decode(codecs.BOM_UTF16_LE + "\0abc".encode("utf-16-le"))

    assert decoded.text_bytes == b"\0abc"
    assert decoded.encoding == "utf-16-le"


def test_a_windows_file_reads_as_its_author_wrote_it() -> None:
    decoded = decode("Größe – 3 €\r\nnaïve\r\n".encode("cp1252"))

    assert decoded.text_bytes.decode() == "Größe – 3 €\r\nnaïve\r\n"
    assert decoded.encoding == "cp1252"


def test_a_few_bad_bytes_leave_the_rest_of_their_line_and_file_alone() -> None:
    decoded = decode("日本語 caf".encode() + b"\xe9 \xe2\x82 " + "€\nnaïve\n".encode())

    assert decoded.text_bytes.decode() == "日本語 café â‚ €\nnaïve\n"
    assert decoded.encoding == "utf-8+cp1252"
    assert decoded.remarks == ["3 bytes are not UTF-8"]


def test_bytes_without_a_meaning_and_encoded_surrogates_still_become_text() -> None:
    decoded = decode(b"\x81\x8d\x8f\x90\x9d \xed\xa0\x80 \xff\xfe"[::-1])

    assert decoded.text_bytes.decode().isascii() is False


@given(st.binary() | st.text().map(lambda text: text.encode("utf-8", "surrogatepass")))
@example(codecs.BOM_UTF32_LE + b"\xff")
@example(codecs.BOM_UTF16_BE)
def test_any_bytes_become_utf_8_whose_lines_join_to_it_again(data: bytes) -> None:
    decoded = decode(data)

    decoded.text_bytes.decode()
    assert b"".join(LineTable(decoded.text_bytes).lines) == decoded.text_bytes


def test_a_carriage_return_ends_a_line_only_where_nothing_else_does() -> None:
    assert LineTable(b"a\rb\r").lines == [b"a\r", b"b\r"]
    assert LineTable(b"10%\r20%\nb\r\n\x0bc").lines == [b"10%\r20%\n", b"b\r\n", b"\x0bc"]
    assert LineTable(b"").lines == []


def test_noise_is_repaired_without_losing_any_of_it() -> None:
    noise = random.Random(7).randbytes(200_000)

    decoded = decode(noise)

    assert len(decoded.text_bytes.decode()) > 100_000


def test_a_line_too_long_for_one_span_is_parted_behind_words_and_without_its_end() -> None:
    line = b"word, " * 5_000
    table = LineTable(b"\n" + line + b"\r\n" + b"after\r\n")

    *pieces, last = table.cut(0, 3, 60)

    assert b"".join(table.source[span.start : span.end] for span in pieces) == line
    assert all(span.end - span.start <= MAX_CHUNK_BYTES and span.start_line == 2 for span in pieces)
    assert table.source[pieces[0].end - 1 : pieces[0].end] in (b",", b" ")
    assert (table.source[last.start : last.end], last.start_line) == (b"after", 3)


def test_windows_end_at_blank_lines_or_where_they_must() -> None:
    assert [span[2:] for span in LineTable(b"a\nb\nc\n\nd\ne\n").cut(0, 6, 5)] == [(1, 3), (5, 6)]
    assert [span[2:] for span in LineTable(b"a\n" * 7).cut(0, 7, 3)] == [(1, 3), (4, 6), (7, 7)]
    assert [span[2:] for span in LineTable(b"a\n" * 7).cut(0, 7, 5, good={4})] == [(1, 4), (5, 7)]
    assert list(LineTable(b"").cut(0, 0, 3)) == []
