"""What no crash may do to the run store: lose what was kept, keep what was not finished, or stop working."""

import contextlib
import os
import resource
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.launch.stores import HASH, RUN, later, made_run, tamper, to_state

from holdfast.errors import UsageError
from holdfast.launch.store.export import replay
from holdfast.launch.store.objects import ObjectStore
from holdfast.launch.store.refusals import StoreError
from holdfast.launch.store.run_store import RunStore

WRITER = textwrap.dedent("""
    import sys
    from holdfast.launch.store.run_store import RunStore

    store = RunStore(sys.argv[1])
    token = store.claim(sys.argv[2], "victim")
    number = 0
    while True:
        with store.change(sys.argv[2], token=token) as change:
            item = change.queue_item("w", "run", number + 1, {})
            change.start_item(item, "victim", token)
            change.event("HELLO", {"number": number})
            change.artifact(f"{number % 5}.json", "a" * 64, "text", "w", number)
            change.telemetry("POST", "/", {"number": number})
            if len(sys.argv) > 3 and number == int(sys.argv[3]):
                change.move("CLONED_INPUTS")
                change.finish()  # everything is written, and nothing of it is kept yet
                print("inside", flush=True)
                sys.stdin.read()
            change.finish_item(item, {})
        print(number, flush=True)
        number += 1
""")


@contextlib.contextmanager
def writer(*arguments: str) -> Iterator["subprocess.Popen[str]"]:
    """A process that changes a run without end; killed as if the power had gone."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", WRITER, *arguments], text=True, **pipes) as process:  # type: ignore[call-overload]
        try:
            yield process
        finally:
            process.send_signal(signal.SIGKILL)


def test_a_process_that_is_killed_in_a_change_loses_that_change_and_no_other(
    store: RunStore, store_url: str
) -> None:
    made_run(store)
    with writer(store_url, RUN, "3") as process:
        assert process.stdout is not None
        assert [process.stdout.readline().strip() for _ in range(4)] == ["0", "1", "2", "inside"]
        assert store.run(RUN).state == "CREATED"  # type: ignore[union-attr]

    assert replay(store, RUN).ok
    assert [event.payload["number"] for event in store.events(RUN) if event.type == "HELLO"] == [0, 1, 2]
    assert [row.document["number"] for row in store.outbox()] == [0, 1, 2]
    assert {item.status for item in store.items(RUN)} == {"finished"}
    assert store.release_all() == [RUN]
    to_state(store, "INGESTED")
    assert replay(store, RUN).ok


def test_a_process_that_is_killed_at_any_moment_leaves_a_whole_chain(tmp_path: Path) -> None:
    store_url = f"sqlite:///{tmp_path}/runs.db"
    store = RunStore(store_url)
    made_run(store)
    with writer(store_url, RUN) as process:
        assert process.stdout is not None
        told = [int(process.stdout.readline()) for _ in range(15)]
    kept = [event.payload["number"] for event in store.events(RUN) if event.type == "HELLO"]
    assert told == list(range(15))
    assert kept == list(range(len(kept)))
    assert len(kept) >= 15
    assert replay(store, RUN).ok
    store.close()


def test_twenty_threads_at_once_on_one_store_and_its_twin_get_everything_done(
    open_store: Callable[[], RunStore],
) -> None:
    stores, barrier, failures = [open_store(), open_store()], threading.Barrier(20), []
    for number in range(5):
        made_run(stores[0], f"r_number_{number}")

    def work(number: int) -> None:
        store, run_id = stores[number % 2], f"r_number_{number % 5}"
        barrier.wait(30)
        try:
            for step in range(5):
                with store.change(run_id) as change:
                    change.event("HELLO", {"by": number, "step": step})
                    change.artifact(f"{number}.json", HASH, "text", "w", step)
                    change.count_fix_attempt()
                assert store.snapshot(run_id)["fix_attempts"] > step
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(50)
    assert failures == []
    for number in range(5):
        assert stores[0].run(f"r_number_{number}").fix_attempts == 20  # type: ignore[union-attr]
        assert replay(stores[1], f"r_number_{number}").ok


@contextlib.contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    compiles, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        sys.dont_write_bytecode = compiles
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)


def fill(store: RunStore) -> None:
    for number in range(1000):
        with store.change(RUN) as change:
            change.event("HELLO", {"number": number, "text": "x" * 20_000})


def test_a_disk_that_takes_no_more_is_told_and_the_store_stays_usable(tmp_path: Path) -> None:
    store = RunStore(f"sqlite:///{tmp_path}/runs.db")
    made_run(store)
    with no_file_larger_than(600_000), pytest.raises(StoreError) as refused:
        fill(store)
    assert refused.value.reason in ("full", "disk")
    assert refused.value.retryable
    assert refused.value.remedy

    kept = store.run(RUN)
    assert kept is not None
    assert replay(store, RUN).ok
    with store.change(RUN) as change:
        change.move("CLONED_INPUTS")
    assert replay(store, RUN).events == kept.last_seq + 1
    store.close()


FILLER = textwrap.dedent("""
    import sys
    from pathlib import Path
    from holdfast.launch.store.export import replay
    from holdfast.launch.store.objects import ObjectStore
    from holdfast.launch.store.refusals import StoreError
    from tests.launch.stores import RUN, made_run
    from tests.unit.launch.test_store_crash import RunStore, fill

    place = Path(sys.argv[1])
    store = RunStore(f"sqlite:///{place}/runs.db")
    made_run(store)
    try:
        fill(store)
    except StoreError as error:
        print(error.reason, error.retryable, replay(store, RUN).ok)
    try:
        ObjectStore(place / "objects").put(b"x" * 1_000_000)
    except OSError as error:
        print(error.strerror, [path for path in (place / "objects").rglob("*") if path.is_file()])
