"""What a filter can ask of a chunk, from what the store keeps of it: one source for every backend."""

import os
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

__all__ = ["fact_pairs"]

_NO_DEFINITIONS = frozenset({"module", "block"})
_LONGEST = 4000  # characters of a value that is filtered by


def fact_pairs(
    mode: str, kind: str, name: str, language: str, path: str, details: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """(name, value) of everything that is known of a chunk; some names are never filtered by."""
    yield "mode", mode
    yield "kind", kind
    # Code inside of another file has a language of its own, and is found by that of the file as well.
    yield from (("lang", one) for one in dict.fromkeys((language, details.get("language", language))))
    yield "ext", os.path.splitext(path)[1].lower()
    if mode == "code" and kind not in _NO_DEFINITIONS:
        for symbol in name.split(", "):  # of one statement that declares several
            yield "symbol", symbol[:_LONGEST]
    if details["signature"]:
        yield "signature", details["signature"][:_LONGEST]
    if details["visibility"]:
        yield "visibility", details["visibility"]
    for flag in details["flags"]:
        yield "flag", flag
    for name, values in details["facts"].items():
        for value in values:
            yield name, value[:_LONGEST]
    for link in details.get("risk", {}).get("links", ()):  # functions that are looked at together
        yield "risk_links", link[:_LONGEST]
    for key, value in _flat(details.get("record") or {}):
        yield "record", f"{key}={value}"[:_LONGEST]


def _flat(record: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, str]]:
    """The fields of a record as `meta` names them: dotted, each element of a list by itself."""
    for key, value in record.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            yield name, orjson.dumps(value).decode()
            yield from _flat(value, f"{name}.")
        else:
            for element in value if isinstance(value, list) else [value]:
                yield name, element if isinstance(element, str) else orjson.dumps(element).decode()
                if isinstance(element, dict):
                    yield from _flat(element, f"{name}.")
