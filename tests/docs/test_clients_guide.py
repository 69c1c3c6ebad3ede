"""The guide to clients does what it says: its commands are run, and its table is that of the code."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.setup.client_places import CLIENTS

ROOT = Path(__file__).parent.parent.parent
GUIDE = (ROOT / "docs/guides/clients.md").read_text(encoding="utf-8")
SERVER = '''
from holdfast import Server
server = Server("inventory", version="1.0.0")

@server.tool(version="1.0.0")
def count(sku: str) -> int:
    """Count one article."""
    return 1
'''


def commands() -> list[list[str]]:
    blocks = re.findall(r"```\n(.*?)```", GUIDE, flags=re.DOTALL)
    return [shlex.split(line) for block in blocks for line in block.splitlines()]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A machine of its own, with an `npx` that needs no network."""
    programs, home = tmp_path / "bin", tmp_path / "home"
    for place in (programs, home, tmp_path / "project"):
        place.mkdir()
    (tmp_path / "project" / "inventory.py").write_text(SERVER)
    npx = programs / "npx"
    npx.write_text(
        f"#!/bin/sh\nexec {sys.executable} -m holdfast serve --standalone {tmp_path}/project/inventory.py\n"
    )
    npx.chmod(0o755)
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("HOLDFAST", "XDG", "CODEX"))}
    return {**kept, "HOME": str(home), "PATH": f"{programs}:{os.environ['PATH']}", "CLAUDE_CONFIG_DIR": ""}


def test_every_command_of_the_guide_works_in_the_order_of_the_guide(
    environment: dict[str, str], tmp_path: Path
) -> None:
    assert all(words[0] == "holdfast" and words[1] in {"install", "doctor"} for words in commands())
    for number, (_, *words) in enumerate(commands()):
        at = words.index("--") if "--" in words else len(words)
        # One of each kind is started: that takes a second.
        sure = ["--yes", "--check" if number < 3 else "--no-check"] if words[0] == "install" else []
        line = [sys.executable, "-m", "holdfast", *words[:at], *sure, *words[at:]]
        done = subprocess.run(
            line,
            cwd=tmp_path / "project",
            env=environment,
            capture_output=True,
            text=True,
            timeout=50,
            check=False,
        )
        assert done.returncode == 0 or words[0] == "doctor", (words, done.stderr)
    left = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.name.startswith("."))
    assert "project/.mcp.json" in left
    assert "project/.vscode" in left
    assert (tmp_path / "home" / ".codex" / "config.toml").exists()
    assert '"search"' not in (tmp_path / "project" / ".mcp.json").read_text()


def test_the_table_lists_every_client_with_its_scopes() -> None:
    rows = re.findall(r"^\| `([a-z-]+)`[^|]*\|([^|]*)\|([^|]*)\|$", GUIDE, flags=re.MULTILINE)
    assert [key for key, *_ in rows] == list(CLIENTS)
    for key, *cells in rows:
        filled = {scope for scope, cell in zip(("project", "user"), cells, strict=True) if cell.strip()}
        assert filled == set(CLIENTS[key].files)
        assert "**" in cells[("project", "user").index(CLIENTS[key].default_scope)]
