"""`holdfast doctor` as a person and a program read it."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def doctor(cli: Run, tmp_path: Path) -> Run:
    inside = {
        name: str(tmp_path / "home") for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
    }
    (tmp_path / "home").mkdir()
    return lambda *words, **more: cli(
        "doctor", *words, env={**inside, "CODEX_HOME": "", "CLAUDE_CONFIG_DIR": "", **more}
    )


def test_every_finding_is_one_line_and_the_count_is_for_the_person(doctor: Run) -> None:
    run = doctor()
    lines = run.stdout.splitlines()
    assert {line[:4].strip() for line in lines} <= {"ok", "off", "warn"}
    assert any(line.startswith("ok   python           3.") for line in lines)
    assert run.returncode == 0
    assert run.stderr.startswith("0 failed, ")


def test_something_that_fails_is_marked_and_is_the_exit_code(doctor: Run, tmp_path: Path) -> None:
    (tmp_path / "holdfast.toml").write_text("spare = 'many'")
    run = doctor()
    assert run.returncode == 1
    (line,) = (line for line in run.stdout.splitlines() if line.startswith("FAIL"))
    assert "holdfast.toml" in line
    assert "; try: correct spare" in line


def test_a_program_reads_one_document(doctor: Run) -> None:
    told = json.loads(doctor("--json").stdout)
    assert (told["ok"], told["failures"]) == (True, 0)
    assert all(set(finding) == {"check", "status", "message", "remedy"} for finding in told["findings"])


LEAVE = """
import os, sys
os.rmdir(os.getcwd())
os.execv(sys.executable, [sys.executable, "-m", "holdfast", "doctor"])
"""


def test_a_working_directory_that_is_gone_is_no_traceback(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    words = [sys.executable, "-c", LEAVE]
    env = {**environment, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    run = subprocess.run(words, cwd=tmp_path / "gone", env=env, capture_output=True, text=True, check=False)
    assert "Traceback" not in run.stderr
    assert run.returncode == 1
    assert "the working directory is gone" in run.stdout
