"""The public configuration keys of PairOfCleats in a `.pairofcleats.json`: mapped, or known to do nothing.

A file that was written for that program is not a mistake here. A key with a counterpart is read as that; for each
other one a finding gives the reason why it has no effect.
"""

from typing import Any

from holdfast.search.configuration.keys import Refusal

__all__ = ["NO_EFFECT", "mapped"]

_MODES = ("code", "prose", "records")
_SAME = "every machine builds and searches the same index"
_OWN = "the index has its own format and limits"
_RANKING = "the ranking is fixed; a search chooses with its own arguments"
_LEAVE = "it can stay; Holdfast does not read it"

NO_EFFECT: tuple[Refusal, ...] = tuple(
    Refusal(path, reason, _LEAVE)
    for reason, paths in (
        (_SAME, ("quality", "threads", "indexing.concurrency", "indexing.importConcurrency",
                 "indexing.ioConcurrencyCap", "indexing.scheduler")),
        (_OWN, ("indexing.maxFileLines", "indexing.fileCaps", "indexing.artifacts", "indexing.postings",
                "indexing.scm", "indexing.graph", "indexing.embeddings", "indexing.snapshots", "indexing.diffs",
                "indexing.riskInterprocedural")),
        (_RANKING, ("retrieval", "search.annDefault", "search.denseVectorMode", "search.fieldWeights",
                    "search.maxCandidates", "search.rrf", "search.scoreBlend", "search.sqliteAutoArtifactBytes",
                    "search.sqliteAutoChunkThreshold", "search.sqliteFtsWeights")),
    )
    for path in paths
)  # fmt: skip


def mapped(table: Any) -> Any:
    """The document with each key that has a counterpart as that one: limits of files, and `mcp.mode` auto."""
    if not isinstance(table, dict):
        return table
    changed = dict(table)
    mcp, indexing = table.get("mcp"), table.get("indexing")
    if isinstance(mcp, dict) and mcp.get("mode") == "auto":
        changed["mcp"] = {name: value for name, value in mcp.items() if name != "mode"}
    if isinstance(indexing, dict):
        changed["indexing"] = _indexing(indexing)
    return changed


def _indexing(indexing: dict[str, Any]) -> dict[str, Any]:
    sizes: dict[str, Any] = {}
    general, caps = indexing.get("maxFileBytes"), indexing.get("fileCaps")
    if isinstance(general, (int, float)) and not isinstance(general, bool):
        sizes = dict.fromkeys(_MODES, general)
        indexing = {name: value for name, value in indexing.items() if name != "maxFileBytes"}
    if isinstance(caps, dict):
        by_mode = caps.get("byMode")
        by_mode = by_mode if isinstance(by_mode, dict) else {}
        limits = {mode: _bytes(by_mode.get(mode)) or _bytes(caps.get("default")) for mode in _MODES}
        sizes |= {mode: limit for mode, limit in limits.items() if limit is not None}
        indexing = _without_bytes(indexing, caps, by_mode)
    own = indexing.get("maxFileBytes", {})
    if not sizes or not isinstance(own, dict):
        return indexing
    return {**indexing, "maxFileBytes": {**sizes, **own}}


def _bytes(caps: Any) -> Any:
    return caps.get("maxBytes") if isinstance(caps, dict) else None


def _without_bytes(indexing: dict[str, Any], caps: dict[str, Any], by_mode: dict[str, Any]) -> dict[str, Any]:
    """Without the caps that are read completely: nothing is left to report of them."""
    is_read = caps.keys() <= {"default", "byMode"} and by_mode.keys() <= set(_MODES)
    parts = [caps.get("default", {}), *by_mode.values()]
    if is_read and all(isinstance(part, dict) and part.keys() <= {"maxBytes"} for part in parts):
        return {name: value for name, value in indexing.items() if name != "fileCaps"}
    return indexing
