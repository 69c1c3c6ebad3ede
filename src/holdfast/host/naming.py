"""What a server is called, and what tells it from every other: both are taken from its command.

The name is for people; two servers may well share one. The identity is for what must not be shared.
"""

import hashlib
import json
import os
import re
from collections.abc import Sequence

from holdfast.process.containers import container_engine

__all__ = ["legible", "server_identity", "server_name"]

_RUNNERS = frozenset(
    {
        "npx", "bunx", "pnpx", "uvx", "pipx", "node", "bun", "deno", "python", "python3", "pypy", "ruby", "perl",
        "php", "java", "uv", "docker", "podman", "sh", "bash", "env",
    }
)  # fmt: skip
_VERBS = frozenset({"run", "exec", "tool", "dlx", "serve"})
# Options of `docker run` that stand alone; all others that have no `=` are followed by their value.
_CONTAINER_SWITCHES = frozenset(
    {
        "--detach", "--disable-content-trust", "--help", "--init", "--interactive", "--no-healthcheck",
        "--no-hosts", "--oom-kill-disable", "--privileged", "--publish-all", "--quiet", "--read-only", "--replace",
        "--rm", "--rmi", "--sig-proxy", "--tls-verify", "--tty",
    }
)  # fmt: skip
_CONTAINER_LETTERS = frozenset("diPqt")  # of these, several may be written as one: `-it`
_VERSION = re.compile(r"(?<=[A-Za-z0-9_.-])@[^/]*$")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def server_name(command: Sequence[str]) -> str:
    """`everything` for `npx -y @scope/server-everything`, `shop` for `python -m shop`, `notes` for `notes.py`."""
    bare = os.path.basename(_VERSION.sub("", _word_for(command)).rstrip("/"))
    stem = re.sub(r":[A-Za-z0-9_.-]*$", "", bare)  # an object in a file, or the tag of an image
    stem = re.sub(r"\.(py|js|mjs|cjs|ts|jar|sh|rb|php|exe)$", "", stem)
    short = re.sub(r"^(mcp-server-|server-|mcp-)(?=.)", "", stem)
    return _UNSAFE.sub("-", short).strip("-.")[:60] or "server"


def server_identity(command: Sequence[str]) -> str:
    """A short digest of what is run here: the program that is found, every argument, and the directory.

    The environment is no part of it: most of it is another one in every session.
    """
    try:
        here = os.getcwd()
    except FileNotFoundError:  # deleted under us; relative paths lead nowhere then
        here = ""
    text = json.dumps([_program(command[0]), *command, here])  # bytes that are no text become escapes
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _program(word: str) -> str:
    """Where the program is; links are not followed, since that of an environment says which one is meant."""
    if not os.path.dirname(word):
        for directory in os.get_exec_path():
            found = os.path.join(directory, word)
            if os.path.isfile(found) and os.access(found, os.X_OK):
                return os.path.abspath(found)
    return word  # a path is relative to the directory, which is part of the identity


def legible(text: str) -> str:
    """The text with bytes in it that are no UTF-8 written as escapes, so that it can be told to anybody."""
    return text.encode("utf-8", "backslashreplace").decode()


def _word_for(command: Sequence[str]) -> str:
    """The word of a command that says what it is about."""
    engine = container_engine(command)
    if engine is not None:
        image = _image(command[command.index("run", len(engine)) + 1 :])
        if image:
            return image
    words = [word for word in command if not word.startswith("-") and "=" not in word.split("/")[0]]
    named = [word for word in words if not _is_runner(word) and word not in _VERBS]
    return named[0] if named else os.path.basename(command[0])


def _image(words: Sequence[str]) -> str:
    """The image among what stands behind `docker run`; empty where there is none."""
    rest = iter(words)
    for word in rest:
        if not word.startswith("-"):
            return word
        alone = word in _CONTAINER_SWITCHES or (word[1:2] != "-" and _CONTAINER_LETTERS.issuperset(word[1:]))
        if not alone and "=" not in word and (word.startswith("--") or len(word) == 2):
            next(rest, None)  # `-eNAME` has its value in itself
    return ""


def _is_runner(word: str) -> bool:
    return (
        re.sub(r"(?<![\d.])[\d.]+$", "", os.path.basename(word)) in _RUNNERS or os.path.basename(word) in _RUNNERS
    )
