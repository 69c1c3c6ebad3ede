"""What an answer says: the right things first, their text, why they matched, and how fresh it all is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.search.documents import docx, paragraph, pdf

from holdfast.errors import ToolError
from holdfast.search.library import build_index, open_index
from holdfast.search.repository import Repository, find_repository
from holdfast.search.request import SearchRequest

Ask = Callable[..., dict[str, Any]]


def first(payload: dict[str, Any], mode: str = "code") -> dict[str, Any]:
    hit: dict[str, Any] = payload[mode][0]
    return hit


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("where is the retry budget enforced", "RetryBudget.enforce"),
        ("RetryBudget", "RetryBudget"),
        ("RetryBudget.enforce", "RetryBudget.enforce"),
        ("fetchBudget", "fetchBudget"),
        ("fetch budget of a user", "fetchBudget"),
        ("tool manager", "ToolManager"),
        ("generated export", "generated_export"),
        ('"retry budget" enforce', "RetryBudget"),
    ],
)
def test_the_definition_that_is_meant_comes_first(ask: Ask, query: str, name: str) -> None:
    assert first(ask(query, mode="code"))["name"].startswith(name)


def test_a_hit_has_its_place_its_text_and_the_reason(ask: Ask) -> None:
    hit = first(ask("RetryBudget.enforce", mode="code"))
    assert (hit["file"], hit["startLine"], hit["kind"], hit["ext"]) == ("src/budget.py", 19, "method", ".py")
    assert any("enforce" in line["text"] and line["highlights"] for line in hit["snippet"]["lines"])
    assert hit["why"][0] == "defines it"


def test_the_offsets_cut_the_chunk_out_of_the_file(ask: Ask, sample_index: Any) -> None:
    hit = first(ask("RetryBudget.enforce", mode="code"))
    source = (sample_index.repository.root / hit["file"]).read_bytes()[hit["start"] : hit["end"]]
    assert source.startswith(b"def enforce(self, cost: float) -> bool:")
    assert source.rstrip().endswith(b"return True")


def test_prose_comments_and_records_are_modes_of_their_own(ask: Ask) -> None:
    payload = ask("budget", mode="all", top=50)
    assert any(hit["name"].endswith("The retry budget") for hit in payload["prose"])
    assert any("old attempts" in line["text"] for h in payload["extractedProse"] for line in h["snippet"]["lines"])
    assert {hit["file"] for hit in payload["records"]} == {"logs/run.log"}
    assert "logs/run.log" not in {hit["file"] for hit in payload["code"] + payload["prose"]}


def test_files_are_bundled_over_the_modes(ask: Ask) -> None:
    groups = ask("budget", mode="all", top=20)["bundles"]["groups"]
    bundle = next(group for group in groups if group["file"] == "src/budget.py")
    assert bundle["modeCount"] == 2
    assert groups == sorted(groups, key=lambda group: -group["totalScore"])


def test_the_answer_says_how_fresh_it_is(ask: Ask) -> None:
    index = ask("budget")["index"]
    assert (index["branch"], index["changedFiles"], index["headMoved"], index["generation"]) == (
        "trunk",
        0,
        False,
        1,
    )
    assert len(index["commit"]) == 40


def test_context_gives_the_lines_around_the_chunk(ask: Ask) -> None:
    hit = first(ask("renamed", mode="code", context=2))
    assert hit["context"]["after"][-1] == ""
    assert hit["context"]["before"][-1] == ""
    assert len(hit["context"]["before"]) == 2


def test_an_explained_score_is_the_product_of_its_parts(ask: Ask) -> None:
    hit = first(ask("RetryBudget.enforce", mode="code", explain=True))
    parts = hit["scoreBreakdown"]
    found = parts["body"] + parts["name"] + parts["identifier"]
    lifted = found * parts["coordination"] * (1 + parts["symbol"]) * parts["prior"] * (1 + parts["proximity"])
    assert lifted == pytest.approx(hit["score"], rel=0.01)


def test_the_full_output_carries_what_is_known_of_the_code(ask: Ask) -> None:
    hit = first(ask("RetryBudget.enforce", mode="code", output="full"))
    assert hit["facts"]["params"] == ["self", "cost"]
    assert hit["facts"]["throws"] == ["BudgetError"]
    assert (hit["lastAuthor"], hit["returns"], hit["async"]) == ("Ada Lovelace", True, False)
    assert hit["counts"]["branches"] >= 3


# The query language over a real index.


@pytest.mark.parametrize(
    ("query", "there", "not_there"),
    [
        ("spend AND cost", "Budget.spend", "quiet"),
        ("cost NOT lang:java", "RetryBudget.enforce", "Budget.spend"),
        ("cost -lang:java", "RetryBudget.enforce", "Budget.spend"),
        ("(enforce OR spend) AND cost", "Budget.spend", "quiet"),
        ("NOT (lang:python OR lang:java)", "fetchBudget", "shell"),
        ('"budget is used up"', "RetryBudget.enforce", "RetryBudget.wait"),
        ("/raise \\w+Error/", "RetryBudget.enforce", "quiet"),
        ("/SHELL=TRUE/i", "shell", "quiet"),
        ("lang:ruby *", "Spend.call", "shell"),
        ("calls:subprocess.run *", "shell", "quiet"),
        ("returnType:bool *", "RetryBudget.enforce", "quiet"),
        ("return_type:bool *", "RetryBudget.enforce", "quiet"),
        ("branchesMin:3 *", "RetryBudget.enforce", "quiet"),
        ("churn:40 modified-after:2026-01-01 *", "RetryBudget.enforce", "BudgetError"),
    ],
)
def test_the_query_language_means_what_it_says(ask: Ask, query: str, there: str, not_there: str) -> None:
    names = {hit["name"] for hit in ask(query, mode="code", top=1000)["code"]}
    assert there in names
    assert not_there not in names


@pytest.mark.parametrize(
    "query", ["don't ask", "it's 'quoted", 'a "half quote', "x->y == (z", "C++ && a||b", "->"]
)
def test_ordinary_text_with_quotes_and_signs_never_fails(ask: Ask, query: str) -> None:
    assert ask(query)["query"] == query


def test_an_apostrophe_is_no_quote(ask: Ask) -> None:
    assert first(ask("don't ask", mode="prose"), "prose")["name"].endswith("Install")


@pytest.mark.parametrize("backend", ["tantivy", "memory"])
@pytest.mark.parametrize(
    "query", ["where is the lantern lit", "lantern xyzzy", "xyzzy plugh quux corge grault garply waldo lantern"]
)
def test_a_word_that_stands_nowhere_takes_away_nothing_that_the_others_find(
    tmp_path: Path, query: str, backend: str
) -> None:
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "lamp.py").write_text('def light():\n    """Every lantern is lit here."""\n')
    repository = find_repository(tmp_path / "repo")
    build_index(repository, tmp_path / "cache")
    with open_index(repository, tmp_path / "cache") as index:
        found = index.search(SearchRequest(query=query, backend=backend))
        nothing = index.search(SearchRequest(query="xyzzy plugh", backend=backend))
    assert first(found)["name"] == "light"
    assert nothing["total"] == {"code": 0, "prose": 0, "extractedProse": 0, "records": 0}


def test_a_mistake_points_at_its_column(ask: Ask) -> None:
    with pytest.raises(ToolError) as caught:
        ask("budget AND")
    assert caught.value.details["column"] > 1


def test_the_text_of_documents_is_found_by_heading_and_page(repository: Repository, cache: Path) -> None:
    body = paragraph("Rollout", "berschrift2") + paragraph("the zeppelin departs at noon")
    (repository.root / "plan.docx").write_bytes(docx(body))
    (repository.root / "report.pdf").write_bytes(pdf("a submarine surfaced"))
    build_index(repository, cache)
    with open_index(repository, cache) as index:
        section = first(index.search(SearchRequest(query="zeppelin")), "extractedProse")
        page = first(index.search(SearchRequest(query="submarine")), "extractedProse")
    assert (section["file"], section["name"]) == ("plan.docx", "Rollout")
    assert (page["file"], page["name"]) == ("report.pdf", "page 1")
    assert "submarine" in page["snippet"]["lines"][0]["text"]


@pytest.mark.parametrize(("query", "file"), [("fetches user", "web/client.js"), ("takes from", "pkg/budget.go")])
def test_the_comment_above_a_definition_finds_it(ask: Ask, query: str, file: str) -> None:
    assert first(ask(f'"{query}"' if query == "takes from" else query, mode="code"))["file"] == file


def test_the_path_finds_what_is_in_the_file(ask: Ask) -> None:
    assert {hit["file"] for hit in ask("manager tools", mode="code")["code"][:2]} == {"tools/manager.py"}


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("lang:pyton budget", "lang: no language is called pyton"),
        ("calls:nobody.knows budget", "calls: nothing in this index has nobody.knows"),
        ("(type:fnction OR lang:pyton) AND budget", "lang: no language is called pyton"),
    ],
)
def test_a_filter_in_the_query_that_nothing_can_meet_says_so(ask: Ask, query: str, told: str) -> None:
    assert {"code": "unknown-value", "message": told} in ask(query)["warnings"]


@pytest.mark.parametrize("query", ["NOT /./", "-/[^ ]/", "NOT (lang:python OR NOT lang:python)"])
def test_a_query_that_leaves_everything_out_says_so(ask: Ask, query: str) -> None:
    payload = ask(query)
    assert not any(payload["total"].values())
    told = "the query only says what to leave out, and that is everything here"
    assert [one["message"].partition(";")[0] for one in payload["warnings"] if one["code"] == "query"] == [told]


def test_a_query_that_leaves_something_out_finds_all_else_without_a_word(ask: Ask) -> None:
    payload = ask("NOT budget")
    assert payload["total"]["code"]
    assert not [one for one in payload["warnings"] if one["code"] == "query"]


def test_nothing_is_said_of_filters_that_only_take_away(ask: Ask) -> None:
    assert not [one for one in ask("budget -lang:pyton")["warnings"] if one["code"] == "unknown-value"]
    assert not [one for one in ask("nowhereatall -lang:pyton")["warnings"] if one["code"] == "unknown-value"]
