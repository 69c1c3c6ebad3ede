"""Runs in the store: made once, listed, claimed by one, and moved along their edges only."""

import threading
from collections.abc import Callable

import pytest
from tests.launch.stores import CONFIG, HASH, NOW, OTHER_HASH, RUN, later, made_run, to_state

from holdfast.errors import UsageError
from holdfast.launch import states
from holdfast.launch.store.refusals import Busy, IllegalTransition, KeyConflict, LeaseLost, NoSuchRun
from holdfast.launch.store.run_store import RunStore

Opener = Callable[[], RunStore]


def test_a_new_run_is_read_back_as_it_was_given_with_its_first_event(store: RunStore) -> None:
    run, is_new = store.create_run(RUN, CONFIG | {"product_name": "Tablé \0 ☃"}, HASH, now=NOW)

    assert is_new
    assert store.run(RUN) == run
    assert (run.state, run.product_slug, run.config_sha256) == ("CREATED", "tablekit", HASH)
    assert run.config["product_name"] == "Tablé \0 ☃"
    assert (run.started_at, run.finished_at, run.token) == ("2026-01-21T10:00:00.000000Z", None, 0)
    assert [event.type for event in store.events(RUN)] == ["RUN_CREATED"]
    assert run.last_seq == 1
    assert run.last_hash == store.events(RUN)[0].event_hash


def test_an_unknown_run_is_none_and_cannot_be_changed_or_claimed(store: RunStore) -> None:
    assert store.run("r_nothing_here") is None
    assert store.events("r_nothing_here") == []
    with pytest.raises(NoSuchRun), store.change("r_nothing_here"):
        pass
    with pytest.raises(NoSuchRun):
        store.claim("r_nothing_here", "me")


def test_what_cannot_be_the_id_of_a_run_is_refused(store: RunStore) -> None:
    for run_id in ("", "short", "../../etc/passwd", "r_\0aaaaaaaa", "r_" + "a" * 63, "r_äääääää"):
        with pytest.raises(UsageError):
            store.create_run(run_id, CONFIG, HASH, now=NOW)
    assert store.runs() == []


def test_a_configuration_without_a_product_is_refused(store: RunStore) -> None:
    for slug in ("", "a\0b", "\ud800"):
        with pytest.raises(UsageError):
            store.create_run(RUN, {"product_slug": slug}, HASH, now=NOW, idempotency_key="k")
    with pytest.raises(UsageError):
        store.create_run(RUN, {}, HASH, now=NOW)
    assert made_run(store, key="k").run_id == RUN


def test_the_id_of_a_run_is_given_once(store: RunStore) -> None:
    made_run(store)
    with pytest.raises(UsageError, match="already"):
        made_run(store, key="another")
    assert store.create_run("r_other_run", CONFIG, HASH, now=NOW, idempotency_key="another")[1]


def test_the_same_key_and_configuration_give_the_same_run(store: RunStore) -> None:
    for number, key in enumerate(["k", "", "a\0b", "\udcff", "x" * 100_000]):
        made_run(store, f"r_number_{number}", key=key)
        to_state(store, "INGESTED", f"r_number_{number}")

        run, is_new = store.create_run("r_second_try", CONFIG, HASH, now=later(9), idempotency_key=key)

        assert (run.run_id, run.state, is_new) == (f"r_number_{number}", "INGESTED", False)
    assert len(store.runs()) == 5


def test_the_same_key_with_another_configuration_is_a_conflict_that_tells_both(store: RunStore) -> None:
    made_run(store, key="k")
    with pytest.raises(KeyConflict) as refused:
        store.create_run("r_second_try", CONFIG, OTHER_HASH, now=NOW, idempotency_key="k")

    assert refused.value.existing_run_id == RUN
    assert (refused.value.existing_config_sha256, refused.value.given_config_sha256) == (HASH, OTHER_HASH)
    assert store.run("r_second_try") is None


