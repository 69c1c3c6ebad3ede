"""What a change leads to: the new content at its place, as a digest.

Somebody who accepts a change accepts what is there now, not whatever will stand at the same place later. So the
digest covers the new side alone: the same content reached from an older surface is the same content.
"""

from collections.abc import Iterator
from typing import Any

from holdfast.contract.canonical import fingerprint
from holdfast.contract.compare.changes import Change
from holdfast.contract.compare.places import followed, properties, tokens_of
from holdfast.contract.compare.view import SurfaceView, ToolView

__all__ = ["content_digest"]

# First part of the path of a change -> the facet that it is about, where the two have different names.
_FACETS = {
    "arguments": "input", "inputSchema": "input", "result": "output", "sessionState": "state",
    "execution": "taskSupport", "_meta": "meta", "payloadSchema": "payload",
}  # fmt: skip
_SCHEMAS = frozenset({"arguments", "result", "errorSchema", "payloadSchema"})
_LISTS = {
    "prompts": ("prompts", "name"),
    "resources": ("resources", "uri"),
    "templates": ("resourceTemplates", "uriTemplate"),
}
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


def content_digest(change: Change, new: SurfaceView) -> str:
    """The fingerprint of what the new surface holds where this change is."""
    tokens = tokens_of(change.path)
    if not change.tool:
        return fingerprint(_beside_tools(change, tokens, new))
    owner = new.owners.get(change.tool)
    if owner is None:  # the name is gone; the message tells what became of it
        return fingerprint([change.path, change.message])
    tool = new.tools[owner]
    return fingerprint(_in_tool(change, tokens, tool) if tokens else [owner, tool.digest])


def _beside_tools(change: Change, tokens: list[str], new: SurfaceView) -> Any:
    if tokens[:1] == ["schemaVersion"]:
        return new.version
    if tokens[:1] == ["errorSchema"]:
        return _in_schema(new.error_schema, tokens[1:], is_gone="removed" in change.rule)
    if len(tokens) < 2 or tokens[0] not in _LISTS:
        return _within(new.document, tokens)
    field, key = _LISTS[tokens[0]]
    listed = new.document.get(field)
    items = listed if isinstance(listed, list) else []
    return [item for item in items if isinstance(item, dict) and item.get(key) == tokens[1]]


def _in_tool(change: Change, tokens: list[str], tool: ToolView) -> Any:
    facets = tool.facets
    name = _FACETS.get(tokens[0], tokens[0])
    if tokens[0] in _SCHEMAS:
        schema = facets.get("payload") if name == "output" and facets.get(name) is None else facets.get(name)
        return _in_schema(schema, tokens[1:], is_gone="removed" in change.rule)
    if name in facets:
        return facets[name] if name == "input" else _within(facets[name], tokens[1:])
    return _within(facets.get("others"), tokens)


def _within(value: Any, tokens: list[str]) -> Any:
    """The part that a path leads to; the last part that there is, where it leads nowhere."""
    for token in tokens:
        if isinstance(value, dict):
            value = value.get(token)
        else:
            return [token, value]
    return value


def _in_schema(root: Any, tokens: list[str], *, is_gone: bool) -> Any:
    part = root
    for name in tokens:
        target = followed(part, root)
        step = properties(target).get(name)
        if step is None and name == "*" and isinstance(target, dict):
            step = target.get("items", target.get("additionalProperties"))
        if step is None:
            # Either the property is gone, or the path says something finer than properties and items.
            part = None if is_gone else part
            break
        part = step
    return [part, _definitions(part, root)]


def _definitions(part: Any, root: Any) -> Any:
    """What the part refers to: the definitions of the schema, or all of it where a reference leads elsewhere."""
    references = list(_references(part))
    if not references or not isinstance(root, dict):
        return None
    if all(name.startswith(("#/$defs/", "#/definitions/")) for name in references):
        return [root.get("$defs"), root.get("definitions")]
    return root


def _references(part: Any) -> Iterator[str]:
    left = [part]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            yield from (str(value[key]) for key in _REFERENCES if key in value)
            left += value.values()
        elif isinstance(value, list):
            left += value
