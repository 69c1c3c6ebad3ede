"""What the code says about a finding: the questions that it raises, and what a search finds for each of them.

The search itself is handed in; this only asks and shortens.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from holdfast.errors import ToolError
from holdfast.search.triage.fields import Fields, clean

__all__ = ["MODES", "Search", "gather", "questions"]

Search = Callable[[dict[str, Any]], dict[str, Any]]

# By mode, the name of its list in the answer of a search. Asked for no mode, a search answers with these three.
MODES = {"code": "code", "prose": "prose", "extracted-prose": "extractedProse"}

_TOP = 5
_MOST_QUESTIONS = 12
_LONGEST_QUESTION = 200
_LONGEST_SNIPPET = 240
_SHOWN = ("file", "startLine", "endLine", "kind", "name", "headline", "score", "scoreType", "scoreBreakdown")
_MAJOR_VERSION = re.compile(r"v\d+")
# Packages that are imported by another name than the one they are installed by.
_IMPORT_NAMES = {
    "beautifulsoup4": "bs4", "gitpython": "git", "mysqlclient": "MySQLdb", "opencv-python": "cv2", "pillow": "PIL",
    "psycopg2-binary": "psycopg2", "pycryptodome": "Crypto", "pyjwt": "jwt", "pyopenssl": "OpenSSL",
    "python-dateutil": "dateutil", "python-jose": "jose", "pyyaml": "yaml", "scikit-learn": "sklearn",
}  # fmt: skip


def questions(finding: Mapping[str, Any]) -> list[str]:
    """What to search for, the most telling first and each once, however it is written."""
    distinct: dict[str, str] = {}
    for text in _raised(Fields(dict(finding))):
        shown = clean(text or "", _LONGEST_QUESTION)
        if any(character.isalnum() for character in shown):
            distinct.setdefault(shown.lower(), shown)
    return list(distinct.values())[:_MOST_QUESTIONS]


def gather(
    asked: list[str], search: Search, root: str, stop: Callable[[], bool], tell: Callable[[int, str], None]
) -> tuple[list[dict[str, Any]], list[dict[str, str]]]:
    """The evidence for every question and mode, and what should be known about it.

    Without an index there is none, which is no reason to fail; a question that cannot be asked costs only itself.
    """
    evidence: list[dict[str, Any]] = []
    warnings: dict[str, dict[str, str]] = {}
    for done, question in enumerate(asked):
        if stop():
            raise ToolError("CANCELLED", "gathering evidence was stopped; no context pack was written")
        tell(done, question)
        quoted = question.replace("\\", "\\\\").replace('"', '\\"')
        try:
            answer = search({"query": f'"{quoted}"', "top": _TOP, "explain": True, "repoPath": root})
        except ToolError as error:
            if error.code == "NO_INDEX":
                return evidence, [_remark("no-index", "there is no index, so no evidence was looked for")]
            if error.code != "INVALID_REQUEST":
                raise
            message = f"{question}: {error.message}"
            warnings.setdefault(message, _remark("not-searched", message))
            continue
        evidence += [_found(question, mode, answer.get(key)) for mode, key in MODES.items()]
        for said in answer.get("warnings", ()):
            warnings.setdefault(said["message"], _remark(said["code"], said["message"]))
    return evidence, list(warnings.values())


def _raised(finding: Fields) -> Iterator[str | None]:
    package = finding.text("package.name")
    ecosystem = finding.text("package.ecosystem") or ""
    yield finding.text("vuln.cve")
    yield finding.text("vuln.vulnId")
    yield package
    yield from _imported_as(package, ecosystem) if package else ()
    for other in finding.each("otherPackages")[:3]:
        yield other.text("name")
    yield os.path.basename(finding.text("package.manifestPath") or "")
    yield os.path.basename(finding.text("location.path") or "")
    yield finding.text("exposure.publicEndpoint")


def _imported_as(package: str, ecosystem: str) -> Iterator[str]:
    """How code names a package."""
    lowered = package.lower()
    if ecosystem in {"pip", "pypi", ""} and lowered in _IMPORT_NAMES:
        yield _IMPORT_NAMES[lowered]
    elif ecosystem in {"pip", "pypi"}:
        yield package.replace("-", "_")
    if ":" in package:  # group:artifact
        yield package.rpartition(":")[2]
    parts = [part for part in package.split("/") if part]
    if len(parts) > 1:  # @scope/name, or the path of a module with or without its major version
        yield parts[-2] if _MAJOR_VERSION.fullmatch(parts[-1]) else parts[-1]


def _found(question: str, mode: str, hits: Any) -> dict[str, Any]:
    return {"query": question, "mode": mode, "hits": [_hit(hit) for hit in hits or ()]}


def _hit(hit: Mapping[str, Any]) -> dict[str, Any]:
    written = hit.get("snippet")
    lines = written.get("lines", ()) if isinstance(written, Mapping) else ()
    text = "\n".join(str(line.get("text", "")) for line in lines)
    snippet = text if len(text) <= _LONGEST_SNIPPET else text[: _LONGEST_SNIPPET - 1] + "…"
    return {name: hit.get(name) for name in _SHOWN} | {"snippet": snippet}


def _remark(code: str, message: str) -> dict[str, str]:
    return {"code": code, "message": message}
