"""`ps`, `status`, `restart`, `stop` and `events --follow`, against processes that play hosts."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.cli.conftest import Cli
from tests.unit.process.trees import until

from holdfast.cli.event_follow import EventFollower
from holdfast.cli.health import describe_health, duration
from holdfast.host.records import list_hosts, remove_files
from holdfast.observe.event_log import EventLog
from holdfast.settings import Settings
from holdfast.vocabulary.events import MessageRejected

PLAYED = Path(__file__).with_name("played_host.py")
Play = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def play(tmp_path: Path, environment: dict[str, str]) -> Iterator[Play]:
    """Start a process that plays a host, in a directory of its own or in this one."""
    started = []

    def start(name: str, *fields: str, cwd: Path | None = None) -> "subprocess.Popen[str]":
        place = cwd or tmp_path / f"at-{name}"
        place.mkdir(exist_ok=True)
        process = subprocess.Popen(
            [sys.executable, str(PLAYED), name, *fields],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, cwd=place, env=environment,
        )  # fmt: skip
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()
    for record in list_hosts(Settings(state_dir=tmp_path / "state")):
        remove_files(record)  # its socket may be outside of the directory of this test


def killed(process: "subprocess.Popen[str]") -> int:
    process.kill()
    process.wait()
    return process.pid


# --- which host -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["ps", "status", "restart", "stop"])
def test_every_command_has_help_with_an_example_and_a_place_for_state(cli: Cli, command: str) -> None:
    done = cli(command, "--help")

    assert (done.returncode, done.stderr) == (0, "")
    assert f"  holdfast {command}" in done.stdout
    assert "--state-dir" in done.stdout


@pytest.mark.parametrize("command", ["status", "restart", "stop"])
def test_without_a_host_a_command_says_how_to_start_one(cli: Cli, command: str) -> None:
    done = cli(command)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "holdfast: no host is running\n  try: holdfast run -- COMMAND\n"


def test_a_host_is_found_by_name_by_number_and_by_being_the_only_one(cli: Cli, play: Play) -> None:
    shop = play("shop")
    told = [cli("status", *words, "--json").stdout for words in ((), ("shop",), (str(shop.pid),))]

    assert [json.loads(text)["pid"] for text in told] == [shop.pid] * 3


def test_of_several_hosts_the_one_of_this_directory_is_meant(cli: Cli, play: Play, tmp_path: Path) -> None:
    play("other")
    here = play("shop", cwd=tmp_path)

    assert json.loads(cli("status", "--json").stdout)["pid"] == here.pid


def test_where_none_is_meant_more_than_others_they_are_listed(cli: Cli, play: Play) -> None:
    one, two = play("one"), play("two")
    done = cli("status")

    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "holdfast: 2 hosts are running; which one?",
        f"  try: one of: one (pid {one.pid}), two (pid {two.pid})",
    ]


def test_hosts_of_the_same_name_are_told_apart_by_number(cli: Cli, play: Play, tmp_path: Path) -> None:
    first, second = play("shop"), play("shop")
    done = cli("restart", "shop")

    assert done.returncode == 2
    assert "2 hosts are called 'shop'" in done.stderr
    assert str(first.pid) in done.stderr
    assert cli("status", str(second.pid)).returncode == 0


def test_a_misspelled_name_is_one_line_and_a_remedy(cli: Cli, play: Play) -> None:
    play("inventory")
    done = cli("status", "invnetory")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("holdfast: there is no running host 'invnetory'; did you mean 'inventory'?\n")


# --- status ---------------------------------------------------------------------------------------------------


def test_health_is_one_aligned_screen(cli: Cli, play: Play) -> None:
    shop = play("shop")
    done = cli("status")

    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "shop: ready",
        f"  host        pid {shop.pid}, up 3 h 12 min, since 2026-01-02T03:04:05Z",
        "  command     python shop.py",
        "  worker      pid 4720, generation 3, handshake ready",
        "  session     live, 2 in flight",
        "  restarts    2",
        "  spare       none",
        "  rollout     stable, release 2, on probation for 12 s",
        "              release 3 failed: it breaks callers",
        "  calls       120 requests, 118 answered, 3 replayed, 1 ambiguous, 2 noise lines, 2 workers lost",
        "  last fault  process WORKER_LOST: the worker was ended by SIGKILL (generation 2)",
    ]


@pytest.mark.parametrize("state", ["cold", "starting", "recovering"])
def test_a_host_that_is_not_ready_is_exit_1(cli: Cli, play: Play, state: str) -> None:
    play("shop", f'state="{state}"', "degraded=true", "consecutive_failures=4")
    done = cli("status")

    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith(f"shop: {state}, degraded\n")
    assert "2, 4 failures in a row\n" in done.stdout


def test_one_of_anything_is_told_in_the_singular() -> None:
    counters = {"requests": 1, "answered": 1, "timeouts": 1, "noise_lines": 1, "workers_lost": 1, "late": 1}
    lines = list(describe_health({"restart_count": 1, "consecutive_failures": 1, "counters": counters}))

    assert "  restarts    1, 1 failure in a row" in lines
    assert "  calls       1 request, 1 answered, 1 timeout, 1 late, 1 noise line, 1 worker lost" in lines


def test_a_host_that_does_not_answer_is_exit_1(cli: Cli, play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = play("shop", "deaf=true")
    monkeypatch.setattr("holdfast.cli.status._TIMEOUT", 0.2)
    done = cli("status")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"holdfast: shop (pid {shop.pid}) does not answer on its socket\n"


@pytest.mark.parametrize("health", [{}, {"counters": 7, "last_fault": "x", "uptime_ms": "soon", "command": "x"}])
def test_a_host_of_another_version_is_shown_as_far_as_it_goes(health: dict[str, Any]) -> None:
    assert next(describe_health(health)) == "host: unknown"


@pytest.mark.parametrize("message", ["\n", "x" * 5000, "word " * 1000, "\x1b[31m" * 300])
def test_nothing_that_a_host_says_breaks_the_screen(message: str) -> None:
    lines = list(
        describe_health({"name": "a\nb\x1b[31m", "command": ["x" * 500], "last_fault": {"message": message}})
    )

    assert all(line.isprintable() and len(line) <= 110 for line in lines)
    assert len(lines) <= 9


def test_why_a_rollout_came_to_nothing_is_told_to_its_last_word() -> None:
    reason = (
        f"it breaks callers ({'; '.join(f'tool_{n}: required key was added' for n in range(4))}); raise version"
    )
    told = "\n".join(
        describe_health(
            {"last_rollout": {"outcome": "failed", "release": 3, "reason": reason}, "rollout": "stable"}
        )
    )

    assert f"release 3 failed: {reason}" in " ".join(told.split())


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [(0, "0 s"), (59_999, "59 s"), (60_000, "1 min"), (61_000, "1 min 1 s"), (90_000_000, "1 d 1 h"), (None, "-"),
     (-1, "-"), (True, "-")],
)  # fmt: skip
def test_a_time_span_has_two_units_at_most(milliseconds: Any, text: str) -> None:
    assert duration(milliseconds) == text


# --- ps -------------------------------------------------------------------------------------------------------


def test_hosts_are_listed_with_their_state(cli: Cli, play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.cli.ps._TIMEOUT", 0.5)
    shop, deaf, dead = play("shop"), play("deaf", "deaf=true"), killed(play("dead"))
    done = cli("ps")
    rows = [[cell.strip() for cell in line.split(" | ")] for line in done.stdout.splitlines()]

    assert rows[0] == ["name", "pid", "state", "generation", "restarts", "uptime", "command"]
    assert ["shop", str(shop.pid), "ready", "3", "2", "3 h 12 min", "python shop.py"] in rows
    assert ["deaf", str(deaf.pid), "silent", "-", "-", "-", "python shop.py"] in rows
    assert ["dead", str(dead), "dead", "-", "-", "-", "python shop.py"] in rows
    assert f"dead (pid {dead}) died without cleaning up" in done.stderr
    assert f"holdfast stop {dead}" in done.stderr


def test_hosts_as_json_are_one_array(cli: Cli, play: Play) -> None:
    empty = cli("ps", "--json")
    shop, dead = play("shop"), killed(play("dead"))
    found = {host["pid"]: host for host in json.loads(cli("ps", "--json").stdout)}

    assert json.loads(empty.stdout) == []
    assert (found[shop.pid]["state"], found[shop.pid]["counters"]["requests"]) == ("ready", 120)
    assert (found[dead]["state"], found[dead]["alive"]) == ("dead", False)


def test_no_host_is_no_error(cli: Cli) -> None:
    done = cli("ps")

    assert (done.returncode, done.stdout) == (0, "")
    assert "no host is running" in done.stderr


def test_another_state_directory_has_hosts_of_its_own(cli: Cli, play: Play, tmp_path: Path) -> None:
    play("shop")

    assert cli("ps", "--state-dir", str(tmp_path / "elsewhere")).stdout == ""
    assert (
        "shop" in cli("ps", "--state-dir", str(tmp_path / "state"), env={"HOLDFAST_STATE_DIR": "/nowhere"}).stdout
    )


# --- restart, stop --------------------------------------------------------------------------------------------


def test_a_restart_ends_when_the_new_worker_serves(cli: Cli, play: Play) -> None:
    shop = play("shop")
    done = cli("restart", "shop")

    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"shop (pid {shop.pid}) has a new worker: generation 4, worker pid 4721\n"


def test_programs_are_told_of_a_restart_and_a_stop_as_json(cli: Cli, play: Play) -> None:
    shop = play("shop")
    restarted, stopped = (json.loads(cli(command, "shop", "--json").stdout) for command in ("restart", "stop"))
    dead = killed(play("shop"))

    assert restarted == {"ok": True, "pid": shop.pid, "generation": 4, "worker_pid": 4721}
    assert stopped == {"ok": True, "pid": shop.pid, "was": "running"}
    assert json.loads(cli("stop", "--json").stdout) == {
        "ok": True, "pid": dead, "was": "dead", "killed": [], "left": [], "containers": [],
    }  # fmt: skip


def test_a_program_is_told_which_release_is_activated(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "dist").mkdir()
    root, dist = str(tmp_path / "releases"), str(tmp_path / "dist")
    packed = json.loads(cli("release", "pack", "--json", root, dist, "--", "python", "{release}").stdout)
    done = cli("release", "activate", root, packed["id"][:8], "--json")

    assert json.loads(done.stdout) == packed
    assert done.stderr == f"{packed['id']} is to serve\n"


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (["python", "-u", "server.py"], "-- python -u server.py"),
        (["--spare", "1", "npx", "-y", "a b"], "--spare 1 -- npx -y 'a b'"),
        (["--deadline=3", "server"], "--deadline=3 -- server"),
    ],
    ids=str,
)
def test_a_command_without_its_dashes_is_told_where_they_belong(cli: Cli, words: list[str], remedy: str) -> None:
    done = cli("run", *words)

    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "holdfast: the command of the server stands behind `--`",
        f"  try: holdfast run {remedy}",
    ]
    assert "No such option '--spar'" in cli("run", "--spar", "1", "npx").stderr


def test_a_restart_that_fails_says_why(cli: Cli, play: Play) -> None:
    play("shop", "broken=true")
    done = cli("restart")

    assert done.returncode == 2
    assert "the new worker did not come up" in done.stderr


def test_a_stopped_host_is_gone_when_the_command_ends(cli: Cli, play: Play, tmp_path: Path) -> None:
    shop = play("shop")
    done = cli("stop", "shop")

    assert done.returncode == 0
    assert done.stderr == f"shop (pid {shop.pid}) is stopped\n"
    assert list((tmp_path / "state" / "hosts").iterdir()) == []
    assert cli("stop", "shop").returncode == 2


def test_a_host_that_does_not_listen_is_stopped_by_a_signal(
    cli: Cli, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = play("shop", "deaf=true")
    monkeypatch.setattr("holdfast.cli.stop._ANSWER", 0.2)
    done = cli("stop")

    assert done.returncode == 0
    assert "it gets SIGTERM" in done.stderr
    assert shop.wait(10) == 0


def test_a_host_that_does_not_stop_is_told_of_in_time(cli: Cli, play: Play) -> None:
    shop = play("shop", "stubborn=true")
    done = cli("stop", "--timeout", "0.3")

    assert done.returncode == 2
    assert f"still runs after 0.3 s\n  try: kill -9 {shop.pid}\n" in done.stderr


def test_stopping_a_dead_host_cleans_up_after_it(cli: Cli, play: Play, tmp_path: Path) -> None:
    pid = killed(play("shop"))
    refused, done = cli("status", "shop"), cli("stop", "shop")

    assert refused.returncode == 2
    assert f"the host shop (pid {pid}) is dead\n  try: to clean up what it left: holdfast stop" in refused.stderr
    assert (done.returncode, done.stdout) == (0, "")
    assert "was dead already; nothing was left of it" in done.stderr
    assert list((tmp_path / "state" / "hosts").iterdir()) == []


def test_stop_without_a_name_means_the_dead_host_where_none_runs(cli: Cli, play: Play, tmp_path: Path) -> None:
    pid = killed(play("shop"))
    done = cli("stop")

    assert done.returncode == 0
    assert f"shop (pid {pid}) was dead already" in done.stderr
    assert list((tmp_path / "state" / "hosts").iterdir()) == []
    assert cli("stop").returncode == 2


def test_stop_without_a_name_prefers_the_host_that_runs_and_asks_between_dead_ones(cli: Cli, play: Play) -> None:
    for name in ("one", "two"):
        killed(play(name))
    refused = cli("stop")
    running = play("three")
    done = cli("stop")

    assert "2 hosts are dead; which one?" in refused.stderr
    assert f"three (pid {running.pid}) is stopped" in done.stderr


# --- events ---------------------------------------------------------------------------------------------------


def written(path: Path, *numbers: int, **options: Any) -> None:
    log = EventLog(path, **options)
    for number in numbers:
        log.emit(MessageRejected(number, f"message {number}"))
        log.flush()
    log.close()


def codes(events: list[dict[str, Any]]) -> list[int]:
    return [event["jsonrpc_code"] for event in events]


@pytest.mark.parametrize(
    "words", ["shop -n 2", "-n 2 shop", "show shop -n 2", "-n 2", "show -n 2", "shop -n 2 --state-dir state"]
)
def test_events_need_no_subcommand(cli: Cli, tmp_path: Path, words: str) -> None:
    written(tmp_path / "state" / "shop" / "events.jsonl", 1, 2, 3)
    done = cli("events", *words.split(), "--json")

    assert codes([json.loads(line) for line in done.stdout.splitlines()]) == [2, 3]


def test_events_without_a_word_are_those_of_all_servers(cli: Cli, tmp_path: Path) -> None:
    for server in ("one", "two"):
        written(tmp_path / "state" / server / "events.jsonl", 1)

    assert len(cli("events").stdout.splitlines()) == 2


def test_the_help_of_events_shows_options_and_subcommands(cli: Cli) -> None:
    text = cli("events", "--help").stdout

    assert all(word in text for word in ("--follow", "--fault", "-n, --number", "  path ", "  show "))


def test_a_server_without_a_log_is_named(cli: Cli, tmp_path: Path) -> None:
    written(tmp_path / "state" / "shop" / "events.jsonl", 1)
    done = cli("events", "inventory")

    assert done.returncode == 2
    assert "there is no event log of 'inventory'" in done.stderr
    assert "one of: shop" in done.stderr


def test_following_one_fault_makes_no_sense(cli: Cli) -> None:
    assert "exclude each other" in cli("events", "--follow", "--fault", "x").stderr


def test_a_followed_log_is_read_through_rotations_each_event_once(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    follower = EventFollower(lambda: [path])
    seen = codes(follower.poll())
    for first in range(0, 600, 60):  # several rotations between two looks
        written(path, *range(first, first + 60), max_bytes=4096, max_files=9)
        seen += codes(follower.poll())
    follower.close()

    assert sorted(seen) == list(range(600))


def test_a_writer_that_goes_on_with_a_rotated_file_is_still_heard(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    late = EventLog(path, max_bytes=4096, max_files=4)
    late.emit(MessageRejected(1, "early"))
    late.flush()
    follower = EventFollower(lambda: [path])
    assert codes(follower.poll()) == [1]
    path.rename(f"{path}.1")
    written(path, 2)
    late.emit(MessageRejected(3, "late"))
    late.close()

    assert sorted(codes(follower.poll())) == [2, 3]  # written in the same millisecond, perhaps
    follower.close()


def test_half_a_line_waits_for_its_other_half_and_nonsense_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    follower = EventFollower(lambda: [path])
    polled = []
    with path.open("ab", buffering=0) as file:
        for piece in (b'{"event": "x", ', b'"n": 1}\n\xff\xfe\n[]\n{"event"', b': "y"}\n', b"z" * 2_000_000):
            file.write(piece)
            polled.append([event["event"] for event in follower.poll()])
    follower.close()

    assert polled == [[], ["x"], ["y"], []]


def following(environment: dict[str, str], tmp_path: Path, *words: str) -> "subprocess.Popen[str]":
    # Interrupts may be ignored where the tests run, and would be in the child then.
    restore = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from holdfast.cli.app import main; sys.exit(main(sys.argv[1:]))"
    )
    return subprocess.Popen(
        [sys.executable, "-c", restore, "events", "--follow", *words],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
        env=environment,
    )  # fmt: skip


def test_a_log_is_followed_from_before_it_exists_until_the_interrupt(
    environment: dict[str, str], tmp_path: Path
) -> None:
    process = following(environment, tmp_path, "shop", "--json")
    assert process.stdout is not None
    assert process.stderr is not None
    waiting = process.stderr.readline()
    written(tmp_path / "state" / "shop" / "events.jsonl", 7)
    line = process.stdout.readline()
    process.send_signal(signal.SIGINT)
    rest, complaint = process.communicate(timeout=20)

    assert waiting.startswith("waiting for the first event in ")
    assert json.loads(line)["jsonrpc_code"] == 7
    assert (process.returncode, rest, complaint) == (130, "", "")


def test_a_reader_that_leaves_ends_the_following_without_a_word(
    environment: dict[str, str], tmp_path: Path
) -> None:
    written(tmp_path / "state" / "shop" / "events.jsonl", 1, 2, 3)
    process = following(environment, tmp_path, "-n", "2")
    assert process.stdout is not None
    assert process.stderr is not None
    lines = [process.stdout.readline(), process.stdout.readline()]
    process.stdout.close()
    complaint = process.stderr.read()
    process.stderr.close()

    assert process.wait(20) == 0
    assert ["jsonrpc_code=2" in lines[0], "jsonrpc_code=3" in lines[1], complaint] == [True, True, ""]


def test_following_costs_next_to_nothing_while_nothing_happens(
    environment: dict[str, str], tmp_path: Path
) -> None:
    process = following(environment, tmp_path)
    assert process.stderr is not None
    process.stderr.readline()
    watched = psutil.Process(process.pid)
    begin = watched.num_ctx_switches().voluntary
    used = sum(watched.cpu_times()[:2])
    until(lambda: watched.num_ctx_switches().voluntary >= begin + 4)  # four looks at the logs
    spent = sum(watched.cpu_times()[:2]) - used
    process.kill()
    process.communicate()

    assert spent <= 0.2


@pytest.mark.parametrize("words", [(), ("--host",)])
def test_a_rollout_that_was_never_asked_for_is_not_said_to_go_on(
    cli: Cli, play: Play, words: tuple[str, ...]
) -> None:
    play("shop")
    done = cli("rollout", "shop", "--timeout", "0", "--json", *words)

    assert done.returncode == 1
    assert json.loads(done.stdout)["ok"] is False
    assert "stays" in done.stderr
    assert "could not be reached in time" in done.stderr
