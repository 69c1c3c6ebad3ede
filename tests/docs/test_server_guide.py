"""The guide to resources and prompts does what it says: its server, its commands and its test are run."""

import asyncio
import importlib.util
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/guides/server.md").read_text(encoding="utf-8")
SERVER, TEST = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
(CONSOLE,) = re.findall(r"```console\n(.*?)```", GUIDE, re.DOTALL)


def test_the_commands_of_the_guide_say_what_it_shows(tmp_path: Path) -> None:
    (tmp_path / "library.py").write_text(SERVER)
    steps = re.findall(r"^\$ holdfast (.*?)\n(.*?)(?=^\$|\Z)", CONSOLE, re.DOTALL | re.MULTILINE)
    assert len(steps) == 3
    for words, shown in steps:
        done = subprocess.run(
            [sys.executable, "-m", "holdfast", *words.split()],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stdout) == (0, shown), done.stderr


def test_the_test_in_the_guide_passes(tmp_path: Path) -> None:
    program = tmp_path / "guide_library.py"
    program.write_text(SERVER)
    spec = importlib.util.spec_from_file_location("guide_library", program)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    imported, _, body = TEST.partition("\n\n")
    lines = f"{imported}\n\nasync def scenario():\n{textwrap.indent(body, '    ')}"
    names: dict[str, Any] = {"server": module.server}
    exec(compile(lines, "guide", "exec"), names)
    asyncio.run(names["scenario"]())
