"""Policies: opaque ids, references only, rows of lists; in values and in schemas."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import ContractError
from holdfast.present.policy import (
    PolicyViolation,
    ProjectionPolicy,
    declared_violations,
    is_opaque_id,
    policy_violations,
    surface_policy,
)
from holdfast.present.porcelain import SurfaceKind

NO_IDS = surface_policy(forbid_opaque_ids=True)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "body", "userId", "rows", "text"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@pytest.mark.parametrize(
    "key",
    [
        *("id", "ID", "Id", "_id", "id_", "ids", "IDs", "user_id", "userId", "userID", "userIDs", "user_ids"),
        *("HTTPId", "user-id", "user.id", "x2ID", "ключId"),
    ],
)
def test_an_id_is_recognised_in_every_spelling(key: str) -> None:
    assert is_opaque_id(key)


@pytest.mark.parametrize(
    "key", ["paid", "grid", "PAID", "valid", "éid", "idea", "id_token", "android", "UUID", "", "_"]
)
def test_words_that_only_end_like_an_id_are_none(key: str) -> None:
    assert not is_opaque_id(key)


def test_a_violation_names_the_place_and_the_rule() -> None:
    payload = {"rows": [{"name": "x"}, {"owner": {"userId": 7}}], "a/b": {"id": 1}}
    assert policy_violations(NO_IDS, payload) == [
        PolicyViolation("/a~1b/id", "opaque_id"),
        PolicyViolation("/rows/1/owner/userId", "opaque_id"),
    ]


def test_an_allowed_id_passes_and_its_other_spelling_does_not() -> None:
    policy = surface_policy("read", forbid_opaque_ids=True, allowed_ids=["order_id"])
    assert policy_violations(policy, {"order_id": 1}) == []
    assert policy_violations(policy, {"orderId": 1}) == [PolicyViolation("/orderId", "opaque_id")]


@pytest.mark.parametrize("key", ["body", "content", "text", "bytes", "Body", "TEXT"])
def test_a_surface_of_references_carries_no_bodies(key: str) -> None:
    policy = surface_policy("read", reference_only=True)
    assert policy_violations(policy, {"it": {key: "…"}}) == [PolicyViolation(f"/it/{key}", "reference_only")]


@pytest.mark.parametrize("key", ["body", "payload_preview", "payloadPreview", "analysis", "rationale"])
def test_a_list_carries_no_long_fields_and_other_kinds_may(key: str) -> None:
    assert policy_violations(surface_policy("list"), [{key: 1}]) == [PolicyViolation(f"/0/{key}", "list_row")]
    assert policy_violations(surface_policy("overview"), [{key: 1}]) == []


def test_a_payload_as_deep_as_can_be_is_looked_through() -> None:
    payload: Any = {"id": 1}
    for _ in range(5000):
        payload = [payload]
    assert policy_violations(NO_IDS, payload) == [PolicyViolation("/0" * 5000 + "/id", "opaque_id")]


def test_of_many_violations_a_few_are_told() -> None:
    assert len(policy_violations(NO_IDS, [{"id": number} for number in range(1000)])) == 8


def test_a_schema_shows_which_fields_would_break_the_policy() -> None:
    schema = {
        "properties": {"properties": {"type": "array", "items": {"$ref": "#/$defs/Row"}}},
        "$defs": {"Row": {"properties": {"rowId": {"type": "integer"}, "n": {"default": {"id": 1}}}}},
    }
    assert declared_violations(NO_IDS, schema) == [PolicyViolation("/Row/rowId", "opaque_id")]
    assert declared_violations(ProjectionPolicy(), schema) == []


@given(JSON)
def test_what_a_policy_lets_through_has_no_such_key_anywhere(payload: Any) -> None:
    policy = ProjectionPolicy(SurfaceKind.LIST, forbid_opaque_ids=True, reference_only=True)
    is_clean = not any(f"'{key}':" in repr(payload) for key in ("body", "userId", "text"))
    assert (policy_violations(policy, payload) == []) == is_clean


@pytest.mark.parametrize(
    "options",
    [
        {"kind": "lists"},
        {"kind": None},
        {"forbid_opaque_ids": "yes"},
        {"reference_only": 1},
        {"allowed_ids": ("order_id",)},
        {"forbid_opaque_ids": True, "allowed_ids": "order_id"},
        {"forbid_opaque_ids": True, "allowed_ids": ("order",)},
        {"forbid_opaque_ids": True, "allowed_ids": ("a_id", "a_id")},
        {"forbid_opaque_ids": True, "allowed_ids": (7,)},
        {"forbid_opaque_ids": True, "allowed_ids": 7},
    ],
)
def test_a_policy_that_makes_no_sense_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ContractError):
        surface_policy(**options)
