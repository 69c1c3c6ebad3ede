"""Gate: every line that states something rests on a claim that the product's repository makes.

A mark must lead to a claim, a factual line must have a mark, and the claim behind it must be one that may be used:
no guess where guesses are not allowed, none that another claim contradicts, no format that nothing speaks for.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from holdfast.launch.claim_marks import claims_of, normalised, without_marks
from holdfast.launch.code_spans import replace_code_spans
from holdfast.launch.factual import FactualLine, visible
from holdfast.launch.factual_words import FORMATS
from holdfast.launch.gates.gate import Checked, Finding, Gate, everywhere, seconds
from holdfast.launch.gates.view import Page, View
from holdfast.launch.version import ARTIFACT_VERSION

__all__ = ["GATE", "check"]

# A guess about these is worse than nothing, whoever allows guesses.
_RISKY = re.compile(
    r"\b(secur\w*|encrypt\w*|vulnerab\w*|complian\w*|certif\w*|gdpr|hipaa|performan\w*|fast\w*|speed\w*|latency|"
    r"throughput|benchmark\w*|scal(?:es|able|ability)|memory)\b",
    re.IGNORECASE,
)
_CLAIM_ID = re.compile(r"clm_[0-9a-f]{16}")
_WORD = re.compile(r"[^\W_]+")
_SHORTEST_QUOTE = 12  # characters that a line must share with a claim to be taken for it
_LONGEST_TEXT = 500


def check(view: View) -> Checked:
    """All pages, and the report of what each of them rests on."""
    ledger = _Ledger(view)
    for page in view.pages:
        ledger.read(page)
    return Checked(
        ledger.findings,
        notes=[f"factual lines: {ledger.factual}, cited: {ledger.cited}"],
        documents={"truth_lock_report.json": ledger.report()},
    )


class _Ledger:
    """What pages rest on, gathered page by page."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._claims = {claim["claim_id"]: claim for claim in view.artifacts["evidence_map.json"]["claims"]}
        self._usable = _usable(view.artifacts["evidence_map.json"]["contradictions"])
        self._may_infer = bool(view.config["allow_inference"])
        facts = view.artifacts["product_facts.json"]
        self._product = facts["product_name"]
        self._formats = {
            entry["format"].lower().lstrip(".")
            for entry in facts["supported_formats"]
            if entry["status"] == "implemented"
        }
        self._said = _said(self._claims, facts["api_symbols"])
        self._by_text: dict[str, list[str]] = {}
        for claim in self._claims.values():
            self._by_text.setdefault(_plain(claim["claim_text"], self._product), []).append(claim["claim_id"])
        self.findings: list[Finding] = []
        self.factual = self.cited = 0
        self._pages: list[dict[str, Any]] = []
        self._unresolved: dict[str, None] = {}
        self._inferred: dict[str, None] = {}
        self._forbidden: dict[str, None] = {}
        self._uncited: list[dict[str, Any]] = []

    def read(self, page: Page) -> None:
        """One page."""
        lines = self._view.factual(page)
        texts = page.file_lines
        cited = [item for item in lines if claims_of(texts[item.line - 1])]
        for number in sorted(page.touched):
            self._marked(page, number, texts[number - 1])
        for item in lines:
            if not claims_of(texts[item.line - 1]):
                self._uncited_line(page, item)
        self.factual += len(lines)
        self.cited += len(cited)
        known = [claim for claim in page.claim_ids if _CLAIM_ID.fullmatch(claim)]
        self._pages.append(
            {"path": page.path, "claim_ids": sorted(known), "factual_lines": len(lines), "cited_lines": len(cited)}
        )

    def report(self) -> dict[str, Any]:
        """The document for the auditor."""
        counts = (
            "CLAIM_UNKNOWN",
            "LINE_UNCITED",
            "INFERENCE_NOT_ALLOWED",
            "INFERENCE_FORBIDDEN",
            "CLAIM_CONTRADICTED",
        )
        return {
            "schema_version": ARTIFACT_VERSION,
            "ok": not any(finding.code in (*counts, "FORMAT_NOT_GROUNDED") for finding in self.findings),
            "pages": sorted(self._pages, key=lambda page: page["path"]),
            "unresolved_claim_ids": sorted(self._unresolved),
            "inferred_claim_ids": sorted(self._inferred),
            "forbidden_inferred_claim_ids": sorted(self._forbidden),
            "uncited_lines": sorted(self._uncited, key=lambda item: (item["path"], item["line"])),
        }

    def _marked(self, page: Page, number: int, line: str) -> None:
        ids = claims_of(line)
        for claim_id in dict.fromkeys(ids):
            claim = self._claims.get(claim_id)
            if claim is None:
                self._unknown(page, number, claim_id)
            else:
                self.findings += self._judged(page, number, claim)
        known = [self._claims[claim_id] for claim_id in ids if claim_id in self._claims]
        if known:
            self.findings += self._ungrounded(page, number, line, known)

    def _unknown(self, page: Page, number: int, claim_id: str) -> None:
        self._unresolved[claim_id[:200]] = None
        self.findings.append(
            Finding(
                "CLAIM_UNKNOWN",
                f"The mark {claim_id[:100]} leads to no claim of the evidence map.",
                page.path,
                number,
                anchor=f"{claim_id} {page.line_text(number)}",
                suggested_fix="Remove the mark, and cite what the line rests on.",
                fix_rule="drop_unknown_mark",
                data={"claim_id": claim_id, "line_text": page.line_text(number)},
            )
        )

    def _judged(self, page: Page, number: int, claim: Mapping[str, Any]) -> Iterator[Finding]:
        """Whether the claim behind a mark may be used."""
        if not self._usable.get(claim["claim_id"], True):
            yield _dropped(
                "CLAIM_CONTRADICTED", page, number, claim,
                "The claim behind this line is contradicted by another one, and did not win.",
            )  # fmt: skip
        if claim["truth_status"] != "inference":
            return
        self._inferred[claim["claim_id"]] = None
        if not self._may_infer:
            yield _dropped(
                "INFERENCE_NOT_ALLOWED", page, number, claim,
                "The claim behind this line is a guess, and this run allows none.",
            )  # fmt: skip
        elif claim["claim_kind"] == "format" or _RISKY.search(claim["claim_text"]):
            self._forbidden[claim["claim_id"]] = None
            yield _dropped(
                "INFERENCE_FORBIDDEN", page, number, claim,
                "The claim behind this line is a guess about formats, security or performance: never allowed.",
            )  # fmt: skip

    def _ungrounded(
        self, page: Page, number: int, line: str, claims: Iterable[Mapping[str, Any]]
    ) -> Iterator[Finding]:
        """Formats that the line names, and that neither its claims nor the list of formats know."""
        told = {word for claim in claims for word in self._said[claim["claim_id"]]}
        named = [word for word in _words(visible(replace_code_spans(line, " "))) if word in FORMATS]
        for word in sorted(set(named) - told - self._formats):
            yield Finding(
                "FORMAT_NOT_GROUNDED",
                f"The line names the format {word.upper()}, of which its claims say nothing.",
                page.path,
                number,
                anchor=f"{word} {page.line_text(number)}",
                suggested_fix="Take the format out, or cite what speaks for it.",
                fix_rule="drop_uncited_line",
                data={"line_text": page.line_text(number), "format": word},
            )

    def _uncited_line(self, page: Page, item: FactualLine) -> None:
        self._uncited.append({"path": page.path, "line": item.line, "text": item.text[:_LONGEST_TEXT]})
        fitting = self._fitting(item.text)
        self.findings.append(
            Finding(
                "LINE_UNCITED",
                f"The line states something ({', '.join(item.reasons)}) and cites nothing: {item.text[:200]}",
                page.path,
                item.line,
                anchor=item.text,
                suggested_fix="Cite what it rests on, or take it out.",
                fix_rule="mark_line" if fitting else "drop_uncited_line",
                data={"line_text": item.text, **({"claim_ids": fitting} if fitting else {})},
            )
        )

    def _fitting(self, text: str) -> list[str]:
        """The one claim that says just this; nothing where there is none, or more than one."""
        plain = _plain(visible(text), self._product)
        exact = self._by_text.get(plain, [])
        if not exact and len(plain) >= _SHORTEST_QUOTE:
            exact = [claim for told, ids in self._by_text.items() if plain in told for claim in ids]
        usable = [claim for claim in exact if self._may_be_cited(claim)]
        return usable if len(usable) == 1 else []

    def _may_be_cited(self, claim_id: str) -> bool:
        is_fact = self._claims[claim_id]["truth_status"] == "fact"
        return is_fact and self._usable.get(claim_id, True)