def test_of_many_starts_at_once_with_one_key_one_makes_the_run(open_store: Opener) -> None:
    stores, barrier, results = [open_store() for _ in range(4)], threading.Barrier(8), []

    def start(number: int) -> None:
        barrier.wait(20)
        results.append(
            stores[number % 4].create_run(f"r_start_{number}", CONFIG, HASH, now=NOW, idempotency_key="k")
        )

    threads = [threading.Thread(target=start, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)

    assert [is_new for _, is_new in results].count(True) == 1
    assert len({run.run_id for run, _ in results}) == 1
    assert len(results) == 8


def test_runs_are_listed_the_newest_first_in_pages_and_by_what_they_are(store: RunStore) -> None:
    for number, moment in enumerate((0, 10, 10, 5)):
        store.create_run(f"r_number_{number}", CONFIG, HASH, now=later(moment))
    store.create_run("r_other_product", CONFIG | {"product_slug": "other"}, HASH, now=later(20))
    to_state(store, "INGESTED", "r_number_0")

    newest_first = ["r_other_product", "r_number_2", "r_number_1", "r_number_3", "r_number_0"]
    assert [run.run_id for run in store.runs()] == newest_first
    assert [run.run_id for run in store.runs(limit=2)] == newest_first[:2]
    assert [run.run_id for run in store.runs(limit=2, before="r_number_2")] == newest_first[2:4]
    assert [run.run_id for run in store.runs(product_slug="other")] == ["r_other_product"]
    assert [run.run_id for run in store.runs(state="INGESTED", product_slug="tablekit")] == ["r_number_0"]
    assert store.runs(state="nonsense' OR 1=1 --") == []


def test_ids_sort_by_their_characters_on_every_database(store: RunStore) -> None:
    ids = ["r_aaaaaaa", "r_Baaaaaa", "r_-aaaaaa", "r__aaaaaa", "r_0aaaaaa"]
    for run_id in ids:
        made_run(store, run_id)
    assert [run.run_id for run in store.runs()] == sorted(ids, reverse=True)


def test_one_executes_a_run_and_the_others_are_told_who(open_store: Opener) -> None:
    store, other = open_store(), open_store()
    made_run(store)
    token = store.claim(RUN, "engine-1")

    with pytest.raises(Busy) as refused:
        other.claim(RUN, "engine-2")
    assert refused.value.holder == "engine-1"
    with pytest.raises(Busy):
        store.claim(RUN, "engine-1")
    store.release(RUN, token)
    assert other.claim(RUN, "engine-2") == token + 1


def test_a_holder_that_lost_its_lease_can_write_nothing(open_store: Opener) -> None:
    store, other = open_store(), open_store()
    made_run(store)
    old = store.claim(RUN, "dead")
    assert other.release_all(except_holders=["alive"]) == [RUN]

    with pytest.raises(LeaseLost), store.change(RUN, token=old) as change:
        change.move("CLONED_INPUTS")
    new = other.claim(RUN, "alive")
    store.release(RUN, old)
    with other.change(RUN, token=new) as change:
        change.move("CLONED_INPUTS")
    with pytest.raises(LeaseLost), store.change(RUN, token=old) as change:
        change.move("INGESTED")
    assert new > old
    assert [event.type for event in store.events(RUN)] == ["RUN_CREATED", "RUN_STATE_CHANGED"]


def test_leases_of_the_living_are_kept(store: RunStore) -> None:
    made_run(store)
    made_run(store, "r_other_run")
    token, _ = store.claim(RUN, "alive"), store.claim("r_other_run", "dead")

    assert store.release_all(except_holders={"alive"}) == ["r_other_run"]
    assert store.release_all(except_holders={"alive"}) == []
    with store.change(RUN, token=token) as change:
        assert change.run.holder == "alive"
    assert store.release_all() == [RUN]


def test_a_released_token_is_worth_nothing(store: RunStore) -> None:
    made_run(store)
    token = store.claim(RUN, "me")
    store.release(RUN, token)
    with pytest.raises(LeaseLost), store.change(RUN, token=token):
        pass


def test_edges_are_walked(store: RunStore) -> None:
    for number, after in enumerate(sorted(states.EDGES["VALIDATING"])):
        run_id = made_run(store, f"r_number_{number}").run_id
        to_state(store, "VALIDATING", run_id)
        with store.change(run_id, now=NOW) as change:
            change.move(after, reason="why")
        assert store.snapshot(run_id)["run_state"] == after


def test_where_no_edge_leads_nothing_is_changed_and_the_refusal_is_told(store: RunStore) -> None:
    made_run(store)
    to_state(store, "VALIDATING")
    for after in sorted({*states.STATES, "NOWHERE"} - states.EDGES["VALIDATING"]):
        before = store.snapshot(RUN)
        with pytest.raises(IllegalTransition), store.change(RUN, now=NOW) as change:  # noqa: PT012
            change.event("HELLO", {})
            change.count_fix_attempt()
            change.move(after, reason="why")
        last = store.events(RUN)[-1]
        assert last.type == "INVALID_STATE_TRANSITION"
        assert last.payload == {"from": "VALIDATING", "to": after, "reason": "why"}
        assert store.snapshot(RUN) == before | {"last_seq": last.seq, "last_event_hash": last.event_hash}
        assert last.seq == before["last_seq"] + 1


def test_a_refusal_that_is_swallowed_is_still_one(store: RunStore) -> None:
    made_run(store)
    with pytest.raises(IllegalTransition), store.change(RUN) as change:  # noqa: PT012
        with pytest.raises(IllegalTransition):
            change.move("DONE")
        change.move("CLONED_INPUTS")
    assert store.run(RUN).state == "CREATED"  # type: ignore[union-attr]
    assert [event.type for event in store.events(RUN)] == ["RUN_CREATED", "INVALID_STATE_TRANSITION"]


@pytest.mark.parametrize(
    ("state", "told"), [("FAILED", "RUN_FAILED"), ("CANCELLED", "RUN_CANCELLED")], ids=["failed", "cancelled"]
)
def test_a_run_that_ends_says_when_and_how(store: RunStore, state: str, told: str) -> None:
    made_run(store)
    with store.change(RUN, now=later(60)) as change:
        change.move(state, reason="because", failure={"code": "INTERNAL"} if state == "FAILED" else None)

    run = store.run(RUN)
    assert run is not None
    assert run.finished_at == "2026-01-21T10:01:00.000000Z"
    assert run.failure == ({"code": "INTERNAL"} if state == "FAILED" else None)
    assert [event.type for event in store.events(RUN)][-2:] == ["RUN_STATE_CHANGED", told]


def test_a_run_goes_all_the_way_and_is_completed(store: RunStore) -> None:
    made_run(store)
    to_state(store, "VALIDATING")
    with store.change(RUN) as change:
        for state in ("FIXING", "VALIDATING", "READY_FOR_PR", "VALIDATING", "READY_FOR_PR", "PR_OPENED", "DONE"):
            change.move(state)
            assert change.state == state
    assert store.events(RUN)[-1].type == "RUN_COMPLETED"
    assert store.run(RUN).finished_at is not None  # type: ignore[union-attr]
