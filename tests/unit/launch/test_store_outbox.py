"""The outbox: what telemetry is owed, in order, until it was delivered, and never more than a bound."""

import pytest
from tests.launch.stores import NOW, RUN, later, made_run

from holdfast.launch.store.run_store import RunStore

OTHER = "r_other_run"


@pytest.fixture
def owing(store: RunStore) -> RunStore:
    for run_id in (RUN, OTHER):
        made_run(store, run_id)
    for run_id, number in ((RUN, 1), (OTHER, 2), (RUN, 3)):
        with store.change(run_id, now=NOW) as change:
            change.telemetry("POST", "/api/v1/runs", {"number": number, "text": "ü\0"})
    return store


def numbers(store: RunStore, seconds: float = 0, limit: int = 100) -> list[int]:
    return [row.document["number"] for row in store.outbox(limit, now=later(seconds))]


def test_calls_are_due_in_their_order_until_they_are_delivered(owing: RunStore) -> None:
    first = owing.outbox()[0]
    assert (first.run_id, first.method, first.path) == (RUN, "POST", "/api/v1/runs")
    assert (first.document, first.attempts, first.error) == ({"number": 1, "text": "ü\0"}, 0, None)
    assert numbers(owing) == [1, 2, 3]
    assert numbers(owing, limit=2) == [1, 2]
    owing.delivered([first.id])
    assert numbers(owing) == [2, 3]
    owing.delivered([])


def test_what_a_run_owes_waits_behind_a_call_that_failed(owing: RunStore) -> None:
    first = owing.outbox()[0]
    owing.failed_delivery(first.id, "no answer \0 \ud800" + "x" * 5000, later(30))

    assert numbers(owing, 29) == [2]
    assert numbers(owing, 30) == [1, 2, 3]
    again = owing.outbox(now=later(30))[0]
    assert (again.attempts, again.next_at) == (1, "2026-01-21T10:00:30.000000Z")
    assert again.error is not None
    assert again.error.startswith("no answer")


def test_a_call_that_is_refused_for_good_is_dropped_and_counted(owing: RunStore) -> None:
    assert owing.outbox_dropped() == 0
    owing.undeliverable([owing.outbox()[0].id, 999])
    assert numbers(owing) == [2, 3]
    assert owing.outbox_dropped() == 1


def test_beyond_the_bound_the_oldest_calls_are_dropped_and_counted(owing: RunStore) -> None:
    owing.outbox_cap = 4
    with owing.change(RUN, now=NOW) as change:
        for number in range(4, 9):
            change.telemetry("PATCH", "/api/v1/runs/x", {"number": number})

    assert numbers(owing) == [5, 6, 7, 8]
    assert owing.outbox_dropped() == 4
    with owing.change(RUN, now=NOW) as change:
        change.telemetry("PATCH", "/api/v1/runs/x", {"number": 9})
    assert numbers(owing) == [6, 7, 8, 9]
    assert owing.outbox_dropped() == 5
