"""`contract snapshot` and `contract diff` as a person types them: files, git, servers of ours and of strangers."""

import io
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.cli.conftest import SERVER, Cli

from holdfast.cli.contract_text import paint_for
from holdfast.contract.inclusion.bump import Bump

FOREIGN = (sys.executable, str(Path(__file__).with_name("foreign_server.py")))
TOOL = {"name": "echo", "description": "Say it back.", "inputSchema": {"type": "object", "properties": {
    "text": {"type": "string"}, "times": {"type": "integer", "maximum": 9}}, "required": ["text"]}}  # fmt: skip


def tools(path: Path, **changes: Any) -> str:
    path.write_text(json.dumps({"tools": [{**TOOL, **changes}]}))
    return path.name


def schema(**times: Any) -> dict[str, Any]:
    properties = {"text": {"type": "string"}, "times": {"type": "integer", **times}}
    return {"type": "object", "properties": properties, "required": ["text"]}


# --- what a person reads ----------------------------------------------------------------------------------------


def test_a_diff_is_read_at_a_glance(cli: Cli, tmp_path: Path) -> None:
    old, new = tools(tmp_path / "old.json"), tools(tmp_path / "new.json", inputSchema=schema(maximum=3))
    done = cli("contract", "diff", old, new)
    lines = done.stdout.splitlines()

    assert (done.returncode, done.stderr) == (1, "")
    assert lines[0] == "surface: breaking, major (1 change)"
    assert lines[2] == "echo  major"
    assert lines[3].startswith("  major   /arguments/times")
    assert lines[4] == "          number.maximum_tightened (input, narrows)"
    assert lines[5].startswith('          was valid, is refused now: {"name":"echo","arguments":{')
    assert "\x1b" not in done.stdout


def test_the_json_of_a_diff_has_the_agreed_form(cli: Cli, tmp_path: Path) -> None:
    old, new = tools(tmp_path / "old.json"), tools(tmp_path / "new.json", inputSchema=schema(maximum=3))
    told = json.loads(cli("contract", "diff", "--json", old, new).stdout)

    assert (told["breaking"], told["bump"]) == (True, "major")
    assert told["tools"]["echo"]["bump"] == "major"
    (change,) = told["tools"]["echo"]["changes"]
    assert set(change) == {"rule", "path", "direction", "effect", "bump", "message", "witness"}
    assert (change["direction"], change["effect"], change["bump"]) == ("input", "narrows", "major")
    assert change["witness"]["name"] == "echo"
    assert change["witness"]["arguments"]["times"] > 3


@pytest.mark.parametrize(
    ("changes", "code", "first"),
    [
        ({}, 0, "surface: no change"),
        ({"inputSchema": schema(maximum=99)}, 0, "surface: compatible, minor (1 change)"),
        ({"description": "Say it again."}, 0, "surface: compatible, patch (1 change)"),
        ({"name": "shout"}, 1, "surface: breaking, major (1 change)"),
        ({"outputSchema": {"type": "object"}}, 0, "surface: compatible, minor (1 change)"),
    ],
)
def test_the_exit_code_says_whether_it_breaks(
    cli: Cli, tmp_path: Path, changes: dict[str, Any], code: int, first: str
) -> None:
    done = cli("contract", "diff", tools(tmp_path / "old.json"), tools(tmp_path / "new.json", **changes))

    assert (done.returncode, done.stdout.splitlines()[0]) == (code, first)


def test_the_worst_tool_stands_first(cli: Cli, tmp_path: Path) -> None:
    for name, words, limit in (("old.json", "a", 9), ("new.json", "b", 3)):
        many = [{**TOOL, "name": "aaa", "description": words}, {**TOOL, "inputSchema": schema(maximum=limit)}]
        (tmp_path / name).write_text(json.dumps({"tools": many}))
    lines = cli("contract", "diff", "old.json", "new.json").stdout.splitlines()

    assert lines.index("echo  major") < lines.index("aaa  patch")


def test_strict_counts_risks_as_breaks(cli: Cli, tmp_path: Path) -> None:
    hints = {"annotations": {"readOnlyHint": True}}
    old = tools(tmp_path / "old.json", inputSchema=schema(description="How many."), **hints)
    new = tools(tmp_path / "new.json", inputSchema=schema(description="The least."), **hints)

    assert cli("contract", "diff", old, new).returncode == 0
    assert cli("contract", "diff", "--strict", old, new).returncode == 1


def test_hostile_words_of_a_server_stay_on_their_line(cli: Cli, tmp_path: Path) -> None:
    old = tools(tmp_path / "old.json")
    new = tools(tmp_path / "new.json", description="\x1b[2Jgone\r\nholdfast: all is well", title="\u202ex")
    done = cli("contract", "diff", old, new)

    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert "\nholdfast:" not in done.stdout


# --- where surfaces come from -----------------------------------------------------------------------------------


