"""Frames cut and mended: the piece in question changes, and the rest is the bytes that were written."""

import json
import random
import time
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.wire.codec import BOM
from holdfast.wire.splice import add_result_meta, raw_member, replace_id, split_batch

LETTERS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
TRICKY = st.sampled_from(["id", '"id"', ',"id":5}', ' "id": 5 }', "\\", '\\"', "{", "}", "]", "ï", "Ã¯", "\u2028"])
TEXT = TRICKY | LETTERS
NUMBERS = st.integers(-(10**40), 10**40) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT | st.just("id"), inner, max_size=4),
    max_leaves=12,
)
IDS = st.integers(-(10**20), 10**20) | TEXT
MEMBERS = st.dictionaries(TEXT.filter(lambda key: key != "id"), VALUES, max_size=5)
SPELLINGS = st.integers(0, 2**32).map(random.Random)


class Writer:
    """Writes JSON in one of its many spellings, as the random numbers want it."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.dense = chance.random() < 0.3

    def space(self) -> str:
        return "" if self.dense else self.chance.choice(["", "", " ", "\t", "\r\n", "\n  "])

    def text(self, value: str) -> str:
        if self.dense or self.chance.random() < 0.5:
            return json.dumps(value, ensure_ascii=self.chance.random() < 0.5)
        units = value.encode("utf-16-be")
        return '"' + "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2)) + '"'

    def value(self, value: Any) -> str:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return self.joined("[", [self.value(item) for item in value], "]")
        if isinstance(value, dict):
            return self.members([(self.text(key), self.value(item)) for key, item in value.items()])
        return json.dumps(value)

    def members(self, pairs: Sequence[tuple[str, str]]) -> str:
        return self.joined("{", [f"{key}{self.space()}:{self.space()}{value}" for key, value in pairs], "}")

    def joined(self, opening: str, items: list[str], closing: str) -> str:
        spaced = (f"{self.space()}{item}{self.space()}" for item in items)
        return opening + (",".join(spaced) or self.space()) + closing

    def frame(self, text: str) -> bytes:
        return (BOM if self.chance.random() < 0.2 else b"") + f"{self.space()}{text}{self.space()}".encode()


def message_around(writer: Writer, members: dict[str, Any], old: Any) -> tuple[bytes, bytes]:
    """A message with an id at a random place: the bytes before the value of the id, and those after it."""
    pairs = [(writer.text(key), writer.value(item)) for key, item in members.items()]
    pairs.insert(writer.chance.randint(0, len(pairs)), (writer.text("id"), "@HERE@"))
    before, after = writer.frame(writer.members(pairs)).split(b"@HERE@")
    return before, after


@settings(deadline=None, max_examples=120)
@given(SPELLINGS, MEMBERS, VALUES | IDS, IDS)
def test_only_the_bytes_of_the_id_change_wherever_it_stands(
    chance: random.Random, members: dict[str, Any], old: Any, new: int | str
) -> None:
    writer = Writer(chance)
    before, after = message_around(writer, members, old)
    replaced = replace_id(before + writer.value(old).encode() + after, new)
    assert replaced.startswith(before)
    assert replaced.endswith(after)
    assert json.loads(replaced.decode("utf-8-sig")) == {**members, "id": new}
    assert json.loads(replaced[len(before) : len(replaced) - len(after)]) == new


@settings(deadline=None, max_examples=80)
@given(SPELLINGS, st.lists(VALUES, max_size=5))
def test_a_batch_falls_into_its_elements_as_they_were_written(chance: random.Random, values: list[Any]) -> None:
    writer = Writer(chance)
    written = [writer.value(value) for value in values]
    frame = writer.frame(writer.joined("[", written, "]"))
    assert split_batch(frame) == [text.encode() for text in written]


@settings(deadline=None, max_examples=80)
@given(SPELLINGS, st.dictionaries(TEXT, VALUES, max_size=5), TEXT)
def test_a_member_is_cut_out_as_it_was_written(
    chance: random.Random, members: dict[str, Any], absent: str
) -> None:
    writer = Writer(chance)
    written = {key: writer.value(value) for key, value in members.items()}
    frame = writer.frame(writer.members([(writer.text(key), text) for key, text in written.items()]))
    for key, text in written.items():
        assert raw_member(frame, key) == text.encode()
    assert absent in members or raw_member(frame, absent) is None


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (b'{"id":1}', b'{"id":"n"}'),
        (b'{"jsonrpc":"2.0","id":1,"method":"a"}', b'{"jsonrpc":"2.0","id":"n","method":"a"}'),
        (
            b'{"jsonrpc":"2.0","method":"a","id":1,"params":{}}',
            b'{"jsonrpc":"2.0","method":"a","id":"n","params":{}}',
        ),
        (b'{"params":{"id":7},"id":"x\\"y"}\r', b'{"params":{"id":7},"id":"n"}\r'),
        (b'{"a":{"id":7}, "id" : -1e3 }', b'{"a":{"id":7}, "id" : "n" }'),
        (b'{"id":{"id":5},"a":{"id":5}}', b'{"id":"n","a":{"id":5}}'),
        (b'{"a":",\\"id\\":5","\\u0069d":null}', b'{"a":",\\"id\\":5","\\u0069d":"n"}'),
        (b'{"a":[{"id":1}],"id":[],"b":{"id":1}}', b'{"a":[{"id":1}],"id":"n","b":{"id":1}}'),
        (b'{"id":1,"a":" \\"id\\":5 "}', b'{"id":"n","a":" \\"id\\":5 "}'),
        (b'{"x\\\\":1,"id":2}', b'{"x\\\\":1,"id":"n"}'),
    ],
)
def test_the_id_of_the_message_itself_is_the_one_replaced(frame: bytes, expected: bytes) -> None:
    assert replace_id(frame, "n") == expected


@pytest.mark.parametrize(
    "frame",
    [
        b"{}",
        b"[]",
        b"5",
        b'"id"',
        b'[{"id":1}]',
        b'{"a":{"id":1}}',
        b'{"a":"id"}',
        b'{"\\"id":1}',
        b'{"ID":1}',
        b"",
    ],
)
def test_a_frame_without_an_id_is_refused(frame: bytes) -> None:
    with pytest.raises(ValueError, match="no member"):
        replace_id(frame, 1)


@pytest.mark.parametrize("frame", [b"{}", b"", b" ", b"5", b'{"a":[1]}'])
def test_what_is_no_array_is_no_batch(frame: bytes) -> None:
    with pytest.raises(ValueError, match="not a batch"):
        split_batch(frame)


@pytest.mark.parametrize("frame", [b"[", b"[1", b"[1 2]", b"[,]", b"[\xff]"])
def test_an_array_that_is_not_json_is_refused(frame: bytes) -> None:
    with pytest.raises(ValueError, match=r"delimiter|missing|Expecting"):
        split_batch(frame)


def test_a_frame_that_is_no_object_has_no_members() -> None:
    assert [raw_member(frame, "a") for frame in (b"[]", b"", b'"a"', b"{}")] == [None] * 4


@pytest.mark.parametrize("place", ["head", "tail"])
def test_an_id_at_either_end_is_found_without_reading_megabytes(place: str) -> None:
    bulk = b'"result":{"text":"%b"}' % (b"x" * 8_000_000)
    frame = b'{"jsonrpc":"2.0","id":7,%b}' % bulk if place == "head" else b'{%b,"jsonrpc":"2.0","id":7}' % bulk
    start = time.process_time()
    rounds = [replace_id(frame, number) for number in range(5)]
    assert time.process_time() - start < 0.25  # copying alone: about a millisecond each
    assert len(rounds[-1]) == len(frame)


@pytest.mark.parametrize(
    ("frame", "marked"),
    [
        (b'{"result":{}}', b'{"result":{"_meta":{"g":2}}}'),
        (b'{"result" : { "a":[1.0] }, "id":1}', b'{"result" : {"_meta":{"g":2}, "a":[1.0] }, "id":1}'),
        (b'{"result":{"_meta":{ }}}', b'{"result":{"_meta":{"g":2 }}}'),
        (b'{"result":{"_meta":{"x":"\xc3\xa9"},"a":1}}', b'{"result":{"_meta":{"g":2,"x":"\xc3\xa9"},"a":1}}'),
        (b'{"result":{"_meta":{"g":1}}}', b'{"result":{"_meta":{"g":1}}}'),
        (b'{"result":{"_meta":null}}', b'{"result":{"_meta":null}}'),
        (b'{"result":"text"}', b'{"result":"text"}'),
        (b'{"error":{}}', b'{"error":{}}'),
    ],
)  # fmt: skip
def test_a_member_is_added_to_the_meta_of_a_result_and_the_rest_stays(frame: bytes, marked: bytes) -> None:
    assert add_result_meta(frame, {"g": b"2"}) == marked
