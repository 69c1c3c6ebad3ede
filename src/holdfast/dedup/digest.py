"""The digest of a call's arguments: equal exactly when the arguments are the same JSON value.

The order of keys does not count; everything else does: 1, 1.0, true and "1" are four values. Digests are kept on
disk, so their form must never depend on the version of a library: numbers are written as Python writes them.
"""

import hashlib
import json
from typing import Any

from holdfast.errors import UsageError
from holdfast.wire.codec import refuse_unsayable

__all__ = ["digest_of"]

_CANONICAL = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


def digest_of(arguments: Any) -> str:
    """SHA-256, in hexadecimal, of the canonical form of a JSON value; UsageError for anything else."""
    try:
        canonical = _CANONICAL.encode(arguments).encode()
        refuse_unsayable(arguments)  # keys such as 1, true and null, which the encoder turns into texts
    except (TypeError, ValueError, RecursionError) as error:  # a lone surrogate is a ValueError too
        raise UsageError(
            f"the arguments are not a JSON value: {error}",
            remedy="pass what the caller sent: texts, finite numbers, booleans, null, lists and objects",
        ) from error
    return hashlib.sha256(canonical).hexdigest()
