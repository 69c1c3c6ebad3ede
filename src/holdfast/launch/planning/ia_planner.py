"""W4, the information architecture: from what is known to the exact list of pages, their places and contents.

Each page is put together once on trial, so that the plan says what will be on it, and not what was hoped for. A
page with nothing to say is left out; a section that would be empty ends the run, since somebody asked for it.
"""

import posixpath
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from holdfast.errors import ToolError
from holdfast.launch.module_names import depth
from holdfast.launch.page_paths import as_bundle, locale_of
from holdfast.launch.patching.tree import BaseTree
from holdfast.launch.planning.candidates import MANDATORY, candidates
from holdfast.launch.planning.placing import check_free, moved, placed
from holdfast.launch.planning.tiers import chosen_tier, most_pages, quota, volume
from holdfast.launch.updating.record import Records
from holdfast.launch.updating.site_records import records_of
from holdfast.launch.work import Workplace
from holdfast.launch.writing.blocks import Block, Heading, Links, claims_used, headings_of, snippets_used
from holdfast.launch.writing.composing import compose, routes_of
from holdfast.launch.writing.known import Known
from holdfast.launch.writing.page_front_matter import front_matter

__all__ = ["made_plan", "work"]

_LEAST_QUESTIONS = 3
_COVERAGE = {"comprehensive_guide": "all", "workflow_page": "single"}
_LIMITS = frozenset({"Known limitations", "Errors and what they mean"})
_NEEDS_CODE = frozenset({"getting_started"})
_DELETED, _DELETED_WHY = "deleted", "people deleted the page from the site, so it stays deleted"


def work(place: Workplace) -> None:
    """Write page_plan.json."""
    known = Known(
        place.read("product_facts.json"), place.read("evidence_map.json"), place.read("snippet_catalog.json"),
        allow_inference=place.config["allow_inference"],
    )  # fmt: skip
    contract, context = place.read("frontmatter_contract.json"), place.read("site_context.json")
    hugo = place.read("hugo_facts.json")
    day = str(place.about.get("commit_date", ""))

    tree = BaseTree(place.site, place.config["site_ref"]) if (place.site / ".git").is_dir() else None
    records = records_of(place.config, hugo, tree.read if tree else lambda _: None)
    existing = {page["path"]: page["url_path"] for page in context["site"]["pages"]}
    recorded = frozenset(records.pages())

    def put(page: dict[str, Any]) -> dict[str, Any]:
        at = placed(page, place.config, hugo, lambda at: front_matter(at, contract, known, day))
        return moved(at, existing, recorded)

    gone = _deleted(place.config, records, tree)
    plan = made_plan(known, place.config, put, gone)
    ours = recorded | {as_bundle(path) for path in recorded if path not in existing}
    check_free(plan["pages"], context["site"]["pages"], tree.read if tree else lambda _: None, ours)
    plan["launch_tier_adjustments"] += _languages(place.config, hugo)
    if place.has("repo_inventory.json"):
        profile = place.read("repo_inventory.json")["repo_profile"]
        plan["inferred_product_type"] = place.config.get("product_type", profile["product_type"])
    place.write("page_plan.json", plan)


def made_plan(
    known: Known, config: Mapping[str, Any], put: Any, deleted: Collection[str] = frozenset()
) -> dict[str, Any]:
    """The plan as a document; `put` gives a page its place, `deleted` are paths that people want no page at."""
    tier, told = chosen_tier(config.get("launch_tier", "standard"), known)
    placed_pages = [put(page) for page in candidates(known, config, tier)]
    gone = [_cut(page, _DELETED, _DELETED_WHY) for page in placed_pages if page["output_path"] in deleted]
    pages = [page for page in placed_pages if page["output_path"] not in deleted]
    most_lines = config["budgets"]["max_lines_per_file"]
    pages, left_out = _with_evidence(pages, known, most_lines)
    left_out += gone
    pages, cut, quotas = _within_quotas(pages, known, config, tier)
    _check_complete(
        pages, config, left_out, {page["section"] for page in placed_pages if page["output_path"] in deleted}
    )
    routes = routes_of(pages, known, most_lines)
    size = volume(known)
    return {
        "schema_version": "1.0",
        "product_slug": config["product_slug"],
        "launch_tier": tier,
        "launch_tier_adjustments": [*told, *left_out, *cut],
        "evidence_volume": {**size._asdict(), "score": size.score},
        "effective_quotas": quotas,
        "pages": [_filled(page, compose(page, routes, most_lines), pages) for page in _ordered(pages)],
    }


