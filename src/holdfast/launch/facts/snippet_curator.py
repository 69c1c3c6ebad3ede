"""Worker W3: the code that the repository shows: each piece once, checked, with its place and its introduction."""

import hashlib
from collections.abc import Mapping
from typing import Any

from holdfast.launch.claim_marks import normalised
from holdfast.launch.facts.code_texts import checked, imports_of, shows_something, uses_of
from holdfast.launch.facts.ecosystems import ecosystem_of
from holdfast.launch.facts.reading import Repository
from holdfast.launch.facts.shown import Shown
from holdfast.launch.facts.snippet_sources import shown_code
from holdfast.launch.facts.used_names import used_names
from holdfast.launch.work import Workplace

__all__ = ["work"]

_MOST = 400
_MOST_PER_FILE = 40
_MOST_USES = 8
_TABBED = frozenset({"javascript", "typescript", "tsx", "go", "rust", "java", "csharp"})
_NO_PROGRAMS = frozenset({"python", "bash", "text", "json", "yaml", "toml", "ini", "bat", "xml", "html", "css"})


def work(place: Workplace) -> None:
    """Write `snippet_catalog.json`."""
    repository = Repository(place.repo, place.read("repo_inventory.json"))
    facts = place.read("product_facts.json")
    curator = _Curator(facts)
    ecosystem = ecosystem_of(str(place.config["target_platform"]))
    for shown in shown_code(repository, facts, ecosystem):
        curator.take(shown)
        if len(curator.snippets) % 20 == 1:
            place.progress(len(curator.snippets), _MOST, shown.path)
    place.write(
        "snippet_catalog.json",
        {"schema_version": "1.0", "snippets": curator.snippets, "skipped": repository.skips()},
    )


class _Curator:
    """Keeps what is worth showing, in the order in which it comes: the best places first."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self.snippets: list[dict[str, Any]] = []
        self._product = str(facts["product_name"])
        self._symbols = facts["api_symbols"]
        self._names = {symbol["qualified_name"] for symbol in self._symbols}
        self._packages = set(facts.get("code_structure", {}).get("package_names", []))
        self._claims = {
            normalised(claim["claim_text"], self._product): claim["claim_id"] for claim in facts["claims"]
        }
        self._seen: set[str] = set()
        self._per_file: dict[str, int] = {}

    def take(self, shown: Shown) -> None:
        """Add a piece of code, unless it is known, empty, or one too many."""
        if shown.language in _TABBED:  # a page shows a tab as wide as it likes, and rules for Markdown refuse it
            shown = shown._replace(code=shown.code.expandtabs(4))
        words = f"{shown.language}:{' '.join(shown.code.split())}"
        count = self._per_file.get(shown.path, 0)
        if (
            words in self._seen
            or len(shown.code.strip()) < 4
            or len(self.snippets) >= _MOST
            or count >= _MOST_PER_FILE
        ):
            return
        if len(shown.code) > 60_000 or not shows_something(shown.language, shown.code):
            return
        self._seen.add(words)
        self._per_file[shown.path] = count + 1
        self.snippets.append(self._snippet(shown))

    def _snippet(self, shown: Shown) -> dict[str, Any]:
        verdict = checked(shown.language, shown.code)
        is_python = shown.language == "python" and verdict.ok
        uses = self._uses(shown, is_python=is_python)[:_MOST_USES] if verdict.ok else []
        tags = [*shown.tags, *(f"api:{name}"[:200] for name in uses)]
        snippet: dict[str, Any] = {
            "snippet_id": _id(shown),
            "language": shown.language,
            "tags": list(dict.fromkeys(tags)),
            "code": shown.code,
            "source": {
                "type": "repo_file",
                "path": shown.path,
                "start_line": shown.start_line,
                "end_line": max(shown.start_line, shown.end_line),
                "origin": shown.origin,
            },
            "requirements": {"dependencies": imports_of(shown.code, self._packages) if is_python else []},
            "validation": {"syntax_ok": verdict.ok, "runnable_ok": None}
            | ({"message": verdict.message} if verdict.message else {}),
        }
        if shown.title:
            snippet["title"] = shown.title[:300]
        if shown.introduction:
            snippet["introduction"] = shown.introduction[:2_000]
            snippet["introduction_line"] = max(shown.introduction_line, 1)
            claim = self._claims.get(normalised(shown.introduction, self._product))
            if claim:
                snippet["introduction_claim_id"] = claim
        return snippet

    def _uses(self, shown: Shown, *, is_python: bool) -> list[str]:
        if is_python:
            return uses_of(shown.code, self._names, self._packages)
        is_text = shown.language in _NO_PROGRAMS
        return [] if is_text else used_names(shown.code, self._symbols, self._packages)


def _id(shown: Shown) -> str:
    text = f"{shown.path}:{shown.start_line}-{shown.end_line}\n{shown.code}"
    return "snp_" + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
