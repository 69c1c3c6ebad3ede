"""The conditions on the fields of records: every form of them, and what is refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import ToolError
from holdfast.search.meta import meta_conditions


@pytest.mark.parametrize(
    ("meta", "meta_json", "expected"),
    [
        (None, None, []),
        ("severity=high", None, [("severity", "high")]),
        (" url = a=b ", None, [("url", "a=b")]),
        ("severity", None, [("severity", None)]),
        ("severity=", None, [("severity", None)]),
        (["a=1", {"b": 2}], None, [("a", "1"), ("b", "2")]),
        (
            {"a": None, "b": "", "c": True, "d": ["x", "y"]},
            None,
            [("a", None), ("b", None), ("c", "true"), ("d", "x"), ("d", "y")],
        ),
        (None, {"user": {"name": "ann"}}, [("user.name", "ann")]),
        (None, [{"a": 1}, {"b": {}}], [("a", "1"), ("b", None)]),
        ("x=1", '{"a": "b"}', [("x", "1"), ("a", "b")]),
        (None, '[{"a": 1.5}]', [("a", "1.5")]),
    ],
)
def test_every_form_of_the_arguments_is_understood(meta: object, meta_json: object, expected: list[Any]) -> None:
    assert meta_conditions(meta, meta_json) == expected


@pytest.mark.parametrize(
    ("meta", "meta_json"),
    [
        (7, None),
        (True, None),
        ("", None),
        ("=x", None),
        ([["a=1"]], None),
        ({"": 1}, None),
        ({"a": [["b"]]}, None),
        (None, ""),
        (None, "{"),
        (None, "3"),
        (None, "[1]"),
        (None, ["a=1"]),
        (None, 5),
        (None, '{"a": "\ud800"}'),
        (None, '{"a":' * 60 + "1" + "}" * 60),
    ],
)
def test_anything_else_is_refused_and_never_ignored(meta: object, meta_json: object) -> None:
    with pytest.raises(ToolError) as caught:
        meta_conditions(meta, meta_json)

    assert caught.value.code == "INVALID_REQUEST"
    assert "\n" not in caught.value.message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def outcome(meta: object, meta_json: object) -> list[tuple[str, str | None]] | ToolError:
    try:
        return meta_conditions(meta, meta_json)
    except ToolError as error:
        return error


@given(JSON, JSON)
def test_whatever_is_given_ends_in_conditions_on_named_fields_or_in_a_refusal(meta: object, other: object) -> None:
    found = outcome(meta, other)

    if isinstance(found, ToolError):
        assert found.code == "INVALID_REQUEST"
    else:
        assert all(path.strip() and wanted != "" for path, wanted in found)
