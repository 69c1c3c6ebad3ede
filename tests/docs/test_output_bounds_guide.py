"""The guide to output bounds does what it says: its file loads, its server runs, its commands answer."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.settings import load_configuration

ROOT = Path(__file__).parent.parent.parent
GUIDE = (ROOT / "docs/guides/output-bounds.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The blocks in a language."""
    return re.findall(rf"```{language}\n(.*?)```", GUIDE, flags=re.DOTALL)


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of the guide beside the server of the guide."""
    (folder / "logs.py").write_text(blocks("python")[0])
    environ = os.environ | {"HOLDFAST_STATE_DIR": str(folder / "state"), "HOLDFAST_CONFIG": "none"}
    environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environ['PATH']}"
    words = shlex.split(command)
    return subprocess.run(words, cwd=folder, env=environ, capture_output=True, text=True, timeout=50, check=False)


def test_the_file_of_the_guide_can_be_loaded(tmp_path: Path) -> None:
    file = tmp_path / "holdfast.toml"
    file.write_text(blocks("toml")[0])
    configuration = load_configuration({}, {"HOLDFAST_CONFIG": str(file)})

    assert configuration.settings.output_tokens == 20_000
    assert (configuration.tools["read_log"].output_bytes, configuration.tools["export"].output_tokens) == (
        16_384,
        0,
    )


def test_the_server_of_the_guide_shortens_its_answer(tmp_path: Path) -> None:
    done = run(blocks("console")[1], tmp_path)

    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert len(done.stdout) < 2048 + 10
    assert told["omitted"] == 500 - len(told["lines"]) > 0


def test_the_health_tool_of_the_guide_answers(tmp_path: Path) -> None:
    done = run(blocks("console")[2], tmp_path)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["generation"] == 1


def test_the_options_of_the_guide_are_options_of_run(tmp_path: Path) -> None:
    told = run("holdfast run --help", tmp_path).stdout

    assert {word for word in re.findall(r"--[a-z-]+\b", GUIDE) if word != "--standalone"} <= set(
        re.findall(r"--[a-z-]+\b", told)
    )


@pytest.mark.parametrize("number", [0, 1, 2])
def test_every_command_of_the_guide_starts_with_ours(number: int) -> None:
    assert blocks("console")[number].startswith("holdfast ")
