"""W5, the writer of one section: a draft for each of its planned pages, and a manifest of them."""

from collections.abc import Mapping
from typing import Any

from holdfast.launch.front_matter import render
from holdfast.launch.states import SECTIONS
from holdfast.launch.work import Workplace
from holdfast.launch.writing.blocks import claims_used, markdown, snippets_used
from holdfast.launch.writing.composing import compose, routes_of
from holdfast.launch.writing.known import Known
from holdfast.launch.writing.model.calls_told import model_is_asked
from holdfast.launch.writing.model_report import report
from holdfast.launch.writing.page_front_matter import front_matter, section_contract
from holdfast.launch.writing.rewriting import Rewriter, questions_of, rewriter_of
from holdfast.launch.writing.ways import Routes

__all__ = ["work"]


def work(place: Workplace) -> None:
    """Write the drafts of the section that is the scope of this work."""
    known = Known(
        place.read("product_facts.json"), place.read("evidence_map.json"), place.read("snippet_catalog.json"),
        allow_inference=place.config["allow_inference"],
    )  # fmt: skip
    plan, contract = place.read("page_plan.json"), place.read("frontmatter_contract.json")
    routes = routes_of(plan["pages"], known, place.config["budgets"]["max_lines_per_file"])
    rewriter = _rewriter(place, plan, routes) if model_is_asked(place.config) else None
    pages = [page for page in plan["pages"] if page["section"] == place.scope]
    drafts = []
    for number, page in enumerate(pages, 1):
        drafts.append(_draft(place, page, routes, contract, rewriter))
        place.progress(number, len(pages), page["title"])
    manifest = {"schema_version": "1.0", "section": place.scope, "drafts": drafts}
    place.write(f"draft_manifest.{place.scope}.json", manifest, schema="draft_manifest")
    if rewriter:
        for call_id, record in sorted(rewriter.model.records.items()):
            place.write(f"evidence/llm_calls/{call_id}.json", record, schema="llm_call")
        told = report(place.scope, drafts, is_out_of_budget=rewriter.is_out_of_budget)
        place.write_text(f"reports/model_{place.scope}.md", told)


def _rewriter(place: Workplace, plan: Mapping[str, Any], routes: Routes) -> Rewriter:
    """What asks the model; each section knows what all would ask, and so its part of the budget."""
    most = place.config["budgets"]["max_lines_per_file"]
    named = [section for section in SECTIONS if section in {*place.config["required_sections"], place.scope}]
    wanted = {
        section: [
            one
            for page in plan["pages"]
            if page["section"] == section
            for one in questions_of(place.config, compose(page, routes, most))
        ]
        for section in named
    }
    claims = {one["claim_id"]: one["claim_text"] for one in place.read("evidence_map.json")["claims"]}
    return rewriter_of(place, wanted, claims)


def _draft(
    place: Workplace,
    page: Mapping[str, Any],
    routes: Routes,
    contract: Mapping[str, Any],
    rewriter: Rewriter | None,
) -> dict[str, Any]:
    known = routes.known
    blocks = compose(page, routes, place.config["budgets"]["max_lines_per_file"])
    by_model: dict[str, Any] = {}
    writer = "template"
    if rewriter:
        told = rewriter.rewritten(blocks)
        blocks, writer = told.blocks, "model" if told.taken else "template"
        by_model = {"sentences": {"model": told.taken, "template": told.kept}} if told.taken + told.kept else {}
        by_model |= {"rejected": told.problems} if told.problems else {}
    given = front_matter(page, contract, known, str(place.about.get("commit_date", "")))
    form = section_contract(contract, page["section"])["format"]
    artifact = f"drafts/{page['page_id']}.md"
    digest = place.write_text(artifact, render(given, "\n" + markdown(blocks), form))
    draft: dict[str, Any] = {
        "page_id": page["page_id"],
        "output_path": page["output_path"],
        "artifact": artifact,
        "sha256": digest,
        "claim_ids": claims_used(blocks),
        "snippet_ids": snippets_used(blocks),
        "writer": writer,
    }
    return draft | by_model
