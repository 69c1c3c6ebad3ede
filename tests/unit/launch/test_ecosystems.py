"""Products in five languages: what is known of them, what is public, and that every page rests on their files."""

import functools
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.launch.facts_place import built, place_of
from tests.launch.language_products import PRODUCTS, LanguageProduct, product_files
from tests.launch.page_checks import broken_links, stating_lines, unfounded
from tests.launch.products import make_repository, make_site
from tests.launch.tablekit_facts import contract, hugo_facts, site_context
from tests.launch.writing_places import configured, made_pages, uncited

from holdfast.launch.code_fences import fences
from holdfast.launch.gates.snippets import Known, language_of, syntax_problem

pytestmark = pytest.mark.xdist_group("launch-languages")

PUBLIC = {
    "javascript": {
        "@example/queues", "@example/queues.DEFAULT_LIMIT", "@example/queues.Queue", "@example/queues.Queue.add",
        "@example/queues.Queue.constructor", "@example/queues.Queue.drain", "@example/queues.Queue.size",
        "@example/queues.QueueError", "@example/queues.QueueOptions", "@example/queues.QueueOptions.limit",
        "@example/queues.QueueOptions.signal", "@example/queues.Task", "@example/queues.wait",
    },
    "go": {
        "example.org/rings", "example.org/rings.Buffer", "example.org/rings.Buffer.Last",
        "example.org/rings.Buffer.Len", "example.org/rings.Buffer.Name", "example.org/rings.Buffer.Peek",
        "example.org/rings.Buffer.Push", "example.org/rings.DefaultSize", "example.org/rings.ErrEmpty",
        "example.org/rings.New", "example.org/rings.Reader", "example.org/rings/ring",
        "example.org/rings/ring.Cursor", "example.org/rings/ring.Cursor.Next",
    },
    "rust": {
        "weigh_in", "weigh_in::Error", "weigh_in::Error::NoNumber", "weigh_in::Error::UnknownUnit",
        "weigh_in::Unit", "weigh_in::Unit::Gram", "weigh_in::Unit::Kilogram", "weigh_in::Weighs",
        "weigh_in::Weighs::weight", "weigh_in::Weight", "weigh_in::Weight::new", "weigh_in::Weight::to",
        "weigh_in::Weight::value", "weigh_in::units", "weigh_in::units::symbol",
    },
    "java": {
        "org.example.units", "org.example.units.Length", "org.example.units.Length.Builder",
        "org.example.units.Length.Builder.build", "org.example.units.Length.ZERO",
        "org.example.units.Length.in", "org.example.units.Length.of", "org.example.units.UnitException",
        "org.example.units.UnitException.UnitException",
    },
    "dotnet": {
        "Example.Tabular", "Example.Tabular.Quoting", "Example.Tabular.Row", "Example.Tabular.Row.this",
        "Example.Tabular.Table", "Example.Tabular.Table.Dispose", "Example.Tabular.Table.Parse",
        "Example.Tabular.Table.Rows", "Example.Tabular.TableException",
    },
}  # fmt: skip
DEPENDENCIES = {
    "javascript": [("eventemitter3", "^5.0.1")],
    "go": [("golang.org/x/sync", "v0.6.0")],
    "rust": [("thiserror", "1.0")],
    "java": [("org.slf4j:slf4j-api", "2.0.12")],
    "dotnet": [("System.Memory", "4.5.5")],
}


class Told(NamedTuple):
    """A product and everything that was made of it."""

    product: LanguageProduct
    root: Path
    facts: dict[str, Any]
    evidence: dict[str, Any]
    catalog: dict[str, Any]
    plan: dict[str, Any]
    pages: dict[str, str]


def facts_of(root: Path, product: LanguageProduct) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    slug = product.name.lower().replace(".", "-")
    names: dict[str, Any] = {
        "product_name": product.name,
        "product_slug": slug,
        "target_platform": product.platform,
    }
    return built(place_of(root, product_files(product.folder), **names))


