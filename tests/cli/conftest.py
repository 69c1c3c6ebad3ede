"""The command line as people use it, in a directory of its own.

`cli` runs it in this process, which is fast; `program` in one of its own, where the process is the point.
"""

import contextlib
import importlib
import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.cli.app import main

Cli = Callable[..., "subprocess.CompletedProcess[str]"]

SERVER = '''
"""A server for the tests of the command line."""
import os, sys
from dataclasses import dataclass
from holdfast import Context, Server, ToolError, effect

print("printed while importing")
server = Server("shop", version="1.2.3")

@dataclass
class Found:
    sku: str
    limit: int
    tags: list[str]

@server.tool(version="2.0.0", effect=effect.replay_safe(), errors=("NOT_FOUND",))
async def lookup(sku: str, ctx: Context, limit: int = 10, tags: list[str] | None = None) -> Found:
    """Return the stock of one article.

    Args:
        sku: The number of the article.
    """
    print("printed in a tool")
    os.system("echo printed by a child")
    await ctx.progress("reading", progress=1, total=3)
    if sku == "none":
        raise ToolError("NOT_FOUND", "no such article", details={"sku": sku})
    return Found(sku, limit, tags or [])

PROGRAM = """
import os, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open("pids.draft", "w") as file:
    file.write(f"{os.getpid()} {child.pid}")
os.rename("pids.draft", "pids")
child.wait()
"""

@server.tool()
async def slow(ctx: Context) -> str:
    """Take ten minutes."""
    await ctx.run([sys.executable, "-c", PROGRAM])
    return "done"

if __name__ == "__main__":
    server.run()
'''


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("HOLDFAST")}
    return {**kept, "HOLDFAST_STATE_DIR": str(tmp_path / "state"), "PYTHONWARNINGS": "error"}


@pytest.fixture
def cli(
    tmp_path: Path,
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Cli:
    """Run `holdfast` with these arguments in this process, which then forgets what it imported."""

    def run(*arguments: str, env: dict[str, str] | None = None, cwd: Path = tmp_path, input: str = "") -> Any:  # noqa: A002
        with monkeypatch.context() as patch, forgotten_modules(tmp_path):
            for name in [name for name in os.environ if name.startswith("HOLDFAST")]:
                patch.delenv(name)
            for name, value in {**environment, **(env or {})}.items():
                patch.setenv(name, value)
            patch.chdir(cwd)
            patch.setattr(sys, "path", list(sys.path))
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(input.encode())))
            capfd.readouterr()
            # Streams on the real descriptors, as in a process of its own.
            with open(1, "w", closefd=False) as stdout, open(2, "w", closefd=False, buffering=1) as stderr:
                patch.setattr(sys, "stdout", stdout)
                patch.setattr(sys, "stderr", stderr)
                code = main(list(arguments))
        printed = capfd.readouterr()
        return subprocess.CompletedProcess(arguments, code, printed.out, printed.err)

    return run


@contextlib.contextmanager
def forgotten_modules(place: Path) -> Iterator[None]:
    before = set(sys.modules)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(place)):
                del sys.modules[name]


@pytest.fixture
def program(tmp_path: Path, environment: dict[str, str]) -> Cli:
    """Run `holdfast` with these arguments to its end in a process of its own, in `tmp_path`."""

    def run(*arguments: str, **options: Any) -> "subprocess.CompletedProcess[str]":
        options.setdefault("cwd", tmp_path)
        env = {**environment, **options.pop("env", {})}
        return subprocess.run(
            [sys.executable, "-m", "holdfast", *arguments],
            capture_output=True, text=True, timeout=30, env=env, check=False, **options,
        )  # fmt: skip

    return run


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    file = tmp_path / "shop.py"
    file.write_text(SERVER)
    return file