""")


def test_a_full_filesystem_is_told_and_the_store_stays_usable(tmp_path: Path) -> None:
    # In a namespace of its own: what is mounted there is seen by nobody else and ends with the process.
    alone = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    mounted = (
        f"mount -t tmpfs -o size=1m tmpfs {tmp_path} || exit 77; exec {sys.executable} -c '{FILLER}' {tmp_path}"
    )
    done = subprocess.run([*alone, "sh", "-c", mounted], capture_output=True, text=True, check=False, timeout=50)
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("a filesystem of its own cannot be mounted here")
    assert done.stdout.splitlines() == ["full True True", "No space left on device []"], done.stderr


def test_a_writer_that_never_ends_holds_the_others_up_for_a_bounded_time(
    open_store: Callable[[], RunStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.launch.store.database._PATIENCE_S", 1)
    store, other = open_store(), open_store()
    made_run(store)
    with store.change(RUN) as change:
        change.move("CLONED_INPUTS")
        refusals: list[StoreError] = []

        def try_to_change() -> None:
            with pytest.raises(StoreError) as refused, other.change(RUN):
                pass
            refusals.append(refused.value)

        thread = threading.Thread(target=try_to_change)
        thread.start()
        thread.join(20)
        assert [(error.reason, error.retryable) for error in refusals] == [("busy", True)]
        assert other.run(RUN).state == "CREATED"  # type: ignore[union-attr]
    assert other.run(RUN).state == "CLONED_INPUTS"  # type: ignore[union-attr]


def test_an_object_that_does_not_fit_leaves_nothing_behind(tmp_path: Path) -> None:
    objects = ObjectStore(tmp_path / "objects")
    with no_file_larger_than(100_000), pytest.raises(OSError, match="File too large"):
        objects.put(b"x" * 200_000)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    assert objects.read(objects.put(b"x" * 200_000)) == b"x" * 200_000


def test_a_server_that_ends_every_session_is_found_again(postgres_url: str, postgres_server: str) -> None:
    import psycopg

    store = RunStore(f"{postgres_url}&application_name=victim")
    made_run(store)
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        question = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'victim'"
        with pytest.raises(StoreError) as refused, store.change(RUN) as change:  # noqa: PT012
            change.queue_item("w", "run", 1, {})
            connection.execute(question)
            change.queue_item("w", "run", 2, {})
    assert (refused.value.reason, refused.value.retryable) == ("unavailable", True)
    assert store.items(RUN) == []
    with store.change(RUN, now=later(1)) as change:
        change.move("CLONED_INPUTS")
    assert replay(store, RUN).ok
    store.close()


def test_a_store_whose_file_is_damaged_says_so(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    store = RunStore(f"sqlite:///{path}")
    made_run(store)
    store.close()
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(path.stat().st_size - 4096))
    with pytest.raises(UsageError) as refused:
        RunStore(f"sqlite:///{path}")
    assert "events.ndjson" in refused.value.remedy


def test_a_store_that_is_damaged_while_it_is_open_says_so(store: RunStore, store_url: str) -> None:
    made_run(store)
    tamper(store_url, "DROP TABLE launch_outbox")
    with pytest.raises(StoreError) as refused, store.change(RUN) as change:  # noqa: PT012
        change.move("CLONED_INPUTS")
        change.telemetry("POST", "/", {})
    assert (refused.value.reason, refused.value.retryable) == ("damaged", False)
    assert store.run(RUN).state == "CREATED"  # type: ignore[union-attr]
