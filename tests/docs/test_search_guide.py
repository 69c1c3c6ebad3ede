"""The guide to the search does what it says: its rules load and its program runs."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.search.sample import write_sample

from holdfast.search.risk import load_rules

ROOT = Path(__file__).parent.parent.parent
GUIDE = (ROOT / "docs/guides/search.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", GUIDE, flags=re.DOTALL)
    assert found is not None
    return found[1]


def test_the_rules_of_the_guide_can_be_loaded(tmp_path: Path) -> None:
    path = tmp_path / "holdfast-risk.toml"
    path.write_text(block("toml"))
    assert any(sink.name == "legacy-shell" for sink in load_rules(path).sinks)


def test_the_program_of_the_guide_finds_something(tmp_path: Path) -> None:
    root = write_sample(tmp_path / "repo")
    environ = os.environ | {"HOME": str(tmp_path)}
    run = [sys.executable, "-c", block("python")]
    done = subprocess.run(run, cwd=root, env=environ, capture_output=True, text=True, timeout=50, check=False)
    assert done.stderr == ""
    assert done.stdout.startswith("src/budget.py 12 RetryBudget\n")
