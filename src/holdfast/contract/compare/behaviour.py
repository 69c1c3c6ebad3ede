"""What changed in how a tool behaves, beside its schemas: hints, effect, state, errors, limits, needs.

Each function compares one facet that both sides state, and yields what it finds; None is a facet that was left out
by a document that could have stated it.
"""

from collections.abc import Callable, Iterator
from typing import Any

from holdfast.contract.compare.changes import Change, change
from holdfast.contract.compare.facets import HINTS, headers
from holdfast.contract.compare.places import escaped
from holdfast.vocabulary.effects import EffectKind

__all__ = ["behaviour_changes"]

Facets = dict[str, Any]

# Hint -> the value that gives a caller more freedom, and the rules for losing and for gaining that freedom.
_FREEDOM = {
    "readOnlyHint": (True, "annotations.read_only_lost", "annotations.read_only_gained"),
    "destructiveHint": (False, "annotations.destructive_gained", "annotations.destructive_lost"),
    "openWorldHint": (False, "annotations.open_world_gained", "annotations.open_world_lost"),
    "idempotentHint": (True, "annotations.idempotent_lost", "annotations.idempotent_gained"),
}
_AUTHORITY = [kind.value for kind in EffectKind]  # from the least freedom to repeat to the most
_PINNED = frozenset({"generation_pinned", "pinned"})


def behaviour_changes(old: Facets, new: Facets, *, strict: bool) -> Iterator[Change]:
    """Everything that changed in facets that both sides state."""
    for facets, compare in _COMPARED:
        if all(facet in old and facet in new for facet in facets):
            yield from compare(old, new, strict)


def _annotations(old: Facets, new: Facets, strict: bool) -> Iterator[Change]:
    before, after = old["annotations"], new["annotations"]
    for hint, (free, lost, gained) in _FREEDOM.items():
        if before.get(hint) == after.get(hint) or (hint == "idempotentHint" and _tells_effect(old, new)):
            continue
        what = f"{hint} {_word(before.get(hint))} -> {_word(after.get(hint))}"
        rule = lost if before.get(hint) == free else gained
        yield change(rule, f"/annotations/{hint}", what, strict=strict)
    for name in sorted((before.keys() | after.keys()) - HINTS.keys()):
        if before.get(name) != after.get(name):
            yield change("annotations.other_changed", f"/annotations/{escaped(name)}", name, strict=strict)


def _tells_effect(old: Facets, new: Facets) -> bool:
    """Whether a changed effect says the same as the hint, and more exactly."""
    before, after = old.get("effect"), new.get("effect")
    return before is not None and after is not None and before.get("kind") != after.get("kind")


def _effect(old: Facets, new: Facets, strict: bool) -> Iterator[Change]:
    before, after = old["effect"], new["effect"]
    if before is None or after is None:
        if before is not after:
            rule = "effect.declared" if before is None else "effect.undeclared"
            yield change(rule, "/effect", "effect", strict=strict)
        return
    ranks = [_rank(effect.get("kind")) for effect in (before, after)]
    what = f"effect {before.get('kind')} -> {after.get('kind')}"
    if ranks[0] != ranks[1]:
        rule = "effect.authority_lowered" if ranks[1] < ranks[0] else "effect.authority_raised"
        yield change(rule, "/effect", what, strict=strict)
        return
    for key in ("key", "probe"):
        if before.get(key) != after.get(key):
            what = f"{key} {before.get(key)} -> {after.get(key)}"
            yield change(f"effect.{key}_changed", f"/effect/{key}", what, strict=strict)
    for key in sorted((before.keys() | after.keys()) - {"kind", "key", "probe"}):
        if before.get(key) != after.get(key):
            yield change("meta.changed", f"/effect/{escaped(key)}", key, strict=strict)


def _rank(kind: Any) -> int:
    return _AUTHORITY.index(kind) if kind in _AUTHORITY else 0  # an unknown word allows no repetition


def _state(old: Facets, new: Facets, strict: bool) -> Iterator[Change]:
    before, after = old["state"], new["state"]
    if before == after:
        return
    if after is None:
        rule = "effect.undeclared"
    elif after in _PINNED:
        rule = "state.pinned"
    elif before in _PINNED or after == "stateless":
        rule = "state.freed"
    else:
        rule = "state.kept"
    yield change(rule, "/sessionState", f"state {before} -> {after}", strict=strict)


