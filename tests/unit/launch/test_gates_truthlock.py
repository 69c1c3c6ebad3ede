"""TruthLock: marks that lead nowhere, lines that cite nothing, and claims that may not be used."""

from typing import Any

import pytest
from tests.launch.gate_views import (
    CSV,
    FAST,
    GUESS,
    INSTALL,
    INSTALL_MD,
    LIMIT,
    LOSER,
    START,
    artifacts,
    codes,
    found,
    page_text,
    view_of,
)  # fmt: skip

from holdfast.launch.claim_marks import mark
from holdfast.launch.documents import encode
from holdfast.launch.gates.truthlock import GATE

NO_CLAIM = "clm_" + "0" * 16
INFERRING = {"allow_inference": True}


def body(line: str) -> str:
    return page_text(f"{line}\n")


def test_a_page_that_cites_everything_passes_and_is_reported() -> None:
    checked = found(GATE, view_of(page_text()))
    report = checked.documents["truth_lock_report.json"]

    assert checked.findings == []
    assert report["ok"] is True
    (page,) = report["pages"]
    assert page == {"path": INSTALL_MD, "claim_ids": sorted([CSV, LIMIT]), "factual_lines": 2, "cited_lines": 2}
    encode("truth_lock_report", report)


@pytest.mark.parametrize(
    ("line", "config", "code"),
    [
        ("It supports 3 things.", {}, "LINE_UNCITED"),
        ("## Table.read", {}, "LINE_UNCITED"),
        ("| `rows` | all |", {}, "LINE_UNCITED"),
        (f"It supports this.{mark([NO_CLAIM])}", {}, "CLAIM_UNKNOWN"),
        ("It supports this. <!-- claim: nonsense -->", {}, "CLAIM_UNKNOWN"),
        (f"TableKit works with spreadsheets.{mark([GUESS])}", {}, "INFERENCE_NOT_ALLOWED"),
        (f"TableKit has good performance.{mark([FAST])}", INFERRING, "INFERENCE_FORBIDDEN"),
        (f"It needs version 2.{mark([LOSER])}", {}, "CLAIM_CONTRADICTED"),
        (f"It reads JSON files.{mark([LIMIT])}", {}, "FORMAT_NOT_GROUNDED"),
    ],
)
def test_a_line_that_may_not_stand_is_found_with_a_rule(line: str, config: dict[str, Any], code: str) -> None:
    checked = found(GATE, view_of(body(line), config=config))

    assert [finding.code for finding in checked.findings] == [code]
    (finding,) = checked.findings
    assert (finding.path, finding.line) == (INSTALL_MD, 7)
    assert finding.fix_rule in ("drop_uncited_line", "drop_unknown_mark")
    assert finding.data["line_text"] == line.split(" <!--", maxsplit=1)[0]
    assert checked.documents["truth_lock_report.json"]["ok"] is False
    encode("truth_lock_report", checked.documents["truth_lock_report.json"])


@pytest.mark.parametrize(
    ("line", "config"),
    [
        (f"It reads CSV files.{mark([LIMIT])}", {}),  # a format that is known to be supported
        (f"TableKit works with spreadsheets.{mark([GUESS])}", INFERRING),
        (f"It is installed with pip.{mark([INSTALL])}", {}),  # it won against its contradiction
        (f"It works with Parquet.{mark([CSV])}", {}),  # so says the documentation behind the claim
        ("Read more on the next page.", {}),
        ("```\nTable.read(3)\n```", {}),
    ],
)
def test_a_line_that_may_stand_is_left_alone(line: str, config: dict[str, Any]) -> None:
    assert codes(GATE, view_of(body(line), config=config)) == []


@pytest.mark.parametrize(
    "more",
    [
        {"parameters": [{"name": "query", "description": "An SVG selector."}]},
        {"returns_description": "The SVG document."},
        {"raises": [{"name": "ValueError", "description": "The SVG cannot be read."}]},
        {"deprecated": "use SVG."},
    ],
)
def test_a_format_that_the_documentation_of_a_symbol_names_anywhere_is_founded(more: dict[str, Any]) -> None:
    facts = artifacts()["product_facts"]
    symbol = {"name": "x", "qualified_name": "x.x", "signature": "", "summary": "", "claim_id": CSV}
    line = body(f"| `query` | An SVG selector.{mark([CSV])} |")
    assert codes(GATE, view_of(line, product_facts=facts)) == ["FORMAT_NOT_GROUNDED"]
    told = facts | {"api_symbols": [*facts["api_symbols"], symbol | more]}
    assert codes(GATE, view_of(line, product_facts=told)) == []


@pytest.mark.parametrize(
    "line", ["TableKit reads and writes CSV files.", "- **TableKit** reads and writes CSV files"]
)
def test_a_line_that_says_what_one_claim_says_can_be_marked(line: str) -> None:
    (finding,) = found(GATE, view_of(body(line))).findings

    assert (finding.fix_rule, finding.data["claim_ids"]) == ("mark_line", [CSV])


def test_a_line_that_only_a_guess_or_a_loser_says_is_not_marked_but_dropped() -> None:
    lines = "TableKit needs version 2 of Python.\n\nTableKit works with spreadsheets."
    checked = found(GATE, view_of(body(lines)))

    assert [finding.fix_rule for finding in checked.findings] == ["drop_uncited_line"] * 2


def test_a_contradiction_that_nobody_has_resolved_forbids_both_claims() -> None:
    evidence = artifacts()["evidence_map"]
    evidence["contradictions"] = [
        {"claim_a_id": CSV, "claim_b_id": LIMIT, "resolution": "manual_review", "winning_claim_id": None}
    ]

    assert codes(GATE, view_of(page_text(), evidence_map=evidence)) == ["CLAIM_CONTRADICTED"] * 2


def test_of_a_contradiction_that_somebody_should_look_at_the_better_claim_may_be_used_meanwhile() -> None:
    evidence = artifacts()["evidence_map"]
    evidence["contradictions"] = [
        {"claim_a_id": CSV, "claim_b_id": LIMIT, "resolution": "manual_review", "winning_claim_id": CSV}
    ]
    (finding,) = found(GATE, view_of(page_text(), evidence_map=evidence)).findings

    assert (finding.code, finding.data["claim_id"]) == ("CLAIM_CONTRADICTED", LIMIT)


def test_lines_that_were_there_before_are_not_judged() -> None:
    old = page_text("It supports 3 things.\n")
    new = page_text("New: it supports 4.\n\nIt supports 3 things.\n")
    (finding,) = found(GATE, view_of(new, before={INSTALL_MD: old})).findings

    assert finding.data["line_text"] == "New: it supports 4."


def test_the_id_of_an_issue_does_not_change_when_its_line_moves() -> None:
    first = found(GATE, view_of(body("It supports 3 things."))).findings[0]
    second = found(GATE, view_of(page_text(START + "\nIt supports 3 things.\n"))).findings[0]

    assert first.line != second.line
    assert GATE.issue(first, "local")["issue_id"] == GATE.issue(second, "prod")["issue_id"]
