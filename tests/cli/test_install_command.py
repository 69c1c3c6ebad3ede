"""`holdfast install` as a person or a program uses it: shown, asked, written, proved, undone."""

import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """Variables that keep everything inside of the test's own directory."""
    (tmp_path / "home").mkdir()
    places = {"XDG_STATE_HOME": "s", "XDG_CACHE_HOME": "c", "XDG_CONFIG_HOME": ".config", "HOME": "."}
    inside = {name: str(tmp_path / "home" / place) for name, place in places.items()}
    return {**inside, "CODEX_HOME": "", "CLAUDE_CONFIG_DIR": ""}


@pytest.fixture
def install(cli: Run, home: dict[str, str]) -> Run:
    return lambda *words, **options: cli("install", *words, env=home, **options)


def entry(file: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text())["mcpServers"][name]
    return found


def test_a_dry_run_shows_the_change_and_writes_nothing(install: Run, shop: Path, tmp_path: Path) -> None:
    run = install("shop.py", "--client", "claude", "--dry-run")
    assert run.returncode == 0
    assert f'+        "{shop}"' in run.stdout
    assert not (tmp_path / ".mcp.json").exists()


def test_where_nobody_can_be_asked_nothing_is_written(install: Run, shop: Path, tmp_path: Path) -> None:
    run = install("shop.py", "--client", "claude")
    assert run.returncode == 2
    assert "try: --yes writes, --dry-run only shows" in run.stderr
    assert not (tmp_path / ".mcp.json").exists()


def test_what_is_written_is_started_and_its_tools_are_counted(install: Run, shop: Path, tmp_path: Path) -> None:
    run = install("shop.py", "--client", "claude", "--yes", "--json")
    told = json.loads(run.stdout)
    assert (told["action"], told["written"], told["check"]["tools"], told["check"]["server"]) == (
        "add",
        True,
        2,
        "shop",
    )
    written = entry(tmp_path / ".mcp.json", "shop")
    assert written == told["entry"]
    assert os.access(written["command"], os.X_OK)
    again = install("shop.py", "--client", "claude", "--yes")
    assert "has this entry already; nothing changes" in again.stderr
    assert install("shop.py", "--client", "claude", "--undo", "--yes").returncode == 0
    assert not (tmp_path / ".mcp.json").exists()


