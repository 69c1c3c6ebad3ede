"""What is changed in a client's file, and what becomes of it when the world does not play along."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import UsageError
from holdfast.setup.change_view import describe_change
from holdfast.setup.client_config import Change, carry_out, check_name, plan_install, plan_undo
from holdfast.setup.client_places import CLIENTS
from holdfast.setup.config_file import MAX_BYTES, read_config, replace_config, take_back
from holdfast.setup.our_command import Served

CLAUDE, CODEX, VSCODE = CLIENTS["claude"], CLIENTS["codex"], CLIENTS["vscode"]
LINE = ["/opt/bin/holdfast", "serve", "search"]
SEARCH = Served("serve", ("search",))


def install(path: Path, *, name: str = "search", force: bool = False, line: list[str] = LINE) -> Change:
    change = plan_install(CLAUDE, path, name, CLAUDE.entry(line, {}), force=force)
    carry_out(change)
    return change


@pytest.fixture(autouse=True)
def state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The state directory, where copies are kept."""
    place = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("HOLDFAST_STATE_DIR", str(place))
    return place


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / ".mcp.json"


ORIGINALS = [
    b"",
    b"{}",
    b'{"mcpServers":{}}\n',
    b'\xef\xbb\xbf{\r\n "a": 1\r\n}',
    b'{"mcpServers": {"b": {"url": 1}}}',
]


@pytest.mark.parametrize("original", ORIGINALS)
def test_undoing_gives_back_the_very_same_bytes_and_leaves_nothing_beside_them(
    file: Path, original: bytes
) -> None:
    file.write_bytes(original)
    install(file)
    assert json.loads(file.read_bytes().decode("utf-8-sig"))["mcpServers"]["search"]["command"] == LINE[0]
    carry_out(plan_undo(CLAUDE, file, "search", SEARCH))
    assert file.read_bytes() == original
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_file_that_only_we_made_is_gone_after_undoing(tmp_path: Path) -> None:
    path = tmp_path / ".cursor" / "mcp.json"
    install(path)
    carry_out(plan_undo(CLAUDE, path, "search", SEARCH))
    assert not path.exists()


def test_two_entries_are_undone_one_by_one_down_to_what_was_there(file: Path) -> None:
    file.write_text('{"x": 1}')
    install(file)
    install(file, name="other")
    carry_out(plan_undo(CLAUDE, file, "search", None))
    assert list(json.loads(file.read_text())["mcpServers"]) == ["other"]
    carry_out(plan_undo(CLAUDE, file, "other", None))
    assert json.loads(file.read_text())["x"] == 1


def test_what_changed_after_us_is_kept_when_our_entry_goes(file: Path) -> None:
    file.write_text("{}")
    install(file)
    document = json.loads(file.read_text())
    document["mcpServers"]["new"] = {"command": "x"}
    file.write_text(json.dumps(document))
    carry_out(plan_undo(CLAUDE, file, "search", SEARCH))
    assert json.loads(file.read_text()) == {"mcpServers": {"new": {"command": "x"}}}


def test_the_copy_of_what_was_there_is_made_once(file: Path) -> None:
    file.write_text('{"first": 1}')
    file.chmod(0o644)
    install(file)
    install(file, name="two")
    backup = read_config(file).backup
    assert backup.read_text() == '{"first": 1}'
    assert [path.stat().st_mode & 0o777 for path in (file, backup, backup.parent)] == [0o644, 0o600, 0o700]
    assert [path.name for path in file.parent.iterdir()] == [file.name]  # a repository gets no copy of anything


@pytest.mark.parametrize("target", ["../home/.claude.json", "../home/new.json", ".git/config", "."])
def test_a_file_of_a_project_that_leads_out_of_it_is_refused_and_nothing_is_written(
    tmp_path: Path, state: Path, target: str
) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    for place in (project / ".git", home):
        place.mkdir(parents=True)
    (home / ".claude.json").write_text('{"secret": 1}')
    link = project / ".mcp.json"
    link.symlink_to(target)
    if target == ".":  # the directory of a client may be a link as well
        link = project / ".cursor" / "mcp.json"
        (project / ".cursor").symlink_to(home)
    entry = CLAUDE.entry(LINE, {})
    with pytest.raises(UsageError, match="leads out of the project"):
        plan_install(CLAUDE, link, "search", entry, project=project)
    with pytest.raises(UsageError, match="leads out of the project"):
        plan_undo(CLAUDE, link, "search", SEARCH, project=project)
    assert ([path.name for path in home.iterdir()], list(state.iterdir())) == ([".claude.json"], [])


