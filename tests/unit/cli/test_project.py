"""New projects: which names are refused, and that nothing is overwritten."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.cli.app import main
from holdfast.cli.project import write_project
from holdfast.errors import UsageError


@pytest.mark.parametrize(
    "name",
    [
        "",
        "1st",
        "a b",
        "a.b",
        "../evil",
        "/etc",
        "class",
        "json",
        "holdfast",
        "tests",
        "-x",
        "ä",
        "a\0b",
        "_x",
        "pydantic",
        "pytest",
        "click",
        "orjson",
        "jsonschema-rs",
    ],
)
def test_a_name_that_python_cannot_use_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError) as caught:
        write_project(name, tmp_path / "project")

    assert caught.value.remedy
    assert not (tmp_path / "project").exists()


def test_a_hyphen_in_the_name_is_an_underscore_in_the_module(tmp_path: Path) -> None:
    project = write_project("stock-room", tmp_path / "stock-room")

    assert project.files == (
        "pyproject.toml",
        "README.md",
        "stock_room.py",
        "MCP_TOOL_SPECIFICATION.md",
        "tests/test_stock_room.py",
    )
    assert 'name = "stock-room"' in (tmp_path / "stock-room" / "pyproject.toml").read_text()


def test_a_directory_of_the_same_name_beside_the_project_is_no_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "stock").mkdir()

    assert write_project("stock", tmp_path / "elsewhere").files


def test_the_readme_has_a_client_configuration_that_works_from_anywhere(tmp_path: Path) -> None:
    write_project("stock", tmp_path / "my stock")
    text = (tmp_path / "my stock" / "README.md").read_text()
    block = "\n".join(line for line in text.splitlines() if line.startswith("    ")).partition("    {\n")
    entry = json.loads("{" + block[2])["mcpServers"]["stock"]
    words = [entry["command"], *entry["args"]]

    assert all(Path(words[index]).is_absolute() for index in (0, -1))
    message = '{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
    env = {**os.environ, "HOLDFAST_STATE_DIR": str(tmp_path / "state")}
    done = subprocess.run(words, input=message, capture_output=True, text=True, cwd="/", env=env, check=True)
    assert json.loads(done.stdout)["id"] == 1


def test_commands_are_typed_in_full_where_the_shell_finds_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    steps = write_project("stock", tmp_path / "stock").next_steps

    assert f"{sys.executable} -m pip install pytest" in steps
    assert f"{sys.executable} -P -m holdfast call stock.py lookup sku=A-1" in steps


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


def test_the_specification_of_a_new_project_agrees_with_its_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_project("store-house", tmp_path / "project")
    monkeypatch.chdir(tmp_path / "project")
    code = main(["contract", "spec", "store_house.py", "--check"])

    assert code == 0, capsys.readouterr()
    assert main(["contract", "lint", "MCP_TOOL_SPECIFICATION.md"]) == 0
