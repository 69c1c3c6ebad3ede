"""The guide to porcelain: its commands print what it shows, its code runs, its tables are those of the program."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from holdfast.present.porcelain import SURFACE_BOUNDS
from holdfast.worker.targets import load_target

ROOT = Path(__file__).parent.parent.parent
GUIDE = (ROOT / "docs/guides/porcelain.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", GUIDE, flags=re.DOTALL)
CURSOR = re.compile(r"cursor=([\w-]{32})")


def commands() -> list[tuple[str, list[str]]]:
    """Every command of the guide with the lines that it shows."""
    found = []
    for language, text in BLOCKS:
        if language == "console":
            pieces = re.split(r"^\$ (.+)$", text, flags=re.MULTILINE)[1:]
            shown = [piece.strip("\n").split("\n") for piece in pieces[1::2]]
            found += list(zip(pieces[0::2], shown, strict=True))
    return found


def printed(command: str, state: Path) -> str:
    words = shlex.split(command)
    assert words[0] == "holdfast"
    environ = {**os.environ, "HOLDFAST_STATE_DIR": str(state)}
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=ROOT,
        env=environ,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip("\n")


def matches(output: list[str], shown: list[str]) -> bool:
    """Whether the output is what is shown, where `...` stands for any number of lines."""
    if "..." not in shown:
        return output == shown
    gap = shown.index("...")
    after = shown[gap + 1 :]
    return output[:gap] == shown[:gap] and output[len(output) - len(after) :] == after


def test_every_command_of_the_guide_prints_what_the_guide_shows(tmp_path: Path) -> None:
    cursor = ""
    assert len(commands()) == 4
    for command, shown in commands():
        output = printed(command.replace("CURSOR", cursor), tmp_path)
        given = CURSOR.search(output)
        cursor = given[1] if given else ""
        assert matches(CURSOR.sub("cursor=CURSOR", output).split("\n"), shown), output


def test_every_piece_of_code_in_the_guide_runs() -> None:
    names: dict[str, Any] = {"server": load_target(str(ROOT / "examples/parcels.py")), "__name__": "guide"}
    for language, text in BLOCKS:
        if language == "python":
            exec(compile(text, "porcelain.md", "exec", dont_inherit=True), names)
    names["test_the_answers_are_fit_to_be_read"]()
    assert names["rules"].allowed_ids == ("order_id",)


def test_the_table_of_kinds_is_the_one_in_the_program() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\d+) x (\d+) \| (\d+) x (\d+) \|$", GUIDE, flags=re.MULTILINE)
    assert [(kind, *map(int, numbers)) for kind, *numbers in rows] == [
        (kind.value, both.concise.lines, both.concise.width, both.full.lines, both.full.width)
        for kind, both in SURFACE_BOUNDS.items()
    ]