def test_a_link_that_stays_in_the_project_is_followed(tmp_path: Path) -> None:
    (tmp_path / "shared.json").write_text("{}")
    (tmp_path / ".mcp.json").symlink_to("shared.json")
    entry = CLAUDE.entry(LINE, {})
    carry_out(plan_install(CLAUDE, tmp_path / ".mcp.json", "search", entry, project=tmp_path))
    assert "search" in (tmp_path / "shared.json").read_text()


def test_the_same_entry_again_changes_nothing(file: Path) -> None:
    install(file)
    change = plan_install(CLAUDE, file, "search", CLAUDE.entry(LINE, {}))
    assert (change.action, describe_change(change)) == ("none", [])


def test_another_server_of_that_name_stays_unless_it_is_forced_out(file: Path) -> None:
    file.write_text('{"mcpServers": {"search": {"command": "npx"}}}')
    with pytest.raises(UsageError, match="another server of the name search: npx"):
        install(file)
    assert install(file, force=True).action == "update"


def test_our_own_entry_with_a_new_program_is_brought_up_to_date(file: Path) -> None:
    install(file)
    install(file, line=["/new/bin/holdfast", "serve", "search", "--spare=1"])
    assert json.loads(file.read_text())["mcpServers"]["search"]["command"] == "/new/bin/holdfast"


def test_variables_that_somebody_added_survive_an_update(file: Path) -> None:
    install(file)
    entry = CLAUDE.entry(LINE, {"A": "theirs", "B": "theirs"})
    carry_out(plan_install(CLAUDE, file, "search", entry))
    carry_out(plan_install(CLAUDE, file, "search", CLAUDE.entry(LINE, {"A": "new"})))
    assert json.loads(file.read_text())["mcpServers"]["search"]["env"] == {"A": "new", "B": "theirs"}


def test_a_directory_in_place_of_the_copy_is_in_nobodys_way(file: Path) -> None:
    file.write_text("{}")
    read_config(file).backup.mkdir(parents=True, mode=0o700)
    read_config(file).backup.parent.chmod(0o700)
    install(file)
    carry_out(plan_undo(CLAUDE, file, "search", SEARCH))
    assert json.loads(file.read_text()) == {"mcpServers": {}}


@pytest.mark.parametrize("entry", [{"command": "npx"}, {"url": "http://x"}, "text", {"command": 1, "args": [2]}])
def test_undo_refuses_what_is_not_ours(file: Path, entry: Any) -> None:
    file.write_text(json.dumps({"mcpServers": {"search": entry}}))
    with pytest.raises(UsageError, match="was not written by"):
        plan_undo(CLAUDE, file, "search", SEARCH)


def test_undo_tells_when_our_entry_was_edited(file: Path) -> None:
    entry = {**CLAUDE.entry(LINE, {}), "disabled": True}
    file.write_text(json.dumps({"mcpServers": {"search": entry}}))
    assert plan_undo(CLAUDE, file, "search", SEARCH).edited == "somebody added disabled to it"
    assert "it serves search, not launch" in plan_undo(CLAUDE, file, "search", Served("serve", ("launch",))).edited
    assert plan_undo(CLAUDE, file, "nothing", None).action == "none"


