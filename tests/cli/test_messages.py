"""What a newcomer gets wrong, and the one line and the remedy that the command line answers with."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Cli

FOREIGN = (sys.executable, str(Path(__file__).with_name("foreign_server.py")))

TORN = """
from holdfast import Server, effect
server = Server("torn", version="1.0.0")

@server.tool(effect=effect.probe_required("gone"))
async def put(key: str) -> str:
    '''Put something there.'''
    return key
"""

LONG = """
from holdfast import Server
server = Server("long", version="1.0.0")

@server.tool()
async def many() -> list[int]:
    '''Return many numbers.'''
    return list(range(10_000))
"""


@pytest.mark.parametrize(
    ("words", "message", "remedy"),
    [
        ("call shop.py lookup sku:=A-1", "sku:= takes JSON, and 'A-1' is none", "sku=A-1"),
        ("call shop.py lookup -", "stdin was empty", "write one JSON object to it"),
        ("call shop.py lookup {} sku=B-7", "an object cannot be combined with key=value", ""),
        ("call shop.py lookup --sku A-1", "there is no option --sku", "sku=A-1"),
        ("call shop.py lookup --sku=A-1", "there is no option --sku", "sku=A-1"),
        ("call shop.py lookup --tiemout 1", "No such option '--tiemout'. (Did you mean one of: ", ""),
        ("call shop.py lookup sku=A tags=a,b", "tags takes a list", """tags='["a", "b"]'"""),
        ("call shop.py lookup -- cat", "give TARGET or -- COMMAND, not both", "holdfast call TOOL"),
        ("tools shop.py -- cat", "give TARGET or -- COMMAND, not both", "holdfast tools -- "),
        ("call shop.py lokup", "there is no tool 'lokup'; did you mean 'lookup'?", "one of: lookup, slow"),
        ("tols", "there is no command 'tols'; did you mean 'tools'?", "holdfast --help"),
        ("events shwo", "there is no command 'shwo'; did you mean 'show'?", "holdfast events --help"),
        ("tools http://localhost/mcp", "http://localhost/mcp is an address; only servers on stdio", "-- COMMAND"),
        (
            "tools -- http://localhost/mcp",
            "http://localhost/mcp is an address; only servers on stdio",
            "-- COMMAND",
        ),
        (
            "tools -- false",
            "the server ended (exit code 1) before it answered initialize",
            "run the command by itself",
        ),
        (
            "tools --timeout 0.2 -- sleep 60",
            "the server did not answer initialize within 0.2 s",
            "wait longer with --timeout 120; a first start",
        ),
        ("call --timeout", "Option '--timeout' requires an argument.", "holdfast call --help"),
        ("index build --repo", "Option '--repo' requires an argument.", "holdfast index build --help"),
        ("tools -- cat", "the command echoes what it is sent; it is no MCP server", ""),
        ("contract snapshot shop.py -o /nonexist/x.json", "/nonexist/x.json cannot be written: No such file", ""),
        ("events show --fault nothing", "there is no fault 'nothing' in ", "holdfast events show"),
    ],
)
def test_a_slip_is_one_line_and_a_remedy(cli: Cli, shop: Path, words: str, message: str, remedy: str) -> None:
    done = cli(*words.split())
    complaint = [line for line in done.stderr.splitlines() if not line.startswith("printed ")]

    assert (done.returncode, done.stdout) == (2, "")
    assert complaint[0].startswith(f"holdfast: {message}")
    assert all(line.startswith(f"  try: {remedy}") for line in complaint[1:])
    assert len(complaint) == 2 or not remedy


def test_a_command_in_quotes_is_told_to_lose_them(cli: Cli) -> None:
    done = cli("tools", "--", "holdfast serve shop.py")

    assert done.returncode == 2
    assert "  try: leave out the quotes: -- holdfast serve shop.py\n" in done.stderr


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("tools torn.py", 2),
        ("call torn.py put key=a", 2),
        ("serve --kill-grace 15 torn.py", 2),  # the time that its worker has without a client
        ("contract snapshot torn.py", 3),
    ],
)
def test_a_server_that_does_not_hold_together_is_refused_by_every_command(
    cli: Cli, tmp_path: Path, command: str, code: int
) -> None:
    (tmp_path / "torn.py").write_text(TORN)
    done = cli(*command.split())

    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith("holdfast: torn.py: tool 'put': its probe 'gone' is not another tool")
    assert done.stderr.count("\n") == 2


@pytest.mark.parametrize("switch", [(), ("--debug",)])
def test_debug_is_hinted_at_only_where_it_is_not_given(cli: Cli, tmp_path: Path, switch: tuple[str, ...]) -> None:
    (tmp_path / "broken.py").write_text("import nothing_of_that_name\n")
    done = cli("tools", "broken.py", *switch)

    assert ("--debug" in done.stderr.splitlines()[-1]) is not bool(switch)
    assert ("Traceback" in done.stderr) is bool(switch)


def on_terminal(command: list[str], directory: Path, environment: dict[str, str], interrupt_at: str = "") -> str:
    """What a command prints on a terminal, which is its stderr; interrupted once it has printed some words."""
    ours, theirs = os.openpty()
    restore = (
        "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
    )
    printed = b""
    with subprocess.Popen(
        [sys.executable, "-c", restore, sys.executable, "-m", "holdfast", *command],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs, cwd=directory, env=environment,
    ) as process:  # fmt: skip
        os.close(theirs)
        try:
            while data := read_terminal(ours):
                printed += data
                if interrupt_at and interrupt_at.encode() in printed:
                    process.send_signal(signal.SIGINT)
                    interrupt_at = ""
        finally:
            process.kill()
            os.close(ours)
    return printed.decode()


def read_terminal(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 4096)
    except OSError:  # the other end was closed
        return b""


def test_an_answer_that_was_cut_says_on_a_terminal_how_to_get_all_of_it(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    (tmp_path / "long.py").write_text(LONG)

    assert "(all of it: --json)" in on_terminal(["call", "long.py", "many"], tmp_path, environment)


def test_an_answer_that_was_cut_says_nothing_more_to_a_program(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "long.py").write_text(LONG)
    done = cli("call", "long.py", "many")

    assert "omitted" in done.stdout
    assert done.stderr == ""


def test_an_interrupted_command_says_that_it_stops_the_server(tmp_path: Path, environment: dict[str, str]) -> None:
    command = ["tools", "--", *FOREIGN, "silent"]

    assert "stopping the server..." in on_terminal(command, tmp_path, environment, interrupt_at="got ")
