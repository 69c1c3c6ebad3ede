"""The event log: whole lines under concurrency, a bound on its size, and no failure that reaches the server."""

import json
import os
import re
import stat
import subprocess
import sys
import tempfile
from collections import UserDict, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.observe.event_log import EventLog, NullEventLog, open_event_log, read_events
from holdfast.settings import load_settings
from holdfast.vocabulary.events import CallEnded, Event, FaultRecorded, MessageRejected, WorkAbandoned

WRITER = """
import sys
from pathlib import Path
from holdfast.observe.event_log import EventLog
from holdfast.vocabulary.events import WorkAbandoned

path, name, count, max_bytes, max_files = sys.argv[1:]
log = EventLog(Path(path), max_bytes=int(max_bytes), max_files=int(max_files))
for number in range(int(count)):
    log.emit(WorkAbandoned(call_id=f"{name}-{number}", tool="x" * (number % 50)))
    if number % 3 == 0:
        log.flush()
log.close()
assert (log.dropped, log.last_error) == (0, None), log.last_error
"""

SHORT_WRITE = """
import resource, sys
from pathlib import Path
from holdfast.observe.event_log import EventLog, read_events
from holdfast.vocabulary.events import WorkAbandoned

path = Path(sys.argv[1])
log = EventLog(path, retry_after=0)
sys.dont_write_bytecode = True
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
for number in range(30):
    log.emit(WorkAbandoned(call_id=str(number), tool="x"))
log.flush()
assert "too large" in log.last_error and path.stat().st_size == 1000, log.last_error
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
log.close()
assert log.dropped == 0
assert [record["call_id"] for record in read_events(path)] == [str(number) for number in range(30)]
"""


def abandoned(number: int) -> Event:
    return WorkAbandoned(call_id=f"call-{number}", tool="tool")


def write(log: EventLog, numbers: Iterator[int] | range) -> None:
    for number in numbers:
        log.emit(abandoned(number))
        log.flush()


def calls_in(path: Path) -> list[str]:
    return [record["call_id"] for record in read_events(path)]


def all_lines(path: Path) -> list[bytes]:
    files = [file for file in path.parent.iterdir() if file.suffix != ".lock"]
    return [line for file in files for line in file.read_bytes().splitlines(keepends=True)]


def run_writers(path: Path, *, max_bytes: int, max_files: int) -> None:
    command = [sys.executable, "-c", WRITER, str(path)]
    writers = [
        subprocess.Popen([*command, name, "2000", str(max_bytes), str(max_files)], stderr=subprocess.PIPE)
        for name in "abc"
    ]
    for writer in writers:
        _, errors = writer.communicate(timeout=50)
        assert writer.returncode == 0, errors.decode()


def test_a_record_has_its_name_its_time_and_the_fields_that_are_set(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "events.jsonl")
    log.emit(CallEnded(7, "c-1", "lookup", "ok", 1.5))
    log.close()
    (record,) = read_events(log.path)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", record.pop("ts"))
    call = {"request_id": 7, "call_id": "c-1", "tool": "lookup", "outcome": "ok", "duration_ms": 1.5}
    assert record == {"event": "tool_call", **call}


def test_nothing_is_written_before_the_flush_and_all_of_it_with_the_flush(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "events.jsonl")
    for number in range(5):
        log.emit(abandoned(number))
    assert not log.path.exists()
    log.flush()
    assert calls_in(log.path) == [f"call-{number}" for number in range(5)]


def test_directories_and_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "state" / "server" / "events.jsonl", max_bytes=100, max_files=2)
    write(log, range(5))
    found = [tmp_path / "state", *(tmp_path / "state").rglob("*")]
    modes = {stat.S_IMODE(path.stat().st_mode) for path in found}
    assert len(found) == 5
    assert modes == {0o700, 0o600}


