"""Changes of files are noticed once, when they are over."""

import os
from pathlib import Path

import pytest

from holdfast.errors import UsageError
from holdfast.host import watching
from holdfast.host.watching import Watch


def looks(watch: Watch, number: int = 3) -> list[bool]:
    return [watch.look() for _ in range(number)]


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "server.py").write_text("1")
    return tmp_path


def test_nothing_changes_while_nobody_changes_anything(program: Path) -> None:
    assert looks(Watch([program])) == [False, False, False]


def test_a_change_is_told_once_and_when_it_is_over(program: Path) -> None:
    watch = Watch([program])
    (program / "package" / "server.py").write_text("22")
    first = watch.look()
    (program / "package" / "server.py").write_text("333")

    assert [first, *looks(watch)] == [False, False, True, False]


def test_a_change_is_found_until_it_is_confirmed(program: Path) -> None:
    watch = Watch([program])
    (program / "package" / "server.py").write_text("22")
    found = [watch.find() for _ in range(3)]
    watch.confirm()

    assert [*found, watch.find(), watch.look()] == [False, True, True, False, False]


def test_a_change_after_the_last_look_is_not_confirmed_with_it(program: Path) -> None:
    watch = Watch([program])
    (program / "package" / "server.py").write_text("22")
    found = [watch.find(), watch.find()]
    (program / "package" / "server.py").write_text("333")
    watch.confirm()

    assert [*found, *looks(watch)] == [False, True, False, True, False]


def test_a_change_that_is_taken_back_before_it_is_confirmed_is_none(program: Path) -> None:
    watch = Watch([program])
    (program / "new.py").write_text("")
    found = [watch.find(), watch.find()]
    (program / "new.py").unlink()

    assert [*found, *looks(watch)] == [False, True, False, False, False]


@pytest.mark.parametrize("change", ["new file", "removed", "replaced", "renamed directory"])
def test_every_kind_of_change_counts(program: Path, change: str) -> None:
    watch = Watch([program])
    server = program / "package" / "server.py"
    if change == "new file":
        (program / "new.py").write_text("")
    elif change == "removed":
        server.unlink()
    elif change == "replaced":
        told = server.stat()
        (program / "package" / "next").write_text("2")
        (program / "package" / "next").replace(server)
        os.utime(server, ns=(told.st_atime_ns, told.st_mtime_ns))
    else:
        (program / "package").rename(program / "other")

    assert looks(watch) == [False, True, False]


@pytest.mark.parametrize(
    "name",
    [
        "__pycache__/a.pyc",
        ".git/index",
        "node_modules/x.js",
        "package/.server.py.swp",
        "#server.py#",
        "server.py~",
    ],
)
def test_what_a_program_or_an_editor_leaves_beside_it_does_not_count(program: Path, name: str) -> None:
    watch = Watch([program])
    (program / name).parent.mkdir(exist_ok=True)
    (program / name).write_text("x")

    assert looks(watch) == [False, False, False]


def test_files_that_never_come_to_rest_are_taken_up_after_a_while(program: Path) -> None:
    watch = Watch([program])
    seen = []
    for number in range(60):
        (program / "busy.log").write_text("x" * (number + 1))
        seen.append(watch.look())

    assert 1 <= sum(seen) <= 3


def test_no_path_at_all_is_not_watched() -> None:
    with pytest.raises(UsageError, match="an empty path"):
        Watch([""])


def test_one_file_may_be_watched_and_be_away_for_a_moment(program: Path) -> None:
    server = program / "package" / "server.py"
    watch = Watch([server])
    (program / "package" / "other.py").write_text("not watched")
    server.unlink()
    away = watch.look()
    server.write_text("2")

    assert [away, *looks(watch)] == [False, False, True, False]


def test_what_is_not_there_cannot_be_watched(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not there"):
        Watch([tmp_path / "nothing"])


def test_too_many_files_are_refused_with_the_number(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "MAX_FILES", 3)
    for number in range(3):
        (program / f"{number}.py").write_text("")

    with pytest.raises(UsageError, match="more than 3 files"):
        Watch([program])


def test_a_loop_of_links_does_not_loop(program: Path) -> None:
    (program / "package" / "up").symlink_to("..")
    watch = Watch([program])
    (program / "package" / "server.py").write_text("22")

    assert looks(watch) == [False, True, False]
