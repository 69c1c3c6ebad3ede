"""The example server, and the tour that is the first thing a newcomer runs."""

import subprocess
import sys
from pathlib import Path

from tests.cli.conftest import Cli

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_tour_keeps_every_promise(environment: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "tour.py")],
        capture_output=True,
        text=True,
        env=environment,
        timeout=50,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "BROKEN" not in done.stdout
    assert done.stdout.count("[ok]") == 17
    assert done.stderr == ""


def test_the_example_server_answers_from_the_command_line(cli: Cli) -> None:
    done = cli("call", str(EXAMPLES / "inventory.py"), "lookup", "sku=A-1")

    assert done.returncode == 0
    assert "anvil" in done.stdout
