"""The commands that write specifications: through links, atomically, or not at all."""

import os
from pathlib import Path

import pytest

from holdfast.cli.app import main

SERVER = '''
from holdfast import Server
server = Server("lamps", version="1.0.0")


@server.tool(security="Sets one lamp; no files.", examples=[{"level": 3}])
def dim(level: int) -> str:
    """Dims the lamp to a level."""
    return str(level)
'''
LOOSE = "## Tool: `a`\n\n### Purpose\n\nDoes it well.\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "lamps.py").write_text(SERVER)
    (tmp_path / "docs").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("before", ["# Ours\n", None], ids=["old", "dangling"])
def test_a_specification_behind_a_link_is_written_where_the_link_leads(folder: Path, before: str | None) -> None:
    target, link = folder / "docs" / "real.md", folder / "MCP_TOOL_SPECIFICATION.md"
    if before is not None:
        target.write_text(before)
    link.symlink_to(os.path.join("docs", "real.md"))

    assert main(["contract", "spec", "lamps.py"]) == 0
    assert link.is_symlink()
    assert "`dim`" in target.read_text()
    assert [path.name for path in target.parent.iterdir()] == ["real.md"]


def test_a_migrated_file_behind_a_link_is_written_where_the_link_leads(folder: Path) -> None:
    target, link = folder / "docs" / "real.md", folder / "old.md"
    target.write_text(LOOSE)
    link.symlink_to(target)
    main(["contract", "migrate", "old.md", "--write"])

    assert link.is_symlink()
    assert "### 8. Security Considerations" in target.read_text()


@pytest.mark.parametrize(
    ("command", "option", "place"),
    [
        ("spec", "-o", "repository"), ("spec", "-o", "folder below it"), ("spec", "-o", "elsewhere"),
        ("lock", "--lock", "repository"), ("snapshot", "-o", "repository"), ("docs", "-o", "repository"),
    ],
)  # fmt: skip
def test_a_committed_link_leads_to_no_file_outside_of_the_repository(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str], command: str, option: str, place: str,
) -> None:  # fmt: skip
    home = tmp_path_factory.mktemp("home")
    (folder / ".git").mkdir()
    link = folder / "docs" / "out"
    link.symlink_to(home, target_is_directory=True)
    name = "out/new" if command == "docs" else "out/new.json"
    at = {"repository": folder, "folder below it": folder / "docs", "elsewhere": home}[place]
    monkeypatch.chdir(at)
    named = os.path.relpath(folder / "docs" / name, at)

    assert main(["contract", command, os.path.relpath(folder / "lamps.py", at), option, named]) == 2
    assert "leads out of the project" in capsys.readouterr().err
    assert list(home.iterdir()) == []


def test_a_link_that_leads_to_itself_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    link = folder / "loop.md"
    link.symlink_to(link)

    assert main(["contract", "spec", "lamps.py", "-o", "loop.md"]) == 2
    assert "leads to itself" in capsys.readouterr().err
    assert link.is_symlink()


@pytest.mark.parametrize("words", [["spec", "lamps.py"], ["migrate", "old.md"]], ids=["spec", "migrate"])
def test_a_pipe_is_written_to_and_never_replaced(folder: Path, words: list[str]) -> None:
    (folder / "old.md").write_text(LOOSE)
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        main(["contract", *words, "-o", "pipe"])
        assert b"## Tool: `" in os.read(reader, 60_000)
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_an_ambiguous_file_is_refused_and_not_touched(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pair = "<!-- holdfast:begin dim/name -->\n<!-- holdfast:end dim/name -->\n"
    file = folder / "MCP_TOOL_SPECIFICATION.md"
    file.write_text(pair * 2)

    assert main(["contract", "spec", "lamps.py"]) == 2
    assert "MCP_TOOL_SPECIFICATION.md, line 3: the region dim/name stands twice" in capsys.readouterr().err
    assert file.read_text() == pair * 2


def test_a_note_is_told_and_fails_no_check(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = folder / "MCP_TOOL_SPECIFICATION.md"
    main(["contract", "spec", "lamps.py"])
    lines = [line for line in file.read_text().split("\n") if "holdfast:" not in line]
    file.write_text("\n".join(lines).replace("Dims the lamp to a level.", "Makes it less bright."))
    capsys.readouterr()

    assert main(["contract", "spec", "lamps.py", "--check"]) == 0
    assert "spec.text-differs" in capsys.readouterr().out
