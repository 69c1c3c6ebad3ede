"""The guide to asking does what it says: its server and its test are run."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
GUIDE = (ROOT / "docs/guides/asking.md").read_text(encoding="utf-8")
SERVER, TEST = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
BOUND = 120

pytestmark = pytest.mark.timeout(300)  # processes are started, on machines that may be busy


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A directory with the server of the guide."""
    (tmp_path / "booking.py").write_text(SERVER, encoding="utf-8")
    (tmp_path / "check.py").write_text(TEST, encoding="utf-8")
    return tmp_path


def run(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "HOLDFAST_CONFIG": "none"}
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=BOUND,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def test_the_test_of_the_guide_passes(folder: Path) -> None:
    done = run(folder, "check.py")
    assert done.returncode == 0, done.stderr


def test_the_command_of_the_guide_answers_the_form(folder: Path) -> None:
    (line,) = re.findall(r"```\n(holdfast call .*?)\n```", GUIDE)
    done = run(folder, "-m", *shlex.split(line))
    assert done.stdout.strip() == "booked HF7, seat w", done.stderr


def test_the_state_of_the_guide_is_kept_where_it_says(folder: Path) -> None:
    assert run(folder, "check.py").returncode == 0
    file = re.search(r"`(request-state\.key)`", GUIDE)
    assert file is not None
    assert (folder / "state" / "holdfast" / file[1]).stat().st_mode & 0o777 == 0o600


def test_every_word_of_the_guide_is_one_of_the_context() -> None:
    from holdfast import Context, question

    told = set(re.findall(r"ctx\.(\w+)", GUIDE))
    assert told <= set(dir(Context)), told - set(dir(Context))
    asked = set(re.findall(r"question\.(\w+)\(", GUIDE))
    assert asked <= set(question.__all__)
