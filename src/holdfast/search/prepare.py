"""One file, from its bytes to what the index takes: read, decode, extract, judge, split into words, pack.

It runs in a parser process (`pool`), so it may be slow, crash or hang on its file without harm to others.
"""

import hashlib
import math
import os
import stat
import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import orjson

from holdfast.search.embedded import HOSTS
from holdfast.search.fact_terms import fact_pairs
from holdfast.search.model import Chunk, Extraction
from holdfast.search.packing import pack, pack_text
from holdfast.search.prepared import ChunkWords, PreparedChunk, PreparedFile, fact
from holdfast.search.tokens import body_streams

__all__ = ["FileToPrepare", "Unchanged", "Vanished", "digest_of", "prepare"]

_LARGEST = 128 << 20  # bytes of a file that grew since it was found
_NEVER_FILTERED = frozenset({"param_types", "param_defaults", "modifiers", "exports", "risk_sanitizers"})


class FileToPrepare(NamedTuple):
    """What a parser process is told about a file."""

    root: str
    path: str
    mode: str
    language: str
    known_digest: bytes | None = None  # of the version that the index holds
    rules: str | None = None  # the user's own risk rules
    place: str = ""  # where it lies, if not below the root: it is a record of triage then
    most_excess: float = math.inf  # seconds over the usual pace that a parser may take for all its files
    plain: str = ""  # why its grammar is not asked, if so: the file is indexed as plain text

    @property
    def location(self) -> Path:
        """Where the file is read from."""
        return Path(self.place) if self.place else Path(self.root, self.path)


class Unchanged(NamedTuple):
    """The content is what the index holds already; only the time of the file is new."""

    path: str
    mtime_ns: int


class Vanished(NamedTuple):
    """The file could not be read any more; it may come back."""

    path: str


def prepare(task: FileToPrepare) -> PreparedFile | Unchanged | Vanished:
    """The file, ready to be indexed. Its time is read before its content: a later write will be noticed."""
    try:
        mtime_ns, data = _read(task.location)
    except OSError:
        return Vanished(task.path)
    digest = digest_of(data)
    if digest == task.known_digest:
        return Unchanged(task.path, mtime_ns)
    clock = _Clock()
    encoding, source, extraction = _extract(task, data)
    clock.lap("extract")
    own = [chunk for chunk in extraction.chunks if not chunk.language]  # embedded code was judged as it was read
    _judge(task.rules, task.language, source, own)
    clock.lap("risk")
    grams = _grams(source)
    clock.lap("grams")
    chunks = [_prepared(task, source, chunk) for chunk in extraction.chunks]
    clock.lap("words")
    packed = pack_text(source)
    clock.lap("pack")
    return PreparedFile(
        path=task.path,
        digest=digest,
        size=len(data),
        mtime_ns=mtime_ns,
        mode=task.mode,
        language=task.language,
        encoding=encoding,
        lines=source.count(b"\n") + (not source.endswith(b"\n") and bool(source)),
        imports=extraction.imports,
        exports=extraction.exports,
        remarks=extraction.remarks,
        text=packed,
        grams=grams,
        chunks=chunks,
        costs=clock.laps,
    )


class _Clock:
    """CPU seconds by stage; the build reports their sums."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._since = time.process_time()

    def lap(self, stage: str) -> None:
        now = time.process_time()
        self.laps[stage] = now - self._since
        self._since = now


def digest_of(data: bytes) -> bytes:
    """What tells two versions of a file apart."""
    return hashlib.blake2b(data, digest_size=16).digest()


def _read(location: Path) -> tuple[int, bytes]:
    """Time and bytes of a plain file; a pipe or a link that took its place since it was found is not followed."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
    with open(os.open(location, flags), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError("it is no plain file any more")
        return status.st_mtime_ns, file.read(_LARGEST)


def _extract(task: FileToPrepare, data: bytes) -> tuple[str, bytes, Extraction]:
    from holdfast.search.decode import decode

    if task.place:
        from holdfast.search.filed import extract_record

        return "utf-8", *extract_record(data)
    if task.mode == "extracted-prose":  # a document: a format of its own, with a text inside
        from holdfast.search.documents import extract_document

        return "binary", *extract_document(task.path, data)
    decoded = decode(data)
    source = decoded.text_bytes
    if task.language in HOSTS and not task.plain:
        from holdfast.search.embedded.hosts import extract_host

        source, extraction = extract_host(task.language, task.path, source, partial(_judge, task.rules))
    else:
        extraction = _chunks_of(task, source)
    extraction.remarks += [f"indexed as plain text: {task.plain}"] if task.plain else []
    extraction.remarks.extend(decoded.remarks)
    return decoded.encoding, source, extraction


def _chunks_of(task: FileToPrepare, source: bytes) -> Extraction:
    if task.mode == "prose":
        from holdfast.search.prose import extract_prose

        return extract_prose(task.language, task.path, source)
    if task.mode == "records":
        from holdfast.search.records import extract_records

        return extract_records(task.path, source)
    from holdfast.search.languages import available

    if not task.plain and available(task.language):
        from holdfast.search.extract.code import extract

        return extract(task.language, task.path, source)
    from holdfast.search.windows import extract_windows

    return extract_windows(task.language, task.path, source)


def _grams(source: bytes) -> str:
    from holdfast.search.regex_grams import grams_of

    return " ".join(grams_of(source.decode("utf-8", "replace")))


def _judge(rule_file: str | None, language: str, source: bytes, chunks: list[Chunk]) -> None:
    """Fill in what the risk rules say."""
    from holdfast.search.risk.analysis import analyse
    from holdfast.search.risk.callees import surroundings_of
    from holdfast.search.risk.loading import load_rules

    rules, around = load_rules(Path(rule_file) if rule_file else None), surroundings_of(language, chunks)
    for chunk in chunks:
        if chunk.mode == "code":
            analyse(language, source, chunk, rules, around=around)


def _prepared(task: FileToPrepare, source: bytes, chunk: Chunk) -> PreparedChunk:
    text = source[chunk.start : chunk.end].decode("utf-8", "replace") if chunk.text is None else chunk.text
    body, identifiers = body_streams(text)
    name, name_identifiers = body_streams(chunk.name)
    words = ChunkWords(
        name=f"{name} {name_identifiers}".strip(),
        doc=body_streams(chunk.doc)[0],
        body=body,
        identifiers=identifiers,
    )
    details = _details(chunk)
    return PreparedChunk(
        mode=chunk.mode,
        kind=chunk.kind,
        name=chunk.name,
        start=chunk.start,
        end=chunk.end,
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        words=words,
        packed_words=words.packed(),
        facts=list(_facts(task, chunk, details)),
        counts=chunk.counts,
        details=pack(orjson.dumps(details)),
    )


def _facts(task: FileToPrepare, chunk: Chunk, details: dict[str, object]) -> Iterable[str]:
    """Everything that a filter can ask of a chunk, as terms. What holds for the file is in the file's document."""
    for name, value in fact_pairs(chunk.mode, chunk.kind, chunk.name, task.language, task.path, details):
        if name not in _NEVER_FILTERED:
            yield fact(name, value)


def _details(chunk: Chunk) -> dict[str, object]:
    details: dict[str, object] = {
        "signature": chunk.signature,
        "doc": chunk.doc,
        "visibility": chunk.visibility,
        "flags": sorted(chunk.flags),
        "facts": chunk.facts,
        "counts": chunk.counts,
    }
    if chunk.record is not None:
        details["record"] = chunk.record
    if chunk.language:
        details["language"] = chunk.language
    if chunk.risk:
        details["risk"] = chunk.risk
    return details
