"""What a tool asks during `holdfast call`: answered at a terminal, by an option, or declined."""

import json
import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

SERVER = '''
from typing import Annotated, Literal
from pydantic import BaseModel
from holdfast import Context, Server, question

server = Server("asker", version="1.0.0")

class Order(BaseModel):
    sure: bool
    count: int
    color: Annotated[Literal["r", "g"], question.titles(r="Red", g="Green")] = "r"
    tags: list[Literal["a", "b"]] = []
    note: str = "none"

@server.tool()
async def order(ctx: Context) -> str:
    """Order something."""
    answer = await ctx.elicit("What exactly?", Order)
    return f"{answer.action}: {answer.value}"

@server.tool()
async def visit(ctx: Context) -> str:
    """Have a page opened."""
    return (await ctx.elicit_url("Log in", "https://example.org/")).action

@server.tool()
async def sample(ctx: Context) -> str:
    """Ask for what the command line has not."""
    return (await ctx.sample("Hi", max_tokens=5)).text
'''
BOUND = 120.0

pytestmark = pytest.mark.timeout(300)  # processes are started, on machines that may be busy


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with the server."""
    (tmp_path / "asker.py").write_text(SERVER)
    return tmp_path


def environment(place: Path) -> dict[str, str]:
    return {**os.environ, "HOLDFAST_STATE_DIR": str(place / "state"), "HOLDFAST_CONFIG": "none"}


def call(place: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "holdfast", "call", "asker.py", *words],
        capture_output=True,
        text=True,
        timeout=BOUND,
        check=False,
        cwd=place,
        env=environment(place),
        stdin=subprocess.DEVNULL,
    )


class Terminal:
    """A person at a terminal: reads what is shown, and types."""

    def __init__(self, place: Path, *words: str, target: tuple[str, ...] = ("asker.py",)) -> None:
        self._master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "holdfast", "call", *target, *words],
            stdin=slave,
            stderr=slave,
            stdout=subprocess.PIPE,
            cwd=place,
            env=environment(place),
            text=True,
        )
        os.close(slave)
        self._shown = self.seen = ""

    def answers(self, prompt: str, typed: str) -> None:
        """Wait for the prompt, and type."""
        until = time.monotonic() + BOUND
        while prompt not in self._shown:
            assert time.monotonic() < until, self._shown
            if select.select([self._master], [], [], 1.0)[0]:
                read = os.read(self._master, 4096).decode()
                self._shown += read
                self.seen += read
        self._shown = self._shown.partition(prompt)[2]
        os.write(self._master, typed.encode())

    def result(self) -> str:
        """What the command printed."""
        out, _ = self.process.communicate(timeout=BOUND)
        os.close(self._master)
        return out.strip()


def test_a_person_at_a_terminal_fills_in_the_form(place: Path) -> None:
    terminal = Terminal(place, "order")
    terminal.answers("Sure (yes or no; empty to decline):", "yes\n")
    terminal.answers("Count (whole number; empty to decline):", "many\n")
    terminal.answers("'many' is not a whole number", "")
    terminal.answers("Count (whole number; empty to decline):", "3\n")
    terminal.answers("g: Green", "")
    terminal.answers("Color (one of these, default r):", "g\n")
    terminal.answers("Tags (several of these, with commas, default []):", "a, b\n")
    terminal.answers("Note (text, default none):", "\n")
    assert terminal.result() == "accept: sure=True count=3 color='g' tags=['a', 'b'] note='none'"


RUBBISH = r"""
import json, sys

FIELDS = {"a": {"title": "Red \x1b[31m", "oneOf": [7, {"const": "x", "title": [1]}]}, "b": 3, "c": {"enum": 5}}

def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

for message in map(json.loads, sys.stdin):
    if message.get("method") == "initialize":
        about = {"capabilities": {"tools": {}}, "serverInfo": {"name": "rubbish", "version": "1"}}
        say(id=message["id"], result={"protocolVersion": "2025-11-25", **about})
    elif message.get("method") == "tools/list":
        say(id=message["id"], result={"tools": [{"name": "ask", "inputSchema": {"type": "object"}}]})
    elif message.get("method") == "tools/call":
        call, schema = message["id"], {"properties": FIELDS, "required": 8}
        say(id="q", method="elicitation/create", params={"message": "well?", "requestedSchema": schema})
    elif message.get("id") == "q":
        say(id=call, result={"content": [{"type": "text", "text": json.dumps(message["result"])}]})
"""


def test_a_form_that_makes_no_sense_is_shown_as_far_as_it_does(place: Path) -> None:
    (place / "rubbish.py").write_text(RUBBISH)
    terminal = Terminal(place, "--", sys.executable, "rubbish.py", target=("ask",))
    terminal.answers("x: [1]", "")
    terminal.answers("[31m (one of these):", "x\n")
    terminal.answers("b (text):", "\n")
    terminal.answers("c (text):", "y\n")
    assert json.loads(terminal.result()) == {"action": "accept", "content": {"a": "x", "c": "y"}}
    assert "\x1b" not in terminal.seen


@pytest.mark.parametrize(("typed", "action"), [("\n", "decline"), ("\x04", "cancel")])
def test_a_person_may_leave_the_form_empty(place: Path, typed: str, action: str) -> None:
    terminal = Terminal(place, "order")
    terminal.answers("empty to decline):", typed)
    assert terminal.result() == f"{action}: None"


def test_a_person_opens_an_address(place: Path) -> None:
    terminal = Terminal(place, "visit")
    terminal.answers("https://example.org/", "")
    terminal.answers("done? [y/N]", "y\n")
    assert terminal.result() == "accept"


def test_without_a_terminal_a_question_is_declined_with_a_line_that_says_so(place: Path) -> None:
    done = call(place, "order")
    assert done.stdout.strip() == "decline: None"
    assert "the tool asks: What exactly?" in done.stderr
    assert "declined: there is no terminal to answer at (try: --answer" in done.stderr


def test_an_option_answers_and_what_does_not_fit_is_a_clear_error(place: Path) -> None:
    done = call(place, "order", "--answer", '{"sure": true, "count": 2}')
    assert done.stdout.strip() == "accept: sure=True count=2 color='r' tags=[] note='none'"
    wrong = call(place, "order", "--answer", '{"sure": "perhaps", "count": 2}')
    assert wrong.returncode == 1
    assert "NO_ANSWER" in wrong.stderr


@pytest.mark.parametrize("text", ["{", "5", ""])
def test_an_answer_that_is_no_object_is_refused_before_anything_is_called(place: Path, text: str) -> None:
    done = call(place, "order", "--answer", text)
    assert done.returncode == 2
    assert "--answer is not" in done.stderr


def test_what_the_command_line_cannot_answer_is_told(place: Path) -> None:
    done = call(place, "sample")
    assert done.returncode == 1
    assert "did not declare the capability sampling" in done.stderr
