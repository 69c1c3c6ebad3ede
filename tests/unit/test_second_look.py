"""The second look at failed tests: what is broken stays red, what fails once is told."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SECOND_LOOK = Path(__file__).parents[1] / "second_look.py"
LIGHT = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
TESTS = """
import pathlib, pytest
def test_steady(): pass
@pytest.mark.xdist_group("pair/one")
@pytest.mark.parametrize("name", ["a@b"])
def test_once(name):
    mark = pathlib.Path("mark")
    first = not mark.exists()
    mark.touch()
    assert not first
def test_broken(): assert pathlib.Path("mended").exists()
"""


def look(project: Path) -> tuple[int, str]:
    words = [sys.executable, str(SECOND_LOOK)]
    done = subprocess.run(words, cwd=project, env=LIGHT, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def test_what_fails_again_is_broken_and_what_fails_in_company_alone_is_told(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    words = [sys.executable, "-m", "pytest", "-q", "-p", "xdist", "-n", "1", "--dist", "loadgroup"]
    assert subprocess.run(words, cwd=tmp_path, env=LIGHT, capture_output=True, check=False).returncode == 1

    broken, told = look(tmp_path)
    assert (broken, told.splitlines()[-1]) == (1, "Broken.")
    (tmp_path / "mended").touch()
    unsteady, told = look(tmp_path)

    assert unsteady == 0, told
    assert told.endswith("UNSTEADY, to be mended:\n  test_it.py::test_broken\n  test_it.py::test_once[a@b]\n")
    assert "test_steady" not in told


@pytest.mark.parametrize("number", [0, 11])
def test_where_nothing_or_much_has_failed_there_is_no_second_look(tmp_path: Path, number: int) -> None:
    cache = tmp_path / ".pytest_cache/v/cache"
    cache.mkdir(parents=True)
    (cache / "lastfailed").write_text(json.dumps({f"test_it.py::test_{n}": True for n in range(number)}))

    assert look(tmp_path) == (1, "")
