"""What changed beside the tools: prompts, resources, templates, revisions, what the server says of itself.

Between two kinds of documents only what both state is compared: a file with a list of tools says nothing about
prompts. In two documents of one kind, what is missing was left out.
"""

from collections.abc import Iterator
from typing import Any

from holdfast.contract.compare.changes import Change, change
from holdfast.contract.compare.envelope import envelope_changes
from holdfast.contract.compare.places import escaped
from holdfast.contract.compare.view import SurfaceView
from holdfast.contract.inclusion.compare import compare_schemas
from holdfast.contract.inclusion.model import Effect

__all__ = ["surrounding_changes"]

_Items = dict[str, dict[str, Any]]
_OWN_RULES = ("values", "subscribable")
# What has a rule of its own, or is no part of what is promised.
_KNOWN = frozenset(
    {
        "snapshotVersion", "source", "schemaVersion", "server", "dialect", "protocolVersions",
        "protocolVersionsComplete", "outputSchemaPublished", "presentationArguments", "presentation",
        "capabilities", "errorSchema", "tools", "prompts", "resources", "resourceTemplates", "fingerprint",
    }
)  # fmt: skip


def surrounding_changes(old: SurfaceView, new: SurfaceView, *, strict: bool) -> Iterator[Change]:
    """Every change of the surface that is not one of its tools."""
    whole = old.kind == new.kind
    yield from _server(old, new, strict=strict)
    yield from _protocol(old, new, strict=strict)
    if whole or (old.capabilities is not None and new.capabilities is not None):
        yield from _capabilities(old.capabilities or {}, new.capabilities or {}, strict=strict)
    if whole or (old.error_schema is not None and new.error_schema is not None):
        yield from envelope_changes(old.error_schema, new.error_schema, strict=strict)
    for kind, before, after in (
        ("resource", old.resources, new.resources),
        ("template", old.templates, new.templates),
    ):
        if whole or (before is not None and after is not None):
            yield from _addresses(kind, *_comparable(before or {}, after or {}, whole=whole), strict=strict)
    if whole or (old.prompts is not None and new.prompts is not None):
        yield from _prompts(*_comparable(old.prompts or {}, new.prompts or {}, whole=whole), strict=strict)
    if whole:
        yield from _others(old.document, new.document, strict=strict)


def _others(old: dict[str, Any], new: dict[str, Any], *, strict: bool) -> Iterator[Change]:
    for key in sorted((old.keys() | new.keys()) - _KNOWN):
        if old.get(key) != new.get(key):
            yield change("meta.changed", f"/{escaped(key)}", key, strict=strict)


def _server(old: SurfaceView, new: SurfaceView, *, strict: bool) -> Iterator[Change]:
    whole = old.kind == new.kind
    if old.name != new.name and (whole or (old.name and new.name)):
        yield change("server.name_changed", "/server/name", f"{old.name} -> {new.name}", strict=strict)
    if old.instructions != new.instructions and (whole or None not in {old.instructions, new.instructions}):
        yield change("text.instructions_changed", "/server/instructions", "instructions", strict=strict)
    if old.dialect != new.dialect and (whole or None not in {old.dialect, new.dialect}):
        what = f"dialect {old.dialect} -> {new.dialect}"
        yield change("result.error_convention_changed", "/dialect", what, strict=strict)
    for key in ("presentationArguments", "presentation"):
        before, after = old.document.get(key), new.document.get(key)
        if before != after and (whole or (key in old.document and key in new.document)):
            what = f"{key} {before} -> {after}"
            yield change("result.presentation_changed", f"/{key}", what, strict=strict)


def _protocol(old: SurfaceView, new: SurfaceView, *, strict: bool) -> Iterator[Change]:
    if (old.protocol is None or new.protocol is None) and old.kind != new.kind:
        return
    before, after = set(old.protocol or ()), set(new.protocol or ())
    if before and after and not (old.protocol_is_whole and new.protocol_is_whole):
        # One side knows only the revision that was settled on, which is the newest that the server speaks.
        if old.protocol_is_whole != new.protocol_is_whole:
            return
        before, after = {max(before)}, {max(after)}
        is_later = max(after) > max(before)
        before, after = (set(), after) if is_later else (before, set() if before != after else after)
    for revision in sorted(before - after):
        yield change(
            "protocol.removed", f"/protocolVersions/{escaped(revision)}", f"MCP {revision}", strict=strict
        )
    for revision in sorted(after - before):
        yield change("protocol.added", f"/protocolVersions/{escaped(revision)}", f"MCP {revision}", strict=strict)


def _capabilities(old: dict[str, Any], new: dict[str, Any], *, strict: bool) -> Iterator[Change]:
    before, after = _flat(old), _flat(new)
    for name in sorted(before - after):
        yield change("capability.removed", f"/capabilities/{name}", f"capability {name}", strict=strict)
    for name in sorted(after - before):
        yield change("capability.added", f"/capabilities/{name}", f"capability {name}", strict=strict)


def _flat(capabilities: dict[str, Any]) -> set[str]:
    """Each capability, and each part of one as CAPABILITY/PART."""
    parts = {f"{name}/{part}" for name, inner in capabilities.items() if isinstance(inner, list) for part in inner}
    return set(capabilities) | parts


