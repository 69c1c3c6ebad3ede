"""The guide to vectors does what it says: its commands are typed, with a small model instead of the real one."""

import re
import shlex
from pathlib import Path

import pytest
from tests.search.tiny_model import write_model

from holdfast.cli.app import main
from holdfast.search.vectors.fusion import WEIGHT
from holdfast.search.vectors.graph import MOST_EXACT

ROOT = Path(__file__).parent.parent.parent
GUIDE = (ROOT / "docs/guides/vectors.md").read_text(encoding="utf-8")
CODE = "def abort_upload(transfer):\n    return transfer\n\n\ndef send(mail):\n    return mail\n"


def commands() -> list[list[str]]:
    """Everything that is typed, except what needs a network and what never ends."""
    blocks = re.findall(r"```\n(.*?)```", GUIDE, flags=re.DOTALL)
    lines = [shlex.split(line) for block in blocks for line in block.splitlines()]
    return [words for words in lines if words[0] == "holdfast" and words[1:] != ["index", "watch"]]


def test_every_command_of_the_guide_works_in_its_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "jobs.py").write_text(CODE)
    write_model(tmp_path / "my-model")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOLDFAST_CACHE_DIR", str(tmp_path / "cache"))
    first = True
    for _, *words in commands():
        named = ["--model", "./my-model"] if first and words == ["index", "embed"] else []
        first = first and not named
        assert main([*words, *named]) == 0, words
        if words[0] == "search" and "--no-ann" not in words:
            assert "abort_upload" in capsys.readouterr().out


def test_the_figures_of_the_guide_are_those_of_the_code() -> None:
    assert {3.0: "three times its cosine"}[WEIGHT] in GUIDE.replace("\n", " ")
    assert f"{MOST_EXACT:,} chunks" in GUIDE
