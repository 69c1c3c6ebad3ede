"""The canonical form: same value, same bytes; what JSON cannot say is refused."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.canonical import canonical_json, fingerprint
from holdfast.errors import ContractError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
).filter(lambda value: "\\ud" not in json.dumps(value))


def test_keys_are_sorted_and_indented_and_the_file_ends_with_a_newline() -> None:
    assert canonical_json({"b": [1, "é"], "a": None}) == (
        '{\n  "a": null,\n  "b": [\n    1,\n    "é"\n  ]\n}\n'.encode()
    )


@given(JSON)
def test_a_value_survives_and_gives_the_same_bytes_again(value: Any) -> None:
    once = canonical_json(value)
    assert json.loads(once) == value
    assert canonical_json(json.loads(once)) == once


def test_the_fingerprint_does_not_depend_on_the_order_of_keys() -> None:
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    assert fingerprint({"a": 1}) != fingerprint({"a": 2})
    assert fingerprint({}) == "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        [float("inf")],
        {1: "a"},
        {"a": {None: 1}},
        pytest.param({"a": object()}, id="an object"),
        "\ud800",
        {"a": b"x"},
    ],
    ids=repr,
)
def test_what_is_not_json_is_refused(value: Any) -> None:
    with pytest.raises(ContractError, match="not a JSON value"):
        canonical_json(value)


def test_a_value_that_contains_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(ContractError, match="not a JSON value"):
        fingerprint(loop)