def test_three_processes_lose_and_tear_nothing_over_many_rotations(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    run_writers(path, max_bytes=40_000, max_files=40)
    assert len(list(tmp_path.glob("events.jsonl.[0-9]*"))) > 10
    assert all(json.loads(line)["event"] == "work_abandoned" for line in all_lines(path))
    seen: dict[str, list[int]] = defaultdict(list)
    for call in calls_in(path):
        seen[call[0]].append(int(call[2:]))
    assert seen == {name: list(range(2000)) for name in "abc"}


def test_three_processes_keep_the_bound_and_the_newest_records(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    run_writers(path, max_bytes=16_000, max_files=3)
    files = [file for file in tmp_path.iterdir() if file.suffix != ".lock"]
    assert sorted(file.name for file in files) == ["events.jsonl", "events.jsonl.1", "events.jsonl.2"]
    assert sum(file.stat().st_size for file in files) < 3 * (16_000 + 3 * 600)
    assert all(json.loads(line) for line in all_lines(path))
    assert {call[2:] for call in calls_in(path)} >= {"1999"}


@pytest.mark.parametrize("max_files", [1, 2, 4])
def test_a_single_writer_never_exceeds_the_bound(tmp_path: Path, max_files: int) -> None:
    log = EventLog(tmp_path / "events.jsonl", max_bytes=1000, max_files=max_files)
    for number in range(200):
        write(log, range(number, number + 1))
        sizes = [file.stat().st_size for file in tmp_path.iterdir()]
        assert max(sizes) <= 1000
        assert len(sizes) <= max_files + 1
    assert calls_in(log.path)[-1] == "call-199"


def test_fewer_files_than_before_are_kept_when_the_number_is_lowered(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    write(EventLog(path, max_bytes=300, max_files=9), range(60))
    write(EventLog(path, max_bytes=300, max_files=2), range(9))
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "events.jsonl",
        "events.jsonl.1",
        "events.jsonl.lock",
    ]


def test_a_batch_larger_than_a_file_is_spread_over_files(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "events.jsonl", max_bytes=1000, max_files=50)
    for number in range(100):
        log.emit(abandoned(number))
    log.flush()
    assert calls_in(log.path) == [f"call-{number}" for number in range(100)]
    assert max(file.stat().st_size for file in tmp_path.iterdir()) <= 1000


def test_a_removed_file_is_noticed_and_the_record_written_again(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "events.jsonl")
    write(log, range(1))
    log.path.unlink()
    write(log, range(1, 3))
    assert calls_in(log.path) == ["call-1", "call-2"]


def test_a_rotation_that_another_process_blocks_holds_nobody_up(tmp_path: Path) -> None:
    import fcntl

    log = EventLog(tmp_path / "events.jsonl", max_bytes=1000, max_files=9, retry_after=0)
    with (tmp_path / "events.jsonl.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        write(log, range(50))
        assert log.path.stat().st_size <= 2000
        assert "lock" in (log.last_error or "")
    log.close()
    assert calls_in(log.path) == [f"call-{number}" for number in range(50)]


def test_a_full_disk_is_counted_and_never_raised() -> None:
    log = EventLog(Path("/dev/full"), retry_after=0)
    write(log, range(10))
    assert "No space left" in (log.last_error or "")
    assert log.dropped == 0
    log.close()
    assert log.dropped == 10


def test_a_disk_that_fills_up_inside_a_record_loses_nothing_once_there_is_room(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SHORT_WRITE, str(tmp_path / "events.jsonl")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_waits_for_a_broken_disk_is_bounded() -> None:
    log = EventLog(Path("/dev/full"), retry_after=1000)
    event = MessageRejected(-32700, "x" * 1000)
    for _ in range(1000):
        log.emit(event)
    assert log.dropped > 400
    log.close()
    assert log.dropped == 1000


@pytest.mark.parametrize(
    "obstacle", ["a directory in its place", "a file as its directory", "a pipe in its place"]
)
def test_an_unusable_path_is_counted_and_used_once_it_is_usable(tmp_path: Path, obstacle: str) -> None:
    path = tmp_path / "state" / "events.jsonl"
    if "directory in" in obstacle:
        path.mkdir(parents=True)
    elif "pipe" in obstacle:
        path.parent.mkdir()
        os.mkfifo(path)
    else:
        path.parent.touch()
    log = EventLog(path, retry_after=0)
    write(log, range(3))
    assert log.last_error is not None
    (path.parent if path.parent.is_file() else path).rename(tmp_path / "aside")
    write(log, range(3, 4))
    assert calls_in(path) == ["call-0", "call-1", "call-2", "call-3"]
    assert log.dropped == 0


def test_a_failed_write_is_not_tried_again_before_its_time(tmp_path: Path) -> None:
    (tmp_path / "state").touch()
    log = EventLog(tmp_path / "state" / "events.jsonl", retry_after=1000)
    write(log, range(1))
    (tmp_path / "state").unlink()
    write(log, range(1, 2))
    assert not log.path.exists()
    log.close()
    assert calls_in(log.path) == ["call-0", "call-1"]


class ExplodingMapping(UserDict[str, object]):
    def __iter__(self) -> Iterator[str]:
        raise RuntimeError("not today")


def test_an_event_that_cannot_be_told_is_counted(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "events.jsonl")
    log.emit(FaultRecorded("f", None, None, "E", "m", "t", details=ExplodingMapping()))
    write(log, range(1))
    assert log.dropped == 1
    assert "not today" in (log.last_error or "")
    assert calls_in(log.path) == ["call-0"]


@pytest.mark.parametrize(
    "noise", [b"", b"\n", b"{", b'{"event":"torn","ts":"20', b"\xff\n", b"[1]\n", b'{"no":"event"}\n', b"1"]
)
def test_what_is_not_a_record_is_passed_over(tmp_path: Path, noise: bytes) -> None:
    log = EventLog(tmp_path / "events.jsonl")
    log.path.write_bytes(noise)
    write(log, range(1))
    with log.path.open("ab") as file:
        file.write(b'{"event":"torn","ts":"2026-01')
    assert calls_in(log.path) == ["call-0"]


def test_a_log_that_does_not_exist_is_empty(tmp_path: Path) -> None:
    assert list(read_events(tmp_path / "nowhere" / "events.jsonl")) == []


def test_files_that_are_not_of_the_log_are_left_alone(tmp_path: Path) -> None:
    strangers = [tmp_path / name for name in ("events.jsonl.bak", "events.jsonl.1x", "events.jsonl.gz")]
    for stranger in strangers:
        stranger.write_text("mine")
    log = EventLog(tmp_path / "events.jsonl", max_bytes=300, max_files=2)
    write(log, range(30))
    assert [stranger.read_text() for stranger in strangers] == ["mine"] * 3
    assert calls_in(log.path)[-1] == "call-29"


@settings(deadline=None)
@given(st.text(st.characters()))
def test_any_server_name_is_one_safe_directory(name: str) -> None:
    with tempfile.TemporaryDirectory() as state:
        log = open_event_log(load_settings({"state_dir": state}, {}), name)
        assert isinstance(log, EventLog)
        write(log, range(1))
        assert log.path.parent.parent == Path(state)
        assert calls_in(log.path) == ["call-0"]


def test_different_server_names_have_different_logs(tmp_path: Path) -> None:
    configured = load_settings({"state_dir": str(tmp_path)}, {})
    names = ["a", "a/b", "a_b", "a:b", "..", ".", "", "A" * 300, "A" * 301, "../a"]
    assert len({open_event_log(configured, name).path for name in names}) == len(names)


def test_a_log_that_is_switched_off_takes_everything_and_writes_nothing(tmp_path: Path) -> None:
    log = open_event_log(load_settings({"state_dir": str(tmp_path), "event_log": False}, {}), "server")
    assert isinstance(log, NullEventLog)
    log.emit(abandoned(1))
    log.flush()
    log.close()
    assert (log.dropped, log.last_error, list(tmp_path.iterdir())) == (0, None, [])
