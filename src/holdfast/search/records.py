"""Records: log files in windows, one line of JSON or one stack trace each, and findings about vulnerabilities.

A record has fields, and `meta` conditions ask for them: `matches_meta` is the whole meaning of such a condition.
Reading records from a directory, and searching them, happens elsewhere.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import orjson

from holdfast.errors import ToolError
from holdfast.search.decode import MAX_CHUNK_BYTES, LineTable
from holdfast.search.model import Chunk, Extraction

__all__ = ["extract_records", "matches_meta", "meta_conditions", "record_chunk"]

_LOG_LINES = 50
_TRACE_LINES = 200
_NAME_LENGTH = 120
_MAX_JSON_LINES = 5_000  # of a file that become records of their own; each costs an entry of the index
_MAX_BRACKETS = 200  # in a line of JSON that cannot be nested too deeply
_MAX_DEPTH = 32  # of objects inside of objects in a condition

# Log files


def extract_records(path: str, source: bytes) -> Extraction:
    """Chunks of kind `record`: one per stack trace, one per line of JSON with its fields, windows of the rest."""
    table = LineTable(source)
    file = PurePosixPath(path).name
    chunks: list[Chunk] = []
    remarks: list[str] = []
    json_lines = 0
    window = at = 0  # lines from `window` to `at` are neither JSON nor a trace
    count = len(table.lines)
    while at < count:
        fields = _json_fields(table.lines[at])
        json_lines += fields is not None
        end = at + 1 if fields is not None else _trace_end(table, at)
        if end is None or (fields is not None and json_lines > _MAX_JSON_LINES):
            at += 1
            continue
        chunks += _log_windows(table, window, at, file)
        if fields is not None:
            chunks.append(_json_record(table, at, file, fields))
        else:
            chunks += _trace(table, at, end)
        window = at = end
    chunks += _log_windows(table, window, count, file)
    if json_lines > _MAX_JSON_LINES:
        remarks.append(f"the fields of {json_lines - _MAX_JSON_LINES} lines are not searchable")
    return Extraction(chunks, remarks=remarks)


def _log_windows(table: LineTable, first: int, last: int, file: str) -> Iterator[Chunk]:
    for span in table.cut(first, last, _LOG_LINES):
        yield Chunk("records", "record", file, *span)


def _json_fields(line: bytes) -> dict[str, object] | None:
    if line[:1] not in b"{ \t" or len(line) > MAX_CHUNK_BYTES or not line.lstrip().startswith(b"{"):
        return None
    try:
        fields = orjson.loads(line)
        if line.count(b"[") + line.count(b"{") > _MAX_BRACKETS:
            orjson.dumps(fields)  # may be nested deeper than can ever be written again
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return None
    return fields if isinstance(fields, dict) and fields else None


def _json_record(table: LineTable, line: int, file: str, fields: dict[str, object]) -> Chunk:
    said = next(
        (value for key in ("message", "msg", "event", "name") if isinstance(value := fields.get(key), str)), ""
    )
    name = " ".join(said[: 4 * _NAME_LENGTH].split())[:_NAME_LENGTH]
    return Chunk("records", "record", name or file, *table.span(line, line + 1), record=fields)


# The line with which a trace of some runtime begins, and the lines that may only follow one. The patterns are
# compiled by their first use: a query that asks for fields never needs them.
_PYTHON = b"Traceback (most recent call last)"
_OPENINGS = (b"panic: ", b"fatal error: ", b"thread '", b"goroutine ")
_FRAME = (
    rb"\s+at \S|\s+File \"|\s*#\d+\s+0x|Caused by: |\s*\.\.\. \d+ more|\s+\d+: +\S|goroutine \d+ \["
    rb"|stack backtrace:|[\w./*()\[\]-]{1,200}\([^()]{0,200}\)\r?$|created by "
)
_CHAINED = (b"During handling of the above", b"The above exception was the direct")
_ERROR_NAME = (
    r"(?:[A-Za-z_$][\w$]*[.:]{1,2}){0,20}[A-Za-z_$][\w$]*(?:Error|Exception|Warning|Exit|Interrupt|Fault)\b"
)


def _trace_end(table: LineTable, line: int) -> int | None:
    """The line behind the stack trace that begins in a line; None where none does."""
    lines = table.lines
    if _PYTHON in lines[line][:500]:
        return _python_trace_end(lines, line)
    below = lines[line + 1][:500] if line + 1 < len(lines) else b""
    if not lines[line].startswith(_OPENINGS) and not below.lstrip().startswith(b"at "):
        return None
    if not lines[line].strip() or lines[line][:1].isspace():
        return None
    end = line + 1
    while end < len(lines) and (
        _is_indented(lines[end]) or re.match(_FRAME, lines[end][:500]) or _gap(lines, end)
    ):
        end += 1
    return end if end > line + 1 else None


def _gap(lines: list[bytes], line: int) -> bool:
    """Whether a blank line has more of the trace below it."""
    below = lines[line + 1][:500] if line + 1 < len(lines) else b""
    return not lines[line].strip() and bool(re.match(_FRAME, below)) and not below[:1].isspace()


def _python_trace_end(lines: list[bytes], line: int) -> int:
    end = line + 1
    while end < len(lines):
        while end < len(lines) and _is_indented(lines[end]):
            end += 1
        end = min(end + 1, len(lines))  # the exception itself
        following = end
        while following < len(lines) and following < end + 4 and _is_link(lines[following]):
            following += 1
        if following == end or following >= len(lines) or _PYTHON not in lines[following][:500]:
            return end
        end = following + 1
    return end


def _is_link(line: bytes) -> bool:
    """Whether a line may stand between two tracebacks of one chain."""
    return not line.strip() or line.startswith(_CHAINED)


def _is_indented(line: bytes) -> bool:
    return line[:1] in (b" ", b"\t") and bool(line.strip())


def _trace(table: LineTable, first: int, last: int) -> Iterator[Chunk]:
    spans = list(table.cut(first, last, _TRACE_LINES))
    whole = [line[:500].decode("utf-8", "replace").strip() for line in table.lines[first:last]]
    # Python says last what happened, all others first.
    said = whole[-1] if _PYTHON.decode() in whole[0] else whole[0]
    found = re.search(_ERROR_NAME, said)
    name = found[0] if found else " ".join(said.split())
    for span in spans:
        yield Chunk("records", "record", name[:_NAME_LENGTH], *span, doc=said[:300])


# Findings about vulnerabilities

# The fields that conditions ask for, and where they stand in a finding.
_PROMOTED = {
    "recordType": ("recordType",),
    "source": ("source",),
    "recordId": ("recordId",),
    "service": ("service",),
    "env": ("env",),
    "team": ("team",),
    "owner": ("owner",),
    "vulnId": ("vuln", "vulnId"),
    "cve": ("vuln", "cve"),
    "packageName": ("package", "name"),
    "packageEcosystem": ("package", "ecosystem"),
    "severity": ("vuln", "severity"),
    "status": ("decision", "status"),
    "assetId": ("asset", "assetId"),
}
_FACTS = (
    ("CVE", ("vuln", "cve")),
    ("Severity", ("vuln", "severity")),
    ("CVSS", ("vuln", "cvss", "score")),
    ("CWE", ("vuln", "cwe")),
    ("Package", ("package", "name")),
    ("Ecosystem", ("package", "ecosystem")),
    ("Installed", ("package", "installedVersion")),
    ("Affected", ("package", "affectedRange")),
    ("Fixed in", ("package", "fixedVersion")),
    ("Manifest", ("package", "manifestPath")),
    ("Package URL", ("package", "purl")),
    ("Service", ("service",)),
    ("Environment", ("env",)),
    ("Team", ("team",)),
    ("Owner", ("owner",)),
    ("Repository", ("repo",)),
    ("Asset", ("asset", "assetId")),
    ("Asset type", ("asset", "assetType")),
    ("Internet exposed", ("exposure", "internetExposed")),
    ("Public endpoint", ("exposure", "publicEndpoint")),
    ("Data sensitivity", ("exposure", "dataSensitivity")),
    ("Business criticality", ("exposure", "businessCriticality")),
    ("Compensating controls", ("exposure", "compensatingControls")),
    ("Decision", ("decision", "status")),
    ("Justification", ("decision", "justification")),
    ("Reviewer", ("decision", "reviewer")),
    ("Expires", ("decision", "expiresAt")),
    ("Source", ("source",)),
    ("Record", ("recordId",)),
    ("References", ("vuln", "references")),
)


def record_chunk(record: dict[str, Any]) -> Chunk:
    """A finding or a decision as one chunk: readable Markdown as its text, and the fields worth asking for."""
    fields: dict[str, object] = {}
    for name, place in _PROMOTED.items():
        value = _at(record, place)
        if _is_empty(value):  # already promoted by whoever wrote the record
            value = record.get(name)
        if not _is_empty(value):
            fields[name] = value
    title = _text_of(_at(record, ("vuln", "title")))
    name = next((_text_of(fields[key]) for key in ("vulnId", "cve", "recordId") if key in fields), "record")
    text = _markdown(record, name, title)
    end_line = text.count("\n") + 1
    return Chunk(
        "records", "record", name, 0, len(text.encode("utf-8", "replace")), 1, end_line,
        doc=title, text=text, record=fields,
    )  # fmt: skip


def _markdown(record: Mapping[str, Any], name: str, title: str) -> str:
    parts = [f"# {name}: {title}" if title else f"# {name}"]
    description = _text_of(_at(record, ("vuln", "description")))
    if description:
        parts.append(description)
    facts = [(label, _at(record, place)) for label, place in _FACTS]
    lines = [f"- {label}: {_listed(value)}" for label, value in facts if not _is_empty(value)]
    if lines:
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _listed(value: object) -> str:
    return ", ".join(map(_text_of, value)) if isinstance(value, list | tuple) else _text_of(value)


def _at(record: Mapping[str, Any], place: Sequence[str]) -> object:
    value: object = record
    for key in place:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


# Conditions


def matches_meta(record: Mapping[str, Any], conditions: Sequence[tuple[str, str | None]]) -> bool:
    """Whether a record fulfils all conditions.

    A condition names a field, with dots for fields inside of fields. Its value must occur in the field, in
    whatever case: in the text of a plain value, in any element of a list, in the JSON text of an object. Without
    a value the field must be there and not be empty.
    """
    return all(
        any(_holds(value, wanted) for value in _values(record, path.split(".")) + _literal(record, path))
        for path, wanted in conditions
    )


def _literal(record: Mapping[str, Any], path: str) -> list[object]:
    """The field whose name itself has dots in it."""
    return [record[path]] if "." in path and path in record else []


def _values(value: object, path: list[str]) -> list[object]:
    if not path:
        return [value]
    if isinstance(value, Mapping):
        return _values(value[path[0]], path[1:]) if path[0] in value else []
    if isinstance(value, list | tuple):
        if path[0].isdecimal():
            index = int(path[0][:9])
            return _values(value[index], path[1:]) if index < len(value) else []
        return [found for element in value for found in _values(element, path)]
    return []


def _holds(value: object, wanted: str | None) -> bool:
    if isinstance(value, list | tuple):
        return any(_holds(element, wanted) for element in value)
    if not wanted:
        return not _is_empty(value)
    return wanted.lower() in _text_of(value).lower()


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, str | list | tuple | Mapping) and not value)


def _text_of(value: object) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    try:
        return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
    except (orjson.JSONEncodeError, RecursionError):  # e.g. an integer beyond 64 bits
        return str(value)


def meta_conditions(meta: object, meta_json: object) -> list[tuple[str, str | None]]:
    """The conditions that the arguments `meta` and `metaJson` stand for, in every form in which they may be given.

    `meta` is an object, a text `key=value` or `key`, or a list of these; `metaJson` is an object, a list of
    objects, or the JSON text of one. Anything else is refused, not ignored.
    """
    return [*_meta_argument(meta), *_meta_json_argument(meta_json)]


def _meta_argument(meta: object) -> list[tuple[str, str | None]]:
    if meta is None:
        return []
    if isinstance(meta, list | tuple):
        return [condition for element in meta for condition in _meta_element(element)]
    return _meta_element(meta)


def _meta_element(element: object) -> list[tuple[str, str | None]]:
    if isinstance(element, Mapping):
        return _object_conditions(element, "meta")
    if not isinstance(element, str):
        raise _refusal("meta", "is an object, `key=value`, or a list of these")
    key, _, value = element.partition("=")
    return [(_key(key, "meta"), value.strip() or None)]


def _meta_json_argument(meta_json: object) -> list[tuple[str, str | None]]:
    if meta_json is None:
        return []
    if isinstance(meta_json, str | bytes):
        try:
            meta_json = orjson.loads(meta_json)
        except orjson.JSONDecodeError as error:
            raise _refusal("metaJson", f"is not valid JSON: {error}") from None
    elements = meta_json if isinstance(meta_json, list | tuple) else [meta_json]
    conditions: list[tuple[str, str | None]] = []
    for element in elements:
        if not isinstance(element, Mapping):
            raise _refusal("metaJson", "is an object, a list of objects, or the JSON text of one")
        conditions += _object_conditions(element, "metaJson")
    return conditions


def _object_conditions(
    fields: Mapping[Any, object], argument: str, prefix: str = "", depth: int = 0
) -> list[tuple[str, str | None]]:
    """One condition per plain value: objects inside become dotted paths, of a list every element is wanted."""
    if depth > _MAX_DEPTH:
        raise _refusal(argument, f"is nested deeper than {_MAX_DEPTH} objects")
    conditions: list[tuple[str, str | None]] = []
    for raw, value in fields.items():
        path = prefix + _key(str(raw), argument)
        for wanted in value if isinstance(value, list | tuple) and value else [value]:
            if isinstance(wanted, Mapping) and wanted:
                conditions += _object_conditions(wanted, argument, f"{path}.", depth + 1)
            elif isinstance(wanted, list | tuple | Mapping) and wanted:
                raise _refusal(argument, f"has a list inside of a list at {path}")
            else:
                conditions.append((path, None if _is_empty(wanted) else _text_of(wanted)))
    return conditions


def _key(raw: str, argument: str) -> str:
    key = raw.strip()
    if not key:
        raise _refusal(argument, "has a condition without the name of a field")
    return key


def _refusal(argument: str, reason: str) -> ToolError:
    return ToolError(
        "INVALID_REQUEST",
        f"{argument} {reason}",
        details={"argument": argument},
        hint='Write it as {"field": "value"}, or as field=value.',
    )
