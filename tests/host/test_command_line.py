"""`holdfast run` and `holdfast serve` as a person mistypes them, and on streams and disks that are not there."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.host.answers import code_of, payload_of
from tests.host.conftest import QUICK, Start

from holdfast.host.records import list_hosts
from holdfast.settings import Settings
from holdfast.testing import Fault, HostUnderTest, script

HOLDFAST = [sys.executable, "-m", "holdfast"]
SHOP = '''
import os
from holdfast import Server, effect

server = Server("shop", version="1.0.0")


@server.tool(effect=effect.replay_safe())
def pid() -> int:
    """The process."""
    return os.getpid()


@server.tool()
def fall() -> int:
    """Die."""
    os._exit(3)
'''


def run(folder: Path, *words: str, **streams: object) -> "subprocess.CompletedProcess[str]":
    """`holdfast WORDS` without input."""
    environment = {**os.environ, "HOLDFAST_STATE_DIR": str(folder / "state"), "HOLDFAST_CONFIG": "none"}
    given = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        [*HOLDFAST, *words], env=environment, cwd=folder, timeout=20, text=True, check=False, **given
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "give its command behind"),
        (["--"], "give its command behind"),
        (["--", "no-such-program"], "no program 'no-such-program' on PATH"),
        (["--", "./plain"], "'./plain' may not be executed"),
        (["--", "./folder"], "'./folder' "),
        (["--", "./script"], "the interpreter"),
        (["--deadline", "soon", "--", "cat"], "--deadline is 'soon'"),
    ],
)
def test_a_mistake_is_told_in_one_line_and_ends_with_two(tmp_path: Path, words: list[str], told: str) -> None:
    (tmp_path / "plain").write_text("no program")
    (tmp_path / "folder").mkdir()
    (tmp_path / "script").write_text("#!/no/such/interpreter\n")
    (tmp_path / "script").chmod(0o755)

    ended = run(tmp_path, "run", *words)

    assert ended.returncode == 2
    assert ended.stdout == ""
    first, *rest = ended.stderr.splitlines()
    assert first.startswith("holdfast: ")
    assert told in first
    assert [line.startswith("  try: ") for line in rest] in ([], [True])
    assert list((tmp_path / "state").rglob("*.sock")) == list((tmp_path / "state").rglob("*.json")) == []


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("missing.py", "there is no file missing.py"),
        ("no_such_module:server", "there is no module no_such_module"),
        ("broken.py", "SyntaxError"),
        ("empty.py", "empty.py"),
    ],
)
def test_a_bad_target_is_told_once_and_is_no_crash_loop(tmp_path: Path, target: str, told: str) -> None:
    (tmp_path / "broken.py").write_text("def")
    (tmp_path / "empty.py").write_text("")

    # There is no client, so the worker has this long to say what it refuses.
    ended = run(tmp_path, "serve", "--kill-grace", "15", target)

    assert ended.returncode == 2
    assert told in ended.stderr
    assert ended.stderr.count("holdfast: ") == 1
    assert "Traceback" not in ended.stderr


def test_a_client_that_never_says_anything_is_left_in_peace(tmp_path: Path) -> None:
    ended = run(tmp_path, "run", "--", *script().command(tmp_path / "worker"))

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_a_session_that_is_read_from_a_file_is_written_to_a_file(tmp_path: Path) -> None:
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "read", "arguments": {"value": 5}}},
    ]
    (tmp_path / "in").write_text("".join(json.dumps(message) + "\n" for message in messages))
    worker = script(Fault.on_tool("read", "kill", generations=(1, 1))).command(tmp_path / "worker")
    with (tmp_path / "in").open() as given, (tmp_path / "out").open("w") as written:
        ended = run(tmp_path, "run", "--", *worker, stdin=given, stdout=written)

    answers = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    assert ended.returncode == 0
    assert [answer["id"] for answer in answers] == [1, 2]
    assert payload_of(answers[1]) == {"value": 5, "generation": 2}


def test_a_host_behind_a_host_is_a_worker_like_any_other(tmp_path: Path) -> None:
    inner = [*HOLDFAST, "run", "--", *script().command(tmp_path / "worker")]
    with HostUnderTest.running(inner, tmp_path, environment=QUICK) as client:
        client.handshake()
        first = client.worker_pid()
        os.kill(first, signal.SIGKILL)
        assert payload_of(client.call("pid"))["generation"] == 2
        client.kill_worker()  # the inner host
        assert payload_of(client.call("pid"))["generation"] == 3
        client.assert_nothing_left()


def test_no_grace_means_that_a_worker_is_killed_at_once(host: Start) -> None:
    client = host(Fault.on_start("ignore_eof"), Fault.on_start("ignore_sigterm"), options=("--kill-grace", "0"))
    client.call("read")

    client.assert_nothing_left()


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_host_without_a_standard_stream_ends_by_itself(tmp_path: Path, closed: str) -> None:
    worker = script().command(tmp_path / "worker")
    line = ["sh", "-c", f'"$@" {closed} </dev/null' if closed == ">&-" else f'"$@" {closed}', "sh"]
    environment = {**os.environ, **QUICK, "HOLDFAST_STATE_DIR": str(tmp_path / "state")}

    ended = subprocess.run(
        [*line, *HOLDFAST, "run", "--", *worker],
        env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False,
    )  # fmt: skip

    assert b"Traceback" not in ended.stderr
    assert ended.returncode == 0


def test_a_client_that_stops_reading_for_good_ends_the_host(host: Start) -> None:
    client = host()
    client._output.close()
    client.ended = True
    client.request("ping")
    client.send_raw(b"")

    assert client.process.wait(10) in {0, 1}


def test_ctrl_c_ends_the_host_at_once_with_130(host: Start) -> None:
    client = host(Fault.on_start("ignore_sigterm"), knobs={"drain": 30, "kill_grace": 0.2})
    client.call("read")
    client.start_call("slow", {"seconds": 60})
    client.process.send_signal(signal.SIGINT)
    client.until(lambda: client.ended, 10)

    client.assert_nothing_left(exit_code=130)
    assert "Traceback" not in client.stderr()


def test_a_host_that_cannot_keep_state_serves_all_the_same_and_says_so_once(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("no directory")
    worker = script(Fault.on_tool("add_once", "kill_after_effect", generations=(1, 1))).command(
        tmp_path / "worker"
    )
    with HostUnderTest.running(worker, tmp_path, environment=QUICK) as client:
        client.handshake()
        assert payload_of(client.call("add_once", {"key": "k", "amount": 1}))["key"] == "k"
        assert payload_of(client.call("read"))["generation"] == 2
        client.assert_nothing_left()
        lines = client.stderr().splitlines()

    assert len(lines) == 1
    assert str(tmp_path / "state") in lines[0]


def test_a_full_disk_costs_the_session_nothing(tmp_path: Path) -> None:
    # No file can grow by a single byte, the one behind stderr included; only the worker is spared.
    limited = ["sh", "-c", 'ulimit -S -f $0; exec "$@"']
    lost = Fault.on_tool("add_once", "kill_after_effect", generations=(1, 1))
    worker = [*limited, "100", *script(lost).command(tmp_path / "worker")]
    command = [*limited, "0", *HOLDFAST, "run", "--", *worker]
    with HostUnderTest(command, tmp_path, environment=QUICK) as client:
        client.handshake()
        assert payload_of(client.call("add_once", {"key": "k", "amount": 1}))["key"] == "k"
        assert payload_of(client.call("read"))["generation"] == 2
        client.assert_nothing_left()

    assert client.log.broken_laws(is_over=True) == []


def test_a_name_that_would_leave_the_state_directory_stays_inside(host: Start, tmp_path: Path) -> None:
    client = host(options=("--name", "../../outside/x"))
    client.call("add_once", {"key": "k", "amount": 1})
    client.assert_nothing_left()

    stores = [path.relative_to(tmp_path).parts[0] for path in tmp_path.rglob("outcomes-*.sqlite")]
    assert stores == ["state"]
    assert not (tmp_path.parent / "outside").exists()


def test_a_server_of_our_own_runs_behind_the_host_and_survives_its_death(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(SHOP)
    with HostUnderTest([*HOLDFAST, "serve", str(tmp_path / "shop.py")], tmp_path, environment=QUICK) as client:
        client.handshake()
        first = client.call("pid")["result"]["structuredContent"]
        assert code_of(client.call("fall")) == "AMBIGUOUS_OUTCOME"
        assert client.call("pid")["result"]["structuredContent"] != first
        client.assert_nothing_left()


@pytest.mark.parametrize(("words", "table"), [([], "inventory"), (["--name", "mine"], "mine")])
def test_a_host_and_its_worker_read_the_same_part_of_the_configuration(
    tmp_path: Path, words: list[str], table: str
) -> None:
    (tmp_path / "inventory.py").write_text(SHOP)  # whose server calls itself shop
    config = tmp_path / "holdfast.toml"
    config.write_text(f'[servers.{table}]\nrender = "porcelain"\n[servers.shop]\nrender = "json"\n')
    command = [*HOLDFAST, "serve", *words, str(tmp_path / "inventory.py:server")]
    environment = {**QUICK, "HOLDFAST_CONFIG": str(config)}
    with HostUnderTest(command, tmp_path, environment=environment) as client:
        client.handshake()
        (content,) = client.call("pid")["result"]["content"]
        assert [record.name for record in list_hosts(Settings(state_dir=tmp_path / "state"))] == [table]

    assert "{" not in content["text"]


def test_a_byte_in_the_command_that_is_no_text_is_told_as_an_escape(tmp_path: Path) -> None:
    worker = [*script().command(tmp_path / "worker"), os.fsdecode(b"\xff")]
    with HostUnderTest.running(worker, tmp_path, environment=QUICK) as client:
        client.handshake()
        shown = [run(tmp_path, *words) for words in (["status", "--json"], ["ps", "--json"], ["ps"], ["status"])]

    assert [done.returncode for done in shown] == [0, 0, 0, 0], [done.stderr for done in shown]
    assert json.loads(shown[0].stdout)["command"][-1] == json.loads(shown[1].stdout)[0]["command"][-1] == "\\udcff"


def test_the_host_stays_small(host: Start) -> None:
    client = host()
    client.call("add_once", {"key": "k", "amount": 1})
    maps = Path(f"/proc/{client.process.pid}/maps").read_text()

    assert not any(library in maps for library in ("pydantic_core", "jsonschema_rs", "psutil"))
