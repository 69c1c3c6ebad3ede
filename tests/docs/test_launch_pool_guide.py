"""The guide to pools names what is there, and what it says of a batch is so."""

import re
from pathlib import Path

import pytest
import yaml
from tests.launch.products import run_config

from holdfast.cli.launch import command
from holdfast.launch.batch import read_entries
from holdfast.settings import SETTINGS

ROOT = Path(__file__).parent.parent.parent
GUIDE = (ROOT / "docs/guides/launch-pool.md").read_text(encoding="utf-8")


def test_every_command_and_every_option_of_the_guide_exists() -> None:
    used = re.findall(r"holdfast launch ([a-z-]+)((?: [^`\n#]*)?)", GUIDE)
    assert {name for name, _ in used} >= {"batch", "work", "status", "cancel"}
    for name, rest in used:
        known = {option for parameter in command.commands[name].params for option in parameter.opts}
        assert set(re.findall(r"--[a-z-]+", rest)) <= known, name


def test_every_option_that_the_text_explains_exists_somewhere() -> None:
    explained = set(re.findall(r"`(--[a-z-]+)", GUIDE))
    known = {option for one in command.commands.values() for parameter in one.params for option in parameter.opts}
    assert explained <= known
    assert explained >= {"--keep-going", "--label", "--open-pr", "--detach", "--drain"}


def test_the_variables_of_the_guide_are_settings() -> None:
    assert set(re.findall(r"HOLDFAST_[A-Z_]+", GUIDE)) <= {setting.env for setting in SETTINGS}


def test_the_batch_of_the_guide_can_be_read(tmp_path: Path) -> None:
    (block,) = re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)
    for name in ("tablekit", "chartkit"):
        config = run_config(tmp_path, "a" * 40, tmp_path, "b" * 40, product_slug=name)
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(config))
    (tmp_path / "runs.yaml").write_text(block)
    entries = read_entries(tmp_path / "runs.yaml")
    assert [(entry.name, entry.problems) for entry in entries] == [("tablekit", []), ("chartkit", [])]
    assert entries[1].key == "chartkit-2.1"


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([a-z./-]+\.md)", GUIDE))))
def test_the_links_of_the_guide_lead_to_files(target: str) -> None:
    assert (ROOT / "docs/guides" / target).resolve().is_file()
