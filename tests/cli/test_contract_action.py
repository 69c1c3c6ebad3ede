"""The scripts of the GitHub Action, run as the runner runs them, with a program that tells its arguments."""

import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

ACTION = (Path(__file__).parents[2] / "action.yml").read_text()
SCRIPTS = [dedent(block) for block in re.findall(r"      run: \|\n((?:        .*\n|\n)+)", ACTION)]
TOLD = f"""#!{sys.executable}
import subprocess, sys
if sys.argv[1] == "-m":
    print(sys.argv[5:])
else:
    sys.exit(subprocess.call([{sys.executable!r}, *sys.argv[1:]]))
"""


@pytest.fixture
def told(tmp_path: Path) -> Path:
    """A folder with specifications, and a `python` that prints the arguments of `holdfast contract`."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").write_text(TOLD)
    (tmp_path / "bin" / "python").chmod(0o755)
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "a b.md").touch()
    return tmp_path


def run(script: str, folder: Path, **inputs: str) -> "subprocess.CompletedProcess[str]":
    """One step, with its inputs in the environment."""
    env = {"TARGET": "", "COMMAND": "", "LOCK": "", "SPECIFICATIONS": "", **inputs}
    env["PATH"] = f"{folder / 'bin'}:{os.environ['PATH']}"
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)


def test_a_command_keeps_its_quoted_words_and_runs_nothing(told: Path) -> None:
    done = run(SCRIPTS[0], told, COMMAND="npx 'some server' --name \"a b\" $(touch x) ;", LOCK="l 1.json")

    assert done.stdout.strip() == str(
        ["--lock", "l 1.json", "--", "npx", "some server", "--name", "a b", "$(touch", "x)", ";"]
    )
    assert not (told / "x").exists()


def test_a_target_is_one_word(told: Path) -> None:
    assert run(SCRIPTS[0], told, TARGET="a b.py").stdout.strip() == str(["a b.py"])


def test_patterns_reach_into_folders_and_no_match_fails(told: Path) -> None:
    found, none = (run(SCRIPTS[1], told, SPECIFICATIONS=words) for words in ("**/*.md", "*.none x.md"))

    assert (found.returncode, found.stdout.strip()) == (0, str(["deep/er/a b.md"]))
    assert (none.returncode, none.stdout) == (2, "")
    assert "no file matches: *.none x.md" in none.stderr
