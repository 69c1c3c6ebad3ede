"""What changed in the words and the life of a tool: they steer models and people, so each change is shown."""

import datetime as dt
from collections.abc import Iterator
from typing import Any

from holdfast.contract.compare.changes import Change, change
from holdfast.contract.compare.places import escaped
from holdfast.contract.compare.versions import numbers_of

__all__ = ["is_sunset", "life_changes", "sunset_of", "word_changes"]

Facets = dict[str, Any]

# Facet -> rule, path and what to call it.
_WORDS = {
    "description": ("text.description_changed", "/description", "description"),
    "title": ("text.title_changed", "/title", "title"),
    "security": ("text.security_changed", "/security", "security note"),
    "examples": ("text.examples_changed", "/examples", "examples"),
    "outputExample": ("text.examples_changed", "/outputExample", "example of an answer"),
    "icons": ("text.icons_changed", "/icons", "icons"),
    "normalization": ("normalization.changed", "/normalization", "normalization"),
    "isolate": ("operation.isolation_changed", "/isolate", "isolation"),
    "idempotency": ("meta.changed", "/idempotency", "idempotency"),
    "reserved": ("meta.changed", "/reserved", "reserved arguments"),
    "meta": ("meta.changed", "/_meta", "_meta"),
}
_LONGEST = 60  # characters of each side that are shown
_BEFORE = 20  # of them in front of the first difference


def word_changes(old: Facets, new: Facets, *, strict: bool) -> Iterator[Change]:
    """What the tool says differently."""
    for facet, (rule, path, what) in _WORDS.items():
        if facet in old and facet in new and old[facet] != new[facet]:
            if isinstance(old[facet], dict) and isinstance(new[facet], dict):
                yield from _by_key(rule, path, old[facet], new[facet], strict=strict)
                continue
            yield change(rule, path, _told(what, old[facet], new[facet]), strict=strict)
    before, after = old.get("others") or {}, new.get("others") or {}
    yield from _by_key("meta.changed", "", before, after, strict=strict)


def _by_key(rule: str, path: str, old: Facets, new: Facets, *, strict: bool) -> Iterator[Change]:
    for key in sorted(old.keys() | new.keys()):
        if old.get(key) != new.get(key):
            place = f"{path}/{escaped(key)}"
            yield change(rule, place, _told(key, old.get(key), new.get(key)), strict=strict)


def life_changes(old: Facets, new: Facets, *, strict: bool) -> Iterator[Change]:
    """What changed in the deprecation of the tool, and in its older names."""
    before, after = old.get("deprecated"), new.get("deprecated")
    if not before and after:
        said = after.get("replacement") if isinstance(after, dict) else None
        what = f"deprecated, use {said}" if said else "deprecated"
        yield change("lifecycle.deprecated", "/deprecated", what, strict=strict)
    elif before and not after:
        yield change("lifecycle.undeprecated", "/deprecated", "no longer deprecated", strict=strict)
    elif before and before != after:
        yield change(_deprecation_rule(before, after), "/deprecated", "deprecation", strict=strict)


def _deprecation_rule(before: Any, after: Any) -> str:
    """Time that was announced is a promise: it may grow, and shrink only by being said to."""
    then, now = _end(sunset_of(before)), _end(sunset_of(after))
    if not sunset_of(before) or then == now:
        return "lifecycle.deprecation_changed"
    is_later = then is not None and now is not None and then[0] == now[0] and now[1:] > then[1:]
    return "lifecycle.deprecation_changed" if is_later else "lifecycle.sunset_moved_earlier"


def sunset_of(deprecated: Any) -> str:
    """The date or version from which on a deprecated tool may be gone; empty where none was announced."""
    told = deprecated if isinstance(deprecated, dict) else {}
    sunset = told.get("removal") or told.get("sunset")
    return sunset if isinstance(sunset, str) else "" if sunset is None else str(sunset)


def _end(sunset: str) -> tuple[str, int, int, int] | None:
    """When a tool may be gone, as a day or as a version; None for what is neither."""
    try:
        day = dt.date.fromisoformat(sunset)
    except ValueError:
        numbers = numbers_of(sunset)
        return None if numbers is None else ("version", *numbers)
    return ("day", day.year, day.month, day.day)


def is_sunset(deprecated: Any, today: dt.date, version: tuple[int, int, int] | None) -> bool:
    """Whether the announced end of a deprecated tool has come; without an announcement it has."""
    if not sunset_of(deprecated):
        return True
    end = _end(sunset_of(deprecated))
    if end is None:
        return False  # nobody can say when it comes
    if end[0] == "day":
        return dt.date(*end[1:]) <= today
    return version is not None and version >= end[1:]


def _told(what: str, before: Any, after: Any) -> str:
    """Both sides around the first place where they differ, so that no change hides behind a long beginning."""
    old, new = _text(before), _text(after)
    pairs = enumerate(zip(old, new, strict=False))
    at = next((at for at, (one, other) in pairs if one != other), min(len(old), len(new)))
    start = max(0, at - _BEFORE) if max(len(old), len(new)) > _LONGEST else 0
    return f"{what} {_cut(old, start)} -> {_cut(new, start)}"


def _text(value: Any) -> str:
    return repr(value) if isinstance(value, str) else str(value)


def _cut(text: str, start: int) -> str:
    end = start + _LONGEST
    return f"{'...' if start else ''}{text[start:end]}{'...' if end < len(text) else ''}"
