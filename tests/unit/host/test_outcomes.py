"""The outcomes that the host keeps: durable, expiring, and never a reason for the host to end."""

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.dedup import KeyConflict, KeyTableError
from holdfast.dedup import digest_of as digest_of_dedup
from holdfast.errors import HoldfastError
from holdfast.host.outcomes import Conflict, OutcomeStore, digest_of, open_outcomes

PAYLOAD = b'{"content":[{"type":"text","text":"7"}],"isError":false}'

FULL = """
import json, resource, sys
from pathlib import Path
from holdfast.errors import HoldfastError
from holdfast.host.outcomes import open_outcomes
store = open_outcomes(Path(sys.argv[1]), 60)
store.keep("t", "before", "d", b"1")
sys.dont_write_bytecode = True
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    store.keep("t", "big", "d", b"1" * 500_000)
except HoldfastError as error:
    print(json.dumps([error.reason, store.look_up("t", "before", "d").decode(), store.look_up("t", "big", "d")]))
"""

LIGHT = """
import sys
from holdfast.host.outcomes import open_outcomes
open_outcomes(sys.argv[1], 60).close()
print("sqlite3" in sys.modules)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "outcomes.db"


@pytest.fixture
def store(path: Path) -> Iterator[OutcomeStore]:
    opened = open_outcomes(path, ttl=60)
    yield opened
    opened.close()


def backdate(path: Path, seconds: float) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE holdfast_keys SET created = created - ?", (seconds,))
    connection.close()


def rows(path: Path) -> int:
    connection = sqlite3.connect(path)
    (count,) = connection.execute("SELECT count(*) FROM holdfast_keys").fetchone()
    connection.close()
    return int(count)


def test_a_kept_outcome_is_found_again_byte_for_byte_by_the_next_host(store: OutcomeStore, path: Path) -> None:
    store.keep("order", "k", "d1", PAYLOAD)
    other = open_outcomes(path, ttl=60)

    assert store.look_up("order", "k", "d1") == PAYLOAD
    assert other.look_up("order", "k", "d1") == PAYLOAD
    assert other.look_up("refund", "k", "d1") is None
    other.close()


def test_looking_up_makes_no_file(store: OutcomeStore, path: Path) -> None:
    assert store.look_up("order", "k", "d1") is None

    assert not path.parent.exists()


def test_sqlite_is_not_loaded_for_a_store_that_is_not_used(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIGHT, str(path)], capture_output=True, text=True, timeout=30, check=True
    )

    assert done.stdout == "False\n"


def test_other_arguments_are_a_conflict(store: OutcomeStore) -> None:
    store.keep("order", "k", "d1", PAYLOAD)

    assert store.look_up("order", "k", "d2") == Conflict(stored="d1", given="d2")
    with pytest.raises(KeyConflict):
        store.keep("order", "k", "d2", b"2")
    assert store.look_up("order", "k", "d1") == PAYLOAD


def test_the_first_outcome_stays(store: OutcomeStore) -> None:
    store.keep("order", "k", "d1", PAYLOAD)
    store.keep("order", "k", "d1", b"other")

    assert store.look_up("order", "k", "d1") == PAYLOAD


def test_an_expired_outcome_is_not_found_and_makes_room(store: OutcomeStore, path: Path) -> None:
    store.keep("order", "k", "d1", PAYLOAD)
    store.keep("order", "other", "d1", PAYLOAD)
    backdate(path, 61)

    assert store.look_up("order", "k", "d1") is None
    assert store.look_up("order", "k", "d2") is None
    store.keep("order", "k", "d2", b"2")
    assert store.look_up("order", "k", "d2") == b"2"
    assert rows(path) == 1


def test_expired_outcomes_are_dropped_when_the_store_is_opened(store: OutcomeStore, path: Path) -> None:
    store.keep("order", "k", "d1", PAYLOAD)
    backdate(path, 61)
    store.close()

    assert store.look_up("order", "another", "d1") is None
    assert rows(path) == 0


@pytest.mark.parametrize("content", [b"garbage " * 1000, b"x", b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_damaged_file_is_moved_aside_and_replaced(store: OutcomeStore, path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)

    assert store.look_up("order", "k", "d1") is None
    store.keep("order", "k", "d1", PAYLOAD)

    assert store.look_up("order", "k", "d1") == PAYLOAD
    assert Path(f"{path}.corrupt-1").read_bytes() == content
    (problem,) = store.take_problems()
    assert "corrupt-1" in problem
    assert store.take_problems() == []


def test_every_damaged_file_is_kept(store: OutcomeStore, path: Path) -> None:
    for number in (1, 2):
        store.close()
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"garbage" * number)
        store.keep("order", "k", "d1", PAYLOAD)

    assert len(store.take_problems()) == 2
    assert Path(f"{path}.corrupt-2").read_bytes() == b"garbage" * 2


def test_damage_found_in_the_middle_of_work_is_mended_too(store: OutcomeStore, path: Path) -> None:
    for number in range(200):
        store.keep("order", f"k{number}", "d1", b"1" * 500)
    store.close()
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(8192)
        file.write(b"\xa5" * (size - 8192))

    found = [store.look_up("order", f"k{number}", "d1") for number in range(200)]
    store.keep("order", "new", "d1", PAYLOAD)

    assert set(found) <= {None, b"1" * 500}
    assert store.look_up("order", "new", "d1") == PAYLOAD
    assert len(store.take_problems()) == 1


def test_a_file_that_another_host_has_replaced_is_not_moved_aside(store: OutcomeStore, path: Path) -> None:
    store.keep("order", "k", "d1", PAYLOAD)
    path.rename(f"{path}.corrupt-1")
    other = open_outcomes(path, ttl=60)
    other.keep("order", "k2", "d1", b"2")

    assert store.look_up("order", "k2", "d1") == b"2"
    assert sorted(file.name for file in path.parent.glob("*.corrupt-?")) == ["outcomes.db.corrupt-1"]
    other.close()


def test_a_file_that_was_removed_is_made_again(store: OutcomeStore, path: Path) -> None:
    store.keep("order", "k", "d1", PAYLOAD)
    for file in path.parent.iterdir():
        file.unlink()

    assert store.look_up("order", "k", "d1") is None
    store.keep("order", "k", "d1", PAYLOAD)
    assert rows(path) == 1


def test_a_newer_or_foreign_file_is_an_error_and_is_left_alone(store: OutcomeStore, path: Path) -> None:
    store.keep("order", "k", "d1", PAYLOAD)
    store.close()
    connection = sqlite3.connect(path)
    for pragma, reason in (("user_version = 2", "newer"), ("application_id = 5", "foreign")):
        connection.execute(f"PRAGMA {pragma}")
        with pytest.raises(KeyTableError) as caught:
            store.look_up("order", "k", "d1")
        assert caught.value.reason == reason
    connection.close()

    assert list(path.parent.glob("*.corrupt-*")) == []


def test_a_place_that_cannot_be_written_is_an_error_each_time() -> None:
    store = open_outcomes(Path("/proc/nowhere/outcomes.db"), ttl=60)
    for _ in range(2):
        with pytest.raises(KeyTableError, match="nowhere") as caught:
            store.keep("order", "k", "d1", PAYLOAD)
        assert caught.value.reason == "unwritable"
    assert store.look_up("order", "k", "d1") is None


def test_a_full_disk_is_an_error_and_what_was_kept_can_still_be_read(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, timeout=30, check=True
    )
    reason, before, big = json.loads(done.stdout)

    assert reason in {"full", "failed"}
    assert (before, big) == ("1", None)


def test_a_host_does_not_wait_long_for_another_one(store: OutcomeStore, path: Path) -> None:
    store.keep("order", "k", "d1", PAYLOAD)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    began = time.monotonic()
    with pytest.raises(KeyTableError) as caught:
        store.keep("order", "k2", "d1", PAYLOAD)
    waited = time.monotonic() - began
    other.execute("ROLLBACK")
    other.close()

    assert caught.value.reason == "busy"
    assert waited < 5
    assert store.look_up("order", "k", "d1") == PAYLOAD


@pytest.mark.parametrize(
    ("key", "payload"), [("", b"1"), ("a\0", b"1"), ("k" * 513, b"1"), ("k", b"1" * 1_048_577)]
)
def test_what_is_out_of_bounds_is_refused_without_a_file(
    store: OutcomeStore, path: Path, key: str, payload: bytes
) -> None:
    with pytest.raises(HoldfastError):
        store.keep("order", key, "d1", payload)

    assert not path.exists()


def test_the_digest_is_the_one_of_the_key_table() -> None:
    assert digest_of({"b": 1, "a": [1.0]}) == digest_of_dedup({"a": [1.0], "b": 1})


def test_closing_twice_and_using_after_closing_both_work(store: OutcomeStore) -> None:
    store.keep("order", "k", "d1", PAYLOAD)
    store.close()
    store.close()

    assert store.look_up("order", "k", "d1") == PAYLOAD
