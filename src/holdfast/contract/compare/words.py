"""What changed in the words and the life of a tool: they steer models and people, so each change is shown."""

import datetime as dt
from collections.abc import Iterator
from typing import Any

from holdfast.contract.compare.changes import Change, change

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
    "reserved": ("meta.changed", "/reserved", "reserved arguments"),
    "meta": ("meta.changed", "/_meta", "_meta"),
}
_SHOWN = 60


def word_changes(old: Facets, new: Facets, *, strict: bool) -> Iterator[Change]:
    """What the tool says differently."""
    for facet, (rule, path, what) in _WORDS.items():
        if facet in old and facet in new and old[facet] != new[facet]:
            if isinstance(old[facet], dict) and isinstance(new[facet], dict):
                yield from _by_key(rule, path, old[facet], new[facet], strict=strict)
                continue
            yield change(rule, path, f"{what} {_shown(old[facet])} -> {_shown(new[facet])}", strict=strict)
    before, after = old.get("others", {}), new.get("others", {})
    yield from _by_key("meta.changed", "", before, after, strict=strict)


def _by_key(rule: str, path: str, old: Facets, new: Facets, *, strict: bool) -> Iterator[Change]:
    for key in sorted(old.keys() | new.keys()):
        if old.get(key) != new.get(key):
            place = f"{path}/{key.replace('~', '~0').replace('/', '~1')}"
            yield change(rule, place, f"{key} {_shown(old.get(key))} -> {_shown(new.get(key))}", strict=strict)


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
    then, now = sunset_of(before), sunset_of(after)
    is_earlier = bool(then and now and now < then and len(then) == len(now) == len("2026-01-01"))
    return "lifecycle.sunset_moved_earlier" if is_earlier else "lifecycle.deprecation_changed"


def sunset_of(deprecated: Any) -> str:
    """The date or version from which on a deprecated tool may be gone; empty where none was announced."""
    told = deprecated if isinstance(deprecated, dict) else {}
    sunset = told.get("removal", told.get("sunset"))
    return sunset if isinstance(sunset, str) else ""


def is_sunset(deprecated: Any, today: dt.date, version: tuple[int, ...] | None) -> bool:
    """Whether the announced end of a deprecated tool has come; without an announcement it has."""
    sunset = sunset_of(deprecated)
    if not sunset:
        return True
    try:
        return dt.date.fromisoformat(sunset) <= today
    except ValueError:
        numbers = tuple(int(part) for part in sunset.split("-")[0].split(".") if part.isdigit())
        return version is not None and version >= numbers


def _shown(value: Any) -> str:
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
