"""What is refused before anything is started, and the marker by which a tree is found again."""

from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import ProcessError
from holdfast.process.command import MARKER, checked_command


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ("ls -l", "a list of arguments, not 'ls -l'"),
        (b"ls", "a list of arguments"),
        (None, "a list of arguments"),
        ({"ls"}, "a list of arguments"),
        ([], "the list of arguments is empty"),
        ([""], "the name of the program is empty"),
        (["ls", 1], "argument 1 is 1; every argument is a string"),
        (["ls", Path("/")], "argument 1 is PosixPath"),
        (["ls", "a\0b"], "argument 1 contains a NUL"),
    ],
)
def test_arguments_that_are_no_command_are_refused(argv: Any, words: str) -> None:
    with pytest.raises(ProcessError, match=words):
        checked_command(argv, None, None)


def test_a_directory_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for cwd in (tmp_path / "missing", tmp_path / "file", "a\0b", 7):
        with pytest.raises(ProcessError, match=r"director.*(create it|give)"):
            checked_command(["ls"], cwd, None)  # type: ignore[arg-type]


@pytest.mark.parametrize("env", [{"A": 1}, {1: "A"}, {"": "x"}, {"A=B": "x"}, {"A": "x\0"}, {"A\0": "x"}])
def test_an_environment_that_no_program_can_get_is_refused(env: Any) -> None:
    with pytest.raises(ProcessError, match="environment variable"):
        checked_command(["ls"], None, env)


def test_each_command_gets_a_token_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(MARKER, raising=False)
    first, second = (checked_command(["ls"], None, {}) for _ in range(2))
    assert first.token != second.token
    assert dict(first.env) == {MARKER: first.token}


def test_a_tree_inside_a_tree_carries_both_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MARKER, "outer")
    command = checked_command(["ls"], None, {MARKER: "forged"})
    assert command.env[MARKER] == f"outer:{command.token}"


def test_the_environment_is_not_shown_by_repr() -> None:
    assert "s3cret" not in repr(checked_command(["ls"], None, {"PASSWORD": "s3cret"}))
