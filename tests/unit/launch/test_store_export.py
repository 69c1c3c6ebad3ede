"""Exports: two files that follow the store, mend themselves, and prove what they say."""

import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.launch.stores import HASH, RUN, broken_link, made_run, tamper, to_state

from holdfast.launch import documents
from holdfast.launch.store.export import replay, replay_file, write_exports
from holdfast.launch.store.refusals import NoSuchRun
from holdfast.launch.store.run_store import RunStore


def work(store: RunStore, number: int = 0, run_id: str = RUN) -> None:
    with store.change(run_id) as change:
        change.event("HELLO", {"number": number, "text": "ü\n\u2028☃"})
        change.artifact("a.json", HASH, "text", "w", 1)
        change.issues([broken_link("docs", line=number + 1)])


@pytest.fixture
def exported(store: RunStore, tmp_path: Path) -> Path:
    made_run(store)
    work(store)
    write_exports(store, RUN, tmp_path / "run")
    return tmp_path / "run"


def whole(store: RunStore) -> list[object]:
    return [event.document() for event in store.events(RUN)]


def told(root: Path) -> list[object]:
    return [json.loads(line) for line in (root / "events.ndjson").read_bytes().split(b"\n")[:-1]]


def test_the_files_say_what_the_store_says_and_fit_their_schemas(store: RunStore, exported: Path) -> None:
    assert told(exported) == whole(store)
    snapshot = documents.decode("snapshot", (exported / "snapshot.json").read_bytes())
    assert snapshot == store.snapshot(RUN)
    assert all(documents.violations("event", line) == [] for line in told(exported))
    assert sorted(path.name for path in exported.iterdir()) == ["events.ndjson", "snapshot.json"]


def test_new_events_are_appended_and_old_lines_stay(store: RunStore, exported: Path) -> None:
    before, inode = (exported / "events.ndjson").read_bytes(), (exported / "events.ndjson").stat().st_ino
    work(store, 1)
    for _ in range(2):
        write_exports(store, RUN, exported)
    assert told(exported) == whole(store)
    assert (exported / "events.ndjson").read_bytes().startswith(before)
    assert (exported / "events.ndjson").stat().st_ino == inode


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "half a line": lambda text: text[:-30],
    "a line and a half": lambda text: text + text[:40],
    "half of the first line": lambda text: text[:20],
    "a foreign line": lambda text: text + b'{"seq": 99}\n',
    "a line that is no object": lambda text: text + b"7\n",
    "binary": lambda text: text + b"\xff\xfe\0\n",
    "a doubled line": lambda text: text + text.split(b"\n")[-2] + b"\n",
    "a lost line": lambda text: text[text.index(b"\n") + 1 :],
    "other hashes": lambda text: text.replace(b'"event_hash":"', b'"event_hash":"0'),
    "lines of zeros": lambda text: text + b"\0" * 500,
    "a deep line": lambda text: text + b"[" * 100_000 + b"\n",
    "events that the store does not have": lambda text: text + b"".join(
        line.replace(b'"seq":2', b'"seq":5') + b"\n" for line in text.split(b"\n")[1:2]
    ),
}  # fmt: skip


def test_whatever_a_crash_has_left_is_mended(store: RunStore, exported: Path) -> None:
    for number, damage in enumerate(DAMAGES.values()):
        path = exported / "events.ndjson"
        path.write_bytes(damage(path.read_bytes()))
        (exported / "snapshot.json").write_bytes(b"{")
        if number % 2:
            work(store, number)
        write_exports(store, RUN, exported)
        assert told(exported) == whole(store)
        assert replay_file(path).ok


def test_files_that_are_gone_are_written_again(store: RunStore, exported: Path) -> None:
    for path in exported.iterdir():
        path.unlink()
    exported.rmdir()
    write_exports(store, RUN, exported)
    assert told(exported) == whole(store)


def test_many_who_export_at_once_leave_whole_files(store: RunStore, exported: Path) -> None:
    barrier = threading.Barrier(6)

    def export(number: int) -> None:
        barrier.wait(20)
        for _ in range(3):
            work(store, number)
            write_exports(store, RUN, exported)

    threads = [threading.Thread(target=export, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    write_exports(store, RUN, exported)
    assert told(exported) == whole(store)
    assert len(list(exported.iterdir())) == 2


def test_a_run_that_does_not_exist_has_no_exports(store: RunStore, tmp_path: Path) -> None:
    with pytest.raises(NoSuchRun):
        write_exports(store, RUN, tmp_path / "run")
    with pytest.raises(NoSuchRun):
        replay(store, RUN)


def test_a_replay_proves_that_the_tables_follow_from_the_events(store: RunStore, exported: Path) -> None:
    to_state(store, "VALIDATING")
    report = replay(store, RUN)
    assert report.ok
    assert report.snapshot == store.snapshot(RUN)
    assert (report.run_id, report.events) == (RUN, store.run(RUN).last_seq)  # type: ignore[union-attr]
    write_exports(store, RUN, exported)
    assert replay_file(exported / "events.ndjson") == report


TAMPERING = {
    "payload": ("UPDATE launch_events SET payload = '{\"number\":9}' WHERE seq = 2", 2),
    "type": ("UPDATE launch_events SET type = 'OTHER' WHERE seq = 2", 2),
    "lost_event": ("DELETE FROM launch_events WHERE seq = 3", 3),
    "last_event": ("DELETE FROM launch_events WHERE seq = 4", None),
    "state": ("UPDATE launch_runs SET state = 'DONE' WHERE token = 0", None),
    "artifact": (f"UPDATE launch_artifacts SET sha256 = '{'f' * 64}' WHERE size = 1", None),
    "issue": ("DELETE FROM launch_issues WHERE status = 'OPEN'", None),
    "configuration": ('UPDATE launch_runs SET config = \'{"product_slug":"x"}\' WHERE token = 0', None),
}


def test_tampering_with_the_tables_is_noticed(store: RunStore, store_url: str) -> None:
    for what, (statement, broken_at) in TAMPERING.items():
        made_run(store, f"r_tampered_{what}")
        work(store, run_id=f"r_tampered_{what}")
        assert replay(store, f"r_tampered_{what}").ok
        tamper(store_url, f"{statement} AND run_id = 'r_tampered_{what}'")

        report = replay(store, f"r_tampered_{what}")
        assert (report.ok, report.broken_at) == (False, broken_at)
        assert report.differences


def test_a_tampered_file_is_noticed(exported: Path) -> None:
    path = exported / "events.ndjson"
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([lines[0], lines[1].replace(b'"number":0', b'"number":1'), *lines[2:]]))
    assert replay_file(path).broken_at == 2
    path.write_bytes(b"\n".join(lines)[:-1])
    assert replay_file(path).broken_at == 4
    path.write_bytes(b"\xff")
    assert replay_file(path).broken_at == 1


def test_a_snapshot_that_says_something_else_is_noticed(exported: Path) -> None:
    path = exported / "snapshot.json"
    path.write_bytes(path.read_bytes().replace(b'"CREATED"', b'"DONE"'))
    report = replay_file(exported / "events.ndjson")
    assert report.differences == ["/run_state: events say 'CREATED', kept is 'DONE'"]
    path.write_bytes(b"{}")
    assert not replay_file(exported / "events.ndjson").ok
    path.unlink()
    assert replay_file(exported / "events.ndjson").ok