def test_a_server_of_ours_is_the_same_from_its_code_and_on_the_wire(cli: Cli, shop: Path) -> None:
    serve = (sys.executable, "-m", "holdfast", "serve", "--standalone", "shop.py")
    done = cli("contract", "diff", "shop.py", "--", *serve)

    assert (done.returncode, done.stdout) == (0, "shop 1.0.0: no change\n")


def test_a_change_of_a_file_is_told_against_its_snapshot(cli: Cli, shop: Path, tmp_path: Path) -> None:
    cli("contract", "snapshot", "shop.py", "-o", "old.json")
    shop.write_text(SERVER.replace("limit: int = 10", "limit: int"))
    done = cli("contract", "diff", "old.json", "shop.py")

    assert done.returncode == 1
    assert "object.property_became_required (input, narrows)" in done.stdout
    assert "version is 2.0.0, must be at least 3.0.0" in done.stdout


def test_two_files_of_the_same_name_are_two_servers(cli: Cli, tmp_path: Path) -> None:
    for place, text in (("old", SERVER), ("new", SERVER.replace("limit: int = 10", "limit: int"))):
        (tmp_path / place).mkdir()
        (tmp_path / place / "shop.py").write_text(text)
    done = cli("contract", "diff", "old/shop.py", "new/shop.py")

    assert done.returncode == 1
    assert "object.property_became_required" in done.stdout


@pytest.mark.parametrize("temper", ["good", "noisy", "modern", "asks"])
def test_servers_of_strangers_are_written_down_and_compared(cli: Cli, tmp_path: Path, temper: str) -> None:
    done = cli("contract", "snapshot", "-o", "foreign.json", "--", *FOREIGN, temper)
    again = cli("contract", "diff", "foreign.json", "--", *FOREIGN, temper)
    document = json.loads((tmp_path / "foreign.json").read_text())

    assert (done.returncode, again.returncode) == (0, 0)
    assert again.stdout.endswith(": no change\n")
    assert [tool["name"] for tool in document["tools"]] == ["echo"]
    assert document["protocolVersions"] == ["2026-07-28" if temper == "modern" else "2025-06-18"]


def test_every_page_of_a_list_is_read(cli: Cli) -> None:
    done = cli("contract", "snapshot", "--", *FOREIGN, "paged")

    assert [tool["name"] for tool in json.loads(done.stdout)["tools"]] == ["echo0", "echo1", "echo2"]


def test_what_another_command_prints_is_a_surface_too(cli: Cli, tmp_path: Path) -> None:
    listed = cli("tools", "--json", "--", *FOREIGN, "good").stdout
    (tmp_path / "tools.json").write_text(listed)

    assert cli("contract", "diff", "tools.json", "--", *FOREIGN, "good").returncode == 0
    assert cli("contract", "diff", "tools.json", "-", input=listed).returncode == 0


# --- git --------------------------------------------------------------------------------------------------------


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)

    def git(*words: str) -> None:
        who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *who, *words], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    (tmp_path / "sub").mkdir()
    tools(tmp_path / "sub" / "tools.json")
    git("add", "-A")
    git("commit", "-q", "-m", "first")
    tools(tmp_path / "sub" / "tools.json", inputSchema=schema(maximum=3))
    return tmp_path


def test_an_older_revision_is_compared_with_the_file_of_today(cli: Cli, repository: Path) -> None:
    done = cli("contract", "diff", "git:main:sub/tools.json", "sub/tools.json")
    inside = cli("contract", "diff", "git:HEAD:./tools.json", "tools.json", cwd=repository / "sub")

    assert (done.returncode, inside.returncode) == (1, 1)
    assert "number.maximum_tightened" in done.stdout


@pytest.mark.parametrize(
    ("word", "code", "message"),
    [
        ("git:main:none.json", 3, "holdfast: git:main:none.json: path 'none.json' does not exist in 'main'"),
        ("git:nowhere:sub/tools.json", 3, "holdfast: git:nowhere:sub/tools.json: invalid object name 'nowhere'"),
        ("git:main", 2, "holdfast: 'git:main' is not git:REV:PATH"),
        ("git:--output=x:sub/tools.json", 2, "holdfast: 'git:--output=x:sub/tools.json' is not git:REV:PATH"),
        ("git:main:shop.py", 2, "holdfast: shop.py in main is code"),
    ],
)
def test_a_slip_with_git_is_one_line_and_a_remedy(
    cli: Cli, repository: Path, word: str, code: int, message: str
) -> None:
    done = cli("contract", "diff", word, "sub/tools.json")

    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith(message)
    assert done.stderr.count("\n") == 2
    assert not (repository / "x").exists()


