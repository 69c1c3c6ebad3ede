"""What changed beside the tools: prompts, resources, templates, revisions, what the server says of itself.

Only what both surfaces state is compared; a file with a list of tools says nothing about prompts.
"""

from collections.abc import Iterator
from typing import Any

from holdfast.contract.compare.changes import Change, change
from holdfast.contract.compare.view import SurfaceView

__all__ = ["envelope_changes", "surrounding_changes"]

_Items = dict[str, dict[str, Any]]


def surrounding_changes(old: SurfaceView, new: SurfaceView, *, strict: bool) -> Iterator[Change]:
    """Every change of the surface that is not one of its tools."""
    yield from _server(old, new, strict=strict)
    yield from _protocol(old, new, strict=strict)
    yield from _capabilities(old, new, strict=strict)
    yield from envelope_changes(old.error_schema, new.error_schema, strict=strict)
    for kind, before, after in (
        ("resource", old.resources, new.resources),
        ("template", old.templates, new.templates),
    ):
        if before is not None and after is not None:
            yield from _addresses(kind, before, after, strict=strict)
    if old.prompts is not None and new.prompts is not None:
        yield from _prompts(old.prompts, new.prompts, strict=strict)


def _server(old: SurfaceView, new: SurfaceView, *, strict: bool) -> Iterator[Change]:
    if old.name and new.name and old.name != new.name:
        yield change("server.name_changed", "/server/name", f"{old.name} -> {new.name}", strict=strict)
    if None not in {old.instructions, new.instructions} and old.instructions != new.instructions:
        yield change("text.instructions_changed", "/server/instructions", "instructions", strict=strict)
    if None not in {old.dialect, new.dialect} and old.dialect != new.dialect:
        what = f"dialect {old.dialect} -> {new.dialect}"
        yield change("result.error_convention_changed", "/dialect", what, strict=strict)
    for key, rule in (
        ("presentationArguments", "result.presentation_changed"),
        ("presentation", "result.presentation_changed"),
    ):
        before, after = old.document.get(key), new.document.get(key)
        if key in old.document and key in new.document and before != after:
            yield change(rule, f"/{key}", f"{key} {before} -> {after}", strict=strict)


def _protocol(old: SurfaceView, new: SurfaceView, *, strict: bool) -> Iterator[Change]:
    if old.protocol is None or new.protocol is None:
        return
    before, after = set(old.protocol), set(new.protocol)
    if not (old.protocol_is_whole and new.protocol_is_whole):
        # One side knows only the revision that was settled on, which is the newest that the server speaks.
        if old.protocol_is_whole != new.protocol_is_whole:
            return
        before, after = {max(before)}, {max(after)}
        is_later = max(after) > max(before)
        before, after = (set(), after) if is_later else (before, set() if before != after else after)
    for revision in sorted(before - after):
        yield change("protocol.removed", f"/protocolVersions/{revision}", f"MCP {revision}", strict=strict)
    for revision in sorted(after - before):
        yield change("protocol.added", f"/protocolVersions/{revision}", f"MCP {revision}", strict=strict)


def _capabilities(old: SurfaceView, new: SurfaceView, *, strict: bool) -> Iterator[Change]:
    if old.capabilities is None or new.capabilities is None:
        return
    before, after = _flat(old.capabilities), _flat(new.capabilities)
    for name in sorted(before - after):
        yield change("capability.removed", f"/capabilities/{name}", f"capability {name}", strict=strict)
    for name in sorted(after - before):
        yield change("capability.added", f"/capabilities/{name}", f"capability {name}", strict=strict)


def _flat(capabilities: dict[str, Any]) -> set[str]:
    """Each capability, and each part of one as CAPABILITY/PART."""
    parts = {f"{name}/{part}" for name, inner in capabilities.items() if isinstance(inner, list) for part in inner}
    return set(capabilities) | parts


def _addresses(kind: str, before: _Items, after: _Items, *, strict: bool) -> Iterator[Change]:
    for uri in sorted(before.keys() - after.keys()):
        yield change(f"{kind}.removed", f"/{kind}s/{uri}", uri, strict=strict)
    for uri in sorted(after.keys() - before.keys()):
        yield change(f"{kind}.added", f"/{kind}s/{uri}", uri, strict=strict)
    for uri in sorted(before.keys() & after.keys()):
        then, now = before[uri], after[uri]
        if then.get("mimeType") != now.get("mimeType"):
            what = f"{uri} {then.get('mimeType')} -> {now.get('mimeType')}"
            yield change(f"{kind}.mime_changed", f"/{kind}s/{uri}", what, strict=strict)
        if any(then.get(key) != now.get(key) for key in ("name", "title", "description", "annotations", "icons")):
            yield change(f"{kind}.text_changed", f"/{kind}s/{uri}", uri, strict=strict)


def _prompts(before: _Items, after: _Items, *, strict: bool) -> Iterator[Change]:
    for name in sorted(before.keys() - after.keys()):
        yield change("prompt.removed", f"/prompts/{name}", f"prompt {name}", strict=strict)
    for name in sorted(after.keys() - before.keys()):
        yield change("prompt.added", f"/prompts/{name}", f"prompt {name}", strict=strict)
    for name in sorted(before.keys() & after.keys()):
        then, now = before[name], after[name]
        yield from _prompt_arguments(f"/prompts/{name}", _arguments(then), _arguments(now), strict=strict)
        if any(then.get(key) != now.get(key) for key in ("title", "description", "icons")):
            yield change("prompt.text_changed", f"/prompts/{name}", f"prompt {name}", strict=strict)


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
        elif then.get("description") != now.get("description"):
            rule = "prompt.text_changed"
        if rule:
            yield change(rule, f"{path}/{name}", f"argument {name}", strict=strict)


def _arguments(prompt: dict[str, Any]) -> _Items:
    listed = prompt.get("arguments")
    items = listed if isinstance(listed, list) else []
    return {str(item.get("name")): item for item in items if isinstance(item, dict)}


def envelope_changes(old: Any, new: Any, *, strict: bool) -> Iterator[Change]:
    """The fields of a failure, where the surface publishes a schema for it."""
    if not isinstance(old, dict) or not isinstance(new, dict) or old == new:
        return
    before, after = old.get("properties", {}), new.get("properties", {})
    needed, still_needed = set(old.get("required", ())), set(new.get("required", ()))
    gone, come = sorted(before.keys() - after.keys()), sorted(after.keys() - before.keys())
    for name in gone:
        twin = next((other for other in come if after[other] == before[name]), None)
        rule = "error.envelope_field_renamed" if twin else "error.envelope_field_removed"
        yield change(rule, f"/errorSchema/{name}", f"{name} -> {twin}" if twin else name, strict=strict)
    for name in come:
        if not any(after[name] == before[other] for other in gone):
            yield change("error.envelope_field_added", f"/errorSchema/{name}", name, strict=strict)
    for name in sorted(before.keys() & after.keys()):
        if before[name] != after[name]:
            yield change("error.envelope_field_retyped", f"/errorSchema/{name}", name, strict=strict)
        elif name in needed - still_needed:
            yield change("error.envelope_field_now_optional", f"/errorSchema/{name}", name, strict=strict)
