"""`tools`, `serve`, `contract`, `new` and the command line as a whole, run for real."""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from tests.cli.conftest import SERVER, Cli

from holdfast.cli.app import cli as app

FOREIGN = (sys.executable, str(Path(__file__).with_name("foreign_server.py")))

HANDSHAKE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


def call_message(number: int, tool: str, **arguments: Any) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "id": number,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }


# --- the command line as a whole ------------------------------------------------------------------------------


def every_command(group: click.Command = app, path: str = "") -> Iterator[str]:
    """The words of every command and every group of them."""
    yield path
    if isinstance(group, click.Group):
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            yield from every_command(command, f"{path} {name}".strip())


@pytest.mark.parametrize("command", list(every_command()))
def test_every_command_has_help_with_an_example(cli: Cli, command: str) -> None:
    done = cli(*command.split(), "--help" if command else "-h")
    examples = done.stdout.partition("Example")[2].partition("Options:")[0]

    assert (done.returncode, done.stderr) == (0, "")
    assert f"holdfast {command}".rstrip() in examples


def test_a_list_of_commands_cuts_no_sentence(cli: Cli) -> None:
    helps = {path: cli(*path.split(), "--help").stdout for path in every_command()}
    listed = {path: shown.partition("Commands:")[2] for path, shown in helps.items()}

    assert [path for path, shown in listed.items() if "..." in shown] == []
    assert "then finds what they complain about." in " ".join(listed["index"].split())


def test_every_group_says_what_a_misspelled_command_was_meant_to_be(cli: Cli) -> None:
    helps = {path: cli(*path.split(), "--help").stdout for path in every_command()}
    groups = [path for path, shown in helps.items() if "Commands:" in shown]
    told = {
        path: cli(*path.split(), "zzz").stderr for path in groups if path != "events"
    }  # whose word is a server

    assert {"release", "launch", "index"} <= told.keys()
    assert [path for path, said in told.items() if "there is no command 'zzz'" not in said] == []


def test_help_calls_other_options_as_they_are_typed(cli: Cli) -> None:
    shown = cli("search", "--help").stdout

    assert not {"riskTag", "caseFile", "repoPath", "null"} & set(re.findall(r"\w+", shown))


def test_help_imports_none_of_the_heavy_libraries(environment: dict[str, str]) -> None:
    heavy = "asyncio", "pydantic", "jsonschema_rs", "orjson", "psutil", "holdfast.settings"
    script = (
        f"import sys; from holdfast.cli.app import main; main(['--help']); print(set(sys.modules) & set({heavy}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=True
    )

    assert done.stdout.splitlines()[-1] == "set()"


