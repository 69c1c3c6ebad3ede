"""A bug in the author's own tool: where it is, said where the author looks."""

import re
from pathlib import Path

import pytest
from tests.cli.conftest import Cli

SERVER = """
from dataclasses import dataclass
from holdfast import Context, Server, ToolError

server = Server("buggy", version="1.0.0")

@dataclass
class Item:
    count: int

def divide(count: int) -> float:
    return 1 / count

def draw(payload: object, presentation: object) -> str:
    raise LookupError("no picture")

@server.tool()
async def divides() -> float:
    '''Divide by zero.'''
    return divide(0)

@server.tool()
def threaded() -> float:
    '''Divide by zero in a thread.'''
    return divide(0)

@server.tool()
async def undeclared() -> str:
    '''End with a code that is not declared.'''
    raise ToolError("NOT_FOUND", "there is none")

@server.tool()
async def mistyped() -> Item:
    '''Return something else.'''
    return "three"

@server.tool()
async def programless(ctx: Context) -> str:
    '''Run what is not there.'''
    await ctx.run(["/nowhere/at-all"])
    return ""

@server.tool(porcelain=draw)
async def undrawn() -> str:
    '''Return what cannot be drawn.'''
    return "x"

@server.tool(porcelain=lambda payload, presentation: None)
async def unsaid() -> str:
    '''Return what is drawn as nothing.'''
    return "x"

@server.tool(isolate=True)
def apart() -> float:
    '''Divide by zero in another process.'''
    return divide(0)
"""


@pytest.fixture
def buggy(tmp_path: Path) -> Path:
    file = tmp_path / "buggy.py"
    file.write_text(SERVER)
    return file


@pytest.mark.parametrize(
    ("tool", "cause"),
    [
        ("divides", r"  buggy\.py:20 in divides\n  buggy\.py:12 in divide: ZeroDivisionError: division by zero\n"),
        (
            "threaded",
            r"  buggy\.py:25 in threaded\n  buggy\.py:12 in divide: ZeroDivisionError: division by zero\n",
        ),
        ("undeclared", r"  buggy\.py:30 in undeclared: UndeclaredErrorCode: NOT_FOUND: there is none\n"),
        ("mistyped", r"  OutputContractViolation: "),
        ("programless", r"  buggy\.py:40 in programless: ProcessError: .*nowhere"),
        ("undrawn", r"  buggy\.py:15 in draw: LookupError: no picture\n"),
        ("unsaid", r"  TypeError: porcelain must return text, not NoneType\n"),
        ("apart", r"  buggy\.py:12 in divide: ZeroDivisionError: division by zero\n"),
    ],
)
def test_the_cause_of_an_internal_error_follows_it(cli: Cli, buggy: Path, tool: str, cause: str) -> None:
    done = cli("call", "buggy.py", tool)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error INTERNAL: ")
    assert re.search(cause, done.stderr)
    assert "Traceback" not in done.stderr


def test_debug_shows_the_whole_traceback_of_a_tool(cli: Cli, buggy: Path) -> None:
    done = cli("call", "buggy.py", "divides", "--debug")

    assert "Traceback (most recent call last):" in done.stderr
    assert "    return 1 / count\n" in done.stderr


def test_json_on_stdout_stays_alone(cli: Cli, buggy: Path) -> None:
    done = cli("call", "buggy.py", "divides", "--json")

    assert done.stdout.count("\n") == 1
    assert "buggy.py:12 in divide" not in done.stdout
    assert "buggy.py:12 in divide" in done.stderr


def test_the_full_record_of_a_fault_is_found_by_its_id(cli: Cli, buggy: Path) -> None:
    found = re.search(r"fault id: (\w+)", cli("call", "buggy.py", "divides").stderr)
    assert found
    for words in (("buggy",), ()):
        shown = cli("events", "show", *words, "--fault", found[1])
        assert shown.returncode == 0
        assert f"fault_id: {found[1]}\n" in shown.stdout
        assert "message: division by zero\n" in shown.stdout
        assert "    return 1 / count\n" in shown.stdout


def test_a_log_without_events_is_told_as_such(cli: Cli, tmp_path: Path) -> None:
    done = cli("events", "show")

    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"no events yet in {tmp_path}/state\n"
