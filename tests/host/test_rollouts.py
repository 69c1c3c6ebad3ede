"""A new version takes over in a running host, asked for or by itself, while calls are in flight."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.host.conftest import QUICK, Events

from holdfast.errors import SessionError
from holdfast.host.records import list_hosts
from holdfast.host.release_directory import ReleaseDirectory
from holdfast.host.remote import ask
from holdfast.settings import Settings
from holdfast.testing import HostUnderTest

SERVER = Path(__file__).with_name("versioned_server.py")
CHANGED = "notifications/tools/list_changed"

StartVersion = Callable[..., HostUnderTest]


def version(*words: str) -> list[str]:
    return [sys.executable, "-I", "-S", str(SERVER), *words]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[StartVersion]:
    """A host in front of a version of the server."""
    with ExitStack() as stack:

        def start(*words: str, options: tuple[str, ...] = (), command: list[str] | None = None) -> HostUnderTest:
            program = version(*words) if command is None else command
            chosen = {**QUICK, "HOLDFAST_ROLLOUT_GRACE": "0.2"}
            running = HostUnderTest.running(program, tmp_path, *options, environment=chosen)
            stack.enter_context(running).handshake()
            return running

        yield start


def asked(client: HostUnderTest, operation: str, **arguments: Any) -> dict[str, Any]:
    """What the host answers on its socket; the client's side goes on meanwhile."""
    (record,) = list_hosts(Settings(state_dir=client.folder / "state"))
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(ask, record, operation, 20.0, **arguments)
        client.until(answer.done, 20.0)
    return answer.result()


def roll_out(client: HostUnderTest, *words: str, **arguments: Any) -> dict[str, Any]:
    return asked(client, "rollout", command=version(*words), **arguments)


def text_of(answer: dict[str, Any]) -> str:
    return str(answer["result"]["content"][0]["text"])


def announced(client: HostUnderTest) -> int:
    return sum(message.get("method") == CHANGED for message in client.messages)


def test_calls_in_flight_finish_on_the_old_version_and_new_ones_go_to_the_new(
    serve: StartVersion, tmp_path: Path
) -> None:
    client = serve("1.0.0", "read", "write")
    running = client.start_call("write", {"until": str(tmp_path / "go")})
    told = roll_out(client, "1.1.0", "read", "write")

    assert (told["generation"], told["release"]) == (2, 2)
    assert text_of(client.call("write")) == "1.1.0"
    (tmp_path / "go").touch()
    assert text_of(client.answer_of(running)) == "1.0.0"
    assert announced(client) == 0
    client.assert_nothing_left()


def test_half_a_character_among_the_tools_keeps_them_from_nobody(serve: StartVersion) -> None:
    command = [sys.executable, str(SERVER.parents[1] / "cli" / "foreign_server.py"), "halves"]
    client = serve(command=command)
    said = client.call("echo", {"text": "hi"})
    listed = client.answer_of(client.request("tools/list"))
    told = asked(client, "rollout", command=command)

    assert text_of(said) == "hi\ud83d"  # nothing is changed on its way
    assert listed["result"]["tools"][0]["description"] == "Say it back \ud83d"
    assert asked(client, "status")["tools"] == 1
    assert told["release"] == 2
    client.assert_nothing_left()


def test_new_tools_are_announced_and_the_next_list_has_them(serve: StartVersion) -> None:
    client = serve("1.0.0", "read")
    roll_out(client, "1.0.0", "read", "extra")
    listed = client.answer_of(client.request("tools/list"))

    assert announced(client) == 1
    assert [tool["name"] for tool in listed["result"]["tools"]] == ["read", "extra"]


@pytest.mark.parametrize("words", [("1.0.0",), ("1.0.1", "read:key!"), ("1.9.0", "reads")])
def test_a_breaking_change_without_the_version_for_it_is_refused(
    serve: StartVersion, words: tuple[str, ...]
) -> None:
    client = serve("1.0.0", "read:key")

    with pytest.raises(SessionError, match=r"it breaks callers \(.*read.* must raise .* to 2\.0\.0"):
        roll_out(client, *words)

    assert text_of(client.call("read")) == "1.0.0"
    health = asked(client, "status")
    assert "breaks callers" in health["last_rollout"]["reason"]
    assert health["last_fault"]["code"] == "CATALOG_REFUSED"
    assert health["counters"]["workers_lost"] == 0
    assert announced(client) == 0


