"""Which public names of a product a piece of code uses, in languages that are not taken apart further.

A name counts where it cannot well be anything else: it is written like a name of code, or called, or behind the
package that it belongs to.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["is_meant", "used_names"]

_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_SHORTEST = 3


def used_names(code: str, symbols: Iterable[Mapping[str, Any]], packages: Iterable[str]) -> list[str]:
    """The full names of what is used, without members."""
    words = set(_WORD.findall(code))
    owners = {re.split(r"[/.:]", package)[-1] for package in packages}
    found = []
    for symbol in symbols:
        name = symbol["name"]
        if symbol.get("parent") or symbol["kind"] == "module" or name not in words or len(name) < _SHORTEST:
            continue
        if is_meant(code, name, owners):
            found.append(symbol["qualified_name"])
    return sorted(found)


def is_meant(code: str, name: str, owners: set[str]) -> bool:
    """Whether a piece of code uses this name of a package that is called one of `owners`."""
    plain = re.escape(name)
    if any(re.search(rf"\b{re.escape(owner)}(?:\.|::){plain}\b", code) for owner in owners):
        return True
    if re.search(
        rf"(?<![\w.]){plain}!?\s*[(<]|\{{[^{{}}]*\b{plain}\b[^{{}}]*\}}\s*(?:=|from)|\bimport\s+{plain}\b", code
    ):
        return True
    return name[:1].isupper() and re.search(rf"(?<![\w.\"']){plain}\b(?!\s*[\"'])", code) is not None
