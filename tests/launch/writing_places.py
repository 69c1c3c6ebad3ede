"""Places for the planner and the writers, with given documents, and what they make there."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.launch.products import run_config
from tests.launch.tablekit_facts import contract, hugo_facts, site_context, tablekit_documents

from holdfast.launch.claim_marks import claims_of
from holdfast.launch.documents import encode, sha256
from holdfast.launch.factual import FactualLine, factual_lines, identifiers_of, names_of
from holdfast.launch.front_matter import split
from holdfast.launch.planning import ia_planner
from holdfast.launch.work import Given, Workplace
from holdfast.launch.writing import section_writer

__all__ = ["COMMIT_DATE", "configured", "documents", "made_pages", "made_plan", "uncited", "workplace"]

COMMIT_DATE = "2024-05-01T12:00:00+00:00"


def configured(root: Path, **changes: Any) -> dict[str, Any]:
    """A configuration whose repositories need not be there."""
    return run_config(root / "product", "a" * 40, root / "site", "b" * 40, **changes)


def documents(**changes: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """All that the planner reads, by the name of the artifact; `changes` without `.json`."""
    given = tablekit_documents() | {
        "frontmatter_contract.json": contract(),
        "site_context.json": site_context(),
        "hugo_facts.json": hugo_facts(),
    }
    return given | {f"{name}.json": document for name, document in changes.items()}


def workplace(
    root: Path, worker: str, scope: str, config: Mapping[str, Any], given: Mapping[str, Any]
) -> Workplace:
    """A place with these documents as artifacts."""
    kept = {}
    (root / "given").mkdir(parents=True, exist_ok=True)
    for name, document in given.items():
        schema = name.removesuffix(".json")
        content = encode(schema, document)
        path = root / "given" / name
        path.write_bytes(content)
        kept[name] = Given(path, sha256(content), schema)
    out = root / "out" / scope
    out.mkdir(parents=True, exist_ok=True)
    return Workplace("r_2024", worker, scope, 1, config, root, out, kept, {"commit_date": COMMIT_DATE})


def made_plan(root: Path, config: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """What the planner makes of the documents."""
    place = workplace(root, "ia_planner", "run", config, given)
    ia_planner.work(place)
    plan: dict[str, Any] = json.loads(place.made["page_plan.json"].path.read_bytes())
    return plan


def made_pages(
    root: Path, config: Mapping[str, Any], given: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, str]]:
    """The plan, and every page by its id."""
    plan = made_plan(root, config, given)
    pages: dict[str, str] = {}
    for section in config["required_sections"]:
        place = workplace(root, "section_writer", section, config, {**given, "page_plan.json": plan})
        section_writer.work(place)
        drafts = {name: made for name, made in place.made.items() if name.startswith("drafts/")}
        pages |= {name[7:-3]: made.path.read_text(encoding="utf-8") for name, made in drafts.items()}
    return plan, pages


def uncited(pages: Iterable[str], facts: Mapping[str, Any]) -> list[FactualLine]:
    """The lines of all pages that state something without saying on which claim it rests."""
    found = []
    for text in pages:
        body = split(text).body
        lines = body.split("\n")
        judged = factual_lines(body, identifiers=identifiers_of(facts), names=names_of(facts))
        found += [line for line in judged if not claims_of(lines[line.line - 1])]
    return found
