"""One effect per key, inside a transaction of the tool's own database."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from holdfast.dedup import KeyConflict, KeyTable, KeyTableError, Slot, digest_of, open_keys
from holdfast.errors import HoldfastError, StopWork, ToolError, UsageError


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(tmp_path / "shop.db", check_same_thread=False)
    connection.execute("CREATE TABLE effects (number INTEGER PRIMARY KEY, note TEXT)")
    yield connection
    connection.close()


def effects(connection: sqlite3.Connection) -> int:
    (count,) = connection.execute("SELECT count(*) FROM effects").fetchone()
    return int(count)


def act(
    connection: sqlite3.Connection,
    table: KeyTable,
    key: str,
    arguments: Any = None,
    *,
    meanwhile: Callable[[], object] = lambda: None,
    **options: Any,
) -> Any:
    """The pattern of every tool: the effect and its outcome, once."""
    with table.once(key, arguments, **options) as slot:
        if not slot.stored:
            number = connection.execute("INSERT INTO effects (note) VALUES ('x')").lastrowid
            meanwhile()
            slot.store({"number": number})
    return slot.outcome


def ending(connection: sqlite3.Connection, slot: Slot, statement: str) -> None:
    slot.store("done")
    connection.execute(statement)


def failing(connection: sqlite3.Connection, slot: Slot, error: type[BaseException]) -> None:
    connection.execute("INSERT INTO effects (note) VALUES ('x')")
    slot.store("done")
    raise error


@pytest.mark.requirement("OURS-17-key-table")
def test_the_second_call_gets_the_outcome_of_the_first_and_has_no_effect(shop: sqlite3.Connection) -> None:
    table = KeyTable(shop)

    assert act(shop, table, "k", {"a": 1}) == {"number": 1}
    assert act(shop, KeyTable(shop), "k", {"a": 1}) == {"number": 1}
    assert effects(shop) == 1
    assert not shop.in_transaction


def test_a_stored_null_counts_as_stored(shop: sqlite3.Connection) -> None:
    table = KeyTable(shop)
    with table.once("k", 1) as slot:
        slot.store(None)

    with table.once("k", 1) as slot:
        assert slot.stored
        assert slot.outcome is None


def test_the_same_key_with_other_arguments_is_a_conflict_that_tells_both_digests(shop: sqlite3.Connection) -> None:
    table = KeyTable(shop)
    act(shop, table, "k", {"count": 1})

    with pytest.raises(KeyConflict) as caught:
        act(shop, table, "k", {"count": 1.0})

    assert isinstance(caught.value, ToolError)
    assert caught.value.code == "KEY_CONFLICT"
    assert (caught.value.stored, caught.value.given) == (digest_of({"count": 1}), digest_of({"count": 1.0}))
    assert effects(shop) == 1


def test_keys_of_two_tools_and_of_two_tables_do_not_meet(shop: sqlite3.Connection) -> None:
    table = KeyTable(shop)
    act(shop, table, "k", 1, tool="order")
    act(shop, table, "k", 2, tool="refund")
    act(shop, KeyTable(shop, "other_keys"), "k", 3)

    assert effects(shop) == 3


@pytest.mark.parametrize("error", [ValueError, StopWork, KeyboardInterrupt])
def test_an_exception_in_the_block_undoes_the_effect_and_leaves_the_key_unused(
    shop: sqlite3.Connection, error: type[BaseException]
) -> None:
    table = KeyTable(shop)
    with pytest.raises(error), table.once("k", 1) as slot:
        failing(shop, slot, error)

    assert effects(shop) == 0
    assert act(shop, table, "k", "other arguments") == {"number": 1}


def test_a_block_without_an_outcome_is_an_error_and_undone(shop: sqlite3.Connection) -> None:
    with pytest.raises(UsageError, match=r"without an outcome.*slot\.store"), KeyTable(shop).once("k", 1):
        shop.execute("INSERT INTO effects (note) VALUES ('x')")

    assert effects(shop) == 0


def test_an_outcome_is_stored_once_and_inside_the_block(shop: sqlite3.Connection) -> None:
    with KeyTable(shop).once("k", 1) as slot:
        slot.store(1)
        with pytest.raises(UsageError, match="stored already"):
            slot.store(2)
    with pytest.raises(UsageError, match="stored already"):
        slot.store(3)

    assert slot.outcome == 1


def test_an_open_transaction_is_neither_committed_nor_joined_by_accident(shop: sqlite3.Connection) -> None:
    shop.execute("INSERT INTO effects (note) VALUES ('pending')")

    with pytest.raises(UsageError, match="commit it first"):
        act(shop, KeyTable(shop), "k")

    shop.rollback()
    assert effects(shop) == 0


@pytest.mark.parametrize(("end", "count"), [("commit", 2), ("rollback", 0)])
def test_a_joined_transaction_is_ended_by_its_owner(shop: sqlite3.Connection, end: str, count: int) -> None:
    table = KeyTable(shop)
    shop.execute("INSERT INTO effects (note) VALUES ('pending')")
    act(shop, table, "k", join=True)
    getattr(shop, end)()

    assert effects(shop) == count
    assert act(shop, table, "k") == {"number": max(count, 1)}


def test_a_failure_in_a_joined_block_undoes_that_block_alone(shop: sqlite3.Connection) -> None:
    shop.execute("INSERT INTO effects (note) VALUES ('pending')")
    with pytest.raises(ValueError), KeyTable(shop).once("k", 1, join=True) as slot:
        failing(shop, slot, ValueError)
    shop.commit()

    assert effects(shop) == 1


@pytest.mark.parametrize("join", [False, True])
@pytest.mark.parametrize("end", ["commit", "rollback"])
def test_ending_the_transaction_inside_the_block_is_an_error(
    shop: sqlite3.Connection, end: str, join: bool
) -> None:
    if join:
        shop.execute("INSERT INTO effects (note) VALUES ('pending')")
    with pytest.raises(UsageError, match="ended inside"):
        act(shop, KeyTable(shop), "k", join=join, meanwhile=getattr(shop, end))


def test_going_on_in_a_transaction_of_its_own_does_not_hide_the_rollback(shop: sqlite3.Connection) -> None:
    def give_up_and_go_on() -> None:
        shop.rollback()
        shop.execute("INSERT INTO effects (note) VALUES ('again')")

    with pytest.raises(UsageError, match="ended inside"):
        act(shop, KeyTable(shop), "k", meanwhile=give_up_and_go_on)

    assert effects(shop) == 0


@pytest.mark.parametrize("after", ["COMMIT", "RELEASE holdfast_once"])
def test_ending_a_joined_transaction_after_the_outcome_is_an_error_too(
    shop: sqlite3.Connection, after: str
) -> None:
    shop.execute("INSERT INTO effects (note) VALUES ('pending')")
    table = KeyTable(shop)
    with pytest.raises(UsageError, match="ended inside"), table.once("k", 1, join=True) as slot:
        ending(shop, slot, after)


def test_a_claim_that_was_committed_without_an_outcome_is_never_run_again(shop: sqlite3.Connection) -> None:
    table = KeyTable(shop)

    def mistake() -> None:
        shop.commit()
        raise RuntimeError("killed here")

    with pytest.raises(RuntimeError, match="killed here"):
        act(shop, table, "k", 1, meanwhile=mistake)
    with pytest.raises(KeyTableError, match="before its outcome was stored") as caught:
        act(shop, table, "k", 1)

    assert caught.value.reason == "unfinished"
    assert effects(shop) == 1


def test_a_constraint_that_fails_at_the_commit_is_the_tools_own_error(shop: sqlite3.Connection) -> None:
    shop.execute("PRAGMA foreign_keys = ON")
    shop.execute("CREATE TABLE parts (number INTEGER REFERENCES effects DEFERRABLE INITIALLY DEFERRED)")
    table = KeyTable(shop)
    with pytest.raises(sqlite3.IntegrityError):
        act(shop, table, "k", 1, meanwhile=lambda: shop.execute("INSERT INTO parts VALUES (99)"))

    assert act(shop, table, "k", 2) == {"number": 1}


def test_a_block_inside_a_block_is_refused_instead_of_waiting_for_itself(shop: sqlite3.Connection) -> None:
    table = KeyTable(shop)
    with pytest.raises(UsageError, match="open already in this thread"), table.once("a", 1), table.once("b", 1):
        raise AssertionError

    assert act(shop, table, "c") == {"number": 1}


def test_threads_that_share_a_table_take_turns_and_each_key_takes_effect_once(shop: sqlite3.Connection) -> None:
    table = KeyTable(shop)
    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(lambda number: act(shop, table, f"key-{number % 10}"), range(200)))

    assert effects(shop) == 10
    assert all(outcome == outcomes[number % 10] for number, outcome in enumerate(outcomes))


def test_async_tools_use_a_table_in_threads(shop: sqlite3.Connection) -> None:
    table = KeyTable(shop)

    async def main() -> list[Any]:
        return await asyncio.gather(*(asyncio.to_thread(act, shop, table, "k") for _ in range(20)))

    assert asyncio.run(main()) == [{"number": 1}] * 20
    assert effects(shop) == 1


def test_a_thread_waits_for_another_only_so_long(shop: sqlite3.Connection) -> None:
    table = KeyTable(shop, patience=0.05)
    inside, done = threading.Event(), threading.Event()

    def hold() -> None:
        with table.once("slow", 1) as slot:
            slot.store(1)
            inside.set()
            done.wait(10)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(hold)
        assert inside.wait(10)
        with pytest.raises(KeyTableError, match="another thread") as caught:
            act(shop, table, "k")
        done.set()
    assert caught.value.reason == "busy"


def test_another_connection_is_waited_for_only_so_long(shop: sqlite3.Connection, tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "shop.db", timeout=0.05)
    with KeyTable(shop).once("k", 1) as slot:
        with pytest.raises(KeyTableError, match="locked") as caught:
            act(other, KeyTable(other), "k", 1)
        slot.store(1)
    other.close()

    assert caught.value.reason == "busy"


def test_a_connection_of_another_thread_is_refused_with_a_remedy(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "shop.db")
    with (
        ThreadPoolExecutor(1) as pool,
        pytest.raises(UsageError, match="check_same_thread=False"),
    ):
        pool.submit(act, connection, KeyTable(connection), "k").result()
    connection.close()


@pytest.mark.parametrize("key", ["", "x" * 513, "a\0b", "\ud800", 7, None])
def test_a_bad_key_is_refused_before_anything_happens(shop: sqlite3.Connection, key: Any) -> None:
    with pytest.raises(KeyTableError, match="1 to 512 characters") as caught:
        act(shop, KeyTable(shop), key)

    assert caught.value.reason == "bad_key"
    assert not shop.in_transaction


@pytest.mark.parametrize("key", ["x", "\U0001f600" * 512, "'; DROP TABLE effects; --", " "])
def test_any_other_text_is_a_key(shop: sqlite3.Connection, key: str) -> None:
    table = KeyTable(shop)

    assert act(shop, table, key) == act(shop, table, key) == {"number": 1}


@pytest.mark.parametrize("name", ["", "1st", "a b", 'x"; DROP TABLE effects; --', "sqlite_keys", "x" * 64, "é"])
def test_a_bad_table_name_is_refused(shop: sqlite3.Connection, name: str) -> None:
    with pytest.raises(UsageError, match="name of a key table"):
        KeyTable(shop, name)


@pytest.mark.parametrize("value", ["x" * 100, [[[1] * 20] * 2]])
def test_an_outcome_that_is_too_large_undoes_the_block(shop: sqlite3.Connection, value: Any) -> None:
    table = KeyTable(shop, max_outcome_bytes=50)
    with pytest.raises(KeyTableError, match="at most 50") as caught, table.once("k", 1) as slot:
        slot.store(value)

    assert caught.value.reason == "too_large"
    assert act(shop, table, "k", 2) == {"number": 1}


def test_an_outcome_that_could_not_be_read_again_is_refused(shop: sqlite3.Connection) -> None:
    deep: Any = 1
    for _ in range(200):
        deep = [deep]
    for value in (float("nan"), {1: 2}, object(), "\ud800", deep):
        with pytest.raises(UsageError, match="not a JSON value"), KeyTable(shop).once("k", 1) as slot:
            slot.store(value)


def test_the_settings_of_the_connection_do_not_matter(shop: sqlite3.Connection) -> None:
    table = KeyTable(shop)
    shop.row_factory = lambda cursor, row: {"columns": len(row)}
    shop.text_factory = bytes
    shop.isolation_level = None

    assert act(shop, table, "ä", 2**70) == act(shop, table, "ä", 2**70) == {"number": 1}


def test_a_table_of_the_same_name_but_another_form_is_left_alone(shop: sqlite3.Connection) -> None:
    with pytest.raises(KeyTableError, match=r"no such column|no column named") as caught:
        act(shop, KeyTable(shop, "effects"), "k")

    assert caught.value.reason == "foreign"
    assert effects(shop) == 0


def test_old_keys_are_forgotten_and_may_take_effect_again(shop: sqlite3.Connection) -> None:
    table = KeyTable(shop)
    act(shop, table, "old")
    act(shop, table, "new")
    shop.execute("UPDATE holdfast_keys SET created = created - 100 WHERE key = 'old'")
    shop.commit()

    assert table.forget(older_than_seconds=50) == 1
    act(shop, table, "old", "other arguments")
    act(shop, table, "new")
    assert effects(shop) == 3


@pytest.mark.parametrize("age", [-1, float("nan"), float("inf")])
def test_an_impossible_age_is_refused(shop: sqlite3.Connection, age: float) -> None:
    with pytest.raises(UsageError, match="not an age"):
        KeyTable(shop).forget(age)


def test_forgetting_in_a_new_database_removes_nothing(tmp_path: Path) -> None:
    with open_keys(tmp_path / "keys.db") as keys:
        assert keys.forget(0) == 0


def test_a_damaged_outcome_is_told(shop: sqlite3.Connection) -> None:
    table = KeyTable(shop)
    act(shop, table, "k")
    shop.execute("UPDATE holdfast_keys SET outcome = x'7b22'")
    shop.commit()

    with pytest.raises(HoldfastError, match="damaged"):
        act(shop, table, "k")
