"""The planner: which pages there are, where, and what is refused."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.launch.products import commit_all, make_site
from tests.launch.tablekit_facts import contract, hugo_facts, site_context, tablekit_documents
from tests.launch.writing_places import configured, documents, made_plan

from holdfast.errors import ToolError
from holdfast.launch.documents import encode

IDS = {
    "products/overview", "docs/index", "docs/installation", "docs/getting-started", "docs/developer-guide",
    "docs/reading-a-file", "docs/choosing-columns", "docs/join-tables", "docs/column-types", "reference/index",
    "reference/tablekit-table", "reference/tablekit-formats", "reference/tablekit-errors",
    "reference/tablekit-command", "kb/faq", "kb/limitations", "blog/announcement",
}  # fmt: skip


def by_id(plan: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {page["page_id"]: page for page in plan["pages"]}


def with_facts(**changes: Any) -> dict[str, dict[str, Any]]:
    given = documents()
    given["product_facts.json"] |= changes
    return given


def refused(root: Path, config: dict[str, Any], given: dict[str, Any]) -> ToolError:
    with pytest.raises(ToolError) as caught:
        made_plan(root, config, given)
    assert caught.value.code == "INVALID_INPUT"
    return caught.value


def test_the_plan_has_the_mandatory_pages_and_one_for_each_task_topic_and_module(tmp_path: Path) -> None:
    plan = made_plan(tmp_path, configured(tmp_path), documents())
    assert set(by_id(plan)) == IDS
    assert plan["launch_tier"] == "standard"
    assert plan["launch_tier_adjustments"] == []


def test_pages_are_in_the_order_of_sections_and_weights_with_addresses(tmp_path: Path) -> None:
    plan = made_plan(tmp_path, configured(tmp_path), documents())
    sections = [page["section"] for page in plan["pages"]]
    assert sections == sorted(sections, key=["products", "docs", "reference", "kb", "blog"].index)
    page = by_id(plan)["docs/installation"]
    assert page["output_path"] == "content/docs/tablekit/installation.md"
    assert page["url_path"] == "/docs/tablekit/installation/"
    assert by_id(plan)["docs/index"]["output_path"] == "content/docs/tablekit/_index.md"


def test_the_plan_names_the_claims_snippets_headings_and_links_of_a_page(tmp_path: Path) -> None:
    pages = by_id(made_plan(tmp_path, configured(tmp_path), documents()))
    page = pages["docs/reading-a-file"]
    assert page["required_snippet_ids"] == ["snp_0000000000000002"]
    assert len(page["required_claim_ids"]) == 4
    assert page["required_headings"] == ["Example", "Used in this guide", "Next steps"]
    assert "/docs/tablekit/developer-guide/" in page["cross_links"]
    assert pages["docs/index"]["content_strategy"]["child_pages"]


def test_descriptions_have_a_length_that_search_results_show(tmp_path: Path) -> None:
    long = with_facts(product_name="A product with a name that is as long as it may be " * 2)
    for given in (documents(), long):
        for page in made_plan(tmp_path, configured(tmp_path), given)["pages"]:
            assert 50 <= len(page["description"]) <= 160
            assert page["title"].strip() == page["title"] != ""


def test_a_description_promises_only_what_is_on_its_page(tmp_path: Path) -> None:
    given = with_facts(supported_formats=[], changes=[])
    facts = given["product_facts.json"]
    facts["claim_groups"]["limitations"] = facts["limitations"] = []
    pages = {page["page_id"]: page for page in made_plan(tmp_path, configured(tmp_path), given)["pages"]}
    said = " ".join(page["description"] for page in pages.values())

    assert not [word for word in ("tasks, formats", "limit", "what is new", "features") if word in said]
    for page in pages.values():
        if page["template"] in ("workflow", "feature"):
            assert ("with examples" in page["description"]) <= bool(page["required_snippet_ids"])


@pytest.mark.parametrize(
    ("mode", "path", "url"),
    [
        ("none", "content/docs/tablekit/installation.md", "/docs/tablekit/installation/"),
        ("dir", "content/docs/en/tablekit/installation.md", "/docs/en/tablekit/installation/"),
        ("filename", "content/docs/tablekit/installation.en.md", "/docs/tablekit/installation/"),
    ],
)
def test_a_page_is_where_the_localization_of_its_section_puts_it(
    tmp_path: Path, mode: str, path: str, url: str
) -> None:
    config = configured(tmp_path)
    config["site_layout"]["localization"]["mode_by_section"]["docs"] = mode
    page = by_id(made_plan(tmp_path, config, documents()))["docs/installation"]
    assert (page["output_path"], page["url_path"]) == (path, url)


def test_of_several_locales_the_sites_own_is_written_and_the_others_are_told(tmp_path: Path) -> None:
    config = configured(tmp_path, locales=["de", "en"])
    del config["locale"]
    plan = made_plan(tmp_path, config, documents())
    assert [one["adjustment"] for one in plan["launch_tier_adjustments"]] == ["left out de"]


def test_only_the_required_sections_are_planned(tmp_path: Path) -> None:
    plan = made_plan(tmp_path, configured(tmp_path, required_sections=["kb"]), documents())
    assert set(by_id(plan)) == {"kb/faq", "kb/limitations"}
    assert set(plan["effective_quotas"]) == {"kb"}


def test_a_page_without_evidence_is_left_out_and_the_plan_says_why(tmp_path: Path) -> None:
    plan = made_plan(
        tmp_path, configured(tmp_path), documents(snippet_catalog={"schema_version": "1.0", "snippets": []})
    )
    assert "docs/getting-started" not in by_id(plan)
    told = {one["adjustment"]: one for one in plan["launch_tier_adjustments"]}
    assert told["left out docs/getting-started"]["signal"] == "no_evidence"


def test_a_required_section_that_cannot_be_planned_is_refused(tmp_path: Path) -> None:
    given = with_facts(api_symbols=[])
    error = refused(tmp_path, configured(tmp_path), given)
    assert error.details["reason"] == "plan_incomplete"
    assert error.details["sections"] == ["reference"]
    assert "no page can be written for reference (no public interface was found). Take it out" in error.message


def test_facts_without_a_claim_are_refused_as_incomplete(tmp_path: Path) -> None:
    given = documents()
    given["product_facts.json"]["claims"] = []
    assert refused(tmp_path, configured(tmp_path), given).details["reason"] == "plan_incomplete"


def test_little_evidence_lowers_the_tier(tmp_path: Path) -> None:
    plan = made_plan(tmp_path, configured(tmp_path, launch_tier="rich"), documents())
    assert plan["launch_tier"] == "standard"
    adjustment = plan["launch_tier_adjustments"][0]
    assert (adjustment["from_tier"], adjustment["to_tier"]) == ("rich", "standard")


def test_the_minimal_tier_has_fewer_pages(tmp_path: Path) -> None:
    plan = made_plan(tmp_path, configured(tmp_path, launch_tier="minimal"), documents())
    assert plan["effective_quotas"]["docs"]["planned"] == 5
    assert any(one.get("signal") == "quota" for one in plan["launch_tier_adjustments"])


def test_the_budget_of_files_cuts_pages_that_are_not_mandatory(tmp_path: Path) -> None:
    config = configured(tmp_path)
    config["budgets"]["max_files_changed"] = 10
    plan = made_plan(tmp_path, config, documents())
    assert len(plan["pages"]) == 10
    config["budgets"]["max_files_changed"] = 3
    error = refused(tmp_path, config, documents())
    assert error.details["reason"] == "plan_incomplete"
    assert error.message.endswith("and the configuration allows 3 (max_files_changed)")


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("content/docs/tablekit.md", "/docs/tablekit/"),
        ("content/docs/Tablekit/Installation.md", "/docs/tablekit/installation/"),
        ("content/elsewhere.md", "/kb/tablekit/faq/"),
    ],
)
def test_a_page_that_would_take_the_place_of_another_is_refused(tmp_path: Path, path: str, url: str) -> None:
    given = documents(site_context=site_context(((path, url),)))
    error = refused(tmp_path, configured(tmp_path), given)
    assert error.details["reason"] == "url_collision"
    assert error.details["existing_path"] == path


def test_a_page_that_an_earlier_run_wrote_may_be_written_again(tmp_path: Path) -> None:
    site = tmp_path / "work" / "site"
    make_site(site)
    page = site / "content/docs/tablekit/installation.md"
    page.parent.mkdir()
    page.write_text("---\ntitle: x\n---\n\nText. <!-- claim:clm_0123456789abcdef -->\n", encoding="utf-8")
    config = configured(tmp_path, site_ref=commit_all(site))
    there = ("content/docs/tablekit/installation.md", "/docs/tablekit/installation/")
    plan = made_plan(tmp_path, config, documents(site_context=site_context((there,))))
    assert "docs/installation" in by_id(plan)


def test_permalinks_decide_the_address(tmp_path: Path) -> None:
    given = documents(hugo_facts=hugo_facts(permalinks={"page/blog": "/news/:year/:slugorfilename/"}))
    page = by_id(made_plan(tmp_path, configured(tmp_path), given))["blog/announcement"]
    assert page["url_path"] == "/news/2024/announcing-1-4-0/"


def test_a_claim_that_lost_a_contradiction_is_nowhere(tmp_path: Path) -> None:
    given = documents()
    limits = given["product_facts.json"]["limitations"]
    given["evidence_map.json"]["contradictions"] = [
        {"claim_a_id": limits[0], "claim_b_id": limits[1], "resolution": "prefer_b", "winning_claim_id": limits[1]}
    ]
    plan = made_plan(tmp_path, configured(tmp_path), given)
    cited = {claim for page in plan["pages"] for claim in page["required_claim_ids"]}
    assert limits[0] not in cited
    assert limits[1] in cited


@pytest.mark.parametrize("is_allowed", [True, False])
def test_an_inferred_claim_is_planned_only_where_that_is_allowed(tmp_path: Path, is_allowed: bool) -> None:
    given = documents()
    wanted = given["product_facts.json"]["limitations"][0]
    for claim in given["product_facts.json"]["claims"]:
        claim["truth_status"] = "inference" if claim["claim_id"] == wanted else "fact"
    plan = made_plan(tmp_path, configured(tmp_path, allow_inference=is_allowed), given)
    assert (wanted in by_id(plan)["kb/limitations"]["required_claim_ids"]) is is_allowed


def test_a_task_whose_name_is_taken_gets_no_second_page(tmp_path: Path) -> None:
    given = documents()
    for task in given["product_facts.json"]["workflows"]:
        task["workflow_tag"] = "installation"
    plan = made_plan(tmp_path, configured(tmp_path), given)
    paths = [page["output_path"] for page in plan["pages"]]
    assert len(paths) == len(set(paths))


def many_symbols(count: int) -> dict[str, dict[str, Any]]:
    given = documents()
    facts = given["product_facts.json"]
    one = next(symbol for symbol in facts["api_symbols"] if symbol["name"] == "read")
    for number in range(count):
        name = f"tablekit.big.function_{number:04d}"
        made = one | {
            "name": name.rpartition(".")[2],
            "qualified_name": name,
            "kind": "function",
            "module": "tablekit.big",
        }
        facts["api_symbols"].append({key: value for key, value in made.items() if key != "parent"})
    return given


def test_a_large_interface_becomes_pages_of_bounded_length(tmp_path: Path) -> None:
    config = configured(tmp_path, required_sections=["reference"])
    config["budgets"]["max_lines_per_file"] = 500
    plan = made_plan(tmp_path, config, many_symbols(500))
    described = [name for page in plan["pages"] for name in page.get("symbols", ())]
    assert len(described) == len(set(described)) > 500
    assert 15 < len(plan["pages"]) <= 30


_AGAIN = """
import sys, json
from pathlib import Path
from tests.launch.writing_places import configured, documents, made_pages
plan, pages = made_pages(Path(sys.argv[1]), configured(Path("/elsewhere")), documents())
sys.stderr.write(json.dumps([plan, pages]))
"""


def test_plan_and_pages_are_the_same_bytes_with_every_hash_seed(tmp_path: Path) -> None:
    told = set()
    for seed in ("0", "1", "31337"):
        root = tmp_path / seed
        done = subprocess.run(
            [sys.executable, "-c", _AGAIN, str(root)], env={"PYTHONHASHSEED": seed, "PYTHONPATH": ".:src"},
            capture_output=True, check=True, text=True,
        )  # fmt: skip
        told.add(done.stderr)
    assert len(told) == 1
    assert len(json.loads(told.pop())[1]) == len(IDS)


def test_the_documents_of_these_tests_fit_their_schemas() -> None:
    given = tablekit_documents() | {"frontmatter_contract.json": contract(), "hugo_facts.json": hugo_facts()}
    assert all(encode(name.removesuffix(".json"), document) for name, document in given.items())
    assert len(given["product_facts.json"]["claims"]) >= 45
