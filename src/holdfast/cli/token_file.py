"""The file that says who may ask over HTTP, and for which tools: one table per token.

[[token]]
name = "ci"
sha256 = "…"            # or token = "…", in a file that only its owner can read
tools = ["search", "index_*"]   # patterns; without them the token is for every tool
"""

import os
import re
import stat
from pathlib import Path
from typing import Any

from holdfast.errors import UsageError

__all__ = ["SHORTEST", "read_token_file"]

SHORTEST = 16  # characters: fewer can be guessed

_DIGEST = re.compile(r"[0-9a-fA-F]{64}")
_NAME = re.compile(r"[\w.-]{1,64}", re.ASCII)
_PATTERN = re.compile(r"[\w.*?\[\]!/-]{1,128}", re.ASCII)
_KEYS = frozenset({"name", "sha256", "token", "tools"})
_LARGEST = 1024 * 1024
_LONGEST = 4096
_EXAMPLE = (
    'each is [[token]] with name = "ci", and sha256 = "..." or token = "...", and perhaps tools = ["search"]'
)


def read_token_file(path: Path) -> list[dict[str, Any]]:
    """The tokens of a file, as digests; UsageError, which never shows one, where it cannot be used."""
    from holdfast.settings.toml import TomlRefused, parse_toml

    try:
        with path.open("rb") as file:
            others = file.seek(0) == 0 and bool(os.fstat(file.fileno()).st_mode & (stat.S_IRWXG | stat.S_IRWXO))
            raw = file.read(_LARGEST + 1)
        text = raw.decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not plain text"
        raise UsageError(f"tokens cannot be read from {path}: {reason}", remedy="correct the path") from None
    if len(raw) > _LARGEST:
        raise UsageError(f"{path} is too large for a file of tokens", remedy="name the right file")
    try:
        tables = parse_toml(text)
    except TomlRefused as error:
        # Without the reason: a part of the text may be in it.
        raise UsageError(f"{path} cannot be read as TOML", remedy=_EXAMPLE) from error.__cause__
    listed = tables.get("token")
    if set(tables) != {"token"} or not isinstance(listed, list) or not listed:
        raise _refusal(path, "it does not list tokens")
    tokens = [_token(path, place, table) for place, table in enumerate(listed, 1)]
    if len({token["name"] for token in tokens}) != len(tokens):
        raise _refusal(path, "two tokens have the same name")
    if len({token["digest"] for token in tokens}) != len(tokens):
        raise _refusal(path, "one token stands there under two names")
    if others and any("token" in table for table in listed):
        raise UsageError(
            f"{path} holds tokens in plain text, and others than its owner can read it",
            remedy=f"chmod 600 {path}, or write sha256 in place of token",
        )
    return tokens


def _token(path: Path, place: int, table: Any) -> dict[str, Any]:
    from holdfast.api.callers import digest_of_token

    if not isinstance(table, dict) or not set(table) <= _KEYS or ("token" in table) == ("sha256" in table):
        raise _refusal(path, f"token {place} has other keys than those")
    name, tools = table.get("name"), table.get("tools")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise _refusal(path, f"token {place} has no name of letters, digits, dots and dashes")
    digest = table.get("sha256")
    if digest is None:
        plain = table["token"]
        is_word = isinstance(plain, str) and plain.isascii() and plain.isprintable() and " " not in plain
        if not is_word or not SHORTEST <= len(plain) <= _LONGEST:
            raise _refusal(path, f"the token {name} is not one word of at least {SHORTEST} plain characters")
        digest = digest_of_token(plain)
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise _refusal(path, f"the sha256 of {name} is not 64 hexadecimal digits")
    is_list = isinstance(tools, list) and all(isinstance(one, str) and _PATTERN.fullmatch(one) for one in tools)
    if tools is not None and not is_list:
        raise _refusal(path, f"the tools of {name} are not a list of names or patterns")
    return {"name": name, "digest": digest.lower(), **({} if tools is None else {"tools": tools})}


def _refusal(path: Path, problem: str) -> UsageError:
    return UsageError(f"{path} cannot be used as a file of tokens: {problem}", remedy=_EXAMPLE)
