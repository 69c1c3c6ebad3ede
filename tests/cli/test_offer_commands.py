"""`holdfast resources` and `holdfast prompts`, at a server of ours and at a program."""

import json
import sys
from pathlib import Path

from tests.cli.conftest import Cli

LIBRARY = str(Path(__file__).parents[2] / "examples/library.py")


def test_resources_are_listed_and_read(cli: Cli) -> None:
    listed = cli("resources", LIBRARY)
    assert (listed.returncode, listed.stdout.splitlines()[0]) == (0, "library 1.0.0: 3 resources")
    assert "library://books/{number}" in listed.stdout
    assert cli("resources", LIBRARY, "library://books/1").stdout.startswith("# The Hound of the Moor")
    assert "68 bytes" in cli("resources", LIBRARY, "library://covers/1.png").stdout
    read = json.loads(cli("resources", LIBRARY, "library://covers/1.png", "--json").stdout)
    assert read["contents"][0]["blob"].startswith("iVBOR")


def test_prompts_are_listed_and_shown(cli: Cli) -> None:
    assert "tone  optional" in cli("prompts", LIBRARY).stdout
    shown = cli("prompts", LIBRARY, "review", "book=2", "tone=strict")
    assert (shown.returncode, "Write a strict review" in shown.stdout) == (0, True)
    assert json.loads(cli("prompts", LIBRARY, "--json").stdout)[0]["name"] == "review"


def test_what_is_wrong_is_one_line(cli: Cli) -> None:
    for words, complaint in (
        (("resources", LIBRARY, "library://books/77"), "there is no book 77"),
        (("resources", LIBRARY, "library://books/1", "more"), "unexpected argument"),
        (("prompts", LIBRARY, "review"), "'book' is required"),
        (("prompts", LIBRARY, "review", "book"), "is no argument"),
        (("prompts", LIBRARY, "nobody"), "there is no prompt"),
    ):
        done = cli(*words)
        assert done.returncode == 2, words
        assert complaint in done.stderr
        assert "Traceback" not in done.stderr


def test_a_program_is_asked_the_same(cli: Cli) -> None:
    done = cli("resources", "library://books/2", "--", sys.executable, LIBRARY)
    assert (done.returncode, done.stdout) == (0, "# A Field Guide to Mosses\n\nOn the shelf.\n")
