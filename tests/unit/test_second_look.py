"""The second look at failed tests: what is broken stays red, what fails once is told."""

import subprocess
import sys
from pathlib import Path

import pytest

SECOND_LOOK = Path(__file__).parents[1] / "second_look.py"
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


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "test_it.py").write_text(TESTS)
    return tmp_path


def suite_then_look(project: Path) -> tuple[int, subprocess.CompletedProcess[str]]:
    words = [sys.executable, "-m", "pytest", "-q", "-n", "1", "--dist", "loadgroup"]
    first = subprocess.run(words, cwd=project, capture_output=True, check=False)
    look = [sys.executable, str(SECOND_LOOK)]
    return first.returncode, subprocess.run(look, cwd=project, capture_output=True, text=True, check=False)


def test_what_fails_only_in_company_is_told_and_passes(project: Path) -> None:
    (project / "mended").touch()

    first, look = suite_then_look(project)

    assert (first, look.returncode) == (1, 0), look.stdout
    assert "UNSTEADY, to be mended:\n  test_it.py::test_once[a@b]\n" in look.stdout
    assert "test_steady" not in look.stdout


def test_what_fails_again_fails_the_suite(project: Path) -> None:
    first, look = suite_then_look(project)

    assert (first, look.returncode) == (1, 1)
    assert look.stdout.endswith("Broken.\n")


def test_where_much_has_failed_there_is_no_second_look(project: Path) -> None:
    (project / "test_it.py").write_text(
        "import pytest\n" + "\n".join(f"def test_{n}(): assert 0" for n in range(11))
    )

    first, look = suite_then_look(project)

    assert (first, look.returncode, look.stdout) == (1, 1, "")
