"""What the telemetry service accepts: records, changes of records, commits and questions.

Pure. Everything that is wrong with a document is told at once, by the place where it stands.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from holdfast.errors import ToolError
from holdfast.launch.documents import violations
from holdfast.launch.identifiers import stamp
from holdfast.wire.codec import encode

__all__ = [
    "Question",
    "amended",
    "checked_commit",
    "checked_event",
    "checked_run",
    "moment",
    "question",
    "refused",
]

LARGEST_RECORD = 256 * 1024
MOST_ON_A_PAGE = 1000
FURTHEST_OFFSET = 2**31
_FIXED = frozenset({"event_id", "run_id", "agent_name", "job_type", "start_time"})
_OF_COMMIT = {
    "commit_hash": "commit_hash",
    "commit_source": "commit_source",
    "author": "commit_author",
    "timestamp": "commit_timestamp",
}
_HASH = re.compile(r"[0-9a-f]{7,64}")
_MERGED = ("metrics_json", "context_json")
_TIMES = ("start_time", "end_time", "commit_timestamp")
Question = tuple[dict[str, str], int, int]


def refused(problems: list[dict[str, Any]], what: str = "the record") -> ToolError:
    """The refusal of a document, with all its violations."""
    first = problems[0]
    message = f"{what} does not fit: {first['instancePath'] or '/'}: {first['message']}"
    return ToolError("INVALID_INPUT", message, details={"violations": problems})


def moment(text: object) -> str | None:
    """A moment as it is compared and sorted, or None where the text is none or names no time zone."""
    try:
        found = datetime.fromisoformat(text) if isinstance(text, str) else None
        return None if found is None or found.tzinfo is None else stamp(found)
    except (ValueError, OverflowError):
        return None


def checked_run(record: Any, where: str = "") -> dict[str, Any]:
    """The record as it is stored; INVALID_INPUT with every violation."""
    problems = violations("telemetry_run", record)
    if not problems:
        problems = [_wrong(name, "no moment with a time zone") for name in _TIMES if _is_no_moment(record, name)]
    if not problems and len(encode(record)) > LARGEST_RECORD:
        problems = [_wrong("", f"larger than {LARGEST_RECORD} bytes", keyword="maxBytes")]
    if problems:
        raise refused([{**one, "instancePath": where + one["instancePath"]} for one in problems])
    return _timed({"status": "running", **record})


def amended(record: Mapping[str, Any], changes: Any) -> dict[str, Any]:
    """The record with the changes; metrics and context are added to, everything else is replaced."""
    if not isinstance(changes, dict) or not changes:
        raise refused([_wrong("", "an object with at least one field", keyword="minProperties")], "the change")
    fixed = sorted(set(changes) & (_FIXED | set(_OF_COMMIT.values())))
    if fixed:
        raise refused([_wrong(name, "it cannot be changed here", keyword="readOnly") for name in fixed])
    merged = {
        name: {**(record.get(name) or {}), **changes[name]}
        for name in _MERGED
        if isinstance(changes.get(name), dict)
    }
    return checked_run({**record, **changes, **merged})


def checked_commit(record: Mapping[str, Any], given: Any) -> dict[str, Any]:
    """The record with its commit; a record that has another one keeps it, which is KEY_CONFLICT."""
    if not isinstance(given, dict):
        raise refused([_wrong("", "it is no object", keyword="type")], "the commit")
    problems = [
        _wrong(name, "unknown", keyword="additionalProperties") for name in sorted(set(given) - set(_OF_COMMIT))
    ]
    problems += [_wrong(name, "it is required", keyword="required") for name in ("commit_hash", "commit_source")
                 if given.get(name) is None]  # fmt: skip
    if not problems and not _HASH.fullmatch(str(given["commit_hash"])):
        problems = [_wrong("commit_hash", "no hash of a commit", keyword="pattern")]
    if problems:
        raise refused(problems, "the commit")
    known = record.get("commit_hash")
    if known is not None and known != given["commit_hash"]:
        message = "the record belongs to another commit"
        raise ToolError("KEY_CONFLICT", message, details={"event_id": record["event_id"], "commit_hash": known})
    return checked_run({**record, **{_OF_COMMIT[name]: value for name, value in given.items()}})


def checked_event(run_id: str, event: Any) -> dict[str, Any]:
    """An event of this run, as it is stored."""
    problems = violations("event", event)
    if not problems and event["run_id"] != run_id:
        problems = [_wrong("run_id", "the event is of another run", keyword="const")]
    if not problems and len(encode(event)) > LARGEST_RECORD:
        problems = [_wrong("", f"larger than {LARGEST_RECORD} bytes", keyword="maxBytes")]
    if problems:
        raise refused(problems, "the event")
    return dict(event)


def question(query: Mapping[str, str], filters: frozenset[str]) -> Question:
    """The filters, the limit and the offset that a query asks for."""
    unknown = sorted(set(query) - filters - {"limit", "offset"})
    problems = [_wrong(name, "unknown", keyword="additionalProperties") for name in unknown]
    chosen = {name: query[name] for name in sorted(filters & set(query))}
    for name in ("since", "until"):
        if name in chosen:
            found = moment(chosen[name].replace(" ", "+"))  # a plus that was not quoted
            problems += [] if found else [_wrong(name, "no moment with a time zone")]
            chosen[name] = found or ""
    limit = _number(query.get("limit", "100"), 1, MOST_ON_A_PAGE)
    offset = _number(query.get("offset", "0"), 0, FURTHEST_OFFSET)
    problems += [_wrong("limit", f"a number from 1 to {MOST_ON_A_PAGE}")] if limit is None else []
    problems += [_wrong("offset", f"a number from 0 to {FURTHEST_OFFSET}")] if offset is None else []
    if problems:
        raise refused(problems, "the query")
    assert limit is not None
    assert offset is not None
    return chosen, limit, offset


def _timed(record: dict[str, Any]) -> dict[str, Any]:
    """With the duration that follows from its two moments, where nobody measured it."""
    if record.get("end_time") is None or record.get("duration_ms") is not None:
        return record
    begun, ended = (datetime.fromisoformat(record[name]) for name in ("start_time", "end_time"))
    milliseconds = (ended.astimezone(UTC) - begun.astimezone(UTC)).total_seconds() * 1000
    return {**record, "duration_ms": max(0, round(milliseconds))}


def _is_no_moment(record: Mapping[str, Any], name: str) -> bool:
    return record.get(name) is not None and moment(record[name]) is None


def _number(text: str, least: int, most: int) -> int | None:
    is_number = text.isascii() and text.isdigit() and len(text) <= 10
    return int(text) if is_number and least <= int(text) <= most else None


def _wrong(name: str, message: str, *, keyword: str = "format") -> dict[str, Any]:
    return {"instancePath": f"/{name}" if name else "", "keyword": keyword, "message": message}
