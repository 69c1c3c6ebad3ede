"""The directory of running hosts: private, whole, and not fooled by numbers that are given again."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from holdfast.errors import UsageError
from holdfast.host.private_places import leave_directory, private_directory, socket_path
from holdfast.host.process_identity import is_running, is_within_sight, machine_name, mark_of
from holdfast.host.records import HostRecord, Registration, list_hosts
from holdfast.settings import Settings

TOKEN = "0123456789abcdef"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(state_dir=tmp_path / "state")


def rewritten(record: HostRecord, **fields: Any) -> None:
    record.file.write_text(json.dumps({**record.as_json(), **fields}))


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_host_writes_itself_down_and_is_listed_alive(settings: Settings) -> None:
    registration = Registration.create(settings, "shop", ["python", "shop.py"], [TOKEN])
    (listed,) = list_hosts(settings)

    assert listed == registration.record
    assert listed.alive
    assert (listed.name, listed.pid, listed.cwd) == ("shop", os.getpid(), os.getcwd())
    assert (listed.command, listed.tokens) == (("python", "shop.py"), (TOKEN,))
    assert Path(listed.socket).name == f"{listed.host}.sock"


def test_record_and_directory_are_closed_to_others_whatever_the_umask(settings: Settings) -> None:
    before = os.umask(0)
    try:
        record = Registration.create(settings, "shop", ["x"]).record
    finally:
        os.umask(before)

    assert mode(record.file) == 0o600
    assert mode(record.file.parent) == mode(record.file.parent.parent) == 0o700


def test_new_tokens_replace_the_old_ones_in_one_step(settings: Settings) -> None:
    registration = Registration.create(settings, "shop", ["x"])
    registration.update(tokens=[TOKEN, "fedcba9876543210"])
    (listed,) = list_hosts(settings)

    assert listed.tokens == (TOKEN, "fedcba9876543210")
    assert [file.name for file in listed.file.parent.iterdir()] == [listed.file.name]


def test_a_record_that_cannot_be_written_leaves_the_old_one_and_no_draft(settings: Settings) -> None:
    registration = Registration.create(settings, "shop", ["x"], [TOKEN])
    draft = registration.record.file.with_suffix(".draft")
    draft.mkdir()
    with pytest.raises(OSError):
        registration.update(tokens=[])
    draft.rmdir()

    assert registration.record.tokens == list_hosts(settings)[0].tokens == (TOKEN,)


def test_a_removed_host_leaves_nothing_and_may_be_removed_twice(settings: Settings) -> None:
    registration = Registration.create(settings, "shop", ["x"])
    registration.remove()
    registration.remove()

    assert list_hosts(settings) == []
    assert list(registration.record.file.parent.iterdir()) == []


def test_no_directory_means_no_hosts(settings: Settings) -> None:
    assert list_hosts(settings) == []
    assert not settings.state_path().exists()


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"\xff\x00", b"[" * 100_000, b'{"host": "000000000000"}', b"x" * 2_000_000],
    ids=["empty", "torn", "list", "null", "binary", "deep", "incomplete", "huge"],
)
def test_a_file_that_is_no_record_is_passed_over(settings: Settings, content: bytes) -> None:
    directory = Registration.create(settings, "shop", ["x"]).record.file.parent
    (directory / "000000000000.json").write_bytes(content)

    assert [record.name for record in list_hosts(settings)] == ["shop"]


@pytest.mark.parametrize(
    "fields",
    [{"pid": 0}, {"pid": -1}, {"pid": True}, {"pid": 2**40}, {"pid": "1"}, {"name": None}, {"socket": "a\0b"},
     {"host": "ffffffffffff"}],
    ids=str,
)  # fmt: skip
def test_a_record_with_an_impossible_field_is_passed_over(settings: Settings, fields: dict[str, Any]) -> None:
    rewritten(Registration.create(settings, "shop", ["x"]).record, **fields)

    assert list_hosts(settings) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner, max_size=3)
)
FIELDS = ("name", "pid", "started", "machine", "command", "cwd", "socket", "tokens", "version", "since")


@given(fields=st.dictionaries(st.sampled_from(FIELDS), JSON))
@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_record_at_all_breaks_the_list(settings: Settings, fields: dict[str, Any]) -> None:
    registration = Registration.create(settings, "shop", ["x"], [TOKEN])
    rewritten(registration.record, **fields)
    listed = list_hosts(settings)
    registration.remove()

    assert all(record.alive in {True, False} for record in listed)
    assert all(set(record.tokens) <= {TOKEN} for record in listed)


def test_a_token_that_every_process_would_carry_is_dropped(settings: Settings) -> None:
    rewritten(Registration.create(settings, "shop", ["x"]).record, tokens=["", "a", "a:b:c:d:e:f", 7, TOKEN])

    assert list_hosts(settings)[0].tokens == (TOKEN,)


def test_links_and_pipes_in_the_directory_are_not_opened(settings: Settings, tmp_path: Path) -> None:
    record = Registration.create(settings, "shop", ["x"]).record
    moved = record.file.rename(tmp_path / "elsewhere.json")
    record.file.symlink_to(moved)
    os.mkfifo(record.file.parent / "000000000000.json")

    assert list_hosts(settings) == []


# --- a process id that was given again -----------------------------------------------------------------------


def test_another_process_with_the_same_number_is_not_the_host(settings: Settings) -> None:
    record = Registration.create(settings, "shop", ["x"]).record
    boot, namespace, ticks = record.started.split("/")
    rewritten(record, started=f"{boot}/{namespace}/{int(ticks) - 1}")

    assert [listed.alive for listed in list_hosts(settings)] == [False]


def test_a_host_from_before_the_machine_was_started_is_dead(settings: Settings) -> None:
    record = Registration.create(settings, "shop", ["x"]).record
    rewritten(record, started=record.started.replace(record.started[:8], "00000000", 1))

    assert [listed.alive for listed in list_hosts(settings)] == [False]


@pytest.mark.parametrize("place", ["another machine", "another container"])
def test_hosts_of_other_places_are_not_listed(settings: Settings, place: str) -> None:
    record = Registration.create(settings, "shop", ["x"]).record
    boot, _, ticks = record.started.split("/")
    other = {"machine": "elsewhere"} if place == "another machine" else {"started": f"{boot}/1/{ticks}"}
    rewritten(record, **other)

    assert list_hosts(settings) == []


def test_a_process_that_nobody_waited_for_is_dead() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    mark = mark_of(process.pid)
    running = is_running(process.pid, mark), is_running(process.pid, "")
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # ended, and still in the table

    assert running == (True, True)
    assert not is_running(process.pid, mark)
    process.communicate()
    assert not is_running(process.pid, "")


def test_without_a_mark_only_the_number_decides() -> None:
    assert is_within_sight(machine_name(), "")
    assert is_running(1, "")
    assert not is_running(2**31 - 1, "")
    assert mark_of(2**31 - 1) == ""


# --- directories ----------------------------------------------------------------------------------------------


def prepared(kind: str, directory: Path, tmp_path: Path) -> None:
    directory.parent.mkdir(parents=True)
    if kind == "link":
        (tmp_path / "trap").mkdir(mode=0o700)
        directory.symlink_to(tmp_path / "trap")
    elif kind == "dangling":
        directory.symlink_to(tmp_path / "nowhere")
    elif kind == "file":
        directory.write_text("")
    else:
        directory.mkdir()
        directory.chmod(int(kind, 8))


@pytest.mark.parametrize("kind", ["link", "dangling", "file", "777", "750", "701"])
def test_a_directory_that_others_could_have_prepared_is_refused(
    settings: Settings, tmp_path: Path, kind: str
) -> None:
    directory = settings.state_path() / "hosts"
    prepared(kind, directory, tmp_path)
    with pytest.raises(UsageError, match="is not used for hosts"):
        Registration.create(settings, "shop", ["x"])
    with pytest.raises(UsageError):
        list_hosts(settings)

    assert not (tmp_path / "nowhere").exists()
    assert not directory.is_dir() or list(directory.iterdir()) == []


def test_a_directory_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = tmp_path / "theirs"
    directory.mkdir(mode=0o700)
    monkeypatch.setattr("os.getuid", lambda: os.stat(directory).st_uid + 1)
    with pytest.raises(UsageError, match="belongs to another user"):
        private_directory(directory, create=True)


def test_a_long_path_puts_the_socket_into_a_short_private_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / ("t" * 90)))  # too long as well
    path = socket_path(Settings(state_dir=tmp_path / ("long" * 30)), "0123456789ab.sock")

    assert len(os.fsencode(path)) <= 100
    assert path.parent == Path("/tmp") / f"holdfast-{os.getuid()}"
    assert mode(path.parent) == 0o700
    leave_directory(path)


def test_the_short_directory_is_refused_when_it_is_a_trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "trap").mkdir(mode=0o700)
    (tmp_path / f"holdfast-{os.getuid()}").symlink_to(tmp_path / "trap")
    with pytest.raises(UsageError, match="is a symbolic link"):
        socket_path(Settings(state_dir=tmp_path / ("long" * 30)), "a.sock")


def test_the_runtime_directory_holds_sockets_only_while_it_is_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert socket_path(Settings(), "a.sock") == runtime / "holdfast" / "a.sock"
    runtime.chmod(0o755)

    assert socket_path(Settings(), "a.sock") == tmp_path / "holdfast" / "hosts" / "a.sock"


def test_records_are_found_whatever_the_runtime_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)  # as MCP clients start their servers
    Registration.create(Settings(), "shop", ["x"])
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))

    assert [record.name for record in list_hosts(Settings())] == ["shop"]
