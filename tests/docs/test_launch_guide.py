"""The guide to launch runs names what is there: commands, gates, tools, files."""

import re
from pathlib import Path

import pytest

from holdfast.cli.launch import command
from holdfast.launch.documents import schema
from holdfast.launch.forge_places import KINDS
from holdfast.launch.gates.table import GATES
from holdfast.launch.promises import PROMISES
from holdfast.launch.publishing.refusal import STATUSES

ROOT = Path(__file__).parent.parent.parent
GUIDE = (ROOT / "docs/guides/launch.md").read_text(encoding="utf-8")


def test_every_command_of_the_guide_exists() -> None:
    used = set(re.findall(r"holdfast launch ([a-z-]+)", GUIDE))
    assert used <= set(command.commands)
    assert used >= {"init", "start", "open-pr", "resume", "replay"}


def test_the_guide_lists_the_gates_in_their_order() -> None:
    paragraph = GUIDE.split("## What the gates check\n\n", 1)[1].split(":", 1)[0]
    assert re.split(r",\s+", paragraph) == [gate.name for gate in GATES]


def test_the_guide_lists_all_nine_tools() -> None:
    assert set(re.findall(r"`(launch_[a-z_]+)`", GUIDE)) == set(PROMISES)


def test_the_guide_explains_how_a_forge_can_refuse_and_what_its_settings_are() -> None:
    section = GUIDE.split("## GitHub and Gitea\n", 1)[1].split("\n## ", 1)[0]
    codes = set(re.findall(r"`([A-Z]+_[A-Z_]+)`", "\n".join(re.findall(r"^\| `[A-Z].*", section, re.MULTILINE))))
    assert codes <= set(STATUSES)
    assert codes >= {code for code in STATUSES if code.startswith(("FORGE_", "PULL_REQUEST_"))}
    asked = schema("run_config")["properties"]["commit_service"]["properties"]
    assert set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) & set(asked) == {
        "forge", "forge_url", "github_token_env",
    }  # fmt: skip
    assert tuple(asked["forge"]["enum"]) == KINDS


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\((\.\./[^)#]+)\)", GUIDE))))
def test_the_links_of_the_guide_lead_to_files(target: str) -> None:
    assert (ROOT / "docs/guides" / target).resolve().is_file()
