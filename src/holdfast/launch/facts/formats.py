"""File formats that the product reads or writes, only where a claim says so in so many words."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from holdfast.launch.facts.claims import Claim
from holdfast.launch.module_names import depth

__all__ = ["formats_of"]

_FORMATS = {
    "CSV": r"CSV", "TSV": r"TSV", "JSON": r"JSON(?![ -]?(?:Lines|Schema|Web|RPC|L\b|5))",
    "JSON Lines": r"JSON ?Lines|JSONL|NDJSON", "XML": r"XML",
    "YAML": r"YAML", "TOML": r"TOML", "INI": r"INI", "HTML": r"HTML", "Markdown": r"Markdown",
    "reStructuredText": r"reStructuredText|RST",
    "LaTeX": r"LaTeX", "PDF": r"PDF", "Excel": r"Excel|XLSX?", "Parquet": r"Parquet",
    "Arrow": r"Apache Arrow|Arrow", "Feather": r"Feather",
    "HDF5": r"HDF5", "SQLite": r"SQLite", "PNG": r"PNG", "JPEG": r"JPE?G", "SVG": r"SVG", "GIF": r"GIF",
    "ZIP": r"ZIP", "GZIP": r"gzip", "TAR": r"TAR",
    "MessagePack": r"MessagePack|msgpack", "Protocol Buffers": r"Protocol Buffers|protobuf", "Avro": r"Avro",
    "iCalendar": r"iCalendar", "DOCX": r"DOCX",
    "Jira": r"Jira markup", "MediaWiki": r"MediaWiki", "Textile": r"Textile", "Org": r"Org-?mode",
    "logfmt": r"logfmt",
}  # fmt: skip
_NAMES = tuple((name, re.compile(rf"(?<![\w.-])(?:{pattern})(?![\w-])")) for name, pattern in _FORMATS.items())
_READS = re.compile(
    r"\b(?:read(?:s|ing|er)?|pars(?:e|es|ing|er)|load(?:s|ing)?|import(?:s|ing)?|open(?:s|ing)?|decod(?:e|"
    r"es|ing))\b",
    re.IGNORECASE,
)
_WRITES = re.compile(
    r"\b(?:writ(?:e|es|ing)|dump(?:s|ing)?|export(?:s|ing)?|sav(?:e|es|ing)|render(?:s|ing)?|serializ(?:e|"
    r"es|ing)|output(?:s|ting)?|encod(?:e|es|ing)|generat(?:e|es|ing)|"
    r"format(?:s|ted|ting)?)\b",
    re.IGNORECASE,
)
_BOTH = re.compile(r"\b(?:supports?|supported|handles?|convert(?:s|ing)?|works? with|formats?)\b", re.IGNORECASE)
_DENIES = re.compile(
    r"\b(?:not?|never|without|cannot|can't|doesn't|don't|instead|unlike|other)\b|n't\b", re.IGNORECASE
)
# Who offers such a name writes something, even where nobody says which format.
_WRITER = re.compile(r"(?:^|\.)(?:dumps?|encode|marshal|save|serialize|stringify|write\w*|to_\w+)$", re.IGNORECASE)
_DEEPEST = 2  # dots in a name; what is deeper works inside the product, and may read what nobody gives it
_KINDS = frozenset({"positioning", "feature", "format", "api", "workflow"})


def formats_of(claims: Iterable[Claim], packages: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The formats in the order of their names, each with the best claim that names it."""
    found: dict[str, tuple[tuple[int, int, str], Claim, bool, bool]] = {}
    is_writer = False
    for claim in claims:
        is_inner = claim.kind == "api" and depth(claim.topic, packages) > _DEEPEST
        is_writer = is_writer or (claim.kind == "api" and not is_inner and bool(_WRITER.search(claim.topic)))
        if claim.kind not in _KINDS or is_inner or _DENIES.search(claim.text):
            continue
        reads, writes = bool(_READS.search(claim.text)), bool(_WRITES.search(claim.text))
        if not (reads or writes or _BOTH.search(claim.text)):
            continue
        for name, pattern in _NAMES:
            if pattern.search(claim.text):
                rank = (claim.kind == "api", claim.priority, claim.claim_id)
                known = found.get(name)
                best = (rank, claim) if known is None or rank < known[0] else known[:2]
                found[name] = (*best, reads or bool(known and known[2]), writes or bool(known and known[3]))
    return [
        {"format": name, "status": "implemented", "claim_id": claim.claim_id}
        | ({} if is_writer and not writes else _direction(reads=reads, writes=writes))
        for name, (_, claim, reads, writes) in sorted(found.items())
    ]


def _direction(*, reads: bool, writes: bool) -> dict[str, str]:
    if reads and writes:
        return {"direction": "both"}
    return {"direction": "read"} if reads else {"direction": "write"} if writes else {}
