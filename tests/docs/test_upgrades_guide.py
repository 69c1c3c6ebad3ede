"""The guide to upgrades names what is there: commands, options, settings, and a server that runs."""

import re
from pathlib import Path

import click
import pytest

from holdfast.cli.app import cli
from holdfast.settings import SETTINGS
from holdfast.worker.server import Server

ROOT = Path(__file__).parent.parent.parent
GUIDE = (ROOT / "docs/guides/upgrades.md").read_text(encoding="utf-8")
COMMANDS = [
    line.partition("#")[0].partition(" -- ")[0].split()
    for block in re.findall(r"```\n(.*?)```", GUIDE, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("holdfast")
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_and_option_exists(words: list[str]) -> None:
    group: click.Command = cli
    context = click.Context(cli)
    for word in words[1:]:
        if isinstance(group, click.Group):
            found = group.get_command(context, word)
            assert found is not None
            group = found
    known = {option for parameter in group.params for option in parameter.opts}

    assert {word for word in words if word.startswith("--")} <= known


def test_the_settings_that_it_names_exist() -> None:
    names = {setting.name for setting in SETTINGS}

    assert {"rollout_grace", "probation"} <= names & set(re.findall(r"`(\w+)`", GUIDE))


def test_its_server_declares_what_it_says() -> None:
    (program,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(program, "guide", "exec"), names)
    server = names["server"]
    assert isinstance(server, Server)
    states = [tool["_meta"]["io.holdfast/effect"]["state"] for tool in server.tool_definitions()]

    assert states == [{"kind": "journaled", "key": "/arguments/name"}, {"kind": "generation_pinned"}]


@pytest.mark.parametrize("target", re.findall(r"\]\(([^)]+\.md)\)", GUIDE))
def test_its_links_lead_to_files(target: str) -> None:
    assert (ROOT / "docs/guides" / target).is_file()