def test_ctrl_c_while_the_command_line_is_imported_ends_like_any_other(environment: dict[str, str]) -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    module, _, function = project["project"]["scripts"]["holdfast"].partition(":")
    script = f"""
import sys
import tomllib
class Interrupting:
    def find_spec(self, name, *_):
        if name == "holdfast.cli.app":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
from {module} import {function} as start
sys.exit(start())
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=False
    )

    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_the_version_is_data(cli: Cli) -> None:
    assert cli("--version").stdout.startswith("holdfast 0.")


def test_every_setting_with_a_flag_is_an_option_of_serve(cli: Cli) -> None:
    from holdfast.settings import SETTINGS

    text = cli("serve", "--help").stdout
    for setting in SETTINGS:
        assert (setting.flag is None) or (setting.flag in text and setting.env in text)


def test_an_unknown_command_is_one_line_a_remedy_and_exit_2(cli: Cli) -> None:
    done = cli("fly")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "holdfast: there is no command 'fly'\n  try: holdfast --help\n"


@pytest.mark.parametrize("switch", [{"env": {"HOLDFAST_DEBUG": "1"}}, {}])
def test_a_traceback_is_shown_only_when_asked_for(cli: Cli, tmp_path: Path, switch: dict[str, Any]) -> None:
    (tmp_path / "broken.py").write_text("import nothing_of_that_name\n")
    plain = cli("tools", "broken.py")
    debug = cli("tools", "broken.py", **switch) if switch else cli("tools", "broken.py", "--debug")

    assert "Traceback" not in plain.stderr
    assert "broken.py, line 1: ModuleNotFoundError" in plain.stderr
    assert "Traceback" in debug.stderr


def test_a_reader_that_leaves_early_is_no_error(shop: Path, tmp_path: Path, environment: dict[str, str]) -> None:
    pipe = f"{sys.executable} -m holdfast tools shop.py --json | head -c 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", pipe], capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=30, check=True
    )

    assert done.stdout == "[0\n"
    assert "rror" not in done.stderr


def test_a_closed_stdout_is_no_error(shop: Path, tmp_path: Path, environment: dict[str, str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "holdfast", "tools", "shop.py"]
    done = subprocess.run(
        command,
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=environment,
        timeout=30,
        check=False,
    )
    os.close(writing)

    assert done.returncode == 0
    assert "rror" not in done.stderr


# --- tools ----------------------------------------------------------------------------------------------------


def test_tools_are_listed_for_a_person(cli: Cli, shop: Path) -> None:
    done = cli("tools", "shop.py")
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]

    assert lines[0] == "shop 1.2.3: 2 tools"
    assert "lookup 2.0.0" in lines
    assert "sku string required The number of the article." in lines
    assert "limit integer default 10" in lines
    assert "effect: replay_safe" in lines
    assert "errors: NOT_FOUND" in lines


def test_tools_as_json_are_the_full_definitions(cli: Cli, shop: Path) -> None:
    first, second = cli("tools", "shop.py", "--json"), cli("tools", "--json", "shop:server")
    tools = json.loads(first.stdout)

    assert first.stdout == second.stdout
    assert [tool["name"] for tool in tools] == ["lookup", "slow"]
    assert "outputSchema" in tools[0]


def test_tools_of_a_foreign_server_are_listed_from_all_pages(cli: Cli) -> None:
    done = cli("tools", "--", *FOREIGN, "paged")

    assert done.stdout.startswith("foreign 7: 3 tools\n")
    assert "times  integer  default 1" in done.stdout
    assert "not declared (hints: read-only)" in done.stdout


def test_our_own_server_is_listed_the_same_through_a_process(cli: Cli, shop: Path) -> None:
    here = cli("tools", "--json", "shop.py")
    there = cli("tools", "--json", "--", sys.executable, "-m", "holdfast", "serve", "shop.py")

    assert here.stdout == there.stdout


# --- serve ----------------------------------------------------------------------------------------------------


def test_serve_answers_and_keeps_every_print_off_the_protocol(program: Cli, shop: Path) -> None:
    messages = [
        HANDSHAKE,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        call_message(2, "lookup", sku="A"),
    ]
    done = program("serve", "shop.py", "--standalone", input="".join(json.dumps(item) + "\n" for item in messages))
    answers = [json.loads(line) for line in done.stdout.splitlines()]

    assert done.returncode == 0, done.stderr
    assert [answer["id"] for answer in answers] == [1, 2]
    assert "printed while importing" in done.stderr


def test_serve_takes_a_setting_from_its_flag_before_the_environment(program: Cli, shop: Path) -> None:
    env = {"HOLDFAST_PROTOCOL": "negotiate"}
    done = program("serve", "shop.py", "--protocol", "pinned", input=json.dumps(HANDSHAKE) + "\n", env=env)

    assert json.loads(done.stdout)["result"]["protocolVersion"] == "2024-11-05"


@pytest.mark.parametrize(
    ("arguments", "env", "message"),
    [
        (("--queue-max", "many"), {}, "holdfast: --queue-max is 'many': expected a whole number"),
        (("--mcp-mode", "tcp"), {}, "holdfast: Invalid value for '--mcp-mode'"),
        ((), {"HOLDFAST_DRAIN": "soon"}, "holdfast: HOLDFAST_DRAIN is 'soon'"),
    ],
)
def test_a_wrong_setting_is_named(
    cli: Cli, shop: Path, arguments: tuple[str, ...], env: dict[str, str], message: str
) -> None:
    done = cli("serve", "shop.py", *arguments, env=env, input="")

    assert done.returncode == 2
    assert message in done.stderr


def test_sdk_mode_without_the_sdk_is_one_line_and_exit_2(program: Cli, shop: Path, tmp_path: Path) -> None:
    (tmp_path / "mcp.py").write_text("raise ImportError('not here')\n")
    # There is no client, so the worker has this long to say what it refuses.
    command = "serve shop.py --mcp-mode sdk --kill-grace 15"
    done = program(*command.split(), env={"PYTHONPATH": str(tmp_path)}, input="")
    complaint = [line for line in done.stderr.splitlines() if not line.startswith("printed ")]

    assert (done.returncode, done.stdout) == (2, "")
    assert complaint[0].startswith("holdfast: ")
    assert all(line.startswith("  try: ") for line in complaint[1:]), done.stderr


def test_a_file_that_runs_its_server_while_imported_is_told_so(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "eager.py").write_text(SERVER.replace('if __name__ == "__main__":', "if True:"))
    done = cli("tools", "eager.py", input="")

    assert (done.returncode, done.stdout) == (2, "")
    assert "the file ended the program while it was imported" in done.stderr
    assert 'under `if __name__ == "__main__":`' in done.stderr


@pytest.mark.parametrize("closed", ["2>&-", "0<&- 2>&-"])
def test_closed_standard_streams_are_no_error(
    shop: Path, tmp_path: Path, environment: dict[str, str], closed: str
) -> None:
    command = f"{sys.executable} -m holdfast tools shop.py {closed}"
    done = subprocess.run(
        ["bash", "-c", command], stdout=subprocess.PIPE, text=True, cwd=tmp_path, env=environment, check=True
    )

    assert done.stdout.startswith("shop 1.2.3: 2 tools\n")


def test_serve_on_a_terminal_says_what_it_waits_for(
    shop: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "holdfast", "serve", "shop.py"]
    with subprocess.Popen(
        command,
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=environment,
    ) as process:
        os.close(theirs)
        assert process.stderr is not None
        talk = process.stderr.readline()
        process.terminate()
        process.communicate(timeout=20)
    os.close(ours)

    assert talk.startswith("shop waits for an MCP client on stdin.")


# --- contract -------------------------------------------------------------------------------------------------


def test_a_snapshot_is_the_same_bytes_every_time(cli: Cli, shop: Path, tmp_path: Path) -> None:
    to_stdout = cli("contract", "snapshot", "shop.py")
    to_file = cli("contract", "snapshot", "shop:server", "-o", "shop.contract.json")

    assert (to_stdout.returncode, to_file.returncode, to_file.stdout) == (0, 0, "")
    assert (tmp_path / "shop.contract.json").read_text() == to_stdout.stdout
    assert [tool["name"] for tool in json.loads(to_stdout.stdout)["tools"]] == ["lookup", "slow"]


def test_a_snapshot_that_cannot_be_written_is_one_line(cli: Cli, shop: Path) -> None:
    done = cli("contract", "snapshot", "shop.py", "-o", "nowhere/file.json")

    assert done.returncode == 2
    assert "holdfast: nowhere/file.json cannot be written: No such file or directory" in done.stderr.splitlines()


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_json_is_json_whatever_the_encoding_of_stdout(program: Cli, shop: Path, encoding: str) -> None:
    words = "Größe 漢字 \U0001f600"
    shop.write_text(shop.read_text().replace("Return the stock of one article.", words), encoding="utf-8")

    done = program("tools", "shop.py", "--json", env={"PYTHONIOENCODING": encoding}, encoding=encoding)

    assert (done.returncode, json.loads(done.stdout)[0]["description"]) == (0, words), done.stderr


# --- new ------------------------------------------------------------------------------------------------------


def test_a_new_project_answers_and_passes_its_own_tests(
    cli: Cli, tmp_path: Path, environment: dict[str, str]
) -> None:
    written = cli("new", "stock-room")
    steps = [line.strip() for line in written.stderr.partition("next:\n")[2].splitlines()]
    typed = [step for step in steps if "pip install" not in step]  # which needs a network
    done = subprocess.run(
        ["bash", "-ec", "\n".join(typed)], cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=50, check=False,
    )  # fmt: skip

    assert (written.returncode, written.stdout) == (0, "")
    assert len(steps) == len(typed) + 1 == 6
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'sku: "A-1"' in done.stdout
    assert "4 passed" in done.stdout


def test_a_new_project_is_clean_for_linter_and_formatter(cli: Cli, tmp_path: Path) -> None:
    cli("new", "stock")
    ruff = Path(sys.executable).with_name("ruff")
    rules = "--select=E,F,I,B,UP,SIM"
    for arguments in (
        ["check", "--isolated", "--line-length=115", rules, "."],
        ["format", "--isolated", "--check", "."],
    ):
        done = subprocess.run(
            [ruff, *arguments], cwd=tmp_path / "stock", capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout


def test_a_project_is_never_written_over_another(cli: Cli) -> None:
    first, second = cli("new", "stock"), cli("new", "stock")

    assert (first.returncode, second.returncode) == (0, 2)
    assert "holdfast: stock exists already" in second.stderr


@pytest.mark.parametrize("was_there", [False, True])
def test_a_project_that_finds_no_room_leaves_nothing_and_says_what_to_do(
    tmp_path: Path, environment: dict[str, str], was_there: bool
) -> None:
    if was_there:
        (tmp_path / "stock").mkdir()
    typed = f"ulimit -f 1; exec {sys.executable} -m holdfast new stock"
    done = subprocess.run(
        ["bash", "-c", typed], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )

    assert done.stderr.splitlines() == [
        "holdfast: stock cannot be written: File too large",
        "  try: check its permissions and the space on its disk, or choose another --dir; nothing was left",
    ]
    assert list(tmp_path.rglob("*")) == ([tmp_path / "stock"] if was_there else [])


def test_a_project_whose_last_file_cannot_be_made_leaves_no_folder_either(cli: Cli, tmp_path: Path) -> None:
    name = "s" * 250  # with test_ before it, the name of its tests is too long for a file
    done = cli("new", name, "--dir", "stock", cwd=tmp_path)

    assert done.returncode == 2
    assert "holdfast: stock cannot be written: File name too long" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_cannot_be_used_is_one_line_and_a_remedy(cli: Cli) -> None:
    done = cli("launch", "list", "--launch-dir", "/proc/none")

    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "holdfast: /proc/none: No such file or directory",
        "  try: look at that path and its permissions",
    ]


def test_a_stdout_that_takes_no_more_is_one_line_and_a_remedy(shop: Path, environment: dict[str, str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "holdfast", "tools", "shop.py"], cwd=shop.parent, env=environment,
            stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip

    assert done.returncode == 2
    assert done.stderr.splitlines()[-2:] == [
        "holdfast: No space left on device",
        "  try: free some space on that disk",
    ]


def test_a_server_run_as_a_program_serves_too(shop: Path, tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "quiet.py").write_text(SERVER.replace('print("printed while importing")\n', ""))
    message = json.dumps(HANDSHAKE) + "\n"
    done = subprocess.run(
        [sys.executable, "quiet.py"], input=message, capture_output=True, text=True, cwd=tmp_path, env=environment,
        timeout=30, check=False,
    )  # fmt: skip

    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "shop"


# --- events ---------------------------------------------------------------------------------------------------


def test_events_are_shown_the_newest_last(cli: Cli, shop: Path) -> None:
    cli("call", "shop.py", "lookup", "sku=A-1")
    cli("call", "shop.py", "lookup", "sku=none")
    shown = cli("events", "show", "shop", "-n", "1")

    assert "tool_call" in shown.stdout
    assert "code=NOT_FOUND" in shown.stdout
    assert len(cli("events", "show").stdout.splitlines()) == 2


def test_the_path_of_an_event_log_is_data(cli: Cli, shop: Path, tmp_path: Path) -> None:
    assert cli("events", "path", "shop").stdout == f"{tmp_path}/state/shop/events.jsonl\n"
    assert cli("events", "path").stdout == f"{tmp_path}/state\n"


def test_an_unknown_server_has_no_events(cli: Cli) -> None:
    done = cli("events", "show", "nobody")

    assert done.returncode == 2
    assert "there is no event log of 'nobody'" in done.stderr