@pytest.fixture(scope="module", params=PRODUCTS, ids=[one.folder for one in PRODUCTS])
def told(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Told:
    product: LanguageProduct = request.param
    root = tmp_path_factory.mktemp(product.folder)
    facts, evidence, catalog = facts_of(root / "place", product)
    given = {"product_facts.json": facts, "evidence_map.json": evidence, "snippet_catalog.json": catalog}
    given |= {"frontmatter_contract.json": contract(), "site_context.json": site_context()}
    given["hugo_facts.json"] = hugo_facts()
    slug = facts["product_slug"]
    sections = ("products", "docs", "reference", "kb", "blog")
    config = configured(
        root, product_name=product.name, product_slug=slug, target_platform=product.platform,
        allowed_paths=[f"content/{section}/{slug}/" for section in sections],
    )  # fmt: skip
    plan, pages = made_pages(root / "written", config, given)
    return Told(product, root, facts, evidence, catalog, plan, pages)


def test_the_public_interface_is_what_users_can_reach_and_nothing_else(told: Told) -> None:
    assert {symbol["qualified_name"] for symbol in told.facts["api_symbols"]} == PUBLIC[told.product.folder]


def test_every_symbol_cites_lines_of_its_file_that_name_it(told: Told) -> None:
    claims = {claim["claim_id"]: claim for claim in told.evidence["claims"]}
    files = product_files(told.product.folder)
    for symbol in told.facts["api_symbols"]:
        at = claims[symbol["claim_id"]]["citations"][0]
        lines = files[at["path"]].decode().split("\n")[at["start_line"] - 1 : at["end_line"]]
        name = symbol["name"].rpartition(".")[2]
        if symbol["kind"] != "module" and name != "wait":  # which is `delay` where it is defined
            assert name in "\n".join(lines), symbol


def test_the_manifest_says_what_is_required_and_how_it_is_installed(told: Told) -> None:
    needed = [(one["name"], one["requirement"]) for one in told.facts["dependencies"] if "extra" not in one]
    page = told.pages["docs/installation"]
    assert needed == DEPENDENCIES[told.product.folder]
    assert told.product.install in page.split("\n")
    assert told.product.requires in page
    assert told.product.uses in page


def test_examples_are_of_the_product_and_are_checked_by_the_grammar_of_their_language(told: Told) -> None:
    language = told.facts["ecosystem"]["language"]
    shown = [one for one in told.catalog["snippets"] if one["language"] in (language, "javascript")]
    assert len(shown) >= 2
    assert [one["code"] for one in shown if not one["validation"]["syntax_ok"]] == []
    assert {one["source"]["origin"] for one in shown} >= {"readme"}
    assert any(tag.startswith("api:") for one in shown for tag in one["tags"])


def test_every_line_of_a_page_that_states_something_is_cited_and_every_block_of_code_is_known(told: Told) -> None:
    known = Known(told.facts, told.catalog)
    assert uncited(told.pages.values(), told.facts) == []
    for name, page in told.pages.items():
        for block in fences(page):
            implied = known.follows_from_facts(block.code)
            snippet = None if implied else known.snippet(block.code)
            assert implied or snippet, (name, block.code)
            wanted = implied or language_of(snippet["language"] if snippet else "")
            assert language_of(block.language) == wanted, (name, block.code)


def test_what_the_cited_lines_say_is_what_the_pages_say(told: Told) -> None:
    product = told.root / "product"
    make_repository(product, product_files(told.product.folder))
    for name, text in told.pages.items():
        path = told.root / "checked" / f"{name.replace('/', '-')}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        assert unfounded(stating_lines(path), told.evidence, product) == []


def test_hugo_builds_the_pages_and_no_link_is_broken(told: Told) -> None:
    site = told.root / "built"
    make_site(site)
    for page in told.plan["pages"]:
        path = site / page["output_path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(told.pages[page["page_id"]], encoding="utf-8")
    hugo = str(Path(sys.executable).with_name("hugo"))
    public = told.root / "public"
    command = [hugo, "build", "--source", str(site), "--destination", str(public), "--panicOnWarning"]
    done = subprocess.run(
        [*command, "--baseURL", "https://launch.example"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert broken_links(public, told.facts["product_slug"], "https://launch.example") == []


def test_equal_inputs_give_the_same_bytes(told: Told) -> None:
    again = facts_of(told.root / "again", told.product)
    first = (told.facts, told.evidence, told.catalog)
    assert [json.dumps(one) for one in again] == [json.dumps(one) for one in first]


@pytest.fixture(scope="module")
def symbol_in(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], dict[str, Any]]:
    """Asks for a symbol of a product by the folder of the one and the name of the other."""

    @functools.cache
    def symbols(folder: str) -> dict[str, dict[str, Any]]:
        product = next(one for one in PRODUCTS if one.folder == folder)
        facts, _, _ = facts_of(tmp_path_factory.mktemp(folder) / "place", product)
        return {one["qualified_name"]: one for one in facts["api_symbols"]}

    return lambda folder, name: symbols(folder)[name]


@pytest.mark.parametrize(
    ("folder", "name", "parameters", "returns", "raises"),
    [
        ("javascript", "@example/queues.Queue.add",
         {"task": "What is to be done.", "name": "A name for messages."},
         "What the task returns.", {"QueueError": "If the queue was closed."}),
        ("java", "org.example.units.Length.of",
         {"value": "how many units", "unit": "the name of the unit, such as `km`", "metres": "how many metres"},
         "a length, never `null`", {"UnitException": "if the unit is unknown"}),
        ("dotnet", "Example.Tabular.Table.Parse",
         {"text": "The text, in which `separator` parts the columns.", "separator": "What parts the columns."},
         "The table.", {"TableException": "The rows have different lengths."}),
    ],
)  # fmt: skip
def test_parameters_results_and_errors_come_from_the_documentation(
    folder: str,
    name: str,
    parameters: dict[str, str],
    returns: str,
    raises: dict[str, str],
    symbol_in: Callable[[str, str], dict[str, Any]],
) -> None:
    symbol = symbol_in(folder, name)
    assert {one["name"]: one.get("description") for one in symbol["parameters"]} == parameters
    assert symbol["returns_description"] == returns
    assert {one["name"]: one["description"] for one in symbol["raises"]} == raises


def test_overloads_are_one_symbol_with_all_signatures(symbol_in: Callable[[str, str], dict[str, Any]]) -> None:
    wait = symbol_in("javascript", "@example/queues.wait")
    assert wait["signature"].split("\n") == [
        "function wait(ms: number): Promise<void>",
        "function wait(ms: number, signal: AbortSignal): Promise<void>",
    ]


@pytest.mark.parametrize(
    ("folder", "name", "told"),
    [
        ("javascript", "@example/queues.Queue.drain", "Use `add` and wait for its result."),
        ("go", "example.org/rings.Buffer.Last", "Use Peek instead."),
        ("java", "org.example.units.Length.in", "use `of(double)` and compare"),
    ],
)
def test_what_is_deprecated_says_so(
    folder: str, name: str, told: str, symbol_in: Callable[[str, str], dict[str, Any]]
) -> None:
    assert symbol_in(folder, name)["deprecated"] == told


@pytest.mark.parametrize("language", ["javascript", "typescript", "go", "rust", "java", "csharp"])
def test_code_that_is_broken_is_refused_in_every_language(language: str) -> None:
    assert syntax_problem("f(x", language)
    assert syntax_problem("", language) == ""
