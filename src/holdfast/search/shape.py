"""What a caller reads: hits with their text, grouped by mode, and what holds for the whole answer."""

import hashlib
import os
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from holdfast.search.decode import LineTable
from holdfast.search.request import SearchRequest
from holdfast.search.scoring import Ranked
from holdfast.search.snippet import snippet
from holdfast.search.store.reader import ChunkRow, FileRow, StoreReader

__all__ = ["KEYS", "bundles", "hits", "iso_time"]

# Name of the list in the payload, by mode.
KEYS = {"code": "code", "prose": "prose", "extracted-prose": "extractedProse", "records": "records"}
_BUNDLE_ORDER = ("code", "extractedProse", "prose", "records")
_HEADLINE = 120
_SHOWN_FINDINGS = 3


def hits(
    ranked: Sequence[Ranked],
    request: SearchRequest,
    store: StoreReader,
    words: Sequence[str],
    reasons: Sequence[str],
) -> list[dict[str, Any]]:
    """The shown results of one mode."""
    details = store.details([one.row.id for one in ranked])
    files = store.file_rows({one.row.file for one in ranked})
    ends = {one.row.file: 0 for one in ranked}
    for one in ranked:
        ends[one.row.file] = max(ends[one.row.file], one.row.end)
    texts = {n: store.text(n, until=None if request.context else end) for n, end in ends.items()}
    _note_findings(ranked, files.values(), request, store)
    shown = []
    for one in ranked:
        store.check_stop()
        if one.row.file in files and one.row.id in details:
            text = texts[one.row.file]
            file = files[one.row.file]
            shown.append(_hit(one, file, details[one.row.id], text, request, words, reasons))
    return shown


def _note_findings(
    ranked: Sequence[Ranked], files: Iterable[FileRow], request: SearchRequest, store: StoreReader
) -> None:
    """What linters say of hits, where somebody has asked them; in full answers, and where it is asked for."""
    is_shown = request.lint or request.output != "compact"
    if not is_shown or store.lint is None or store.lint_stamp() == (0, 0):
        return
    from holdfast.search.linting.findings import findings_of

    said = findings_of(store.lint, files)
    for one in ranked:
        if one.row.mode == "code":
            lines = range(one.row.start_line, one.row.end_line + 1)
            found = [(tool, finding) for tool, finding in said.get(one.row.file, ()) if finding.line in lines]
            one.more["lint"] = [{"tool": tool, **finding._asdict()} for tool, finding in found]
            if request.lint:
                some = found[:_SHOWN_FINDINGS]
                one.notes += [f"line {f.line}: {f.message} ({tool} {f.rule})" for tool, f in some]


def _hit(
    one: Ranked,
    file: FileRow,
    details: dict[str, Any],
    text: bytes,
    request: SearchRequest,
    words: Sequence[str],
    reasons: Sequence[str],
) -> dict[str, Any]:
    row = one.row
    score = round(one.score, 4)
    hit: dict[str, Any] = {
        "id": _stable_id(file.path, row.mode, row.name, row.start),
        "file": file.path,
        "start": row.start,
        "end": row.end,
        "startLine": row.start_line,
        "endLine": row.end_line,
        "ext": os.path.splitext(file.path)[1].lower(),
        "kind": row.kind,
        "name": row.name,
        "headline": _headline(row.name, details),
        "score": score,
        "scoreType": "bm25-fielded",
        "sparseScore": score,
        "sparseType": "bm25-fielded",
        "annScore": None,
        "annSource": None,
        "annType": None,
        "language": details.get("language", file.language),
        "why": _why(one, reasons),
    }
    hit |= one.more
    hit |= _location(row, file)
    hit |= _shown_text(row, text, request, words)
    if request.explain:
        hit["scoreBreakdown"] = {name: round(value, 4) for name, value in one.parts.items()}
    return hit if request.output == "compact" else hit | _full(file, details, hit.get("risk", {}))


def _full(file: FileRow, details: dict[str, Any], risk: dict[str, Any]) -> dict[str, Any]:
    flows = _unique(f"{flow['source']}->{flow['sink']}" for flow in risk.get("flows", ()))
    full = {
        "signature": details["signature"],
        "doc": details["doc"],
        "visibility": details["visibility"] or None,
        **{flag: flag in details["flags"] for flag in ("async", "generator", "returns")},
        # Flows that go through other functions are no facts of the chunk alone.
        "facts": details["facts"] | ({"risk_flows": flows} if flows else {}),
        "counts": details["counts"],
        "lastModified": None if file.modified is None else iso_time(file.modified),
        "lastAuthor": file.author,
        "churn": file.churn,
        "churnCommits": file.commits,
        "encoding": file.encoding,
    }
    return full | ({"record": details["record"]} if "record" in details else {})


