"""Records: a log file as windows of lines, lines of JSON with their fields, and stack traces.

Which of them a search wants is said by conditions on their fields, in `meta`.
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

import orjson

from holdfast.present.counted import counted
from holdfast.search.decode import MAX_CHUNK_BYTES, LineTable
from holdfast.search.model import Chunk, Extraction

__all__ = ["extract_records"]

_LOG_LINES = 50
_TRACE_LINES = 200
_NAME_LENGTH = 120
_MAX_JSON_LINES = 5_000  # of a file that become records of their own; each costs an entry of the index
_MAX_BRACKETS = 200  # in a line of JSON that cannot be nested too deeply


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
        remarks.append(f"the fields of {counted(json_lines - _MAX_JSON_LINES, 'line')} are not searchable")
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


# The line with which a trace of some runtime begins, and the lines that may only follow one.
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
