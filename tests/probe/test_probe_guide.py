"""The guide to the probe says what the code does, and its commands run."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from holdfast.cli.probe import command
from holdfast.probe.pages import with_checks
from holdfast.probe.table import CHECKS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/guides/probe.md"
GUIDE = PAGE.read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ holdfast probe (.*)$", GUIDE, re.MULTILINE)


def test_the_guide_has_the_checks_as_the_table_has_them() -> None:
    fresh = with_checks(GUIDE)
    assert fresh == GUIDE, "write holdfast.probe.pages.with_checks(page) to docs/guides/probe.md"
    assert all(f"`{check.id}`" in GUIDE for check in CHECKS)
    assert "\n### envelopes: JSON that" in GUIDE


def test_every_option_of_a_command_in_the_guide_exists() -> None:
    known = {option for parameter in command.params for option in parameter.opts}
    assert len(COMMANDS) >= 5
    for line in COMMANDS:
        own = shlex.split(line.partition(" -- ")[0])
        assert {word for word in own if word.startswith("--")} <= known, line


@pytest.mark.parametrize("line", COMMANDS)
def test_the_files_that_a_command_names_are_there(line: str) -> None:
    named = [word for word in shlex.split(line) if word.endswith(".py")]
    assert all((ROOT / word).is_file() for word in named)


def test_a_command_of_the_guide_runs_as_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    line = next(line for line in COMMANDS if "--slow-tool audit" in line and "inventory" in line)
    words = ["--only", "ids.exact,calls.output-schema,calls.missing-argument", *shlex.split(line)]
    result = CliRunner().invoke(command, words, standalone_mode=False)
    assert result.exception is None
    assert result.return_value == 0
    assert "score 100 %: 3 passed, 0 failed, 0 skipped" in result.output