def _comparable(before: _Items, after: _Items, *, whole: bool) -> tuple[_Items, _Items]:
    """Both lists; in documents of two kinds only with what both of them say about an entry."""
    if whole:
        return before, after
    then, now = dict(before), dict(after)
    for name in before.keys() & after.keys():
        stated = _stated(before[name]) & _stated(after[name])
        then[name], now[name] = _only(before[name], stated), _only(after[name], stated)
        if "arguments" in stated:
            inner = _comparable(_arguments(before[name]), _arguments(after[name]), whole=False)
            then[name]["arguments"], now[name]["arguments"] = (list(side.values()) for side in inner)
    return then, now


def _stated(entry: dict[str, Any]) -> set[str]:
    return {key for key, value in entry.items() if value is not None}


def _only(entry: dict[str, Any], keys: set[str]) -> dict[str, Any]:
    return {key: entry[key] for key in entry if key in keys}


def _addresses(kind: str, before: _Items, after: _Items, *, strict: bool) -> Iterator[Change]:
    for uri in sorted(before.keys() - after.keys()):
        yield change(f"{kind}.removed", f"/{kind}s/{escaped(uri)}", uri, strict=strict)
    for uri in sorted(after.keys() - before.keys()):
        yield change(f"{kind}.added", f"/{kind}s/{escaped(uri)}", uri, strict=strict)
    for uri in sorted(before.keys() & after.keys()):
        then, now = before[uri], after[uri]
        if then.get("mimeType") != now.get("mimeType"):
            what = f"{uri} {then.get('mimeType')} -> {now.get('mimeType')}"
            yield change(f"{kind}.mime_changed", f"/{kind}s/{escaped(uri)}", what, strict=strict)
        yield from _values(uri, _values_of(then), _values_of(now), strict=strict)
        if bool(then.get("subscribable")) != bool(now.get("subscribable")):
            word = "added" if now.get("subscribable") else "removed"
            yield change(f"{kind}.subscription_{word}", f"/{kind}s/{escaped(uri)}", uri, strict=strict)
        if _without(then, "mimeType", *_OWN_RULES) != _without(now, "mimeType", *_OWN_RULES):
            yield change(f"{kind}.text_changed", f"/{kind}s/{escaped(uri)}", uri, strict=strict)


def _values(uri: str, before: dict[str, Any], after: dict[str, Any], *, strict: bool) -> Iterator[Change]:
    """The values of a template; both have the same names, since these stand in the address."""
    for name in sorted(before.keys() & after.keys()):
        direction = _direction(before[name], after[name])
        if direction:
            path = f"/templates/{escaped(uri)}/{escaped(name)}"
            yield change(f"template.value_{direction}", path, f"value {name} of {uri}", strict=strict)


def _values_of(item: dict[str, Any]) -> dict[str, Any]:
    values = item.get("values")
    return values if isinstance(values, dict) else {}


def _direction(before: Any, after: Any) -> str:
    """Whether fewer values fit, or more; empty where the same do. What is not proven to fit counts as fewer."""
    if before == after or before is None or after is None:
        return ""
    effect = compare_schemas(before, after).effect
    if effect is Effect.EQUAL:
        return ""
    return "widened" if effect is Effect.WIDENS else "narrowed"


def _prompts(before: _Items, after: _Items, *, strict: bool) -> Iterator[Change]:
    for name in sorted(before.keys() - after.keys()):
        yield change("prompt.removed", f"/prompts/{escaped(name)}", f"prompt {name}", strict=strict)
    for name in sorted(after.keys() - before.keys()):
        yield change("prompt.added", f"/prompts/{escaped(name)}", f"prompt {name}", strict=strict)
    for name in sorted(before.keys() & after.keys()):
        then, now = before[name], after[name]
        yield from _prompt_arguments(f"/prompts/{escaped(name)}", _arguments(then), _arguments(now), strict=strict)
        if _without(then, "arguments") != _without(now, "arguments"):
            yield change("prompt.text_changed", f"/prompts/{escaped(name)}", f"prompt {name}", strict=strict)


def _prompt_arguments(path: str, before: _Items, after: _Items, *, strict: bool) -> Iterator[Change]:
    for name in sorted(before.keys() | after.keys()):
        then, now = before.get(name), after.get(name)
        is_required = now is not None and now.get("required") is True
        was_required = then is not None and then.get("required") is True
        rule = ""
        if now is None:
            rule = "prompt.argument_removed"
        elif then is None:
            rule = "prompt.required_argument_added" if is_required else "prompt.argument_added"
        elif is_required != was_required:
            rule = "prompt.argument_became_required" if is_required else "prompt.argument_became_optional"
        elif direction := _direction(then.get("schema"), now.get("schema")):
            rule = f"prompt.argument_{direction}"
        elif _without(then, "required", "schema") != _without(now, "required", "schema"):
            rule = "prompt.text_changed"
        if rule:
            yield change(rule, f"{path}/{escaped(name)}", f"argument {name}", strict=strict)


def _arguments(prompt: dict[str, Any]) -> _Items:
    listed = prompt.get("arguments")
    items = listed if isinstance(listed, list) else []
    return {str(item.get("name")): item for item in items if isinstance(item, dict)}


def _without(item: dict[str, Any], *told: str) -> dict[str, Any]:
    """Everything about an item that only describes it; `told` have rules of their own."""
    return {key: value for key, value in item.items() if key not in told and value is not None}