def test_an_entry_that_does_not_work_is_taken_back(install: Run, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("raise SystemError('no way')")
    run = install("broken.py", "--client", "cursor", "--yes", "--json")
    assert run.returncode == 1
    assert not json.loads(run.stdout)["check"]["ok"]
    assert "what was written does not work" in run.stderr
    assert "no way" in run.stderr
    assert not (tmp_path / ".cursor").exists()


def test_an_entry_that_does_not_work_can_be_kept(install: Run, tmp_path: Path) -> None:
    run = install("--client", "vscode", "--yes", "--keep", "--", "./gone/false")
    assert run.returncode == 1
    assert "to undo: holdfast install --client vscode --name false --undo" in run.stderr
    assert (tmp_path / ".vscode" / "mcp.json").exists()
    assert install("--client", "vscode", "--name", "false", "--undo", "--yes").returncode == 0
    assert not (tmp_path / ".vscode" / "mcp.json").exists()


def test_options_of_serve_are_handed_on_with_whole_paths(
    install: Run, home: dict[str, str], tmp_path: Path
) -> None:
    words = ("--client", "codex", "--yes", "--no-check", "--", "--repo", "x", "--spare", "1")
    assert install("search", *words).returncode == 0
    text = (Path(home["HOME"]) / ".codex" / "config.toml").read_text()
    assert f'"serve", "search", "--repo", "{tmp_path}/x", "--spare", "1"]' in text


def test_the_search_of_a_project_names_its_repository_and_that_of_a_user_does_not(
    install: Run, home: dict[str, str], tmp_path: Path
) -> None:
    for scope in ("project", "user"):
        install("search", "--client", "claude", "--scope", scope, "--yes", "--no-check")
    assert entry(tmp_path / ".mcp.json", "search")["args"] == ["serve", "search", f"--repo={tmp_path}"]
    assert entry(Path(home["HOME"]) / ".claude.json", "search")["args"] == ["serve", "search"]


def test_what_the_client_fills_in_is_not_tried(install: Run) -> None:
    run = install("search", "--client", "vscode", "--yes", "--", "--repo", "${workspaceFolder}")
    assert run.returncode == 0
    assert "not tried" in run.stderr


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--client", "claude"), "which server?"),
        (("search", "--client", "emacs"), "emacs"),
        (("search",), "--client"),
        (("search", "--client", "claude", "--", "--no-such"), "--no-such"),
        (("search", "--client", "claude", "--name", "a b"), "no name that every client takes"),
        (("search", "--client", "claude-desktop", "--scope", "project"), "no configuration of scope project"),
        (("nonsense", "--client", "claude"), "names no server"),
        (("gone.py", "--client", "claude"), "there is no file"),
        (("--client", "claude", "--", "--spare", "1"), "no command behind them"),
        (("search", "--client", "claude", "--env", "X"), "NAME=VALUE"),
        (("--client", "claude", "--undo"), "which server?"),
        (("search", "--client", "claude", "--file", "."), "is a directory"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_what_cannot_be_meant_is_one_line_with_a_remedy(
    install: Run, words: tuple[str, ...], complaint: str
) -> None:
    run = install(*words)
    assert run.returncode == 2
    assert complaint in run.stderr
    assert "Traceback" not in run.stderr


def test_a_broken_file_is_told_with_its_line_and_left_as_it_is(install: Run, tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").write_text('{\n"mcpServers": {,}\n}')
    run = install("search", "--client", "claude", "--yes")
    assert run.returncode == 2
    assert "is not valid JSON: line 2" in run.stderr
    assert (tmp_path / ".mcp.json").read_text() == '{\n"mcpServers": {,}\n}'


def test_a_file_that_cannot_be_edited_gives_the_block_to_paste(install: Run, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("mcp_servers = {}")
    run = install("search", "--client", "codex", "--file", "c.toml", "--yes")
    assert run.returncode == 2
    assert "[mcp_servers.search]\ncommand = " in run.stderr


def test_another_server_is_not_replaced_unless_forced(install: Run, tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {"search": {"url": "http://x"}}}')
    run = install("search", "--client", "claude", "--yes", "--no-check")
    assert run.returncode == 2
    assert "--name search-2" in run.stderr
    assert install("search", "--client", "claude", "--yes", "--no-check", "--force").returncode == 0
    assert "command" in entry(tmp_path / ".mcp.json", "search")


def test_an_edited_entry_is_removed_only_by_force(install: Run, tmp_path: Path) -> None:
    install("search", "--client", "claude", "--yes", "--no-check")
    file = tmp_path / ".mcp.json"
    document = json.loads(file.read_text())
    document["mcpServers"]["search"]["disabled"] = True
    file.write_text(json.dumps(document))
    run = install("search", "--client", "claude", "--undo", "--yes")
    assert run.returncode == 2
    assert "was edited: somebody added disabled to it" in run.stderr
    assert install("search", "--client", "claude", "--undo", "--force").returncode == 0


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("\n", 1), ("\x03", 130)])
def test_a_person_is_asked(
    answer: str, code: int, environment: dict[str, str], home: dict[str, str], tmp_path: Path
) -> None:
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "holdfast", "install", "launch", "--client", "claude", "--no-check"]
    with subprocess.Popen(
        words, stdin=theirs, stdout=theirs, stderr=theirs, cwd=tmp_path, env={**environment, **home},
        start_new_session=True, preexec_fn=take_terminal,  # noqa: PLW1509 - no other thread is started here
    ) as process:  # fmt: skip
        os.close(theirs)
        shown = b""
        while b"[y/N]" not in shown:
            shown += os.read(ours, 4096)
        os.write(ours, answer.encode())
        assert process.wait(20) == code
    os.close(ours)
    assert (tmp_path / ".mcp.json").exists() == (code == 0)


def take_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def test_a_file_that_the_client_writes_while_it_is_tried_is_not_taken_back(install: Run, tmp_path: Path) -> None:
    file = tmp_path / ".mcp.json"
    (tmp_path / "meddler.py").write_text(f"open({str(file)!r}, 'a').write(' '); raise SystemExit('bad')")
    run = install("meddler.py", "--client", "claude", "--yes")
    assert run.returncode == 1
    assert "the entry is still there" in run.stderr
    assert entry(file, "meddler")


def test_ctrl_c_while_it_is_tried_takes_the_entry_back(
    environment: dict[str, str], home: dict[str, str], tmp_path: Path
) -> None:
    words = ["install", "--client", "claude", "--yes", "--", "sh", "-c", "while read line; do :; done"]
    with subprocess.Popen(
        [sys.executable, "-m", "holdfast", *words], cwd=tmp_path, env={**environment, **home},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        records = tmp_path / "state" / "hosts"
        deadline, pause = time.monotonic() + 20, threading.Event()
        while not (records.is_dir() and any(records.glob("*.json"))) and time.monotonic() < deadline:
            pause.wait(0.02)
        assert (tmp_path / ".mcp.json").exists()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "taken back" in said
    assert not (tmp_path / ".mcp.json").exists()


def test_a_link_that_a_repository_brings_along_is_not_followed_home(install: Run, tmp_path: Path) -> None:
    theirs, project = tmp_path / "home" / "theirs.json", tmp_path / "project"
    project.mkdir()
    theirs.write_text('{"mcpServers": {}}')
    (project / ".mcp.json").symlink_to(theirs)
    for words in (("--yes",), ("--file", ".mcp.json", "--yes"), ("--undo", "--yes")):
        run = install("search", "--client", "claude", "--no-check", *words, cwd=project)
        assert (run.returncode, "leads out of the project" in run.stderr) == (2, True), run.stderr
    assert theirs.read_text() == '{"mcpServers": {}}'
    assert [path.name for path in project.iterdir()] == [".mcp.json"]
