"""The guides to workspaces and to triage do what they say: their commands run, word for word."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Cli
from tests.unit.search.test_triage_sarif import LOG
from tests.unit.search.triage_samples import ALERT

GUIDES = Path(__file__).parent.parent.parent / "docs/guides"
WORKSPACES, TRIAGE = (GUIDES / f"{name}.md" for name in ("workspaces", "triage"))


def blocks(guide: Path, language: str = "") -> list[str]:
    """The texts between fences of one language; a fence that closes is none that opens."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", guide.read_text(), flags=re.DOTALL | re.MULTILINE)
    return [text for name, text in fenced if name == language]


def commands(guide: Path, home: Path) -> list[list[str]]:
    """Every line that calls us, with the home directory of the test."""
    lines = [line for block in blocks(guide) for line in block.splitlines() if line.startswith("holdfast ")]
    return [shlex.split(line.replace("~/", f"{home}/"))[1:] for line in lines]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """What both guides speak of: repositories, a workspace file, and files of scanners."""
    text = 'def spend(retry_budget):\n    """Spend the retry budget."""\n    return retry_budget\n'
    for name in ("api", "web", "old", "src/api", "src/web", "src/old"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "budget.py").write_text(text)
        (tmp_path / name / ".holdfastignore").touch()
    (tmp_path / "shop.jsonc").write_text(blocks(WORKSPACES, "jsonc")[0])
    (tmp_path / "api" / "results.sarif").write_text(json.dumps(LOG))
    (tmp_path / "api" / "alerts.json").write_text(json.dumps([ALERT]))
    return tmp_path


def test_the_commands_of_the_guide_to_workspaces_run(cli: Cli, home: Path) -> None:
    found = commands(WORKSPACES, home)
    assert len(found) == 6
    for words in found:
        done = cli(*words, cwd=home)
        assert done.returncode == 0, (words, done.stderr)
    chosen = json.loads(cli(*found[2], "--json", "--explain", cwd=home).stdout)
    assert {hit["repo"] for hit in chosen["code"]} == {"backend", "web"}
    for hit in chosen["code"]:
        places: dict[str, Any] = hit["scoreBreakdown"]
        score = 1 / (60 + places["placeAtHome"]) + 1 / (60 + places["placeAmongAll"])
        assert hit["score"] == round(score, 6), "as the guide says"


def test_the_commands_of_the_guide_to_triage_run(cli: Cli, home: Path) -> None:
    found, name = commands(TRIAGE, home), "RECORD"
    assert len(found) == 8
    for words in found:
        done = cli(*[name if word == "RECORD" else word for word in words], cwd=home / "api")
        # The two searches of the guide ask for what this repository need not have.
        assert done.returncode == 0 or words[0] == "search", (words, done.stderr)
        if name == "RECORD":
            name = json.loads(cli("triage", "list", "--json", cwd=home / "api").stdout)["findings"][0]["recordId"]
    assert {
        query["mode"] for query in json.loads((home / "api" / "pack.json").read_text())["repoEvidence"]["queries"]
    }
