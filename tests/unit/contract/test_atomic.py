"""Files that two jobs write at once: whole, seen by both, and nothing left beside them."""

import datetime as dt
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.unit.contract.compare.surfaces import deep, snapshot

from holdfast.contract.atomic import write_atomically
from holdfast.contract.lock import next_lock, read_lock_file, write_lock_file
from holdfast.errors import ContractError

DAY = dt.date(2026, 1, 1)


def test_nobody_writes_between_the_check_and_the_replacing(tmp_path: Path) -> None:
    path = tmp_path / "file"
    done = threading.Event()

    def write_another() -> None:
        write_atomically(path, b"another")
        done.set()

    other = threading.Thread(target=write_another)

    def check() -> None:
        other.start()
        assert not done.wait(0.1)

    write_atomically(path, b"one", check=check)
    other.join(10)

    assert path.read_bytes() == b"another"


def test_many_writers_leave_one_whole_file_and_no_draft(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: write_atomically(path, bytes([number]) * 50_000), range(32)))

    assert len(set(path.read_bytes())) == 1
    assert path.stat().st_size == 50_000
    assert list(tmp_path.iterdir()) == [path]


def test_of_many_locks_that_follow_the_same_one_only_one_is_written(tmp_path: Path) -> None:
    path = tmp_path / "shop.lock.json"
    locks = [next_lock(None, snapshot(deep("server.instructions", str(number))), (), DAY) for number in range(9)]
    write_lock_file(path, locks[0], replaces=None)

    def write(number: int) -> bool:
        try:
            return write_lock_file(path, locks[number], replaces=locks[0]) > 0
        except ContractError:
            return False

    with ThreadPoolExecutor(8) as pool:
        written = list(pool.map(write, range(1, 9)))
    assert written.count(True) == 1
    assert read_lock_file(path) == locks[1 + written.index(True)]


def test_what_the_check_refuses_is_not_written(tmp_path: Path) -> None:
    def check() -> None:
        raise ContractError("no", remedy="none")

    with pytest.raises(ContractError):
        write_atomically(tmp_path / "file", b"x", check=check)
    assert list(tmp_path.iterdir()) == []
