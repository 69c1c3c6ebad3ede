"""`holdfast call`, run for real."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.cli.conftest import Cli

STUCK = """
import asyncio, threading
from holdfast import Server
server = Server("stuck", version="1.0.0")

@server.tool()
async def stubborn() -> str:
    \"\"\"Never stop.\"\"\"
    while True:
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            pass

@server.tool()
def blocked() -> str:
    \"\"\"Never return.\"\"\"
    threading.Event().wait()
    return "done"
"""

MIXED = """
from holdfast import EmbeddedResource, Image, ResourceLink, Server, WithContent
server = Server("mixed", version="1.0.0")

@server.tool()
def mixed() -> WithContent[str]:
    \"\"\"Answer with content of every kind.\"\"\"
    link = ResourceLink("app://whole", name="whole", mime_type="text/plain")
    text = EmbeddedResource("app://text", "the embedded text")
    data = EmbeddedResource("app://bytes", b"x", "image/png")
    return WithContent("value", link, text, data, Image(b"x"))
"""

FLOOD = "1001 lines on its stdout that are no MCP messages, the first: 'noise'"
FOREIGN = (sys.executable, str(Path(__file__).with_name("foreign_server.py")))


def result_of(text: str) -> dict[str, object]:
    result = json.loads(text)
    found: dict[str, object] = result["structuredContent"]
    return found


def test_the_text_of_a_result_is_all_there_is_on_stdout(program: Cli, shop: Path) -> None:
    done = program("call", "shop.py", "lookup", "sku=A-1")

    assert done.returncode == 0, done.stderr
    assert "A-1" in done.stdout
    assert "printed" not in done.stdout
    for place in ("while importing", "in a tool", "by a child"):
        assert f"printed {place}" in done.stderr


def test_a_tool_that_will_not_stop_does_not_keep_the_command(program: Cli, tmp_path: Path) -> None:
    (tmp_path / "stuck.py").write_text(STUCK)
    options = "--timeout", "0.3", "--kill-grace", "0.1"
    with ThreadPoolExecutor() as pool:  # most of the time is spent waiting, so both wait together
        for done in pool.map(lambda tool: program("call", "stuck.py", tool, *options), ["stubborn", "blocked"]):
            assert done.returncode == 2
            assert done.stderr == "holdfast: gave up after 0.3 s (--timeout); the call was cancelled\n"


@pytest.mark.parametrize("target", ["shop.py:server", "shop:server"])
def test_every_form_of_target_leads_to_the_tool(cli: Cli, shop: Path, target: str) -> None:
    assert cli("call", target, "lookup", "sku=A-1").returncode == 0


def test_arguments_are_typed_by_the_schema(cli: Cli, shop: Path) -> None:
    done = cli("call", "shop.py", "lookup", "sku=5", "limit=5", 'tags=["a"]', "--json")

    assert result_of(done.stdout)["sku"] == "5"
    assert result_of(done.stdout)["limit"] == 5
    assert result_of(done.stdout)["tags"] == ["a"]


def test_stdin_and_files_hold_arguments(cli: Cli, shop: Path, tmp_path: Path) -> None:
    (tmp_path / "arguments.json").write_text('{"sku": "from file"}')
    from_stdin = cli("call", "shop.py", "lookup", "-", "--json", input='{"sku": "from stdin"}')
    from_file = cli("call", "shop.py", "lookup", "@arguments.json", "--json")

    assert result_of(from_stdin.stdout)["sku"] == "from stdin"
    assert result_of(from_file.stdout)["sku"] == "from file"


def test_a_tool_error_goes_to_stderr_and_exits_with_1(cli: Cli, shop: Path) -> None:
    done = cli("call", "shop.py", "lookup", "sku=none")

    assert (done.returncode, done.stdout) == (1, "")
    assert "NOT_FOUND" in done.stderr


def test_json_of_a_tool_error_is_on_stdout_and_exits_with_1(cli: Cli, shop: Path) -> None:
    done = cli("call", "shop.py", "lookup", "sku=none", "--json")

    assert done.returncode == 1
    assert json.loads(done.stdout)["isError"] is True


def test_every_violation_of_an_invalid_call_is_listed(cli: Cli, shop: Path) -> None:
    done = cli("call", "shop.py", "lookup", "limit=many", "colour=red")

    assert (done.returncode, done.stdout) == (1, "")
    for word in ("/limit", "colour", "sku"):
        assert word in done.stderr


def test_an_unknown_tool_is_told_with_those_that_exist(cli: Cli, shop: Path) -> None:
    done = cli("call", "shop.py", "look")

    assert done.returncode == 2
    assert "holdfast: there is no tool 'look'; did you mean 'lookup'?" in done.stderr
    assert "try: one of: lookup, slow" in done.stderr


def test_progress_is_shown_when_asked_for(cli: Cli, shop: Path) -> None:
    assert "lookup: reading (1/3)" in cli("call", "shop.py", "lookup", "sku=A", "--progress").stderr
    assert "reading" not in cli("call", "shop.py", "lookup", "sku=A").stderr


def test_the_form_of_the_text_can_be_chosen(cli: Cli, shop: Path) -> None:
    done = cli("call", "shop.py", "lookup", "sku=A", "--render", "json")

    assert json.loads(done.stdout)["sku"] == "A"


def test_a_call_that_takes_too_long_is_given_up(cli: Cli, shop: Path, tmp_path: Path) -> None:
    done = cli("call", "shop.py", "slow", "--timeout", "1", "--kill-grace", "0.5")

    assert done.returncode == 2
    assert "holdfast: gave up after 1 s (--timeout); the call was cancelled" in done.stderr
    assert not [pid for pid in (tmp_path / "pids").read_text().split() if psutil.pid_exists(int(pid))]


def test_ctrl_c_ends_the_call_and_everything_it_started(
    shop: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    command = [sys.executable, "-m", "holdfast", "call", "shop.py", "slow", "--kill-grace", "0.5"]
    with interruptible(command, cwd=tmp_path, env=environment) as process:
        pids = wait_for_pids(tmp_path / "pids")
        assert all(psutil.pid_exists(pid) for pid in pids)
        process.send_signal(signal.SIGINT)
        _, talk = process.communicate(timeout=20)

    assert process.returncode == 130
    assert "Traceback" not in talk
    assert not [pid for pid in pids if psutil.pid_exists(pid)]


def test_a_foreign_server_is_called_behind_two_dashes(cli: Cli) -> None:
    done = cli("call", "echo", "text=5", "times=2", "--", *FOREIGN, "good")

    assert (done.returncode, done.stdout) == (0, "55\n")


def test_a_link_is_told_by_its_name_and_an_embedded_text_as_it_is(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mixed.py").write_text(MIXED)
    done = cli("call", "mixed.py", "mixed", cwd=tmp_path)

    assert done.stdout.splitlines()[-4:] == [
        "[resource_link app://whole text/plain]",
        "the embedded text",
        "[resource app://bytes image/png]; --json prints it whole",
        "[image image/png]; --json prints it whole",
    ]


def test_options_behind_the_dashes_belong_to_the_server(cli: Cli) -> None:
    done = cli("call", "echo", "text=a", "--", *FOREIGN, "good", "--json", "--debug", "--help")

    assert done.stdout == "a\n"


def test_a_protocol_error_is_told_with_its_violations(cli: Cli) -> None:
    done = cli("call", "echo", "--", *FOREIGN, "good")

    assert (done.returncode, done.stdout) == (1, "")
    assert "holdfast: invalid arguments (error -32602)\n  /text: is missing\n" in done.stderr


def test_json_of_a_protocol_error_is_the_error_object(cli: Cli) -> None:
    done = cli("call", "echo", "--json", "--", *FOREIGN, "good")

    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["code"] == -32602


def test_a_self_describing_server_is_called_too(cli: Cli) -> None:
    assert cli("call", "echo", "text=hi", "--", *FOREIGN, "modern").stdout == "hi\n"


def test_noise_of_a_foreign_server_is_reported_and_kept_off_stdout(cli: Cli) -> None:
    done = cli("call", "echo", "text=hi", "--", *FOREIGN, "noisy")

    assert done.stdout == "hi\n"
    assert "9 lines on its stdout that are no MCP messages, the first: 'Welcome to my server!'" in done.stderr


@pytest.mark.parametrize(
    ("temper", "message"),
    [
        ("dies", "the server ended (exit code 1) before it answered initialize; its last words: no module"),
        (
            "dies-in-call",
            "the server ended (exit code 3) before it answered tools/call; its last words: out of memory",
        ),
        ("silent", "the server did not answer initialize within 0.3 s"),
        ("silent-call", "gave up after 0.3 s (--timeout); the call was cancelled"),
        ("refuses", "the server refuses the handshake: no handshake here"),
        ("flood", f"the server does not speak MCP on its stdout; {FLOOD}"),
        ("legacy", "the server uses Content-Length framing (legacy), which this client does not speak"),
    ],
)
def test_a_server_that_cannot_be_used_is_one_line_and_exit_2(cli: Cli, temper: str, message: str) -> None:
    timeout = ["--timeout", "0.3"] if temper.startswith("silent") else []
    done = cli("call", "echo", "text=hi", *timeout, "--", *FOREIGN, temper)

    assert (done.returncode, done.stdout) == (2, "")
    assert f"holdfast: {message}" in done.stderr.splitlines()
    assert done.stderr.count("holdfast: ") == 1


def test_a_server_that_ends_with_an_error_and_a_remedy_is_quoted_with_its_error(cli: Cli) -> None:
    done = cli("call", "echo", "--", sys.executable, "-m", "holdfast", "serve", "--standalone", "absent.py")

    assert done.returncode == 2
    told = "the server ended (exit code 2) before it answered initialize; its last words: "
    assert f"holdfast: {told}there is no file absent.py; try: check the path" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("call",), "which server? TARGET is missing"),
        (("call", "shop.py"), "which tool? its name is missing"),
        (("call", "--"), "there is no command behind `--`"),
        (("call", "--", "python"), "which tool? its name is missing"),
        (("call", "shop.py", "lookup", "sku"), "the argument 'sku' is not understood"),
        (("call", "shop.py", "lookup", "--timeout", "nan"), "'nan' is not a number of seconds"),
        (("call", "lookup", "--", "/nowhere/at-all"), "/nowhere/at-all"),
    ],
)
def test_wrong_usage_is_one_line_a_remedy_and_exit_2(
    cli: Cli, shop: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = cli(*arguments)
    complaint = [line for line in done.stderr.splitlines() if not line.startswith("printed ")]

    assert (done.returncode, done.stdout) == (2, "")
    assert complaint[0].startswith("holdfast: ")
    assert message in complaint[0]
    assert all(line.startswith("  try: ") for line in complaint[1:])


def test_the_call_is_in_the_event_log(cli: Cli, shop: Path) -> None:
    cli("call", "shop.py", "lookup", "sku=A-1")
    events = [json.loads(line) for line in cli("events", "show", "shop", "--json").stdout.splitlines()]

    assert [event["outcome"] for event in events if event["event"] == "tool_call"] == ["ok"]


@contextlib.contextmanager
def interruptible(command: list[str], **options: Any) -> Iterator["subprocess.Popen[str]"]:
    """A program that Ctrl-C reaches even where this process was started with SIGINT ignored, and that ends."""
    script = (
        "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, *command], stderr=subprocess.PIPE, text=True, **options
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for_pids(file: Path) -> list[int]:
    deadline = time.monotonic() + 20
    while not file.exists():
        assert time.monotonic() < deadline, "the tool never started its program"
        os.sched_yield()
    return [int(pid) for pid in file.read_text().split()]