def _said(claims: Mapping[str, Mapping[str, Any]], symbols: Iterable[Mapping[str, Any]]) -> dict[str, set[str]]:
    """The words that stand behind each claim: its own, and for a symbol all that is known of it.

    Pages tell a symbol's parameters, result and errors under its claim, too, which cites their documentation.
    """
    said = {claim_id: set(_words(claim["claim_text"])) for claim_id, claim in claims.items()}
    for symbol in symbols:
        if symbol["claim_id"] in said:
            said[symbol["claim_id"]].update(*map(_words, _texts(symbol)))
    return said


def _texts(value: Any) -> Iterator[str]:
    """Every text in a document, names of fields left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from _texts(list(value.values()))
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)


def _usable(contradictions: Iterable[Mapping[str, Any]]) -> dict[str, bool]:
    """Of claims that contradict each other, only one that has won may be used, if only for now."""
    usable: dict[str, bool] = {}
    for item in contradictions:
        for claim in (item["claim_a_id"], item["claim_b_id"]):
            usable[claim] = usable.get(claim, True) and item["winning_claim_id"] == claim
    return usable


def _dropped(code: str, page: Page, number: int, claim: Mapping[str, Any], message: str) -> Finding:
    text = page.line_text(number)
    return Finding(
        code,
        message,
        page.path,
        number,
        anchor=f"{claim['claim_id']} {text}",
        suggested_fix="Take the line out, or cite another claim.",
        fix_rule="drop_uncited_line",
        data={"line_text": text, "claim_id": claim["claim_id"]},
    )


def _plain(text: str, product: str) -> str:
    words = normalised(without_marks(text).replace("`", "").replace("**", ""), product)
    return words.rstrip(" .")


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


GATE = Gate(
    "truthlock",
    "truthlock",
    check,
    everywhere(
        CLAIM_UNKNOWN="blocker",
        LINE_UNCITED="blocker",
        CLAIM_CONTRADICTED="blocker",
        INFERENCE_NOT_ALLOWED="blocker",
        INFERENCE_FORBIDDEN="blocker",
        FORMAT_NOT_GROUNDED="blocker",
    ),
    seconds(60, 120),
    uses=("product_facts.json", "evidence_map.json"),
)
