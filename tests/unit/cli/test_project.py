"""New projects: which names are refused, and that nothing is overwritten."""

from pathlib import Path

import pytest

from holdfast.cli.project import write_project
from holdfast.errors import UsageError


@pytest.mark.parametrize(
    "name",
    ["", "1st", "a b", "a.b", "../evil", "/etc", "class", "json", "holdfast", "tests", "-x", "ä", "a\0b", "_x"],
)
def test_a_name_that_python_cannot_use_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError) as caught:
        write_project(name, tmp_path / "project")

    assert caught.value.remedy
    assert not (tmp_path / "project").exists()


def test_a_hyphen_in_the_name_is_an_underscore_in_the_module(tmp_path: Path) -> None:
    project = write_project("stock-room", tmp_path / "stock-room")

    assert project.files == ("pyproject.toml", "README.md", "stock_room.py", "tests/test_stock_room.py")
    assert 'name = "stock-room"' in (tmp_path / "stock-room" / "pyproject.toml").read_text()


def test_a_directory_with_files_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine")

    with pytest.raises(UsageError, match="exists already"):
        write_project("stock", tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["README.md"]


def test_a_file_in_the_place_of_the_directory_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "stock").write_text("mine")

    with pytest.raises(UsageError, match="exists already"):
        write_project("stock", tmp_path / "stock")


def test_an_empty_directory_is_filled(tmp_path: Path) -> None:
    write_project("stock", tmp_path)

    assert (tmp_path / "stock.py").is_file()
