"""The command line that a client is told, wherever the client starts it."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import UsageError
from holdfast.setup.client_places import CLIENTS
from holdfast.setup.our_command import (
    Served,
    absolute_options,
    absolute_target,
    check_words,
    own_program,
    run_words,
    served_by,
)


def test_the_program_is_the_one_that_runs_now(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = tmp_path / "holdfast"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(script)])
    assert own_program() == [str(script)]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["./holdfast"])
    assert own_program() == [str(script)]


def test_without_a_script_python_runs_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "argv", ["/gone/holdfast"])
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert own_program() == [str(tmp_path / "python"), "-P", "-m", "holdfast"]


def test_a_file_is_named_from_the_root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text("")
    monkeypatch.chdir(tmp_path)
    assert absolute_target("shop.py") == f"{tmp_path}/shop.py"
    assert absolute_target("./shop.py:server") == f"{tmp_path}/shop.py:server"
    assert [absolute_target(name) for name in ("search", "launch", "shop:server")] == [
        "search",
        "launch",
        "shop:server",
    ]


@pytest.mark.parametrize("target", ["gone.py", "a/b", "", "nonsense", "gone.py:server"])
def test_a_target_that_is_nowhere_is_refused(target: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError):
        absolute_target(target)


def test_paths_of_options_become_whole_and_nothing_else_does(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["--repo", "a", "--repo=b", "--spare", "1", "--repo=${workspaceFolder}", "c", "--repo"]
    whole = absolute_options(words, frozenset({"--repo"}))
    here = str(tmp_path)
    assert whole == [
        "--repo",
        f"{here}/a",
        f"--repo={here}/b",
        "--spare",
        "1",
        "--repo=${workspaceFolder}",
        "c",
        "--repo",
    ]


def test_a_foreign_command_may_have_options_of_run_in_front() -> None:
    assert run_words(["npx", "-y", "x"]) == ["--", "npx", "-y", "x"]
    assert run_words(["--spare", "1", "--", "npx"]) == ["--spare", "1", "--", "npx"]
    assert run_words(["./server"]) == ["--", os.path.abspath("server")]
    for words in (["--spare", "1"], ["--spare=1", "--"]):
        with pytest.raises(UsageError):
            run_words(words)


@pytest.mark.parametrize(
    ("entry", "served"),
    [
        ({"command": "/x/holdfast", "args": ["serve", "search", "--repo=a"]}, Served("serve", ("search",))),
        ({"command": "C:\\x\\holdfast.exe", "args": ["run", "--", "npx", "a"]}, Served("run", ("npx", "a"))),
        ({"command": "/v/python3.12", "args": ["-m", "holdfast", "serve", "x:y"]}, Served("serve", ("x:y",))),
        ({"command": "python3", "args": ["-P", "-m", "holdfast", "serve", "x:y"]}, Served("serve", ("x:y",))),
        ({"command": "python3", "args": ["shop.py", "-m", "holdfast", "serve", "x:y"]}, None),
        ({"command": "/x/holdfast", "args": ["tools", "search"]}, None),
        ({"command": "/x/holdfast-fake", "args": ["serve", "search"]}, None),
        ({"command": "python", "args": ["-m", "other", "serve", "x"]}, None),
        ({"command": ["holdfast"], "args": "serve"}, None),
        ({"url": "http://holdfast"}, None),
        (None, None),
    ],
)
def test_an_entry_of_ours_is_known_by_its_command(entry: Any, served: Served | None) -> None:
    assert served_by(entry) == served


@pytest.mark.parametrize("word", ["a\0b", "\udcff"])
def test_words_that_no_text_can_hold_are_refused(word: str) -> None:
    with pytest.raises(UsageError):
        check_words(["ok", word])


def test_every_client_has_its_file_where_its_makers_say(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    places = {key: str(client.file("user").relative_to(tmp_path)) for key, client in CLIENTS.items()}
    assert places == {
        "claude": ".claude.json",
        "claude-desktop": ".config/Claude/claude_desktop_config.json",
        "cursor": ".cursor/mcp.json",
        "codex": ".codex/config.toml",
        "vscode": ".config/Code/User/mcp.json",
    }
    monkeypatch.setattr(sys, "platform", "darwin")
    desktop = CLIENTS["claude-desktop"]
    assert desktop.file("user") == tmp_path / "Library/Application Support/Claude/claude_desktop_config.json"
    with pytest.raises(UsageError, match="no configuration of scope project"):
        desktop.file("project")


def test_variables_of_the_clients_move_their_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "c"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "x"))
    assert CLIENTS["claude"].file("user") == tmp_path / "c" / ".claude.json"
    assert CLIENTS["codex"].file("user") == tmp_path / "x" / "config.toml"
