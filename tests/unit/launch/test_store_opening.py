"""Opening a run store: which URLs, which directories, which versions, and what to do about the others."""

import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.launch.stores import RUN, made_run, tamper

from holdfast.errors import UsageError
from holdfast.launch.store.opening import open_store as opened
from holdfast.launch.store.run_store import RunStore


@pytest.mark.parametrize(
    "url",
    [
        "", "nonsense", "sqlite://", "sqlite:///", "sqlite:///relative.db", "sqlite:////tmp/x.db?mode=ro",
        "sqlite://host/tmp/x.db", "sqlite+aiosqlite:////tmp/x.db", "mysql://localhost/x", "postgresql+asyncpg://x/y",
        "oracle://x", "http://localhost/", "/tmp/x.db", "sqlite:////tmp/a\0b.db",
    ],
)  # fmt: skip
def test_a_url_that_cannot_be_used_is_refused_with_the_forms_that_can(url: str) -> None:
    with pytest.raises(UsageError) as refused:
        RunStore(url)
    assert "sqlite:////absolute/path" in refused.value.remedy


def test_the_directory_is_made_and_the_store_is_found_again(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a/ü b/runs.db"
    first = RunStore(url)
    made_run(first)
    first.close()
    second = opened(url)
    assert [run.run_id for run in second.runs()] == [RUN]
    second.close()
    assert (tmp_path / "a" / "ü b" / "runs.db").is_file()


def test_a_directory_that_cannot_be_made_or_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    for path in (tmp_path / "file" / "runs.db", Path("/proc/nothing/runs.db"), tmp_path):
        with pytest.raises(UsageError) as refused:
            RunStore(f"sqlite:///{path}")
        assert refused.value.remedy


def test_a_file_that_is_no_store_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    path.write_bytes(b"something else" * 1000)
    with pytest.raises(UsageError, match="not a database"):
        RunStore(f"sqlite:///{path}")
    assert path.read_bytes() == b"something else" * 1000


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("me:secret@127.0.0.1:1/x?connect_timeout=2", "me:***@127.0.0.1:1/x?connect_timeout=2"),
        ("me@127.0.0.1:1/x?password=secret", "me@127.0.0.1:1/x?password=%2A%2A%2A"),
        ("me@127.0.0.1:1/x?sslpassword=secret&application_name=y", "application_name=y"),
    ],
)
def test_a_server_that_is_not_there_is_told_without_the_password(address: str, shown: str) -> None:
    with pytest.raises(UsageError) as refused:
        RunStore(f"postgresql://{address}")
    assert "server runs" in refused.value.remedy
    assert "secret" not in str(refused.value)
    assert shown in str(refused.value)


def test_a_missing_driver_or_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(UsageError, match=r"holdfast\[postgres\]"):
        RunStore("postgresql://localhost/x")
    with pytest.raises(UsageError, match=r"holdfast\[launch\]"):
        opened("sqlite:////tmp/x.db")


def test_a_store_of_a_newer_version_is_refused(store: RunStore, store_url: str) -> None:
    made_run(store)
    tamper(store_url, "UPDATE launch_meta SET value = 2 WHERE name = 'version'")
    with pytest.raises(UsageError, match="newer version") as refused:
        RunStore(store_url)
    assert "update holdfast" in refused.value.remedy


def test_many_who_open_an_empty_database_at_once_all_can(open_store: Callable[[], RunStore]) -> None:
    barrier, stores = threading.Barrier(6), []

    def open_one() -> None:
        barrier.wait(20)
        stores.append(open_store())

    threads = [threading.Thread(target=open_one) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(stores) == 6
    made_run(stores[0])
    assert [run.run_id for run in stores[-1].runs()] == [RUN]


def test_errors_and_records_are_known_without_a_database_library() -> None:
    import subprocess

    code = (
        "import sys; import holdfast.launch.store.records, holdfast.launch.store.refusals, "
        "holdfast.launch.store.folding, holdfast.launch.store.export, holdfast.launch.store.objects, "
        "holdfast.launch.store.opening; assert not {'sqlalchemy', 'psycopg', 'jsonschema_rs'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)
