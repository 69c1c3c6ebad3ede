"""The guide to risk does what it says: its example is found as it is shown, and its rules load and apply."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.search.risk.loading import load_rules

ROOT = Path(__file__).parent.parent.parent
GUIDE = (ROOT / "docs/guides/risk.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", GUIDE, flags=re.DOTALL)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    for text in blocks("python"):
        first, _, rest = text.partition("\n")
        (folder / first.removeprefix("# ")).write_text(f"\n{rest}")
    return folder


def search(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    run = [sys.executable, "-m", "holdfast", *words]
    environ = os.environ | {"HOME": str(folder.parent)}
    return subprocess.run(run, cwd=folder, env=environ, capture_output=True, text=True, timeout=50, check=False)


def test_the_example_of_the_guide_is_found_as_it_is_shown(repository: Path) -> None:
    command, _, shown = blocks("console")[0].partition("\n")
    done = search(repository, *shlex.split(command)[2:])
    assert done.stdout == shown


def test_the_rules_of_the_guide_can_be_loaded(tmp_path: Path) -> None:
    path = tmp_path / "holdfast-risk.toml"
    path.write_text(blocks("toml")[0])
    rules = load_rules(path)

    (sink,) = [rule for rule in rules.sinks if rule.name == "legacy-shell"]
    assert (sink.languages, sink.argument) == (frozenset({"python"}), 0)
    assert any(rule.name == "our.quote" for rule in rules.sanitizers)
    assert not any(rule.name == "weak.hash" and "python" in rule.languages for rule in rules.sinks)


def test_every_key_of_a_rule_is_explained() -> None:
    from holdfast.search.risk import loading

    for key in {key for keys in loading._KEYS.values() for key in keys}:
        assert f"`{key}`" in GUIDE
