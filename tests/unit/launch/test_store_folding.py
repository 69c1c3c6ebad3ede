"""Folding events: the chain is looked at link by link, and what no store would write is not believed."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.launch.stores import CONFIG, HASH, RUN, broken_link
from tests.rows import each_row

from holdfast.launch import documents
from holdfast.launch.store.chain import BEGINNING, event_hash, sealed
from holdfast.launch.store.folding import fold
from holdfast.launch.store.records import Event
from holdfast.launch.store.refusals import ChainBroken

CREATED = ("RUN_CREATED", {"product_slug": "tablekit", "config": CONFIG, "config_sha256": HASH})
TS = "2026-01-21T10:00:00.000000Z"


def chained(*told: tuple[str, dict[str, Any]]) -> list[Event]:
    events: list[Event] = []
    for seq, (type_, payload) in enumerate(told, start=1):
        before = events[-1].event_hash if events else BEGINNING
        events.append(
            sealed(RUN, seq, TS, type_, payload, span_id="ab" * 8, parent_span_id=None, prev_hash=before)
        )
    return events


def test_events_lead_to_a_snapshot_that_fits_its_schema() -> None:
    item = {"work_item_id": "i", "worker": "w", "scope_key": "docs", "attempt": 1}
    events = chained(
        CREATED,
        ("SOMETHING_UNKNOWN", {"any": "thing"}),
        ("RUN_STATE_CHANGED", {"from": "CREATED", "to": "CLONED_INPUTS", "reason": ""}),
        ("WORK_ITEM_QUEUED", item | {"inputs": {"a": HASH}}),
        ("WORK_ITEM_STARTED", item | {"owner": "me", "lease_token": 1}),
        ("WORK_ITEM_FINISHED", item | {"outputs": {}}),
        ("ISSUE_OPENED", {"issue": broken_link("docs")}),
    )
    snapshot = fold(events)
    assert documents.violations("snapshot", snapshot) == []
    assert (snapshot["run_state"], snapshot["last_seq"]) == ("CLONED_INPUTS", 7)
    assert snapshot["last_event_hash"] == events[-1].event_hash
    assert snapshot["section_states"]["docs"] == "BLOCKED"
    assert documents.violations("event", events[0].document()) == []


def test_the_same_events_have_the_same_hashes_everywhere() -> None:
    payload = {"b": 1, "a": ["ü", 2.5, None, True]}
    (event,) = chained(("HELLO", payload))
    (again,) = chained(("HELLO", dict(reversed(payload.items()))))
    assert event.event_hash == again.event_hash == event_hash(event)
    # Hashes outlive versions of this program: this one may never change.
    assert event.event_hash == "81ca89e3c224c22a72c5c720909d0f67178a7cc12dbd6b6c64d8d1164e276b9f"


def test_nothing_is_no_run() -> None:
    with pytest.raises(ChainBroken) as refused:
        fold([])
    assert refused.value.seq == 1


FIELDS: dict[str, Any] = {
    "event_id": "x", "ts": "2027-01-21T10:00:00.000000Z", "type": "OTHER", "payload": {"b": 2},
    "trace_id": "0" * 32, "span_id": "0" * 16, "parent_span_id": "0" * 16, "prev_hash": "1" * 64,
    "event_hash": "1" * 64, "seq": 7, "run_id": "r_another_run",
}  # fmt: skip


@pytest.mark.parametrize("field", FIELDS)
def test_a_change_of_any_field_is_noticed(field: str) -> None:
    events = chained(CREATED, ("HELLO", {"a": 1}), ("HELLO", {"a": 2}))
    events[1] = replace(events[1], **{field: FIELDS[field]})
    with pytest.raises(ChainBroken) as refused:
        fold(events)
    assert refused.value.seq == 2


@pytest.mark.parametrize(
    "damage",
    [
        lambda events: events.pop(1),
        lambda events: events.pop(0),
        lambda events: events.insert(1, events[1]),
        lambda events: events.reverse(),
        lambda events: events.append(events[0]),
    ],
    ids=["lost", "first lost", "doubled", "turned round", "begun again"],
)
def test_events_that_were_lost_doubled_or_mixed_up_are_noticed(damage: Callable[[list[Event]], object]) -> None:
    events = chained(CREATED, ("HELLO", {"a": 1}), ("HELLO", {"a": 2}))
    damage(events)
    with pytest.raises(ChainBroken):
        fold(events)


def test_an_event_that_was_changed_and_hashed_again_breaks_the_one_behind_it() -> None:
    events = chained(CREATED, ("HELLO", {"a": 1}), ("HELLO", {"a": 2}))
    forged = replace(events[1], payload={"a": 9})
    events[1] = replace(forged, event_hash=event_hash(forged))
    with pytest.raises(ChainBroken) as refused:
        fold(events)
    assert refused.value.seq == 3


ITEM: dict[str, Any] = {"work_item_id": "i", "worker": "w", "scope_key": "docs", "attempt": 1, "inputs": {}}


@each_row(
    ("type_", "payload"),
    [
        ("RUN_CREATED", CREATED[1]),
        ("RUN_STATE_CHANGED", {"from": "CREATED", "to": "DONE"}),
        ("RUN_STATE_CHANGED", {"from": "INGESTED", "to": "FACTS_READY"}),
        ("RUN_STATE_CHANGED", {"from": ["CREATED"], "to": "CLONED_INPUTS"}),
        ("RUN_STATE_CHANGED", {}),
        ("RUN_FAILED", {}),
        ("FIX_ATTEMPTED", {"attempt": 7}),
        ("FIX_ATTEMPTED", {"attempt": True}),
        ("ARTIFACT_WRITTEN", {"name": "a"}),
        (
            "ARTIFACT_WRITTEN",
            {"name": ["a"], "path": "", "sha256": "", "schema_id": "", "writer_worker": "", "size": 1},
        ),
        ("WORK_ITEM_QUEUED", ITEM | {"attempt": "1"}),
        ("WORK_ITEM_QUEUED", ITEM | {"inputs": 7}),
        ("WORK_ITEM_STARTED", {"work_item_id": "unknown", "owner": "me", "lease_token": 1}),
        ("WORK_ITEM_FINISHED", {"work_item_id": {}, "outputs": {}}),
        ("ISSUE_OPENED", {"issue": {"issue_id": "iss_000000000000"}}),
        ("ISSUE_OPENED", {"issue": "text"}),
        ("ISSUE_OPENED", {"issue": broken_link("docs") | {"severity": "huge"}}),
        ("ISSUE_OPENED", {"issue": broken_link("docs") | {"location": {"path": 7}}}),
        ("ISSUE_OPENED", {"issue": broken_link("docs") | {"data": 7}}),
        ("ISSUE_RESOLVED", {"issue_id": "iss_000000000000"}),
        ("SECTIONS_PLANNED", {"sections": "docs"}),
        ("SECTION_DRAFTED", {"section": 1}),
    ],
)
def test_an_event_that_no_store_would_have_written_is_not_believed(type_: str, payload: dict[str, Any]) -> None:
    with pytest.raises(ChainBroken) as refused:
        fold(chained(CREATED, (type_, payload)))
    assert refused.value.seq == 2


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=5)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
TYPES = st.sampled_from(
    ["RUN_CREATED", "RUN_STATE_CHANGED", "RUN_FAILED", "FIX_ATTEMPTED", "ARTIFACT_WRITTEN", "WORK_ITEM_QUEUED",
     "WORK_ITEM_STARTED", "WORK_ITEM_FINISHED", "WORK_ITEM_FAILED", "ISSUE_OPENED", "ISSUE_RESOLVED",
     "SECTIONS_PLANNED", "SECTION_DRAFTED", "PATCHES_APPLIED"]
)  # fmt: skip
KEYS = st.sampled_from(
    ["from", "to", "failure", "attempt", "name", "path", "sha256", "schema_id", "writer_worker", "size", "issue",
     "work_item_id", "worker", "scope_key", "inputs", "outputs", "error", "owner", "lease_token", "sections",
     "section", "issue_id", "config", "config_sha256", "product_slug"]
)  # fmt: skip


@settings(max_examples=40)
@given(told=st.lists(st.tuples(TYPES, st.dictionaries(KEYS, JSON, max_size=10)), max_size=5), begins=st.booleans())
def test_whatever_a_forged_file_says_it_is_folded_or_refused(
    told: list[tuple[str, dict[str, Any]]], begins: bool
) -> None:
    try:
        snapshot = fold(chained(*([CREATED] if begins else []), *told))
    except ChainBroken:
        return
    assert snapshot["run_id"] == RUN
