"""A repository in which every known way of running code, writing outside or reaching the network is prepared.

Each trap writes to `../outside/`, starts a program or opens a connection, all of which the tracer reports.
"""

import json
import os
import subprocess
from pathlib import Path

from tests.launch.products import commit_all, git

__all__ = ["SHADOWED", "lose_a_blob", "plant_everything"]

# Modules that Holdfast or one of its libraries imports, some of them only where they are installed.
SHADOWED = (
    "click", "orjson", "pydantic", "httptools", "uvicorn", "psutil", "re2", "tantivy", "tree_sitter", "uvloop",
    "watchfiles", "jsonschema_rs", "markdown_it", "sqlalchemy", "yaml", "mcp", "opentelemetry", "psycopg",
    "colorama", "rich", "json", "asyncio", "sitecustomize", "usercustomize", "typing_extensions",
    "holdfast_search", "dbos",
)  # fmt: skip
_TRAP = """import os, subprocess, sys
subprocess.run(["/bin/sh", "-c", "echo {name} >> {mark}"])
"""


def plant_everything(root: Path, outside: Path) -> str:
    """Fill an empty folder with traps and commit them; the commit."""
    mark = outside / "trapped"
    script = f"#!/bin/sh\necho run-$0 >> {mark}\n"
    for name in SHADOWED:
        _write(root / f"{name}.py", _TRAP.format(name=name, mark=mark))
    for name in ("holdfast", "conftest"):
        _write(root / name / "__init__.py", _TRAP.format(name=name, mark=mark))
    _write(root / "evil.pth", f"import os; os.system('echo pth >> {mark}')\n")
    _write(root / "evil-1.0.dist-info" / "METADATA", "Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
    for group in ("holdfast.servers", "holdfast.commands", "holdfast.checks", "console_scripts", "pytest11"):
        with (root / "evil-1.0.dist-info" / "entry_points.txt").open("a") as file:
            file.write(f"[{group}]\nevil = evil_plugin:run\n")
    _write(root / "evil_plugin.py", _TRAP.format(name="entry-point", mark=mark))
    for name in ("git", "python3", "python", "node", "hugo", "ruff", "eslint", "ctags", "pip", "uv", "npm"):
        _program(root / name, script)
        _program(root / "node_modules" / ".bin" / name, script)
        _program(root / ".venv" / "bin" / name, script)
    _write(root / "setup.py", _TRAP.format(name="setup.py", mark=mark))
    _write(root / "eslint.config.js", f"require('child_process').execSync('echo eslint >> {mark}')\n")
    _write(root / "package.json", json.dumps({"name": "evil", "scripts": {"preinstall": f"echo npm >> {mark}"}}))
    _write(
        root / "pyproject.toml",
        "[build-system]\nrequires = []\nbuild-backend = 'evil_plugin'\nbackend-path=['.']\n",
    )
    _write(root / "holdfast.toml", "[servers.search]\nevent_log_files = 1\n")
    _write(root / ".pairofcleats.json", json.dumps({"quality": "max", "cache": {"root": str(outside)}}))
    _write(root / ".gitattributes", "*.py diff=evil filter=evil merge=evil\n")
    _write(root / "lock.json", json.dumps({"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}))
    _write(root / "deep.py", "x = " + "(" * 20_000 + "\n")
    _write(root / "long.js", "a" * 300_000)
    _write(
        root / "src" / "shop.py",
        "def find_order(number):\n    '''Find an order by number.'''\n    return number\n",
    )
    _write(root / "README.md", "# Shop\n\nFind an order with `find_order`.\n\x1b]0;owned\x07\u202e\n")
    (root / "passwd.py").symlink_to("/etc/passwd")
    (root / "secret.md").symlink_to(outside / "secret.txt")
    (root / "loop").symlink_to(".")
    (root / ".mcp.json").symlink_to(outside / "client.json")
    (outside / "client.json").write_text("{}\n")
    git(root, "init", "--quiet")
    commit = commit_all(root)
    _configure_git(root, script)
    os.mkfifo(root / "pipe.py")
    return commit


def _configure_git(root: Path, script: str) -> None:
    """Settings and hooks of the repository itself, each of which names a program."""
    trap = root / ".git" / "trap"
    _program(trap, script)
    settings = {
        "core.fsmonitor": str(trap),
        "core.hooksPath": str(root / ".git" / "hooks"),
        "core.pager": str(trap),
        "core.editor": str(trap),
        "core.sshCommand": str(trap),
        "core.askPass": str(trap),
        "core.gitProxy": str(trap),
        "core.alternateRefsCommand": str(trap),
        "credential.helper": str(trap),
        "diff.external": str(trap),
        "diff.evil.textconv": str(trap),
        "diff.evil.command": str(trap),
        "filter.evil.clean": str(trap),
        "filter.evil.smudge": str(trap),
        "filter.evil.process": str(trap),
        "gpg.program": str(trap),
        "log.showSignature": "true",
        "interactive.diffFilter": str(trap),
        "alias.log": f"!{trap}",
        "uploadpack.packObjectsHook": str(trap),
        "protocol.ext.allow": "always",
        "remote.origin.url": f"ext::{trap}",
        "remote.origin.promisor": "true",
        "remote.origin.partialclonefilter": "blob:none",
        "remote.origin.uploadpack": str(trap),
        "extensions.partialClone": "origin",
    }
    for key, value in settings.items():
        git(root, "config", key, value)
    for hook in (
        "post-checkout",
        "pre-commit",
        "post-index-change",
        "reference-transaction",
        "fsmonitor-watchman",
    ):
        _program(root / ".git" / "hooks" / hook, script)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _program(path: Path, text: str) -> None:
    _write(path, text)
    path.chmod(0o755)


def lose_a_blob(root: Path, path: str) -> None:
    """Remove one object, as in a partial clone: whoever reads it makes Git fetch it from the promisor."""
    sha = subprocess.run(
        ["git", "-C", str(root), "-c", "core.fsmonitor=", "rev-parse", f"HEAD:{path}"],
        check=True, capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip
    (root / ".git" / "objects" / sha[:2] / sha[2:]).unlink()