def test_a_breaking_change_with_its_version_or_an_explicit_word_is_taken_up(serve: StartVersion) -> None:
    client = serve("1.0.0", "read:key")
    roll_out(client, "1.0.0", "other", accept_breaking=True)
    assert text_of(client.call("other")) == "1.0.0"
    roll_out(client, "2.0.0", "read")

    assert text_of(client.call("read")) == "2.0.0"


@pytest.mark.parametrize("flag", ["--crash-at-start", "no such program"])
def test_a_version_that_does_not_start_never_displaces_the_old_one(serve: StartVersion, flag: str) -> None:
    client = serve("1.0.0", "read")
    command = version("1.1.0", "read", flag) if flag.startswith("--") else ["/no/such/program"]

    with pytest.raises(SessionError, match="successor was lost") as told:
        asked(client, "rollout", command=command)

    assert ("cannot run twice" in str(told.value)) == flag.startswith("--")
    assert text_of(client.call("read")) == "1.0.0"
    assert asked(client, "status")["last_rollout"]["outcome"] == "failed"


def test_a_version_that_crashes_at_every_call_is_rolled_back_by_itself(
    serve: StartVersion, events: Events
) -> None:
    client = serve("1.0.0", "read")
    roll_out(client, "1.1.0", "read", "--crash-when-called")

    assert text_of(client.call("read")) == "1.0.0"
    assert [event["outcome"] for event in events("rollout")] == ["activated", "rolled_back"]
    assert asked(client, "status")["last_fault"]["code"] == "ROLLED_BACK"
    client.assert_nothing_left()


@pytest.mark.parametrize("command", ["python", [], [1], [""], {"a": 1}])
def test_a_command_that_is_none_is_refused_and_nothing_happens(serve: StartVersion, command: Any) -> None:
    client = serve("1.0.0", "read")

    with pytest.raises(SessionError, match="command is a list of words"):
        asked(client, "rollout", command=command)

    assert text_of(client.call("read")) == "1.0.0"


def test_a_watched_file_that_changes_is_taken_up(serve: StartVersion, tmp_path: Path) -> None:
    program = tmp_path / "program" / "server.py"
    program.parent.mkdir()
    program.write_text(SERVER.read_text())
    client = serve(
        command=[sys.executable, "-I", "-S", str(program), "1.0.0", "read"],
        options=("--watch", str(program.parent)),
    )
    program.write_text(SERVER.read_text().replace("sys.argv[1]", '"1.5.0"'))

    client.until(lambda: text_of(client.call("read")) == "1.5.0")
    program.write_text("broken(")
    client.until(lambda: "the old version stays" in client.stderr())
    assert "SyntaxError" in asked(client, "status")["last_rollout"]["reason"]
    assert text_of(client.call("read")) == "1.5.0"


def test_a_release_that_is_activated_is_taken_up_and_one_that_was_changed_is_not(tmp_path: Path) -> None:
    directory = ReleaseDirectory(tmp_path / "releases")
    source = tmp_path / "source"
    source.mkdir()
    (source / "server.py").write_text(SERVER.read_text())
    packed = [
        directory.pack(source, [sys.executable, "-I", "-S", "{release}/server.py", number, "read"])
        for number in ("1.0.0", "1.1.0", "1.2.0")
    ]
    directory.activate(packed[0].id)
    options = ("--release", str(directory.root), "--name", "released")
    with HostUnderTest.running([], tmp_path, *options, environment=QUICK) as client:
        client.handshake()
        assert text_of(client.call("read")) == "1.0.0"
        directory.activate(packed[1].id[:12])
        client.until(lambda: text_of(client.call("read")) == "1.1.0")
        evil = directory.root / "releases" / packed[2].id / "files" / "server.py"
        evil.chmod(0o644)
        evil.write_text("evil")
        pointer = (directory.root / "current.json").read_text().replace(packed[1].id, packed[2].id)
        (directory.root / "current.json").write_text(pointer)
        client.until(lambda: "server.py was changed" in client.stderr())
        assert text_of(client.call("read")) == "1.1.0"