def test_a_link_stays_a_link_and_what_it_leads_to_is_edited(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    real = tmp_path / "dotfiles" / "claude.json"
    real.write_text('{"a": 1}')
    link = tmp_path / ".claude.json"
    link.symlink_to("dotfiles/claude.json")
    install(link)
    assert link.is_symlink()
    assert "search" in real.read_text()


def test_a_file_that_changed_meanwhile_is_not_overwritten(file: Path) -> None:
    file.write_text("{}")
    change = plan_install(CLAUDE, file, "search", CLAUDE.entry(LINE, {}))
    file.write_text('{"theirs": 1}')
    with pytest.raises(UsageError, match="changed by somebody else"):
        carry_out(change)
    assert file.read_text() == '{"theirs": 1}'
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_file_that_appeared_meanwhile_is_not_overwritten(file: Path) -> None:
    change = plan_install(CLAUDE, file, "search", CLAUDE.entry(LINE, {}))
    file.write_text("theirs")
    with pytest.raises(UsageError, match="changed by somebody else"):
        carry_out(change)
    assert file.read_text() == "theirs"


def test_taking_a_change_back_removes_the_directories_that_it_made(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "mcp.json"
    take_back(replace_config(read_config(path), b"{}"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"\xff\xfe{\0}\0", "not text"), (b'{"a": "\0"}', "NUL")],
)
def test_a_file_that_is_no_text_is_refused(file: Path, content: bytes, reason: str) -> None:
    file.write_bytes(content)
    with pytest.raises(UsageError, match=reason):
        install(file)
    assert file.read_bytes() == content


def test_a_huge_file_is_refused(file: Path) -> None:
    file.touch()
    os.truncate(file, MAX_BYTES + 1)
    with pytest.raises(UsageError, match="larger than"):
        install(file)


def test_what_is_in_the_way_is_told_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "directory").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "plain").write_text("x")
    for name, reason in {"directory": "is a directory", "pipe": "regular", "loop": "leads to itself"}.items():
        with pytest.raises(UsageError, match=reason):
            install(tmp_path / name)
    with pytest.raises(UsageError, match="cannot be written: Not a directory"):
        install(tmp_path / "plain" / "mcp.json")
    with pytest.raises(UsageError, match="cannot be written"):
        install(Path("/sys/holdfast/mcp.json"))


FULL_DISK = """
import resource, sys
from pathlib import Path
from holdfast.errors import UsageError
from holdfast.setup.config_file import read_config, replace_config
file = read_config(Path(sys.argv[1]))
sys.dont_write_bytecode = True
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    replace_config(file, b"x" * 5000)
except UsageError as error:
    print(error.message)
"""


def test_a_disk_that_fills_up_leaves_the_old_file_and_nothing_else(file: Path) -> None:
    file.write_text('{"old": 1}')
    run = subprocess.run([sys.executable, "-c", FULL_DISK, str(file)], capture_output=True, text=True, check=True)
    assert "cannot be written: File too large; nothing was changed" in run.stdout
    assert file.read_text() == '{"old": 1}'
    assert [path.name for path in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize("original", ["", "# mine\nmodel = 'x'", "[mcp_servers.b]\ncommand='y'\n\n\n"])
def test_a_codex_file_is_given_back_as_it_was(tmp_path: Path, original: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(original)
    carry_out(plan_install(CODEX, path, "search", CODEX.entry(LINE, {"A": "1"})))
    carry_out(plan_undo(CODEX, path, "search", SEARCH))
    assert path.read_text() == original


def test_vs_code_gets_its_own_words_and_keeps_its_comments(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text('{\n  // ours\n  "inputs": []\n}\n')
    carry_out(plan_install(VSCODE, path, "search", VSCODE.entry(LINE, {})))
    assert '// ours\n  "inputs": [],\n  "servers": {\n    "search": {\n      "type": "stdio"' in path.read_text()


def test_the_change_is_shown_as_a_diff_that_can_be_read(file: Path) -> None:
    file.write_text('{\n  "mcpServers": {\n    "a\\u001b": {}\n  }\n}')
    change = plan_install(CLAUDE, file, "search", CLAUDE.entry(LINE, {}))
    shown = describe_change(change)
    assert shown[:5] == [f"--- {file}", f"+++ {file}", "@@ -1,5 +1,12 @@", " {", '   "mcpServers": {']
    assert '-    "a\\u001b": {}' in shown
    assert shown[-1] == "\\ No newline at end of file"


@pytest.mark.parametrize("name", ["", "a b", "a.b", "ü", "x" * 65, "a/b"])
def test_a_name_that_a_client_would_refuse_is_refused_here(name: str) -> None:
    with pytest.raises(UsageError, match="no name"):
        check_name(name)
