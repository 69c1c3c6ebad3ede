"""Requests to the owner of the engine: taken by one, answered once, given back by the dead."""

import threading
from collections.abc import Callable

import pytest
from tests.launch.stores import NOW, RUN, later

from holdfast.launch.store.run_store import RunStore


@pytest.fixture
def asked(store: RunStore) -> RunStore:
    store.ask("q1", RUN, "validate", "client-1", NOW)
    store.ask("q2", RUN, "fix_next", "client-2", later(-5))
    store.ask("q3", "r_other_run", "resume", "client-1", NOW)
    return store


def states(store: RunStore) -> dict[str, str]:
    return {request.request_id: request.state for request in store.requests()}


def test_requests_are_listed_as_they_were_asked_and_asking_again_changes_nothing(asked: RunStore) -> None:
    asked.ask("q1", "r_other_run", "cancel", "somebody", later(9))

    assert list(states(asked)) == ["q1", "q2", "q3"]
    first = asked.requests(run_id=RUN)[0]
    assert (first.kind, first.asked_by, first.asked_at) == ("validate", "client-1", "2026-01-21T10:00:00.000000Z")
    assert (first.owner, first.outcome, first.wants_cancel) == (None, None, False)
    assert [request.request_id for request in asked.requests(run_id="r_other_run")] == ["q3"]
    assert asked.request("q4") is None


def test_a_request_is_taken_by_one_and_answered_once(asked: RunStore) -> None:
    assert asked.take_request("q1", "engine-1")
    assert not asked.take_request("q1", "engine-2")
    assert not asked.take_request("unknown", "engine-2")
    asked.answer_request("q1", {"ok": True, "text": "ü\0"})
    asked.answer_request("q1", {"ok": False})

    request = asked.request("q1")
    assert request is not None
    assert (request.state, request.owner, request.outcome) == ("done", "engine-1", {"ok": True, "text": "ü\0"})
    assert [request.request_id for request in asked.requests(state="pending")] == ["q2", "q3"]


def test_of_many_who_take_a_request_at_once_one_gets_it(open_store: Callable[[], RunStore]) -> None:
    stores, barrier, taken = [open_store() for _ in range(3)], threading.Barrier(6), []
    stores[0].ask("q", RUN, "validate", "client", NOW)

    def take(number: int) -> None:
        barrier.wait(20)
        taken.append(stores[number % 3].take_request("q", f"engine-{number}"))

    threads = [threading.Thread(target=take, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(taken) == [False] * 5 + [True]


def test_a_pending_request_is_cancelled_at_once_and_a_running_one_is_asked_to_stop(asked: RunStore) -> None:
    asked.take_request("q2", "engine")
    for request_id in ("q1", "q2", "unknown"):
        asked.cancel_request(request_id)

    assert states(asked) == {"q1": "cancelled", "q2": "running", "q3": "pending"}
    assert asked.request("q2").wants_cancel  # type: ignore[union-attr]
    assert not asked.take_request("q1", "engine")


def test_what_is_over_is_forgotten_after_a_while_and_nothing_else(asked: RunStore) -> None:
    asked.take_request("q1", "engine")
    asked.answer_request("q1", {})
    asked.cancel_request("q2")

    assert asked.forget_requests(NOW.replace(year=2000)) == 0
    assert asked.forget_requests(NOW.replace(year=2999)) == 2
    assert list(states(asked)) == ["q3"]
