from hypothesis import given
from hypothesis import strategies as st

from holdfast.search.packing import pack, pack_text, unpack, unpack_text
from holdfast.search.prepared import ChunkWords, unpacked_words, word_fields


@given(st.binary(max_size=4000))
def test_rows_and_texts_come_back_as_they_were(data: bytes) -> None:
    assert unpack(pack(data)) == data
    assert unpack_text(pack_text(data)) == data


def test_a_small_row_takes_less_than_half_of_its_size() -> None:
    row = b'{"signature":"def f(self, x)","doc":"","visibility":"public","flags":[],"facts":{"params":["self"]}}'
    assert len(pack(row)) < len(row) / 2


def test_words_are_stored_with_spaces_on_both_sides() -> None:
    words = ChunkWords("retry budget", "", "retry retry", "retrybudget")
    name, doc, body, identifiers = word_fields(unpacked_words(words.packed()))
    assert (name.count(" budget "), body.count(" retry "), doc.count(" x ")) == (1, 2, 0)
    assert " retrybudget " in identifiers
