"""One thing that a gate found: its stable id, its place in the order of issues, and its title."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

__all__ = ["COUNTING", "counted", "issue", "issue_id", "ordered", "title"]

_RANKS = {"blocker": 0, "error": 1, "warn": 2, "info": 3}
COUNTING = frozenset({"blocker", "error"})
"""The severities that keep a run from being ready, and that the fixer looks at."""
_LONGEST_TITLE = 120


def issue_id(gate: str, error_code: str, path: str, anchor: str) -> str:
    """The id of a finding: the same at every look, wherever in the file its line has moved to."""
    told = "\0".join((gate, error_code, path, " ".join(anchor.split())))
    return "iss_" + hashlib.sha256(told.encode()).hexdigest()[:12]


def issue(
    gate: str,
    error_code: str,
    severity: str,
    message: str,
    *,
    path: str = "",
    line: int = 0,
    anchor: str = "",
    files: Sequence[str] = (),
    suggested_fix: str = "",
    fix_rule: str = "",
    data: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """An open issue. `anchor` is what it is about, independent of lines; the message by default."""
    made: dict[str, Any] = {
        "issue_id": issue_id(gate, error_code, path, anchor or message),
        "gate": gate,
        "severity": severity,
        "error_code": error_code,
        "message": message[:2000],
        "status": "OPEN",
    }
    if path:
        made["location"] = {"path": path, **({"line": line} if line else {})}
    more = {"files": list(files), "suggested_fix": suggested_fix, "fix_rule": fix_rule, "data": dict(data or {})}
    if anchor:
        more["anchor"] = anchor[:1000]
    return made | {key: value for key, value in more.items() if value}


def ordered(found: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Issues in their total order: the worst first, then by gate, place and id; each id once."""
    unique = {item["issue_id"]: dict(item) for item in sorted(found, key=_key, reverse=True)}
    return sorted(unique.values(), key=_key)


def counted(found: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The open ones that keep the run from being ready, in their order."""
    return [item for item in ordered(found) if item["severity"] in COUNTING and item["status"] == "OPEN"]


def title(item: Mapping[str, Any]) -> str:
    """The first sentence of what an issue says."""
    text = " ".join(str(item["message"]).split())
    sentence = text.split(". ", 1)[0].rstrip(".")
    return sentence if len(sentence) <= _LONGEST_TITLE else sentence[: _LONGEST_TITLE - 1] + "…"


def _key(item: Mapping[str, Any]) -> tuple[int, str, str, int, str]:
    place = item.get("location", {})
    return (
        _RANKS[item["severity"]],
        item["gate"],
        place.get("path", ""),
        place.get("line", 0),
        item["issue_id"],
    )
