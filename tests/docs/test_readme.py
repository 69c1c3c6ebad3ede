"""The README does what it says: its server is written to a file and its commands are typed."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent.parent / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, flags=re.DOTALL)
SOURCE = next(text for language, text in BLOCKS if language == "python")
LINE = re.compile(r"^\$ (.+)$", flags=re.MULTILINE)


def sessions() -> list[tuple[str, str]]:
    """Every command of the README with the output that it shows."""
    found = []
    for language, text in BLOCKS:
        if language == "console":
            pieces = LINE.split(text)[1:]
            found += list(zip(pieces[0::2], (piece.strip("\n") for piece in pieces[1::2]), strict=True))
    return found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "inventory.py").write_text(SOURCE, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(("command", "shown"), sessions(), ids=[command for command, _ in sessions()])
def test_a_command_of_the_readme_prints_what_the_readme_shows(command: str, shown: str, project: Path) -> None:
    words = shlex.split(command)
    assert words[0] == "holdfast"
    environ = {**os.environ, "HOLDFAST_STATE_DIR": str(project / "state")}

    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=project,
        env=environ,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert (done.stdout + done.stderr).strip("\n") == shown


def test_the_readme_stays_short_and_shows_its_example_on_the_first_screen() -> None:
    lines = README.splitlines()

    assert 90 <= len(lines) <= 160
    assert lines.index("```json") < 25
