"""What is known about an index, as a person reads it; a fact that a report leaves out is not shown."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from holdfast.cli.progress_bar import length_of_time, size_of
from holdfast.present.bounds import clean_line
from holdfast.present.counted import counted

__all__ = [
    "describe_build",
    "describe_collected",
    "describe_compaction",
    "describe_portable",
    "describe_status",
    "size_of",
]

Report = Mapping[str, Any]

_CHANGES = ("added", "changed", "removed")


def describe_build(report: Report) -> str:
    """One line of figures: what was done, how much there is, how long it took, what was left out."""
    action = str(report.get("action", "built"))
    words = [f"{report[name]:,} {name}" for name in _CHANGES if report.get(name)]
    if action == "unchanged":
        begin = "nothing changed"
    elif action == "updated" and words:
        begin = f"updated ({', '.join(words)})"
    else:
        begin = action
    facts = [_count(report, "files"), _count(report, "chunks"), _size(report)]
    if report.get("seconds") is not None:
        facts.append(f"in {length_of_time(report['seconds'])}")
    line = f"{begin}: {_joined(*facts)}"
    skipped = _by_count(report.get("skipped"))
    return clean_line(f"{line}; skipped {skipped}" if skipped else line)


def describe_portable(report: Report) -> Iterator[str]:
    """A line about the SQLite file, if one was written, and one for whatever is to be known about it."""
    made = report.get("sqlite")
    if not made:
        return
    done = "has everything already" if made["unchanged"] else "updated" if made["incremental"] else "written"
    yield clean_line(f"SQLite file {done}: {made['path']}, {size_of(made['bytes'])}")
    for warning in made["warnings"]:
        yield clean_line(f"note: {warning['message']}")


def _count(report: Report, name: str) -> str:
    value = report.get(name)
    return "" if value is None else f"{value:,} {name if value != 1 else name[:-1]}"


def _size(report: Report, name: str = "bytes") -> str:
    return "" if report.get(name) is None else size_of(report[name])


def _by_count(counts: Any) -> str:
    """`7: 5 binary, 2 too large`; empty where there is nothing to count."""
    parts = _ranked(counts)
    return f"{sum(counts.values()):,}: {parts}" if parts else ""


def _ranked(counts: Any) -> str:
    """`5 binary, 2 too large`, the most frequent first."""
    if not isinstance(counts, Mapping):
        return ""
    ranked = sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))
    return _joined(*(f"{count:,} {name or 'other'}" for name, count in ranked if count))


def describe_status(status: Report, *, skipped: bool = False, now: datetime | None = None) -> Iterator[str]:
    """The state of an index, one fact per line; with `skipped`, also every file that it leaves out and why."""
    for title, text in _facts(status, now or datetime.now(UTC)):
        if text:
            yield clean_line(f"{title:<12} {text}")
    for item in status.get("skippedFiles") or () if skipped else ():
        detail = f" ({item['detail']})" if item.get("detail") else ""
        yield clean_line(f"  {item['path']}: {item['reason']}{detail}")
    for item in status.get("remarks") or () if skipped else ():
        yield clean_line(f"  {item['path']}: indexed; {item['remark']}")


def _facts(status: Report, now: datetime) -> Iterator[tuple[str, str]]:
    yield "repository", str(status.get("repository") or "")
    yield "index", str(status.get("path") or "")
    yield "built", _built(status.get("builtAt"), now)
    yield "commit", _commit(status)
    yield "changed", _freshness(status.get("changedFiles"))
    yield "files", _joined(_count(status, "files"), _count(status, "lines"), _size(status, "sourceBytes"))
    yield "languages", _ranked(status.get("languages"))
    yield "chunks", _by_count(status.get("chunks"))
    yield "vectors", _vectors(status.get("vectors"))
    yield "size", _size(status)
    yield "skipped", _by_count(status.get("skipped"))
    yield "remarks", _some_files(status.get("remarks"))


def _commit(status: Report) -> str:
    commit, head = (str(status.get(name) or "") for name in ("commit", "headCommit"))
    branch = f"branch {status['branch']}" if status.get("branch") else ""
    moved = f"now at {head[:12]}" if head and head != commit else ""
    return _joined(commit[:12], branch, moved)


def _some_files(remarks: Any) -> str:
    files = len({item["path"] for item in remarks or ()})
    return f"about {counted(files, 'file')}; --skipped lists them" if files else ""


def _vectors(told: Any) -> str:
    if not told:
        return ""
    have, chunks = told["vectors"], told["chunks"]
    covered = "not known without holdfast[vector]" if have is None else f"{have:,} of {chunks:,} chunks"
    more = "holdfast index embed makes the others" if have is not None and have < chunks else ""
    return _joined(covered, told["model"], size_of(told["bytes"]), more)


def _joined(*parts: str) -> str:
    return ", ".join(part for part in parts if part)


def _built(stamp: Any, now: datetime) -> str:
    try:
        moment = datetime.fromisoformat(str(stamp))
    except ValueError:
        return str(stamp or "")
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return f"{length_of_time((now - moment).total_seconds())} ago ({stamp})"


def _freshness(changed: Any) -> str:
    if changed is None:
        return ""
    if not changed:
        return "no file since then"
    return f"{counted(changed, 'file')} since then; holdfast index build brings it up to date"


def describe_compaction(report: Report) -> str:
    """One line: the size before and after."""
    before, after = report.get("bytesBefore"), report.get("bytes")
    if before is None or after is None:
        return "compacted"
    return f"compacted: {size_of(before)} before, {size_of(after)} now"


def describe_collected(report: Report) -> Iterator[str]:
    """What was removed, or would be, one line each, the sum, and what had to stay."""
    verb, left = ("would remove", "would keep") if report["dryRun"] else ("removed", "kept")
    removed = report["removals"]
    for item in removed:
        yield clean_line(f"{verb} {item['path']}  {size_of(item['bytes'])}  {item['reason']}")
    yield f"{verb} {len(removed):,}, {size_of(report['freedBytes'])}" if removed else "nothing to remove"
    for item in (*report["failedRemovals"], *report["kept"]):
        yield clean_line(f"{left} {item['path']}: {item['reason']}")
