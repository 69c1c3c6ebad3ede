"""Digests are equal exactly when the JSON values are."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.dedup import digest_of
from holdfast.errors import UsageError

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
    | st.sampled_from([0, 0.0, -0.0, 1, 1.0, True, "1", "", 2**64, float(2**64), 1e16])
)
KEYS = st.text("ab\u00e9\U0001f600\uffff", max_size=2)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)


def exact(value: Any) -> Any:
    """A value that equals another one exactly when both are the same JSON."""
    if isinstance(value, dict):
        return ("object", frozenset((key, exact(item)) for key, item in value.items()))
    if isinstance(value, list):
        return ("array", tuple(exact(item) for item in value))
    sign = math.copysign(1, value) if isinstance(value, float) else 0
    return (type(value).__name__, value, sign)


def turned_round(value: Any) -> Any:
    """The same value with the keys of its objects in the opposite order."""
    if isinstance(value, dict):
        return {key: turned_round(value[key]) for key in reversed(value)}
    return [turned_round(item) for item in value] if isinstance(value, list) else value


@given(VALUES, VALUES)
def test_two_digests_are_equal_exactly_if_the_values_are(one: Any, other: Any) -> None:
    assert (digest_of(one) == digest_of(other)) == (exact(one) == exact(other))


@given(VALUES)
def test_neither_the_order_of_keys_nor_the_way_over_the_wire_changes_a_digest(value: Any) -> None:
    assert digest_of(turned_round(value)) == digest_of(value)
    assert digest_of(json.loads(json.dumps(value))) == digest_of(value)


def test_the_form_of_a_digest_is_fixed_because_it_is_kept_on_disk() -> None:
    value = {"b": [1, 1.0, 1e16, True, None], "a": "é"}

    assert digest_of(value) == "758e83471312119a074dc5700f1178d4ece5300bd546ca1305eb9fcbac7a1a8f"


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, {1: "x"}, {"a": {None: 1}}, {"a": b"x"}, "\ud800", {1, 2}, object()]
)
def test_what_is_not_json_is_refused(value: Any) -> None:
    with pytest.raises(UsageError, match="not a JSON value"):
        digest_of(value)


def test_a_bottomless_value_is_refused() -> None:
    value: list[Any] = []
    value.append(value)

    with pytest.raises(UsageError, match="not a JSON value"):
        digest_of(value)
