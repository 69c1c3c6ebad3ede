"""A change of a run: work, artifacts, issues, sections and events, all of it together or none."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.launch.stores import HASH, NOW, OTHER_HASH, RUN, broken_link, later, made_run, to_state

from holdfast.errors import UsageError
from holdfast.launch import identifiers
from holdfast.launch.store.change import OWN_TYPES, Change
from holdfast.launch.store.export import replay
from holdfast.launch.store.refusals import WorkItemError
from holdfast.launch.store.run_store import RunStore


@pytest.fixture
def run(store: RunStore) -> RunStore:
    made_run(store)
    return store


def types(store: RunStore) -> list[str]:
    return [event.type for event in store.events(RUN)][1:]


def test_an_exception_in_the_block_undoes_everything(run: RunStore) -> None:
    before = run.history(RUN)
    with pytest.raises(ZeroDivisionError), run.change(RUN) as change:  # noqa: PT012
        change.move("CLONED_INPUTS")
        change.artifact("a.json", HASH, "text", "w", 1)
        change.queue_item("w", "run", 1, {})
        change.issues([broken_link("docs")])
        change.telemetry("POST", "/runs", {})
        _ = 1 / 0
    assert run.history(RUN) == before
    assert run.outbox() == []


def test_a_change_that_does_nothing_leaves_no_trace(run: RunStore) -> None:
    before = run.history(RUN)
    with run.change(RUN) as change:
        assert change.run.state == change.state == "CREATED"
    assert run.history(RUN) == before


def test_a_thread_that_changes_while_it_changes_is_told_instead_of_waiting_for_itself(run: RunStore) -> None:
    with run.change(RUN) as change:
        with pytest.raises(AssertionError), run.change(RUN):
            pass
        change.event("HELLO", {})
    assert types(run) == ["HELLO"]


def test_events_have_ids_times_spans_and_what_they_tell(run: RunStore) -> None:
    with run.change(RUN, now=later(1.5), span_id="ab" * 8) as change:
        told = change.event("HELLO", {"b": (1, 2.5, None), "a": "ü\0\n☃"})
        other = change.event("HELLO", {}, span_id="cd" * 8, parent_span_id="ab" * 8)

    assert run.events(RUN, after=1) == [told, other]
    assert told.payload == {"b": [1, 2.5, None], "a": "ü\0\n☃"}
    assert (told.event_id, told.seq, told.ts) == (f"{RUN}:2", 2, "2026-01-21T10:00:01.500000Z")
    assert (told.trace_id, told.span_id, told.parent_span_id) == (identifiers.trace_id(RUN), "ab" * 8, None)
    assert (other.span_id, other.parent_span_id) == ("cd" * 8, "ab" * 8)
    assert other.prev_hash == told.event_hash


def test_events_are_read_in_pieces(run: RunStore) -> None:
    with run.change(RUN) as change:
        for number in range(5):
            change.event("HELLO", {"number": number})
    assert [event.seq for event in run.events(RUN, after=2, limit=2)] == [3, 4]
    assert [event.seq for event in run.events(RUN, after=4)] == [5, 6]
    assert run.events(RUN, after=99) == []


def test_what_the_store_tells_itself_cannot_be_told_for_it(run: RunStore) -> None:
    for type_ in [*sorted(OWN_TYPES), "", "lower", "A B", "A\n", "Ä", "A" * 101]:
        with pytest.raises(UsageError), run.change(RUN) as change:
            change.event(type_, {})
    assert types(run) == []


def test_what_json_cannot_say_is_refused_and_nothing_is_kept(run: RunStore) -> None:
    payloads: list[Any] = [
        {"a": float("nan")}, {"a": {1}}, {1: "a"}, {"a": b"bytes"}, {"a": "\ud800"}, {"a": {None: 1}},
    ]  # fmt: skip
    for payload in payloads:
        with pytest.raises(UsageError), run.change(RUN) as change:  # noqa: PT012
            change.move("CLONED_INPUTS")
            change.event("HELLO", payload)
    assert types(run) == []


def test_a_payload_as_deep_as_the_sea_is_refused(run: RunStore) -> None:
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"a": deep}
    with pytest.raises(UsageError), run.change(RUN) as change:
        change.event("HELLO", deep)
    while deep:  # taken apart by hand: the interpreter would do it recursively
        deep = deep.pop("a")
    assert types(run) == []


def test_work_is_queued_started_and_finished_and_each_step_is_told(run: RunStore) -> None:
    with run.change(RUN, now=NOW) as change:
        item_id = change.queue_item("repo_scout", "run", 1, {"run_config": HASH})
        assert change.queue_item("repo_scout", "run", 1, {"run_config": HASH}) == item_id
        assert [item.status for item in change.items()] == ["queued"]
    with run.change(RUN, now=later(1)) as change:
        change.start_item(item_id, "engine", 7)
    (item,) = run.items(RUN)
    assert (item.status, item.lease_owner, item.lease_token, item.leased_at) == (
        "running", "engine", 7, "2026-01-21T10:00:01.000000Z",
    )  # fmt: skip
    with run.change(RUN, now=later(2)) as change:
        change.finish_item(item_id, {"repo_inventory.json": OTHER_HASH})
    (item,) = run.items(RUN)
    assert (item.status, item.inputs, item.outputs) == (
        "finished", {"run_config": HASH}, {"repo_inventory.json": OTHER_HASH},
    )  # fmt: skip
    assert (item.work_item_id, item.scope, item.lease_owner) == (f"{RUN}:repo_scout:1:run", "run", None)
    assert types(run) == ["WORK_ITEM_QUEUED", "WORK_ITEM_STARTED", "WORK_ITEM_FINISHED"]
    assert {event.span_id for event in run.events(RUN, after=1)} == {identifiers.span_id(item_id)}


def test_lost_work_is_started_again_under_a_new_lease(run: RunStore) -> None:
    with run.change(RUN) as change:
        item_id = change.queue_item("w", "run", 1, {})
        change.start_item(item_id, "dead", 1)
        change.start_item(item_id, "alive", 2)
    assert (run.items(RUN)[0].lease_owner, run.items(RUN)[0].lease_token) == ("alive", 2)


def test_failed_work_keeps_its_reason_and_the_next_attempt_is_another_item(run: RunStore) -> None:
    with run.change(RUN) as change:
        first = change.queue_item("w", "docs", 1, {})
        change.fail_item(first, "INTERNAL", "x" * 5000, {"reason": "a\0b"})
        second = change.queue_item("w", "docs", 2, {})
        change.skip_item(second, "not needed")
    failed, skipped = run.items(RUN)
    assert failed.error == {"code": "INTERNAL", "message": "x" * 2000, "details": {"reason": "a\0b"}}
    assert (failed.status, skipped.status, skipped.attempt) == ("failed", "skipped", 2)
    assert types(run)[1] == "WORK_ITEM_FAILED"


def test_finished_work_stays_finished(run: RunStore) -> None:
    with run.change(RUN) as change:
        item_id = change.queue_item("w", "run", 1, {})
        change.start_item(item_id, "me", 1)
        change.finish_item(item_id, {})
    steps: list[Callable[[Change], object]] = [
        lambda change: change.queue_item("w", "run", 1, {}),
        lambda change: change.start_item(item_id, "me", 1),
        lambda change: change.finish_item(item_id, {}),
        lambda change: change.fail_item(item_id, "INTERNAL", ""),
        lambda change: change.skip_item(item_id),
    ]
    for step in steps:
        with pytest.raises(WorkItemError), run.change(RUN) as change:
            step(change)
    assert len(types(run)) == 3


def test_work_that_was_never_queued_cannot_be_done(run: RunStore) -> None:
    with pytest.raises(WorkItemError, match="does not exist"), run.change(RUN) as change:
        change.start_item("nothing", "me", 1)
    with pytest.raises(WorkItemError), run.change(RUN) as change:
        change.finish_item(change.queue_item("w", "run", 1, {}), {})


def test_work_goes_from_digests_to_digests(run: RunStore) -> None:
    with pytest.raises(UsageError), run.change(RUN) as change:
        change.queue_item("w", "run", 1, {"page_plan.json": "the newest"})
    with run.change(RUN) as change:
        item_id = change.queue_item("w", "run", 1, {})
        change.start_item(item_id, "me", 1)
    with pytest.raises(UsageError), run.change(RUN) as change:
        change.finish_item(item_id, {"page_plan.json": ""})


def test_the_newest_artifact_of_a_name_counts(run: RunStore) -> None:
    with run.change(RUN, now=NOW) as change:
        change.artifact("page_plan.json", HASH, "page_plan", "ia_planner", 12)
        change.artifact("drafts/docs/ü.md", HASH, "text", "section_writer", 5)
        change.artifact("drafts/docs/ü.md", OTHER_HASH, "text", "section_writer", 6)
    with run.change(RUN, now=later(3)) as change:
        change.artifact("page_plan.json", OTHER_HASH, "page_plan", "ia_planner", 13)

    plan = run.artifacts(RUN)["page_plan.json"]
    assert (plan.sha256, plan.size, plan.seq, plan.ts) == (OTHER_HASH, 13, 5, "2026-01-21T10:00:03.000000Z")
    assert plan.path == f"objects/bb/{OTHER_HASH}"
    assert run.artifacts(RUN)["drafts/docs/ü.md"].sha256 == OTHER_HASH
    told = run.events(RUN)[1].payload
    assert told.items() >= {"name": "page_plan.json", "sha256": HASH, "schema_id": "page_plan"}.items()


def test_an_artifact_whose_name_or_digest_cannot_be_kept_is_refused(run: RunStore) -> None:
    for name, digest in [("", HASH), ("a\0b", HASH), ("a\nb", HASH), ("\ud800", HASH), ("a", "../../x")]:
        with pytest.raises(UsageError), run.change(RUN) as change:
            change.artifact(name, digest, "text", "w", 1)
    assert run.artifacts(RUN) == {}


def test_issues_are_opened_kept_changed_resolved_and_opened_again(run: RunStore) -> None:
    docs, blog = broken_link("docs"), broken_link("blog")
    for found in ([docs, blog], [blog, docs], [docs], [broken_link("docs", line=9)], [], [docs]):
        with run.change(RUN) as change:
            change.issues(found)

    told = ["ISSUE_OPENED", "ISSUE_OPENED", "ISSUE_RESOLVED", "ISSUE_CHANGED", "ISSUE_RESOLVED", "ISSUE_OPENED"]
    assert types(run) == told
    assert run.issues(RUN, status="OPEN") == [docs]
    assert run.issues(RUN) == [blog | {"status": "RESOLVED"}, docs]
    assert run.issues(RUN, status="RESOLVED") == [blog | {"status": "RESOLVED"}]


def test_fix_attempts_are_counted(run: RunStore) -> None:
    with run.change(RUN) as change:
        assert [change.count_fix_attempt(), change.count_fix_attempt()] == [1, 2]
    with run.change(RUN) as change:
        assert change.count_fix_attempt() == 3
    assert run.run(RUN).fix_attempts == 3  # type: ignore[union-attr]
    assert run.events(RUN)[-1].payload == {"attempt": 3}


def test_sections_come_along_with_what_is_told_of_them(run: RunStore) -> None:
    seen = [run.section_states(RUN)]

    def tell(type_: str, payload: dict[str, Any]) -> None:
        with run.change(RUN) as change:
            change.event(type_, payload)
        seen.append(run.section_states(RUN))

    tell("SECTIONS_PLANNED", {"sections": ["products", "docs"]})
    tell("SECTION_DRAFTED", {"section": "docs"})
    tell("PATCHES_APPLIED", {})
    assert [states["docs"] for states in seen] == ["NOT_STARTED", "OUTLINED", "DRAFTED", "MERGED_IN_WORKTREE"]
    assert seen[-1] == {"products": "OUTLINED", "docs": "MERGED_IN_WORKTREE", "blog": "NOT_STARTED"}
    tell("SECTIONS_PLANNED", {"sections": ["docs"]})
    assert seen[-1]["docs"] == "OUTLINED"


def test_a_section_is_done_when_the_gates_have_passed_and_blocked_by_what_counts(run: RunStore) -> None:
    to_state(run, "VALIDATING")
    with run.change(RUN) as change:
        change.event("SECTION_DRAFTED", {"section": "docs"})
        change.event("SECTION_DRAFTED", {"section": "blog"})
        change.issues([broken_link("docs"), broken_link("blog", severity="warn")])
    assert run.section_states(RUN) == {"products": "NOT_STARTED", "docs": "BLOCKED", "blog": "DRAFTED"}
    with run.change(RUN) as change:
        change.issues([])
        change.move("READY_FOR_PR")
    assert run.section_states(RUN)["docs"] == "DONE"


def test_a_section_whose_writer_failed_is_blocked_until_it_is_tried_again(run: RunStore) -> None:
    with run.change(RUN) as change:
        change.fail_item(change.queue_item("section_writer", "docs", 1, {}), "INTERNAL", "no")
    assert run.section_states(RUN)["docs"] == "BLOCKED"
    with run.change(RUN) as change:
        change.queue_item("section_writer", "docs", 2, {})
    assert run.section_states(RUN)["docs"] == "NOT_STARTED"
    assert replay(run, RUN).ok


def test_sections_that_do_not_exist_cannot_be_planned(run: RunStore) -> None:
    payloads: list[dict[str, Any]] = [
        {},
        {"sections": "docs"},
        {"sections": ["nowhere"]},
        {"sections": [["docs"]]},
    ]
    for payload in payloads:
        with pytest.raises(UsageError), run.change(RUN) as change:
            change.event("SECTIONS_PLANNED", payload)
    assert types(run) == []
