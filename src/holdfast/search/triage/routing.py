"""What a caller adds to findings: who has to deal with them, who can reach them, and notes of their own."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from holdfast.search.request_schema import Violation, violation
from holdfast.search.triage.fields import LINE, Fields, as_text
from holdfast.search.triage.generic import exposure_of
from holdfast.search.triage.record import ROUTING, empty_exposure

__all__ = ["Additions", "additions"]

_LONGEST = 65_536  # bytes of it all as JSON
_EXPOSURE = {name.lower(): name for name in empty_exposure()}
_PREFIX = "exposure."


@dataclass(frozen=True, slots=True)
class Additions:
    """What `meta` says: known names in their places, and all others as they are."""

    routing: dict[str, str] = field(default_factory=dict)
    exposure: dict[str, Any] = field(default_factory=dict)
    other: dict[str, Any] = field(default_factory=dict)


def additions(meta: Mapping[str, Any] | None) -> tuple[Additions, list[Violation]]:
    """The meaning of `meta`, and everything that is wrong with it.

    `service`, `env`, `team`, `owner` and `repo` are texts. What can be said of the exposure is said by its plain
    name, as `exposure.<name>`, or inside of an object `exposure`.
    """
    if not meta:
        return Additions(), []
    if not isinstance(meta, Mapping):
        return Additions(), [_wrong("", "type", "must be an object")]
    found = list(_unsayable(meta))
    if found:
        return Additions(), found
    added = Additions()
    for name, value in _flat(meta):
        plain = name.removeprefix(_PREFIX)
        if name in ROUTING:
            found.extend(_add_route(added, name, value))
        elif plain.lower() in _EXPOSURE:
            found.extend(_add_exposure(added, _EXPOSURE[plain.lower()], value))
        elif name.startswith(_PREFIX):
            found.append(_wrong(name, "enum", f"must be one of {', '.join(_EXPOSURE.values())}"))
        elif value is not None:
            added.other[name] = value
    return added, found


def _flat(meta: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The entries, those of an object `exposure` under their long names."""
    pairs: list[tuple[str, Any]] = []
    for name, value in meta.items():
        if name == "exposure" and isinstance(value, Mapping):
            pairs += [(f"{_PREFIX}{key}", item) for key, item in value.items()]
        else:
            pairs.append((name, value))
    return pairs


def _add_route(added: Additions, name: str, value: Any) -> list[Violation]:
    if value is None:
        return []
    text = as_text(value, LINE)
    if not text:
        return [_wrong(name, "type", "must be a text that is not blank")]
    added.routing[name] = text
    return []


def _add_exposure(added: Additions, name: str, value: Any) -> list[Violation]:
    if value is None:
        return []
    read = exposure_of(Fields({name: value}))[name]
    if read is None or (read == [] and value != []):
        wanted = {"internetExposed": "true or false", "compensatingControls": "a list of texts"}
        return [_wrong(f"{_PREFIX}{name}", "type", f"must be {wanted.get(name, 'a text')}")]
    added.exposure[name] = read
    return []


def _unsayable(meta: Mapping[str, Any]) -> list[Violation]:
    try:
        written = orjson.dumps(dict(meta))
    except (TypeError, ValueError, RecursionError):
        return [_wrong("", "unicode", "must be JSON in valid Unicode, not too deep")]
    if len(written) > _LONGEST:
        return [_wrong("", "maxLength", f"must have at most {_LONGEST} bytes as JSON")]
    return []


def _wrong(name: str, keyword: str, message: str) -> Violation:
    place = f"/meta/{name}" if name else "/meta"
    return violation(place, "/properties/meta", keyword, {}, message, in_schema=False)
