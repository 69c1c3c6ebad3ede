"""The private file of a key table: who may read it, and what is done about a file that is not one."""

import os
import sqlite3
import stat
from pathlib import Path

import pytest

from holdfast.dedup import KeyTableError, open_keys
from holdfast.dedup.database import APPLICATION_ID, FORMAT, open_database


def keep(path: Path, key: str, value: str) -> str:
    with open_keys(path) as keys, keys.once(key, key) as slot:
        if not slot.stored:
            slot.store(value)
    return str(slot.outcome)


def edit(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(statement)
    connection.close()


def refusal(path: Path) -> KeyTableError:
    with pytest.raises(KeyTableError) as caught:
        open_keys(path, timeout=0.1)
    assert str(path.name) in str(caught.value)
    assert caught.value.remedy
    return caught.value


def test_a_key_outlives_its_process_in_a_file_for_this_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "keys.db"
    before = os.umask(0)
    try:
        assert keep(path, "k", "first") == "first"
        with open_keys(path) as keys, keys.once("k", "k") as slot:
            assert slot.outcome == "first"
            files = sorted(path.parent.iterdir())
            modes = {stat.S_IMODE(file.stat().st_mode) for file in files}
    finally:
        os.umask(before)

    assert [file.name for file in files] == ["keys.db", "keys.db-shm", "keys.db-wal"]
    assert modes == {0o600}
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in (path.parent, path.parent.parent)} == {0o700}


def test_the_file_is_written_ahead_and_every_commit_is_on_disk(tmp_path: Path) -> None:
    connection = open_database(tmp_path / "keys.db", timeout=1)
    journal = connection.execute("PRAGMA journal_mode").fetchone()
    synchronous = connection.execute("PRAGMA synchronous").fetchone()
    connection.close()

    assert (journal, synchronous) == (("wal",), (2,))


def test_an_empty_file_is_what_a_killed_maker_left_and_is_used(tmp_path: Path) -> None:
    path = tmp_path / "keys.db"
    path.touch()

    assert keep(path, "k", "first") == "first"


@pytest.mark.parametrize(
    "content", [b"not a database at all, but long enough to be one " * 40, b"x", b"\0" * 4096]
)
def test_a_file_that_is_no_database_is_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "keys.db"
    path.write_bytes(content)

    assert refusal(path).reason == "corrupt"
    assert path.read_bytes() == content


def test_the_database_of_another_program_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "keys.db"
    edit(path, "CREATE TABLE theirs (x)")
    content = path.read_bytes()

    assert refusal(path).reason == "foreign"
    assert path.read_bytes() == content
    assert [file.name for file in tmp_path.iterdir()] == ["keys.db"]


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_a_path_that_is_not_a_file_is_refused(tmp_path: Path, make: "object") -> None:
    path = tmp_path / "keys.db"
    make(path)  # type: ignore[operator]

    assert refusal(path).reason == "foreign"


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "keys.db"
    keep(path, "k", "first")
    edit(path, f"PRAGMA user_version = {FORMAT + 1}")

    error = refusal(path)

    assert error.reason == "newer"
    assert "newer version" in error.remedy


def test_a_file_cut_in_half_is_told_as_corrupt(tmp_path: Path) -> None:
    path = tmp_path / "keys.db"
    keep(path, "k", "x" * 100_000)
    os.truncate(path, 5000)

    with pytest.raises(KeyTableError) as caught:
        keep(path, "k", "again")

    assert caught.value.reason == "corrupt"
    assert "-wal" in caught.value.remedy


@pytest.mark.parametrize("place", ["/proc/nowhere/keys.db", "/dev/null/keys.db"])
def test_a_directory_that_cannot_be_made_is_told(place: str) -> None:
    assert refusal(Path(place)).reason == "unwritable"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_may_not_be_written_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)

    assert refusal(tmp_path / "keys.db").reason == "unwritable"


def test_the_mark_of_our_files_never_changes() -> None:
    assert (APPLICATION_ID, FORMAT) == (0x48464B54, 1)