def _location(row: ChunkRow, file: FileRow) -> dict[str, Any]:
    """Where a person finds the text in a document, which has no lines: its page, or the headings above it."""
    if file.mode != "extracted-prose":
        return {}
    if row.kind == "page":
        return {"location": {"page": int(row.name.rpartition(" ")[2])}}
    return {"location": {"heading": "" if row.name == os.path.basename(file.path) else row.name}}


def _shown_text(row: ChunkRow, text: bytes, request: SearchRequest, words: Sequence[str]) -> dict[str, Any]:
    """The snippet with the lines that match best, and the lines around the chunk where they were asked for."""
    start, end = row.start, row.end
    own = text[_line_start(text, start) : end].decode("utf-8", "replace")
    chosen = snippet(own, row.start_line, words, context=0)
    # A notebook may keep a whole cell in one line of its file: then all lines of the cell have its number.
    last = row.end_line
    shown: dict[str, Any] = {
        "snippet": {
            "startLine": min(chosen.lines[0][0], last) if chosen.lines else row.start_line,
            "lines": [
                {"line": min(number, last), "text": line, "highlights": [list(span) for span in spans]}
                for (number, line), spans in zip(chosen.lines, chosen.highlights, strict=True)
            ],
            "truncated": chosen.truncated,
        }
    }
    if request.context and text:
        shown["context"] = _around(text, start, end, request.context)
    return shown


def _line_start(text: bytes, start: int) -> int:
    """Where the line of a chunk begins, if only white space stands before it; columns count from there."""
    first = max(text.rfind(b"\n", 0, start), text.rfind(b"\r", 0, start)) + 1
    return start if text[first:start].strip() else first


def _around(text: bytes, start: int, end: int, lines: int) -> dict[str, list[str]]:
    """The lines before and after a chunk."""
    table = LineTable(text)
    first, last = table.line_at(start), table.line_at(max(end - 1, start))
    whole = [line.decode("utf-8", "replace").rstrip("\r\n") for line in table.lines]
    return {"before": whole[max(0, first - lines) : first], "after": whole[last + 1 : last + 1 + lines]}


def _headline(name: str, details: dict[str, Any]) -> str:
    doc = details["doc"].strip().split("\n", 1)[0]
    text = details["signature"] or name
    line = f"{text} - {doc}" if text and doc else text or doc
    return line if len(line) <= _HEADLINE else line[: _HEADLINE - 1] + "…"


def _why(one: Ranked, reasons: Sequence[str]) -> list[str]:
    why = [f"matches {', '.join(one.matched[:6])}"] if one.matched else []
    if one.parts.get("symbol", 0.0) >= 1.0:
        why.insert(0, "defines it")
    return [*one.notes, *why, *reasons]


def _stable_id(path: str, mode: str, name: str, start: int) -> str:
    """The same for as long as the chunk stays where it is, from build to build."""
    return hashlib.blake2b(
        f"{path}\0{mode}\0{name}\0{start}".encode("utf-8", "replace"), digest_size=8
    ).hexdigest()


def iso_time(seconds: float) -> str:
    """A time as programs read it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def bundles(payload: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """The hits of all modes by file, the weightiest file first."""
    grouped: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for key in _BUNDLE_ORDER:
        for index, hit in enumerate(payload[key]):
            entry = {"mode": key, "index": index} | {
                n: hit[n] for n in ("score", "scoreType", "id", "file", "start", "end")
            }
            grouped.setdefault((hit.get("repo", ""), hit["file"]), []).append(entry)
    groups = [_bundle(repo, file, entries) for (repo, file), entries in grouped.items()]
    groups.sort(key=lambda g: (-g["totalScore"], -g["topScore"], -g["modeCount"], g["file"], g.get("repo", "")))
    return {"schemaVersion": 1, "groups": groups}


def _bundle(repo: str, file: str, entries: list[dict[str, Any]]) -> dict[str, Any]:
    entries.sort(key=lambda e: (-e["score"], _BUNDLE_ORDER.index(e["mode"]), e["index"]))
    modes = _unique(entry["mode"] for entry in entries)
    named = f"{repo}\0{file}" if repo else file
    return {
        **({"repo": repo} if repo else {}),
        "bundleId": hashlib.blake2b(named.encode("utf-8", "replace"), digest_size=8).hexdigest(),
        "file": file,
        "hitCount": len(entries),
        "totalScore": round(sum(entry["score"] for entry in entries), 4),
        "topScore": entries[0]["score"],
        "modeCount": len(modes),
        "modes": modes,
        "hits": entries,
    }


def _unique(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))
