"""`holdfast resources` and `holdfast prompts`, at a server of ours and at a program."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Cli

ASKING = '''
from pydantic import BaseModel

from holdfast import Context, Server

server = Server("asking", version="1.0.0")


class Name(BaseModel):
    """A name."""

    name: str


@server.prompt()
async def greet(ctx: Context) -> str:
    """Greet somebody."""
    answer = await ctx.elicit("Who?", Name, key="who")
    return f"Greet {answer.value.name}" if answer.value else "Greet nobody"
'''
ODD = """
import json, sys
ANSWERS = {
    "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
                   "serverInfo": {"name": "odd", "version": "1"}},
    "tools/list": {"tools": [{"name": "odd", "inputSchema": {"type": "object"}}]},
    "tools/call": {"content": [{"type": "resource_link", "uri": "odd://a\\nfake: line\\u001b[2J"}]},
    "resources/read": {"contents": [{"uri": "odd://a", "blob": "a"}]},
    "prompts/get": {"messages": [{"role": "user",
                                  "content": {"type": "text", "text": "\\u001b[2Jgone\\tand\\nover"}}]},
}
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": ANSWERS[message["method"]]}
        print(json.dumps(answer), flush=True)
"""
EXAMPLES = Path(__file__).parents[2] / "examples"
LIBRARY, TOOLS_ALONE = str(EXAMPLES / "library.py"), str(EXAMPLES / "inventory.py")


def test_resources_are_listed_and_read(cli: Cli) -> None:
    listed = cli("resources", LIBRARY)
    assert (listed.returncode, listed.stdout.splitlines()[0]) == (0, "library 1.0.0: 3 resources")
    assert "library://books/{number}" in listed.stdout
    assert cli("resources", LIBRARY, "library://books/1").stdout.startswith("# The Hound of the Moor")
    assert "68 bytes" in cli("resources", LIBRARY, "library://covers/1.png").stdout
    read = json.loads(cli("resources", LIBRARY, "library://covers/1.png", "--json").stdout)
    assert read["contents"][0]["blob"].startswith("iVBOR")


def test_what_a_stranger_gets_wrong_breaks_no_line_and_no_command(cli: Cli) -> None:
    server = ("--", sys.executable, "-c", ODD)
    read = cli("resources", "odd://a", *server)
    called = cli("call", "odd", *server)

    assert (read.returncode, read.stdout) == (0, "[bytes: not in base64; --json gives them]\n")
    assert called.stdout == "[resource_link odd://a\\u000afake: line\\u001b[2J]\n"


def test_prompts_are_listed_and_shown(cli: Cli) -> None:
    assert "tone  optional" in cli("prompts", LIBRARY).stdout
    shown = cli("prompts", LIBRARY, "review", "book=2", "tone=strict")
    assert (shown.returncode, "Write a strict review" in shown.stdout) == (0, True)
    assert json.loads(cli("prompts", LIBRARY, "--json").stdout)[0]["name"] == "review"


def test_what_is_wrong_is_one_line(cli: Cli) -> None:
    for code, words, complaint in (
        (1, ("resources", LIBRARY, "library://books/77"), "there is no book 77"),
        (2, ("resources", LIBRARY, "library://books/1", "more"), "unexpected argument"),
        (1, ("prompts", LIBRARY, "review"), "'book' is required"),
        (2, ("prompts", LIBRARY, "review", "book"), "is no argument"),
        (1, ("prompts", LIBRARY, "nobody"), "there is no prompt"),
        (2, ("prompts", TOOLS_ALONE, "review"), "holdfast: inventory offers no prompts\n  try: "),
        (2, ("resources", TOOLS_ALONE, "library://books/1"), "holdfast: inventory offers no resources\n  try: "),
    ):
        done = cli(*words)
        assert done.returncode == code, words
        assert complaint in done.stderr
        assert "Traceback" not in done.stderr


def test_a_program_is_asked_the_same(cli: Cli) -> None:
    done = cli("resources", "library://books/2", "--", sys.executable, LIBRARY)
    assert (done.returncode, done.stdout) == (0, "# A Field Guide to Mosses\n\nOn the shelf.\n")


def test_an_error_of_the_server_is_told_to_programs_as_json(cli: Cli) -> None:
    done = cli("prompts", LIBRARY, "nobody", "--json")
    assert (done.returncode, json.loads(done.stdout)["error"]["code"]) == (1, -32602)


def test_what_a_prompt_asks_is_answered_from_the_command_line(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "asking.py").write_text(ASKING)
    shown = cli("prompts", str(tmp_path / "asking.py"), "greet", "--answer", '{"name": "Ann"}')
    assert (shown.returncode, "Greet Ann" in shown.stdout) == (0, True), shown.stderr
    program = ("--", sys.executable, "-m", "holdfast", "serve", str(tmp_path / "asking.py"))
    assert "Greet Ann" in cli("prompts", "greet", "--answer", '{"name": "Ann"}', *program).stdout


@pytest.mark.parametrize("flag", [(), ("--json",)])
def test_a_terminal_is_told_no_control_characters_of_a_server_and_a_pipe_every_byte(
    cli: Cli, tmp_path: Path, environment: dict[str, str], flag: tuple[str, ...]
) -> None:
    words = ("prompts", "odd", *flag, "--", sys.executable, "-c", ODD)
    piped = cli(*words).stdout
    shown = _on_a_terminal(words, tmp_path, environment)

    if flag:
        assert json.loads(shown) == json.loads(piped)
    else:
        assert piped == "user:\n\x1b[2Jgone\tand\nover\n"
        assert shown.replace("\r\n", "\n").expandtabs() == "user:\n\\u001b[2Jgone\tand\nover\n".expandtabs()
    assert "\x1b" not in shown


def _on_a_terminal(words: tuple[str, ...], folder: Path, environment: dict[str, str]) -> str:
    reader, terminal = os.openpty()
    command = [sys.executable, "-m", "holdfast", *words]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=terminal, stderr=subprocess.DEVNULL, cwd=folder, env=environment
    ) as process:
        assert process.wait(30) == 0
        told = os.read(reader, 1 << 16)  # little enough for the buffer of a terminal
    os.close(terminal)
    os.close(reader)
    return told.decode()