def _errors(old: Facets, new: Facets, strict: bool) -> Iterator[Change]:
    before, after = old["errors"] or {}, new["errors"] or {}
    for code in sorted(before.keys() - after.keys()):
        yield change("error.code_removed", f"/errors/{escaped(code)}", f"error code {code}", strict=strict)
    for code in sorted(after.keys() - before.keys()):
        yield change("error.code_added", f"/errors/{escaped(code)}", f"error code {code}", strict=strict)
    for code in sorted(before.keys() & after.keys()):
        then, now = before[code], after[code]
        if any(then.get(key) != now.get(key) for key in ("meaning", "retryable")):
            yield change("error.meaning_changed", f"/errors/{escaped(code)}", f"error code {code}", strict=strict)
        elif then.get("remedy") != now.get("remedy"):
            path = f"/errors/{escaped(code)}/remedy"
            yield change("error.remedy_changed", path, f"error code {code}", strict=strict)
        elif then != now:
            yield change("meta.changed", f"/errors/{escaped(code)}", f"error code {code}", strict=strict)


def _timeout(old: Facets, new: Facets, strict: bool) -> Iterator[Change]:
    yield from _limit("timeoutMs", "/timeoutMs", old["timeoutMs"], new["timeoutMs"], strict)


def _limits(old: Facets, new: Facets, strict: bool) -> Iterator[Change]:
    before, after = (item if isinstance(item, dict) else {} for item in (old["limits"], new["limits"]))
    for name in sorted(before.keys() | after.keys()):
        # A limit that is not listed does not exist, which is what 0 says elsewhere.
        yield from _limit(name, f"/limits/{escaped(name)}", before.get(name, 0), after.get(name, 0), strict)


def _limit(name: str, path: str, before: Any, after: Any, strict: bool) -> Iterator[Change]:
    if before == after:
        return
    what = f"{name} {_size(before)} -> {_size(after)}"
    if not isinstance(before, int | float) or not isinstance(after, int | float):
        yield change("limit.unknown", path, what, strict=strict)
        return
    is_tighter = bool(after) and (not before or after < before)  # 0 is no limit at all
    yield change("limit.tightened" if is_tighter else "limit.relaxed", path, what, strict=strict)


def _size(value: Any) -> str:
    return "the server's default" if value is None else "no limit" if value == 0 else str(value)


def _requires(old: Facets, new: Facets, strict: bool) -> Iterator[Change]:
    before, after = (set(map(str, item)) if isinstance(item, list) else set()
                     for item in (old.get("requires"), new.get("requires")))  # fmt: skip
    for name in sorted(after - before):
        yield change("requires.added", f"/requires/{escaped(name)}", name, strict=strict)
    for name in sorted(before - after):
        yield change("requires.removed", f"/requires/{escaped(name)}", name, strict=strict)


def _headers(old: Facets, new: Facets, strict: bool) -> Iterator[Change]:
    before, after = headers(old["input"]), headers(new["input"])
    for place in sorted(before.keys() | after.keys()):
        if before.get(place) != after.get(place):
            what = f"header of {place}: {before.get(place, 'none')} -> {after.get(place, 'none')}"
            path = f"/inputSchema{place.replace('/', '/properties/')}/x-mcp-header"
            yield change("header.changed", path, what, strict=strict)


def _task(old: Facets, new: Facets, strict: bool) -> Iterator[Change]:
    before, after = old["taskSupport"], new["taskSupport"]
    if before != after:
        word = after if after in {"required", "optional"} else "forbidden"
        yield change(f"task.{word}", "/execution/taskSupport", f"tasks {before} -> {after}", strict=strict)


def _content(old: Facets, new: Facets, strict: bool) -> Iterator[Change]:
    before, after = ([str(kind) for kind in item] if isinstance(item, list) else []
                     for item in (old["content"], new["content"]))  # fmt: skip
    for kind in [kind for kind in before if kind not in after]:
        yield change("result.content_removed", "/content", kind, strict=strict)
    for kind in [kind for kind in after if kind not in before]:
        yield change("result.content_added", "/content", kind, strict=strict)
    kept = [kind for kind in after if kind in before]
    if kept != [kind for kind in before if kind in after]:
        what = f"content blocks {', '.join(before)} -> {', '.join(after)}"
        yield change("result.content_reordered", "/content", what, strict=strict)


def _render(old: Facets, new: Facets, strict: bool) -> Iterator[Change]:
    if old["render"] != new["render"]:
        yield change("result.presentation_changed", "/render", "presentation", strict=strict)


def _word(value: Any) -> str:
    return {True: "true", False: "false"}.get(value, str(value))


_COMPARED: tuple[tuple[tuple[str, ...], Callable[[Facets, Facets, bool], Iterator[Change]]], ...] = (
    (("annotations",), _annotations),
    (("effect",), _effect),
    (("state",), _state),
    (("errors",), _errors),
    (("timeoutMs",), _timeout),
    (("limits",), _limits),
    ((), _requires),
    (("input",), _headers),
    (("taskSupport",), _task),
    (("content",), _content),
    (("render",), _render),
)
