"""Any sequence of changes, from two processes' worth of connections: tables and events always tell the same."""

import contextlib
import itertools
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from tests.launch.postgres import fresh_schema
from tests.launch.stores import CONFIG, HASH, NOW, OTHER_HASH, broken_link

from holdfast.launch import states
from holdfast.launch.store.change import Change
from holdfast.launch.store.export import replay, replay_file, write_exports
from holdfast.launch.store.folding import fold
from holdfast.launch.store.refusals import Busy, IllegalTransition, LeaseLost, WorkItemError
from holdfast.launch.store.run_store import RunStore

RUNS = ("r_first_run", "r_second_run")
SECTIONS = st.sampled_from(states.SECTIONS)


def operation() -> st.SearchStrategy[tuple[Any, ...]]:
    number = st.integers(1, 3)
    return st.one_of(
        st.tuples(st.just("move"), st.sampled_from(states.STATES)),
        st.tuples(st.just("step")),
        st.tuples(st.just("event"), st.sampled_from(["HELLO", "PATCHES_APPLIED"]), st.text(max_size=3)),
        st.tuples(st.just("plan"), st.lists(SECTIONS, max_size=3)),
        st.tuples(st.just("drafted"), SECTIONS),
        st.tuples(st.just("artifact"), st.sampled_from("ab"), st.sampled_from([HASH, OTHER_HASH])),
        st.tuples(st.just("issues"), st.lists(SECTIONS, max_size=3), number),
        st.tuples(
            st.just("item"), st.sampled_from(["queue", "start", "finish", "fail", "skip"]), SECTIONS, number
        ),
        st.tuples(st.just("fix")),
    )


def perform(change: Change, step: tuple[Any, ...]) -> None:
    match step:
        case ("move", state):
            change.move(state)
        case ("step",):
            ahead = sorted(states.EDGES[change.state] - {"FAILED", "CANCELLED"})
            change.move(ahead[0] if ahead else "FAILED")
        case ("event", type_, text):
            change.event(type_, {"text": text})
        case ("plan", sections):
            change.event("SECTIONS_PLANNED", {"sections": sections})
        case ("drafted", section):
            change.event("SECTION_DRAFTED", {"section": section})
        case ("artifact", name, digest):
            change.artifact(name, digest, "text", "w", 3)
        case ("issues", sections, line):
            change.issues([broken_link(section, line) for section in sections])
        case ("fix",):
            change.count_fix_attempt()
        case ("item", what, scope, attempt):
            work(change, what, scope, attempt)


def work(change: Change, what: str, scope: str, attempt: int) -> None:
    item_id = f"{change.run.run_id}:section_writer:{attempt}:{scope}"
    steps: dict[str, Callable[[], object]] = {
        "queue": lambda: change.queue_item("section_writer", scope, attempt, {"a": HASH}),
        "start": lambda: change.start_item(item_id, "me", attempt),
        "finish": lambda: change.finish_item(item_id, {"b": OTHER_HASH}),
        "fail": lambda: change.fail_item(item_id, "INTERNAL", "no", {"x": [1]}),
        "skip": lambda: change.skip_item(item_id),
    }
    steps[what]()


class Machine(RuleBasedStateMachine):
    urls: ClassVar[Iterator[str]]

    def __init__(self) -> None:
        super().__init__()
        url = next(self.urls)
        self.stores = [RunStore(url), RunStore(url)]
        self.root = tempfile.TemporaryDirectory()
        self.tokens: dict[str, int] = {}
        self.touched = RUNS[0]
        for run_id in RUNS:
            self.stores[0].create_run(run_id, CONFIG, HASH, now=NOW)

    @rule(
        which=st.integers(0, 1),
        run_id=st.sampled_from(RUNS),
        steps=st.lists(operation(), max_size=5),
        gives_up=st.sampled_from([False] * 5 + [True]),
    )
    def change(self, which: int, run_id: str, steps: list[tuple[Any, ...]], gives_up: bool) -> None:
        before = self.stores[1 - which].history(run_id)
        self.touched = run_id
        try:
            with self.stores[which].change(run_id, token=self.tokens.get(run_id)) as change:
                for step in steps:
                    perform(change, step)
                _ = 1 / (0 if gives_up else 1)
        except (WorkItemError, ZeroDivisionError):
            assert self.stores[1 - which].history(run_id) == before
        except IllegalTransition:
            _, events = self.stores[1 - which].history(run_id)
            assert events[:-1] == before[1]
            assert events[-1].type == "INVALID_STATE_TRANSITION"

    @rule(which=st.integers(0, 1), run_id=st.sampled_from(RUNS))
    def claim(self, which: int, run_id: str) -> None:
        try:
            token = self.stores[which].claim(run_id, f"holder-{which}")
        except Busy:
            assert run_id in self.tokens
        else:
            assert run_id not in self.tokens
            self.tokens[run_id] = token

    @precondition(lambda self: self.tokens)
    @rule(which=st.integers(0, 1))
    def free(self, which: int) -> None:
        run_id, token = self.tokens.popitem()
        if which:
            self.stores[which].release(run_id, token)
        else:
            assert run_id in self.stores[which].release_all()
            self.tokens.clear()
        with pytest.raises(LeaseLost), self.stores[which].change(run_id, token=token):
            pass

    @rule(run_id=st.sampled_from(RUNS))
    def export(self, run_id: str) -> None:
        root = Path(self.root.name, run_id)
        write_exports(self.stores[0], run_id, root)
        assert replay_file(root / "events.ndjson").snapshot == self.stores[1].snapshot(run_id)

    @invariant()
    def events_and_tables_tell_the_same(self) -> None:
        report = replay(self.stores[0], self.touched)
        assert report.ok, report.differences

    def teardown(self) -> None:
        for run_id in RUNS:
            assert fold(self.stores[1].events(run_id)) == self.stores[1].snapshot(run_id)
        for store in self.stores:
            store.close()
        self.root.cleanup()


def examples(number: int) -> settings:
    return settings(max_examples=number, stateful_step_count=10, suppress_health_check=list(HealthCheck))


def test_tables_and_events_agree_after_any_changes_on_sqlite(memory_directory: Path) -> None:
    class OnFiles(Machine):
        urls = (f"sqlite:///{memory_directory}/{number}.db" for number in itertools.count())

    run_state_machine_as_test(OnFiles, settings=examples(min(15, settings().max_examples // 4)))


def test_tables_and_events_agree_after_any_changes_on_postgresql(postgres_server: str) -> None:
    with contextlib.ExitStack() as schemas:

        class OnServer(Machine):
            urls = (schemas.enter_context(fresh_schema(postgres_server)) for _ in itertools.count())

        run_state_machine_as_test(OnServer, settings=examples(6))
