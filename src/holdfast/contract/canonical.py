"""The canonical form of a JSON value: the same value always gives the same bytes, so files and digests compare.

Not the form of the wire, which is compact and keeps the order of keys.
"""

import hashlib
import json
from typing import Any

from holdfast.errors import ContractError

__all__ = ["canonical_json", "fingerprint"]

_REMEDY = "use only strings, finite numbers, booleans, null, lists, and objects with string keys"


def canonical_json(value: Any) -> bytes:
    """`value` as readable UTF-8 JSON: sorted keys, two spaces of indentation, one newline at the end."""
    return _encode(value, indent=2, separators=(",", ": ")) + b"\n"


def fingerprint(value: Any) -> str:
    """`sha256:` and the digest of the compact canonical form of `value`."""
    return "sha256:" + hashlib.sha256(_encode(value, indent=None, separators=(",", ":"))).hexdigest()


def _encode(value: Any, *, indent: int | None, separators: tuple[str, str]) -> bytes:
    try:
        _check_keys(value)
        text = json.dumps(
            value, sort_keys=True, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators
        )
        return text.encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:  # a lone surrogate is a ValueError too
        raise ContractError(f"not a JSON value: {error}", remedy=_REMEDY) from error


def _check_keys(value: Any) -> None:
    # json.dumps turns 1, True and None into text keys, where they may collide with a key that was text.
    if isinstance(value, dict):
        for key, item in value.items():
            if type(key) is not str:
                raise TypeError(f"the key {key!r} is not a string")
            _check_keys(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _check_keys(item)
