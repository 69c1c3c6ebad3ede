"""What is written differently although no rule tells a change: the last net under every comparison.

A schema may say the same in other words, and then nobody has to move a version. But a lock that is passed by
something other than what was agreed to is no lock, so somebody has to agree to the new text.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.contract.canonical import fingerprint
from holdfast.contract.compare.changes import Change, change
from holdfast.contract.compare.diff import SurfaceDiff
from holdfast.contract.compare.places import escaped
from holdfast.vocabulary.meta import META_CONTRACT

__all__ = ["rewritten"]

# The order in these lists means nothing, in a schema or in a definition.
_UNORDERED = frozenset({"required", "enum", "type", "aliases", "reserved", "errors", "protocolVersions",
                        "prompts", "resources", "resourceTemplates"})  # fmt: skip
_BUILD = "toolingVersion"  # a new build of the same surface
_ELSEWHERE = frozenset({"tools", "fingerprint", "schemaVersion"})


def rewritten(diff: SurfaceDiff) -> Iterator[Change]:
    """Each part of two documents of one kind that differs, where nothing was told about its tool or the server."""
    if diff.old.kind != diff.new.kind:
        return
    for name in sorted((diff.old.tools.keys() & diff.new.tools.keys()) - diff.tools.keys()):
        before, after = (_tool(view.tools[name].definition) for view in (diff.old, diff.new))
        yield from (item.of(name) for item in _differing(before, after))
    if not diff.surface:
        yield from _differing(_surface(diff.old.document), _surface(diff.new.document))


def _differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for key in sorted(old.keys() | new.keys()):
        if old.get(key) != new.get(key) and _plain(key, old.get(key)) != _plain(key, new.get(key)):
            yield change("meta.rewritten", f"/{escaped(key)}", key)


def _tool(definition: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in definition.items() if key != _BUILD}
    meta = kept.get("_meta")
    if isinstance(meta, dict) and isinstance(meta.get(META_CONTRACT), dict):
        told = meta[META_CONTRACT].items()
        contract = {key: value for key, value in told if key not in {_BUILD, "surfaceVersion"}}
        kept["_meta"] = {**meta, META_CONTRACT: contract}
    return kept


def _surface(document: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in document.items() if key not in _ELSEWHERE}
    if isinstance(kept.get("server"), dict):
        kept["server"] = {key: value for key, value in kept["server"].items() if key != "version"}
    return kept


def _plain(key: str, value: Any) -> Any:
    """The value without the order that means nothing."""
    if isinstance(value, dict):
        return {name: _plain(name, item) for name, item in value.items()}
    if isinstance(value, list):
        items = [_plain("", item) for item in value]
        return sorted(items, key=fingerprint) if key in _UNORDERED else items
    return value
