"""The name of a server that nobody has named, taken from its command: what a person would call it."""

import os
import re
from collections.abc import Sequence

__all__ = ["server_name"]

_RUNNERS = frozenset(
    {
        "npx", "bunx", "pnpx", "uvx", "pipx", "node", "bun", "deno", "python", "python3", "pypy", "ruby", "perl",
        "php", "java", "uv", "docker", "podman", "sh", "bash", "env",
    }
)  # fmt: skip
_VERBS = frozenset({"run", "exec", "tool", "dlx", "serve"})
_VERSION = re.compile(r"(?<=[A-Za-z0-9_.-])@[^/]*$")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def server_name(command: Sequence[str]) -> str:
    """`everything` for `npx -y @scope/server-everything`, `shop` for `python -m shop`, `notes` for `notes.py`."""
    words = [word for word in command if not word.startswith("-") and "=" not in word.split("/")[0]]
    named = [word for word in words if not _is_runner(word) and word not in _VERBS]
    chosen = named[0] if named else os.path.basename(command[0])
    bare = os.path.basename(_VERSION.sub("", chosen).rstrip("/"))
    stem = re.sub(r"\.(py|js|mjs|cjs|ts|jar|sh|rb|php|exe)$", "", bare)
    stem = re.sub(r":[A-Za-z0-9_.]*$", "", stem)
    short = re.sub(r"^(mcp-server-|server-|mcp-)(?=.)", "", stem)
    return _UNSAFE.sub("-", short).strip("-.")[:60] or "server"


def _is_runner(word: str) -> bool:
    return re.sub(r"[\d.]+$", "", os.path.basename(word)) in _RUNNERS or os.path.basename(word) in _RUNNERS
