"""`holdfast skill` as a person types it."""

import json
from pathlib import Path

import pytest

from holdfast.cli.app import main
from holdfast.setup.skill import NAME, skill_source

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.requirement("S3-skill-linked")
def test_it_is_linked_for_both_clients_and_taken_out_again(home: Path, capsys: Captured) -> None:
    (home / ".claude").mkdir()
    (home / ".codex").mkdir()
    places = [home / client / "skills" / NAME for client in (".claude", ".codex")]

    assert main(["skill", "install"]) == 0
    assert capsys.readouterr().out.splitlines() == [f"created: {place}" for place in places]
    assert {place.resolve() for place in places} == {skill_source()}
    assert main(["skill", "install", "--undo"]) == 0
    assert capsys.readouterr().out.splitlines() == [f"removed: {place}" for place in places]
    assert not any(place.is_symlink() for place in places)


def test_programs_read_what_was_done(home: Path, capsys: Captured) -> None:
    assert main(["skill", "install", "--dir", "~/mine", "--copy", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == {
        "skill": NAME,
        "source": str(skill_source()),
        "places": [{"path": str(home / "mine" / NAME), "change": "created", "how": "copy"}],
    }


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "there is neither ~/.claude nor ~/.codex\n  try: holdfast skill install --dir DIR"),
        (["--dir", ""], "--dir names no directory"),
        (["--dir", " "], "--dir names no directory"),
        (["--dir", "~nobody-of-that-name/x"], "try: write the path out"),
        (["--dir", "file"], "file is not a directory\n  try: name another one with --dir"),
        (["--dir", "../a\x00b"], "null byte"),
        (["--undo", "--copy"], "try: leave out --copy"),
        (["more"], "unexpected extra argument"),
    ],
)
def test_what_cannot_work_is_told_in_two_lines(home: Path, capsys: Captured, words: list[str], told: str) -> None:
    (home / "file").write_text("mine")
    assert main(["skill", "install", *words]) == 2
    printed = capsys.readouterr()
    assert told in printed.err
    assert printed.err.count("\n") <= 2
    assert printed.out == ""


def test_it_is_found_and_shown(home: Path, capsys: Captured) -> None:
    assert main(["skill", "path"]) == 0
    assert capsys.readouterr().out == f"{skill_source()}\n"
    assert main(["skill", "show"]) == 0
    assert capsys.readouterr().out == (skill_source() / "SKILL.md").read_text()
    assert main(["skill", "show", "checklist"]) == 0
    assert capsys.readouterr().out.startswith("# Review questions\n")


@pytest.mark.parametrize("page", ["../../../etc/passwd", "", "SKILL.md"])
def test_only_its_own_pages_are_shown(home: Path, capsys: Captured, page: str) -> None:
    assert main(["skill", "show", page]) == 2
    assert "is not one of" in capsys.readouterr().err


def test_a_directory_of_a_repository_that_leads_out_of_it_is_refused(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / ".claude").mkdir()
    (home / "repo").mkdir()
    (home / "repo" / ".claude").symlink_to(home / ".claude")
    monkeypatch.chdir(home / "repo")
    for words in ((), ("--undo",)):
        assert main(["skill", "install", "--dir", ".claude/skills", *words]) == 2
    assert list((home / ".claude").iterdir()) == []