def test_what_was_changed_in_a_release_never_runs_not_even_after_a_crash(tmp_path: Path) -> None:
    directory = ReleaseDirectory(tmp_path / "releases")
    source = tmp_path / "source"
    source.mkdir()
    (source / "server.py").write_text(SERVER.read_text())
    packed = directory.pack(source, [sys.executable, "-I", "-S", "{release}/server.py", "1.0.0", "read"])
    directory.activate(packed.id)
    options = ("--release", str(directory.root), "--name", "released", "--restart-budget", "1")
    with HostUnderTest.running([], tmp_path, *options, environment=QUICK) as client:
        client.handshake()
        assert text_of(client.call("read")) == "1.0.0"
        changed = directory.root / "releases" / packed.id / "files" / "server.py"
        changed.chmod(0o644)
        changed.write_text(SERVER.read_text().replace("sys.argv[1]", '"6.6.6"'))
        os.kill(asked(client, "status")["worker_pid"], signal.SIGKILL)
        client.until(lambda: asked(client, "status")["degraded"], 20.0)

        assert "server.py was changed" in asked(client, "status")["last_fault"]["message"]
        assert "error" in client.call("read")


def test_under_releases_a_rollout_takes_what_is_activated(tmp_path: Path) -> None:
    directory = ReleaseDirectory(tmp_path / "releases")
    source = tmp_path / "source"
    source.mkdir()
    (source / "server.py").write_text(SERVER.read_text())
    command = [sys.executable, "-I", "-S", "{release}/server.py"]
    first, breaking = (directory.pack(source, [*command, "1.0.0", tool]) for tool in ("read", "a"))
    directory.activate(first.id)
    options = ("--release", str(directory.root), "--name", "released")
    with HostUnderTest.running([], tmp_path, *options, environment=QUICK) as client:
        client.handshake()
        client.call("read")
        directory.activate(breaking.id)
        client.until(lambda: "breaks callers" in client.stderr(), 20.0)
        asked(client, "rollout", accept_breaking=True)

        assert text_of(client.call("a")) == "1.0.0"


def test_the_command_line_says_what_serves_now_and_what_was_refused(serve: StartVersion, tmp_path: Path) -> None:
    client = serve("1.0.0", "read")

    def typed(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "holdfast", "rollout", f"--state-dir={tmp_path / 'state'}", *words]
        with ThreadPoolExecutor(1) as pool:
            done = pool.submit(subprocess.run, command, capture_output=True, text=True, timeout=30)
            client.until(done.done, 30.0)
        return done.result()

    good = typed("--to", shlex.join(version("1.1.0", "read")), "--json")
    bad = typed("--to", shlex.join(version("1.1.0", "other")))

    assert (good.returncode, '"release":2' in good.stdout) == (0, True)
    assert "release 2 serves: generation 2, worker pid" in good.stderr
    assert bad.returncode == 1
    assert "the old version stays" in bad.stderr
    assert "it breaks callers" in bad.stderr
    assert typed("--to", "'").returncode == 2


SHOP = """
from holdfast import Server, SessionState, effect

server = Server("shop", version="1.0.0")
chosen = ["none"]


@server.tool(effect=effect.replay_safe().journaled("basket"))
def choose(name: str) -> str:
    '''Choose a basket.'''
    chosen[0] = name
    return name


@server.tool(effect=effect.replay_safe(), read_only=True)
def which() -> str:
    '''The basket that was chosen.'''
    return chosen[0]


@server.tool(effect=effect.replay_safe(), session_state=SessionState.GENERATION_PINNED)
def pin() -> str:
    '''Keep something that only this process can have.'''
    return "pinned"
"""


def test_state_that_calls_build_survives_a_crash_and_an_upgrade_and_pinned_state_forbids_one(
    tmp_path: Path,
) -> None:
    (tmp_path / "shop.py").write_text(SHOP)
    worker = [sys.executable, "-m", "holdfast", "serve", "--standalone", str(tmp_path / "shop.py")]
    with HostUnderTest.running(worker, tmp_path, environment={**QUICK, "HOLDFAST_RENDER": "json"}) as client:
        client.handshake()
        client.call("choose", {"name": "blue"})
        client.call("choose", {"name": "red"})
        client.kill_worker()
        after_crash = text_of(client.call("which"))
        asked(client, "rollout")
        after_upgrade = text_of(client.call("which"))
        client.call("pin")
        with pytest.raises(SessionError, match="state in its worker that no other can take up, by pin"):
            asked(client, "rollout")

    assert ("red" in after_crash, "red" in after_upgrade) == (True, True)
