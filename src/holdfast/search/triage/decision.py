"""Writing down what was decided about a finding. The same decision twice is one record; the last one counts."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from holdfast.errors import ToolError
from holdfast.search.repository import Repository
from holdfast.search.request_schema import Violation
from holdfast.search.triage.fields import clean
from holdfast.search.triage.record import ROUTING, by_time, decision_prefix, digest, is_safe_name, now
from holdfast.search.triage.record_files import RecordFiles
from holdfast.search.triage.refusal import check_text, not_found, refuse_if, wrong_argument
from holdfast.search.triage.routing import Additions, additions

__all__ = ["STATUSES", "decide", "finding_record"]

STATUSES = ("fix", "accept", "defer", "false_positive", "not_affected")

_LONGEST_ID = 128
_LONGEST_REASON = 20_000
_LONGEST_NAME = 200
_LONGEST_DATE = 40
_LONGEST_REFERENCE = 2_000
_MOST = 100
_COPIED = ("source", "vuln", "package", "asset", "exposure", "location")
_DIGITS = 40


def decide(
    repository: Repository,
    cache_dir: Path,
    *,
    finding: str,
    status: str,
    justification: str | None,
    reviewer: str | None,
    expires: str | None,
    meta: Mapping[str, Any] | None,
    codes: Sequence[str],
    evidence: Sequence[str],
) -> dict[str, Any]:
    """Record a decision about a finding; `expires` is an ISO date, or a time (UTC unless it has a zone)."""
    until, found = _expiry(expires)
    added, wrong_meta = additions(meta)
    found += check_text("finding", finding, _LONGEST_ID) + wrong_meta
    if status not in STATUSES:
        found.append(
            wrong_argument("status", "enum", f"must be one of {', '.join(STATUSES)}", allowed=list(STATUSES))
        )
    found += [] if justification is None else check_text("justification", justification, _LONGEST_REASON)
    found += [] if reviewer is None else check_text("reviewer", reviewer, _LONGEST_NAME)
    found += _list_violations("codes", codes, _LONGEST_NAME)
    found += _list_violations("evidence", evidence, _LONGEST_REFERENCE)
    refuse_if(found)
    files = RecordFiles(repository, cache_dir)
    about = finding_record(files, finding, "finding")
    decision = {
        "findingRecordId": finding,
        "status": status,
        "justification": clean(justification, _LONGEST_REASON) if justification else None,
        "justificationCodes": _distinct(codes),
        "reviewer": clean(reviewer) if reviewer else None,
        "expiresAt": until,
        "evidenceRefs": _distinct(evidence),
    }
    record = _record(about, decision, added)
    unchanged = _write(files, record)
    return {
        "recordId": record["recordId"],
        "findingId": finding,
        "status": status,
        "recordsDir": str(files.records),
        "jsonPath": str(files.json_path(record["recordId"])),
        "mdPath": str(files.markdown_path(record["recordId"])),
        "unchanged": unchanged,
        "warnings": _warnings(until),
    }


def finding_record(files: RecordFiles, name: str, argument: str) -> dict[str, Any]:
    """The finding of that name, with errors that name the argument that it was given in."""
    if not is_safe_name(name):
        refuse_if([wrong_argument(argument, "pattern", "must be a record id: no separators, no '.' first")])
    record = files.read(name)
    if record is None:
        raise not_found(name, "finding")
    if record["recordType"] != "finding":
        about = record.get("decision")
        meant = about.get("findingRecordId") if isinstance(about, dict) else None
        raise ToolError(
            "INVALID_REQUEST",
            f"{name} is not a finding but a {record['recordType']}",
            hint=f"name its finding: {meant}" if meant else "name a finding",
        )
    return record


def _record(about: Mapping[str, Any], decision: dict[str, Any], added: Additions) -> dict[str, Any]:
    """The record, named by everything that was decided; the order of codes and evidence says nothing."""
    said = {key: sorted(value) if isinstance(value, list) else value for key, value in decision.items()}
    prefix = decision_prefix(decision["findingRecordId"])
    name = prefix + digest(said, added.routing, added.exposure, added.other)[: _DIGITS - len(prefix)]
    record: dict[str, Any] = {"recordId": name, "recordType": "decision"}
    record |= {"source": about.get("source"), "createdAt": None, "updatedAt": None}  # told when it is written
    record |= {route: added.routing.get(route, about.get(route)) for route in ROUTING}
    record |= {part: about.get(part) for part in _COPIED if part != "source"}
    exposure = about.get("exposure")
    record["exposure"] = (exposure if isinstance(exposure, dict) else {}) | added.exposure
    record["decision"] = decision
    return record | ({"meta": added.other} if added.other else {})


def _write(files: RecordFiles, record: Mapping[str, Any]) -> bool:
    """Whether just this was the last word already; then the record stays as it is.

    One that was decided before, and otherwise since, keeps its record and becomes the last word again.
    """
    name, finding = record["recordId"], record["decision"]["findingRecordId"]
    with files.writing(lambda: False) as batch:
        old = files.read(name)
        last = next(iter(files.decisions(finding)), None)
        time = now() if last is None else now(after=by_time(last)[0])
        if old is None:
            batch.put({**record, "createdAt": time, "updatedAt": time})
        elif last is not None and last["recordId"] != name:
            batch.put(old | {"updatedAt": time})
        elif not files.markdown_path(name).exists():
            batch.put(old)
    return old is not None and (last is None or last["recordId"] == name)


def _expiry(expires: object) -> tuple[str | None, list[Violation]]:
    """A date as it is, a time in UTC; without a zone it is UTC, which is the same anywhere."""
    if expires is None:
        return None, []
    found = check_text("expires", expires, _LONGEST_DATE)
    if found:
        return None, found
    text = str(expires).strip()
    try:
        moment = datetime.fromisoformat(text)
        if "T" not in text.upper() and ":" not in text:
            return date.fromisoformat(text).isoformat(), []
        zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return zoned.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"), []
    except (ValueError, OverflowError):
        message = "must be an ISO date or time, such as 2027-01-31"
        return None, [wrong_argument("expires", "format", message, format="date-time")]


def _warnings(until: str | None) -> list[dict[str, str]]:
    if until is None or until >= now()[: len(until)]:
        return []
    return [{"code": "expired", "message": f"the decision has expired already: {until}"}]


def _list_violations(name: str, values: object, most: int) -> list[Violation]:
    if isinstance(values, str) or not isinstance(values, Sequence):
        return [wrong_argument(name, "type", "must be a list of strings", type="array")]
    if len(values) > _MOST:
        return [wrong_argument(name, "maxItems", f"must have at most {_MOST} entries", limit=_MOST)]
    return [one for index, value in enumerate(values) for one in check_text(f"{name}/{index}", value, most)]


def _distinct(values: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(clean(value, _LONGEST_REFERENCE) for value in values))
