"""Mistakes that search tools are known to make, each with the test that would notice it here."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import ToolError
from holdfast.search.library import SearchIndex, build_index, open_index
from holdfast.search.repository import Repository
from holdfast.search.request import SearchRequest

Ask = Callable[..., dict[str, Any]]


@pytest.mark.parametrize(
    "arguments",
    [{"top": "abc"}, {"query": 123}, {"backend": "zzz"}, {"nonsense": 1}, {"path": 5}, {"async": "yes"}],
)
def test_wrong_arguments_are_refused_not_ignored(ask: Ask, arguments: dict[str, Any]) -> None:
    with pytest.raises(ToolError) as caught:
        ask(**{"query": "budget", **arguments})
    assert caught.value.code == "INVALID_REQUEST"
    assert caught.value.details["violations"]


@pytest.mark.parametrize("arguments", [{"context": 3}, {"output": "json"}])
def test_documented_arguments_are_usable(ask: Ask, arguments: dict[str, Any]) -> None:
    assert ask("budget", **arguments)["total"]["code"]


def test_a_filter_of_one_search_does_not_stick_to_the_next(ask: Ask) -> None:
    everything = ask("cost", mode="code", top=100)
    filtered = ask("cost", mode="code", top=100, param="cost")
    assert ask("cost", mode="code", top=100)["total"] == everything["total"]
    assert ask("cost", mode="code", top=100, param="cost")["total"] == filtered["total"]
    assert filtered["total"]["code"] < everything["total"]["code"]


@pytest.mark.parametrize("query", ["ToolManager", "generated_export"])
def test_no_directory_is_left_out_because_of_its_name(ask: Ask, query: str) -> None:
    assert ask(query, mode="code")["code"][0]["name"] == query


@pytest.mark.parametrize("arguments", [{"calls": "subprocess.run"}, {"uses": "BudgetError"}, {"churnMin": 1}])
def test_filters_on_relations_and_churn_find_something_in_a_default_index(
    ask: Ask, arguments: dict[str, Any]
) -> None:
    assert ask("*", mode="code", lang="python", **arguments)["total"]["code"]


def test_a_missing_field_is_said_instead_of_an_empty_list(ask: Ask) -> None:
    payload = ask("*", mode="code", lang="ruby", awaits="anything")
    assert payload["total"]["code"] == 0
    assert any("ruby" in warning["message"] for warning in payload["warnings"])
    assert any("lint" in warning["message"] for warning in ask("budget", lint=True)["warnings"])


def test_capitals_can_be_searched_with_case(ask: Ask) -> None:
    assert ask("RetryBudget", mode="code", caseTokens=True)["code"]
    assert not ask("RETRYBUDGET", mode="code", caseTokens=True)["code"]


def test_a_value_that_begins_with_a_dash_is_a_value(ask: Ask) -> None:
    assert ask("*", mode="code", riskFlow="->")["total"]["code"] == 1


def test_a_longer_name_never_finds_more_than_its_parts(ask: Ask) -> None:
    whole = ask("retry_budget", mode="code")["total"]["code"]
    assert whole <= ask("retry AND budget", mode="code")["total"]["code"]
    assert whole < ask("retry budget", mode="code")["total"]["code"]


def test_an_acronym_is_one_word(ask: Ask) -> None:
    assert ask("h AND t AND p", mode="code")["total"]["code"] == 0


def test_every_mode_is_searched_in_full(ask: Ask) -> None:
    payload = ask("budget", mode="extracted-prose", top=50)
    assert payload["total"]["extractedProse"] >= 5


def test_a_backend_that_is_not_built_is_never_replaced_silently(ask: Ask) -> None:
    with pytest.raises(ToolError) as caught:
        ask("budget", backend="sqlite")
    assert caught.value.code == "NO_INDEX"


def test_a_healthy_index_reports_nothing_missing(sample_index: SearchIndex) -> None:
    status = sample_index.status()
    assert status["changedFiles"] == 0
    assert set(status["chunks"]) == {"code", "prose", "extracted-prose", "records"}
    assert status["skipped"] == {}


def test_the_answer_has_text_totals_and_the_query(repository: Repository, cache: Path) -> None:
    build_index(repository, cache)
    with open_index(repository, cache) as index:
        payload = index.search(SearchRequest(query="budget"))
    assert payload["query"] == "budget"
    assert payload["elapsedMs"] > 0
    assert payload["code"][0]["snippet"]["lines"]
