"""What dead hosts left is cleaned up, with real processes; what belongs to the living is not touched."""

import asyncio
import fcntl
import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.unit.process.test_containers import ENGINE
from tests.unit.process.trees import until

from holdfast.host import reaper
from holdfast.host.process_identity import mark_of
from holdfast.host.reaper import Reaped, reap
from holdfast.host.records import HostRecord, Registration, list_hosts
from holdfast.process.command import MARKER
from holdfast.process.containers import LABEL
from holdfast.settings import Settings

Sleeper = Callable[..., "subprocess.Popen[bytes]"]

# A host that starts a worker in a session of its own and is then killed.
HOST = """
import os, subprocess, sys
from pathlib import Path
from holdfast.host.records import Registration
from holdfast.settings import Settings

state, marker, token = sys.argv[1:]
Registration.create(Settings(state_dir=Path(state)), "shop", ["sleep", "60"], [token])
subprocess.Popen(["sleep", "60"], env={**os.environ, marker: token}, start_new_session=True)
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setattr(reaper, "_MARGIN", 0.0)  # there is no keeper here to be waited for
    return Settings(state_dir=tmp_path / "s", kill_grace=0.0)


@pytest.fixture
def token() -> str:
    return secrets.token_hex(8)


@pytest.fixture
def sleeper() -> Iterator[Sleeper]:
    """Start a process with this marker in its environment."""
    started = []

    def start(marker: str, *command: str) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(command or ["sleep", "60"], env={**os.environ, MARKER: marker})
        started.append(process)
        until(lambda: marker in psutil.Process(process.pid).environ().get(MARKER, ""))  # the program is executed
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


def dead_host(settings: Settings, *tokens: str, **fields: Any) -> HostRecord:
    """The record of a host whose number now belongs to another process: this one."""
    record = Registration.create(settings, "shop", ["python", "shop.py"], tokens).record
    boot, namespace, ticks = record.started.split("/")
    changed = {**record.as_json(), "started": f"{boot}/{namespace}/{int(ticks) - 1}", **fields}
    record.file.write_text(json.dumps(changed))
    return record


def reaped(settings: Settings, **options: Any) -> list[Reaped]:
    return asyncio.run(reap(settings, **options))


def test_the_processes_and_files_of_a_killed_host_are_removed(settings: Settings, token: str) -> None:
    command = [sys.executable, "-c", HOST, str(settings.state_dir), MARKER, token]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as host:
        assert host.stdout is not None
        host.stdout.readline()
        living = reaped(settings)
        (worker,) = psutil.Process(host.pid).children()
        host.kill()
        host.wait()
        (done,) = reaped(settings)

    assert living == []
    assert (done.name, done.pid, done.killed, done.left, done.problem) == ("shop", host.pid, (worker.pid,), (), "")
    until(lambda: not worker.is_running())  # it is dead; init may take a moment to notice
    assert list(Path(f"{settings.state_dir}/hosts").iterdir()) == []


def test_only_the_tokens_of_the_dead_are_looked_for(settings: Settings, token: str, sleeper: Sleeper) -> None:
    mine, nested = sleeper(token), sleeper(f"outer:{token}")
    similar, stranger = sleeper(f"{token}0"), sleeper("")
    dead_host(settings, token)
    (done,) = reaped(settings)

    assert set(done.killed) == {mine.pid, nested.pid}
    assert [process.poll() is None for process in (mine, nested, similar, stranger)] == [False, False, True, True]


def test_a_living_host_and_what_it_started_stay(settings: Settings, token: str, sleeper: Sleeper) -> None:
    Registration.create(settings, "alive", ["x"], [token])
    worker = sleeper(token)

    assert reaped(settings) == []
    assert worker.poll() is None
    assert [record.name for record in list_hosts(settings)] == ["alive"]


def test_a_host_with_the_number_of_another_process_does_not_harm_it(settings: Settings) -> None:
    bystander = subprocess.Popen(["sleep", "60"])
    dead_host(settings, pid=bystander.pid)
    (done,) = reaped(settings)
    alive = bystander.poll() is None
    bystander.kill()
    bystander.wait()

    assert (done.pid, done.killed, alive) == (bystander.pid, (), True)


def test_a_tree_that_a_living_host_is_part_of_is_left_and_kept_in_mind(
    settings: Settings, token: str, sleeper: Sleeper
) -> None:
    outer = sleeper(token, sys.executable, "-c", "import os, signal; os.fork(); signal.pause()")
    until(lambda: psutil.Process(outer.pid).children())
    (inner,) = psutil.Process(outer.pid).children()
    living = Registration.create(settings, "inner", ["x"]).record
    living.file.write_text(json.dumps({**living.as_json(), "pid": inner.pid, "started": mark_of(inner.pid)}))
    dead_host(settings, token)
    (done,) = reaped(settings)

    alive = outer.poll() is None
    inner.kill()

    assert alive
    assert (done.killed, done.problem) == ((), "part of what it left is in use by a living host")
    assert len(list_hosts(settings)) == 2


def test_what_a_living_host_carries_is_left_though_its_environment_cannot_be_read(
    settings: Settings, token: str, sleeper: Sleeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = sleeper(token)
    monkeypatch.setenv(MARKER, f"{token}:{secrets.token_hex(8)}")
    Registration.create(settings, "inner", ["x"])
    monkeypatch.delenv(MARKER)
    dead_host(settings, token)
    (done,) = reaped(settings)

    assert shared.poll() is None
    assert (done.killed, done.problem) == ((), "part of what it left is in use by a living host")


def test_a_reaper_never_ends_itself_or_whoever_started_it(settings: Settings, token: str) -> None:
    dead_host(settings, token)
    script = (
        "import asyncio, sys; from pathlib import Path; from holdfast.settings import Settings;"
        "from holdfast.host.reaper import reap;"
        "print(asyncio.run(reap(Settings(state_dir=Path(sys.argv[1]))))[0].killed)"
    )
    # The shell carries the token, and so does the reaper that it starts without any environment.
    command = ["sh", "-c", 'env -i "$@"; echo alive', "sh", sys.executable, "-c", script, str(settings.state_dir)]
    done = subprocess.run(
        command, env={**os.environ, MARKER: token}, capture_output=True, text=True, timeout=30, check=True
    )

    assert done.stdout == "()\nalive\n"


@pytest.mark.parametrize("token", ["", "a", ":"])
def test_a_token_that_everybody_carries_kills_nobody(settings: Settings, sleeper: Sleeper, token: str) -> None:
    bystander = sleeper("a")
    dead_host(settings, token)
    (done,) = reaped(settings)

    assert (done.killed, bystander.poll()) == ((), None)


def test_a_tree_that_its_keeper_ends_in_time_is_not_killed_again(
    settings: Settings, token: str, sleeper: Sleeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reaper, "_MARGIN", 20.0)
    worker = sleeper(token)
    dead_host(settings, token)

    async def main() -> list[Reaped]:
        task = asyncio.ensure_future(reap(settings))
        await asyncio.sleep(0.05)
        worker.terminate()
        return await task

    (done,) = asyncio.run(main())

    assert done.killed == ()
    assert worker.wait() == -signal.SIGTERM


def test_what_cannot_be_killed_is_told_and_its_record_kept(
    settings: Settings, token: str, sleeper: Sleeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("psutil.Process.kill", lambda process: None)
    monkeypatch.setattr(reaper, "_KILL_BOUND", 0.0)
    immortal = sleeper(token)
    dead_host(settings, token)
    (done,) = reaped(settings)

    assert (done.killed, done.left) == ((), (immortal.pid,))
    assert len(list_hosts(settings)) == 1


def test_two_reapers_at_once_do_the_work_once(settings: Settings, token: str, sleeper: Sleeper) -> None:
    sleeper(token)
    for _ in range(5):
        dead_host(settings, token)

    async def main() -> list[list[Reaped]]:
        return await asyncio.gather(*(reap(settings) for _ in range(4)))

    done = [one for several in asyncio.run(main()) for one in several]

    assert len(done) == len({one.host for one in done}) == 5
    assert list_hosts(settings) == []


def test_a_record_that_another_reaper_holds_is_left_to_it(settings: Settings) -> None:
    record = dead_host(settings)
    with record.file.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert reaped(settings) == []

    assert [done.host for done in reaped(settings)] == [record.host]  # also when that reaper was killed


def test_only_the_host_that_was_named_is_cleaned_up(settings: Settings) -> None:
    first, second = dead_host(settings), dead_host(settings)

    assert [done.host for done in reaped(settings, only=second.host)] == [second.host]
    assert [record.host for record in list_hosts(settings)] == [first.host]


def test_a_record_cannot_have_other_files_deleted(settings: Settings, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("kept")
    dead_host(settings, socket=str(precious))
    record = dead_host(settings)
    Path(record.socket).write_text("no socket")
    reaped(settings)

    assert precious.read_text() == "kept"
    assert Path(record.socket).exists()
    assert list_hosts(settings) == []


def test_containers_of_a_dead_host_are_removed(settings: Settings, token: str, tmp_path: Path) -> None:
    engine = tmp_path / "docker"
    engine.write_text(ENGINE.format(python=sys.executable))
    engine.chmod(0o755)
    (tmp_path / "mood").write_text("")
    (tmp_path / "containers").write_text(f"aaa1 {LABEL}={token}\nbbb2 {LABEL}=other\n")
    dead_host(settings, token, command=[str(engine), "run", "image"])
    (done,) = reaped(settings)

    assert (done.containers, done.problem) == (("aaa1",), "")
    assert (tmp_path / "containers").read_text() == f"bbb2 {LABEL}=other\n"


def test_an_engine_that_is_gone_is_told_and_the_record_removed(settings: Settings, token: str) -> None:
    dead_host(settings, token, command=["/nowhere/docker", "run", "image"])
    (done,) = reaped(settings)

    assert "no program '/nowhere/docker'" in done.problem
    assert list_hosts(settings) == []


def test_a_start_where_nothing_is_left_imports_no_heavy_library(settings: Settings, token: str) -> None:
    dead_host(settings, token)
    script = (
        "import asyncio, sys; from pathlib import Path; from holdfast.settings import Settings;"
        "from holdfast.host.reaper import reap; import holdfast.host.control;"
        "done = asyncio.run(reap(Settings(state_dir=Path(sys.argv[1]))));"
        "print(len(done), {'psutil', 'pydantic', 'jsonschema_rs', 'mcp'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(settings.state_dir)], capture_output=True, text=True, check=True
    )

    assert done.stdout == "1 set()\n"