def test_no_program_that_a_repository_names_runs_when_it_is_compared(cli: Cli, repository: Path) -> None:
    # The blob is missing, and the remote that would have it names a program; so do drivers and hooks.
    mark = repository / "mark"
    program = repository / "program"
    program.write_text(f"#!/bin/sh\necho ran >> {mark}\nexit 1\n")
    program.chmod(0o755)
    blob = subprocess.run(
        ["git", "rev-parse", "HEAD:sub/tools.json"], cwd=repository, check=True, capture_output=True, text=True
    ).stdout.strip()
    (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    (repository / ".gitattributes").write_text("*.json diff=evil filter=evil\n")
    programs = (
        "remote.origin.uploadpack", "core.fsmonitor", "core.pager", "core.sshCommand", "diff.evil.textconv",
        "diff.external", "filter.evil.smudge",
    )  # fmt: skip
    settings = {"core.repositoryFormatVersion": "1", "extensions.partialClone": "origin"}
    settings |= {"remote.origin.url": str(repository), "remote.origin.promisor": "true"}
    for key, value in (settings | dict.fromkeys(programs, str(program))).items():
        subprocess.run(["git", "config", key, value], cwd=repository, check=True)
    done = cli("contract", "diff", "git:main:sub/tools.json", "sub/tools.json")

    assert (done.returncode, mark.exists()) == (3, False)
    assert done.stderr.startswith("holdfast: git:main:sub/tools.json: ")


def test_a_pipe_of_the_shell_is_read_like_a_file(cli: Cli, tmp_path: Path) -> None:
    new = tools(tmp_path / "new.json", inputSchema=schema(maximum=3))
    pipe = tmp_path / "63"
    os.mkfifo(pipe)
    writing = threading.Thread(target=pipe.write_text, args=(json.dumps({"tools": [TOOL]}),), daemon=True)
    writing.start()
    done = cli("contract", "diff", str(pipe), new)

    assert (done.returncode, done.stderr) == (1, "")
    writing.join(10)


# --- what cannot be read ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("diff old.json", 2, "holdfast contract diff takes two surfaces, the old one and the new one, not 1"),
        ("diff a b c", 2, "holdfast contract diff takes two surfaces, the old one and the new one, not 3"),
        ("diff old.json --", 2, "there is no command behind `--`"),
        ("diff old.json none.json", 3, "none.json cannot be read: No such file or directory"),
        ("diff old.json none.py", 3, "there is no file none.py"),
        ("diff none nothing", 3, "there is no file none, and 'none' does not say where the server is"),
        ("diff old.json nowhere:server", 3, "there is no module nowhere"),
        ("diff old.json binary.json", 3, "binary.json is a binary file, not JSON"),
        ("diff old.json half.json", 3, "half.json is not JSON"),
        ("diff old.json empty.json", 3, "empty.json is empty"),
        ("diff old.json twice.json", 3, "twice.json is not JSON"),
        ("diff old.json other.json", 3, "other.json describes no tools"),
        ("diff old.json -- /nonexist/program", 3, "there is no program '/nonexist/program'"),
        ("diff old.json -- cat", 3, "the command echoes what it is sent"),
        ("snapshot", 2, "holdfast contract snapshot takes one server, not 0"),
        ("snapshot shop.py -- cat", 2, "holdfast contract snapshot takes one server, not 2"),
        ("flot", 2, "there is no command 'flot'"),
    ],
)
def test_what_cannot_be_read_is_one_line_with_its_exit_code(
    cli: Cli, tmp_path: Path, words: str, code: int, message: str
) -> None:
    tools(tmp_path / "old.json")
    files = {
        "binary": b"\x00\x01",
        "half": b'{"tools": [',
        "empty": b"",
        "twice": b'{"a": 1, "a": 2}',
        "other": b"{}",
    }
    for name, data in files.items():
        (tmp_path / f"{name}.json").write_bytes(data)
    done = cli("contract", *words.split())

    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith(f"holdfast: {message}")
    assert done.stderr.count("\n") <= 2


@pytest.mark.parametrize("temper", ["dies", "endless", "refuses", "odd", "legacy"])
def test_a_server_that_cannot_be_spoken_to_ends_with_3(cli: Cli, temper: str) -> None:
    done = cli("contract", "snapshot", "--", *FOREIGN, temper)

    assert (done.returncode, done.stdout) == (3, "")
    assert [line for line in done.stderr.splitlines() if line.startswith("holdfast: ")]


def test_a_silent_server_is_waited_for_only_so_long(cli: Cli) -> None:
    done = cli("contract", "snapshot", "--timeout", "0.3", "--", *FOREIGN, "silent")

    assert done.returncode == 3
    assert "did not answer" in done.stderr


# --- a person at a terminal -------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    """A stream that is one."""

    def isatty(self) -> bool:
        return True


def test_colours_are_for_terminals_whose_owner_did_not_say_no(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")

    assert paint_for(Terminal())("x", Bump.MAJOR) == "\x1b[31mx\x1b[0m"
    assert paint_for(io.StringIO())("x", Bump.MAJOR) == "x"
    monkeypatch.setenv("NO_COLOR", "1")
    assert paint_for(Terminal())("x", Bump.MAJOR) == "x"


def test_an_interrupt_ends_the_command_and_the_server_it_started(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    command = [sys.executable, "-m", "holdfast", "contract", "snapshot", "--", *FOREIGN, "silent"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=environment
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("got ")
        (server,) = psutil.Process(process.pid).children()
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=20)

    assert (process.returncode, output) == (130, "")
    assert not server.is_running()