def _with_evidence(
    pages: list[dict[str, Any]], known: Known, most_lines: int
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The pages that have something to say, and why the others have not."""
    left_out: list[dict[str, Any]] = []
    kept: list[dict[str, Any]] = []
    routes = routes_of(pages, known, most_lines)
    for page in pages:
        blocks = compose(page, routes, most_lines)
        reason = _missing(page, blocks, pages)
        if reason:
            told = {"adjustment": f"left out {page['page_id']}"[:200], "reason": reason, "signal": "no_evidence"}
            left_out.append(told)
        else:
            kept.append(page | {"required_snippet_ids": snippets_used(blocks)})
    # The page of contents counts on the others.
    if not any(page["section"] == "docs" and page["template"] != "contents" for page in kept):
        kept = [page for page in kept if page["template"] != "contents"]
    return kept, left_out


def _missing(page: Mapping[str, Any], blocks: Sequence[Block], pages: Sequence[Mapping[str, Any]]) -> str:
    """Why a page cannot be written; empty where it can."""
    if page["template"] in _NEEDS_CODE and not snippets_used(blocks):
        return "the repository shows no example that can be used"
    if page["template"] == "faq" and len(headings_of(blocks)) - 1 < _LEAST_QUESTIONS:
        return "too few questions can be answered"
    if page["template"] == "installation" and "Install the package" not in headings_of(blocks):
        return "the repository does not say how it is installed"
    if page["template"] == "limitations" and _LIMITS.isdisjoint(headings_of(blocks)):
        return "neither a limitation nor an error is known"
    if page["template"] == "api_overview" and not any(one["template"] == "api_module" for one in pages):
        return "no public interface was found"
    if not claims_used(blocks) and page["template"] != "contents":
        return "nothing that the repository says belongs on it"
    return ""


def _within_quotas(
    pages: list[dict[str, Any]], known: Known, config: Mapping[str, Any], tier: str
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, Any]]:
    """Not more pages than a section may have, nor all together than the budget of the run."""
    cut: list[dict[str, Any]] = []
    quotas: dict[str, Any] = {}
    kept: list[dict[str, Any]] = []
    for section in config["required_sections"]:
        fixed = [page for page in pages if page["section"] == section and page["page_id"] in MANDATORY]
        more = sorted(
            (page for page in pages if page["section"] == section and page["page_id"] not in MANDATORY),
            key=_importance,
        )
        most = most_pages(section, tier, len(fixed), known)
        room = most - len(fixed)
        kept += [*fixed, *more[:room]]
        cut += [_cut(page, "quota", f"{section} has room for {most} pages") for page in more[room:]]
        quotas[section] = {"least": len(fixed), "most": most}
    budget = min(config["budgets"]["max_files_changed"], config["budgets"]["max_file_writes"])
    while len(kept) > budget and (optional := [page for page in kept if page["page_id"] not in MANDATORY]):
        last = max(optional, key=_importance)
        kept.remove(last)
        cut.append(_cut(last, "budget", f"the run may change {budget} files"))
    counts = {section: sum(page["section"] == section for page in kept) for section in quotas}
    return kept, cut, {key: quota(one["least"], one["most"], counts[key]) for key, one in quotas.items()}


def _cut(page: Mapping[str, Any], signal: str, reason: str) -> dict[str, Any]:
    return {"adjustment": f"left out {page['page_id']}"[:200], "reason": reason, "signal": signal}


def _importance(page: Mapping[str, Any]) -> tuple[int, int, int, str]:
    """Tasks first, then topics, then modules: the shallow ones and those with much in them first."""
    rank = {"workflow": 0, "feature": 1}.get(page["template"], 2)
    deep = depth(page["topic"], ()) if rank == 2 else 0
    size = len(page.get("symbols", ())) + 3 * len(page["required_snippet_ids"])
    return rank, deep, -size, page["page_id"]


def _check_complete(
    pages: Sequence[Mapping[str, Any]],
    config: Mapping[str, Any],
    left_out: Sequence[Mapping[str, Any]],
    emptied: Collection[str],
) -> None:
    """ToolError where a section has no page, unless people have deleted pages of it."""
    name = min("max_files_changed", "max_file_writes", key=lambda one: int(config["budgets"][one]))
    budget = config["budgets"][name]
    planned = {page["section"] for page in pages} | set(emptied)
    missing = [section for section in config["required_sections"] if section not in planned]
    if not missing and len(pages) <= budget:
        return
    told = (
        f"no page can be written for {'; '.join(_why_empty(one, left_out) for one in missing)}."
        " Take it out of required_sections, or give the repository what is missing"
        if missing
        else f"{len(pages)} pages, and the configuration allows {budget} ({name})"
    )
    raise ToolError(
        "INVALID_INPUT",
        f"the plan is incomplete: {told}",
        details={"reason": "plan_incomplete", "sections": missing, "left_out": [dict(one) for one in left_out]},
        retryable=False,
    )


def _why_empty(section: str, left_out: Sequence[Mapping[str, Any]]) -> str:
    """The section, and why the first page that it should have is not there."""
    reasons = [one["reason"] for one in left_out if one["adjustment"].startswith(f"left out {section}/")]
    return f"{section} ({reasons[0]})" if reasons else section


def _ordered(pages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    order = ("products", "docs", "reference", "kb", "blog")
    return sorted(pages, key=lambda page: (order.index(page["section"]), page["weight"], page["output_path"]))


def _filled(
    page: Mapping[str, Any], blocks: Sequence[Block], pages: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """The page with what is on it: only headings that state nothing are demanded, the others follow the claims."""
    claims = claims_used(blocks)
    plain = [
        block.text for block in blocks if isinstance(block, Heading) and block.level == 2 and not block.claims
    ]
    children = [one["page_id"] for one in pages if one["section"] == page["section"] and one is not page]
    strategy: dict[str, Any] = {
        "primary_focus": page["purpose"],
        "claim_quota": {"min": min(1, len(claims)), "max": len(claims)},
        "scenario_coverage": _COVERAGE.get(page["page_role"], "subset"),
    }
    if page["page_role"] == "toc":
        strategy["child_pages"] = sorted(children)
    return {
        **page,
        "required_headings": plain,
        "required_claim_ids": claims,
        "required_snippet_ids": snippets_used(blocks),
        "cross_links": _cross_links(page["url_path"], blocks),
        "content_strategy": strategy,
    }


def _cross_links(here: str, blocks: Sequence[Block]) -> list[str]:
    base = here if here.endswith("/") else posixpath.dirname(here)
    urls = [link.url for block in blocks if isinstance(block, Links) for link in block.items]
    found = (posixpath.normpath(posixpath.join(base, url)) + ("/" if url.endswith("/") else "") for url in urls)
    return list(dict.fromkeys(found))


def _languages(config: Mapping[str, Any], hugo: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Nothing is translated, so a run writes one language and says so."""
    written = locale_of(config, hugo)
    others = [one for one in config.get("locales", ()) if one != written]
    reason = f"the pages are written in {written}; nothing is translated"
    return [{"adjustment": f"left out {one}", "reason": reason, "signal": "locale"} for one in others]


def _deleted(config: Mapping[str, Any], records: Records, tree: BaseTree | None) -> frozenset[str]:
    """The paths at which runs wrote pages and the site has none any more: people have deleted them."""
    if tree is None or config.get("updates", {}).get("restore_deleted_pages", False):
        return frozenset()
    return frozenset(records.pages()) - frozenset(tree.paths())
