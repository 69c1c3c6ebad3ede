"""The id of a message that nobody can read, or wants to."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import WireError
from holdfast.wire.codec import decode
from holdfast.wire.framing import LineFramer
from holdfast.wire.legible import ENDS_KEPT, TooLongError, legible_request_id

IDS = st.one_of(st.integers(), st.text(max_size=20).filter(lambda text: text.isprintable()))
DEEP: dict[str, Any] = {"x": json.loads("[" * 200 + "]" * 200)}


@given(IDS, st.sampled_from(["id first", "method first", "id last"]), st.sampled_from([None, 1]))
def test_the_id_of_a_request_that_is_too_deep_is_found_where_clients_put_it(
    request_id: Any, order: str, indent: int | None
) -> None:
    members = {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": DEEP}
    keys = {
        "id first": ["jsonrpc", "id", "method", "params"],
        "method first": ["method", "id", "jsonrpc", "params"],
    }
    message = {key: members[key] for key in keys.get(order, ["method", "params", "jsonrpc", "id"])}
    with pytest.raises(WireError) as caught:
        decode(json.dumps(message, indent=indent, ensure_ascii=False).encode())

    assert caught.value.request_id == request_id
    assert type(caught.value.request_id) is type(request_id)


@pytest.mark.parametrize("order", [("jsonrpc", "id", "method", "params"), ("method", "params", "jsonrpc", "id")])
def test_the_id_of_a_request_that_is_too_long_is_found_at_either_end(order: tuple[str, ...]) -> None:
    members = {"jsonrpc": "2.0", "id": "big", "method": "tools/call", "params": {"x": "y" * 5000}}
    line = json.dumps({key: members[key] for key in order}).encode() + b"\n"
    framer = LineFramer(2000, ends_kept=ENDS_KEPT)
    frames = [frame for at in range(0, len(line), 7) for frame in framer.feed(line[at : at + 7])]

    assert [type(frame) for frame in frames] == [TooLongError]
    assert isinstance(frames[0], TooLongError)
    assert frames[0].request_id == "big"


@pytest.mark.parametrize(
    "message",
    [
        b'{"jsonrpc":"2.0","id":1,"result":{}}',  # an answer: nobody waits for one to it
        b'{"jsonrpc":"2.0","method":"x","params":{"id":1}}',
        b'{"jsonrpc":"2.0","id":null,"method":"x"}',
        b'{"jsonrpc":"2.0","id":1.5,"method":"x"}',
        b'{"jsonrpc":"2.0","id":"\\ud800","method":"x"}',
        b'{"method":"x","params":"\\"id\\":1}',
        b"",
    ],
)
def test_what_is_no_request_or_has_no_id_is_left_without_one(message: bytes) -> None:
    assert legible_request_id(message, message) is None
