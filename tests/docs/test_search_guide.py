"""The guide to the search does what it says: its rules load and its program runs."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.search.sample import write_sample

from holdfast.search.configuration import load_configuration
from holdfast.search.repository import find_repository
from holdfast.search.risk.loading import load_rules

ROOT = Path(__file__).parent.parent.parent
GUIDE = (ROOT / "docs/guides/search.md").read_text(encoding="utf-8")


def block(language: str, number: int = 0) -> str:
    found: list[str] = re.findall(rf"```{language}\n(.*?)```", GUIDE, flags=re.DOTALL)
    return found[number]


def test_the_rules_of_the_guide_can_be_loaded(tmp_path: Path) -> None:
    path = tmp_path / "holdfast-risk.toml"
    path.write_text(block("toml"))
    assert any(sink.name == "legacy-shell" for sink in load_rules(path).sinks)


def test_both_spellings_of_the_configuration_say_the_same(tmp_path: Path) -> None:
    values = []
    for name, text in ((".pairofcleats.json", block("jsonc")), ("holdfast.toml", block("toml", 1))):
        root = tmp_path / name.strip(".")
        root.mkdir()
        (root / name).write_text(text)
        values.append(load_configuration(find_repository(root)).values)

    assert values[0] == values[1]
    assert (values[0]["search.top"], values[0]["indexing.maxFileBytes.code"]) == (10, 1_000_000)


def test_the_program_of_the_guide_finds_something(tmp_path: Path) -> None:
    root = write_sample(tmp_path / "repo")
    environ = os.environ | {"HOME": str(tmp_path)}
    run = [sys.executable, "-c", block("python")]
    done = subprocess.run(run, cwd=root, env=environ, capture_output=True, text=True, timeout=50, check=False)
    assert done.stderr == ""
    assert done.stdout.startswith("src/budget.py 12 RetryBudget\n")
