"""Bytes to the JSON document of a surface or a lock, read with distrust.

Such a file comes from a repository, from somebody's pipe or from a merge gone wrong: size, encoding, nesting,
repeated keys and half a file each end in one sentence with a remedy.
"""

from typing import Any

from holdfast.errors import ContractError, WireError
from holdfast.wire.codec import BOM, decode

__all__ = ["LOCK_REMEDY", "MAX_BYTES", "UnreadableError", "read_json"]

# `lock` goes on from the lock that is there, so it refuses a broken one as well: a whole one must come first.
LOCK_REMEDY = (
    "take a whole one first, such as with `git checkout HEAD -- FILE` (in a merge also `--ours` or `--theirs` for "
    "HEAD), then run `holdfast contract lock`"
)

MAX_BYTES = 64 * 1024 * 1024
_MAX_DEPTH = 512
_CONFLICT = b"<<<<<<< "


class UnreadableError(ContractError):
    """A document that should describe a surface does not, or cannot be got at."""


def read_json(data: bytes, source: str, *, is_lock: bool = False) -> Any:
    """The JSON value of `data`; `source` is how the person who named it calls it."""
    remedy = LOCK_REMEDY if is_lock or ".lock." in source else "write it again with `holdfast contract snapshot`"
    if len(data) > MAX_BYTES:
        raise UnreadableError(
            f"{source} is larger than {MAX_BYTES // 1024 // 1024} MiB", remedy="name the file of one surface"
        )
    text = data.removeprefix(BOM)
    if not text.strip():
        raise UnreadableError(f"{source} is empty", remedy=remedy)
    if any(line.startswith(_CONFLICT) for line in text.splitlines()):
        raise UnreadableError(f"{source} holds the marks of a merge conflict", remedy=remedy)
    if b"\0" in text:
        raise UnreadableError(f"{source} is a binary file, not JSON", remedy=remedy)
    try:
        return decode(text, max_depth=_MAX_DEPTH)
    except WireError as error:
        raise UnreadableError(f"{source} is not JSON: {error.message}", remedy=remedy) from error
