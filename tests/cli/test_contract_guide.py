"""The transcript in the guide is what a new user sees: its commands are run, its output is compared."""

import datetime as dt
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.cli.conftest import Cli

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "guides" / "contracts.md").read_text()


def _commands(text: str) -> Iterator[tuple[str, str]]:
    """Each command of the transcripts, and what is printed under it."""
    for block in re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def test_the_transcript_on_our_own_example_is_true(cli: Cli, tmp_path: Path) -> None:
    shutil.copy(ROOT / "examples" / "inventory.py", tmp_path)
    told = [(command, output) for command, output in _commands(GUIDE) if "inventory.py" in command]
    day = (dt.datetime.now(dt.UTC).date() + dt.timedelta(days=30)).isoformat()
    for command, output in told:
        words = shlex.split(command.replace("--until 2027-03-31", f"--until {day}"))
        if words[0] != "holdfast":
            subprocess.run(words, cwd=tmp_path, check=True)
            continue
        done = cli(*words[1:])
        assert done.stderr + done.stdout == output, command
    assert len(told) == 8


def test_the_guide_shows_nothing_that_the_next_edit_makes_wrong() -> None:
    assert not re.search(r"\d+ bytes", GUIDE)
    assert "--accept '*" not in GUIDE


def test_the_guide_names_every_command() -> None:
    from holdfast.cli.contract import SUBCOMMANDS

    assert all(f"`holdfast contract {name}" in GUIDE for name in SUBCOMMANDS)


def test_our_example_is_what_its_lock_says(cli: Cli) -> None:
    done = cli("contract", "check", "examples/inventory.py", cwd=ROOT)

    assert (done.returncode, done.stdout) == (
        0,
        "inventory is what contracts/inventory.lock.json says (6 tools)\n",
    )
