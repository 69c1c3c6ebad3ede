"""Every argument does something: it finds what it says, leaves out the rest, and none is accepted and ignored."""

from collections.abc import Callable
from typing import Any

import pytest

from holdfast.errors import ToolError
from holdfast.search.request import FIELDS

Ask = Callable[..., dict[str, Any]]


def names(payload: dict[str, Any], mode: str = "code") -> set[str]:
    return {hit["name"] for hit in payload[mode]}


def files(payload: dict[str, Any], mode: str = "code") -> set[str]:
    return {hit["file"] for hit in payload[mode]}


# (arguments, a hit that must be there, a hit that must not) with the query `*` in mode code.
FILTERS: list[tuple[dict[str, Any], str, str]] = [
    ({"definition": "enforce"}, "RetryBudget.enforce", "shell"),
    ({"references": "BudgetError"}, "RetryBudget.enforce", "shell"),
    ({"callers": "RetryBudget"}, "test_enforce", "shell"),
    ({"type": "class"}, "RetryBudget", "shell"),
    ({"type": "ClassDeclaration"}, "RetryBudget", "shell"),
    ({"type": "method,class"}, "RetryBudget.enforce", "shell"),
    ({"author": "grace"}, "Exhausted", "shell"),
    ({"import": "subprocess"}, "shell", "ToolManager"),
    ({"calls": "subprocess.run"}, "shell", "quiet"),
    ({"calls": "run"}, "shell", "quiet"),
    ({"uses": "BudgetError"}, "RetryBudget.enforce", "quiet"),
    ({"signature": "cost: float"}, "RetryBudget.enforce", "quiet"),
    ({"param": "cost"}, "RetryBudget.enforce", "quiet"),
    ({"decorator": "CACHE"}, "shell", "quiet"),
    ({"inferredType": "int"}, "RetryBudget.__init__", "quiet"),
    ({"returnType": "bool"}, "RetryBudget.enforce", "quiet"),
    ({"throws": "budgeterror"}, "RetryBudget.enforce", "quiet"),
    ({"reads": "self.spent"}, "RetryBudget.enforce", "quiet"),
    ({"writes": "self.limit"}, "RetryBudget.__init__", "quiet"),
    ({"mutates": "self.spent"}, "RetryBudget.enforce", "quiet"),
    ({"alias": "same=budget"}, "renamed", "quiet"),
    ({"awaits": "session.get"}, "RetryBudget.wait", "quiet"),
    ({"risk": "command-exec"}, "shell", "quiet"),
    ({"riskTag": "command-exec"}, "shell", "quiet"),
    ({"riskSource": "env"}, "shell", "quiet"),
    ({"riskSink": "subprocess"}, "shell", "quiet"),
    ({"riskCategory": "injection"}, "shell", "quiet"),
    ({"riskFlow": "->"}, "shell", "quiet"),
    ({"branchesMin": 3}, "RetryBudget.enforce", "quiet"),
    ({"loopsMin": 1}, "RetryBudget.enforce", "quiet"),
    ({"breaksMin": 1}, "RetryBudget.enforce", "quiet"),
    ({"continuesMin": 1}, "RetryBudget.enforce", "quiet"),
    ({"churnMin": 40}, "RetryBudget.enforce", "BudgetError"),
    ({"chunkAuthor": "grace"}, "Exhausted", "BudgetError"),
    ({"modifiedAfter": "2026-03-01"}, "Exhausted", "shell"),
    ({"visibility": "protected"}, "RetryBudget._attempts", "shell"),
    ({"extends": "exception"}, "BudgetError", "shell"),
    ({"async": True}, "RetryBudget.wait", "quiet"),
    ({"async": False}, "quiet", "RetryBudget.wait"),
    ({"generator": True}, "RetryBudget._attempts", "quiet"),
    ({"generator": False}, "quiet", "RetryBudget._attempts"),
    ({"returns": True}, "RetryBudget.enforce", "quiet"),
    ({"returns": False}, "quiet", "RetryBudget.enforce"),
    ({"lang": "py"}, "shell", "fetchBudget"),
    ({"lang": "js, python"}, "fetchBudget", "Spend"),
    ({"path": "SRC/"}, "shell", "ToolManager"),
    ({"path": ["src/", "tools/"]}, "ToolManager", "fetchBudget"),
    ({"path": "/^src.*py$/"}, "shell", "ToolManager"),
    ({"file": "budget.py"}, "shell", "ToolManager"),
    ({"ext": "py"}, "shell", "fetchBudget"),
    ({"ext": ["*.js", ".java"]}, "fetchBudget", "shell"),
]


@pytest.mark.parametrize(("arguments", "there", "not_there"), FILTERS, ids=lambda value: str(value)[:40])
def test_a_filter_keeps_what_it_says_and_leaves_out_the_rest(
    ask: Ask, arguments: dict[str, Any], there: str, not_there: str
) -> None:
    everything, kept = names(ask(mode="code", top=1000)), names(ask(mode="code", top=1000, **arguments))
    assert {there, not_there} <= everything
    assert there in kept
    assert not_there not in kept


# What makes an answer differ for the arguments that are no filters on code.
OTHERS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "query": ({"query": "budget"}, {"query": "generated"}),
    "mode": ({"query": "budget", "mode": "code"}, {"query": "budget", "mode": "prose"}),
    "output": ({"query": "budget"}, {"query": "budget", "output": "full"}),
    "ann": ({"query": "budget"}, {"query": "budget", "ann": True}),
    "top": ({"query": "budget", "top": 1}, {"query": "budget", "top": 3}),
    "context": ({"query": "enforce"}, {"query": "enforce", "context": 2}),
    "modifiedSince": ({"query": "budget"}, {"query": "budget", "modifiedSince": 0}),
    "lint": ({"query": "budget"}, {"query": "budget", "lint": True}),
    "branch": ({"query": "budget"}, {"query": "budget", "branch": "other"}),
    "case": ({"query": "RETRYBUDGET"}, {"query": "RETRYBUDGET", "case": True}),
    "caseTokens": ({"query": "RETRYBUDGET"}, {"query": "RETRYBUDGET", "caseTokens": True}),
    "caseFile": ({"query": "budget", "path": "SRC/"}, {"query": "budget", "path": "SRC/", "caseFile": True}),
    "meta": (
        {"query": "budget", "mode": "records"},
        {"query": "budget", "mode": "records", "meta": "service=billing"},
    ),
    "metaJson": (
        {"query": "budget", "mode": "records"},
        {"query": "budget", "mode": "records", "metaJson": {"service": "mail"}},
    ),
    "explain": ({"query": "budget"}, {"query": "budget", "explain": True}),
}
ERRORS: dict[str, tuple[dict[str, Any], str]] = {
    "backend": ({"query": "budget", "backend": "sqlite-fts"}, "NO_INDEX")
}


def comparable(payload: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in payload.items() if key not in ("elapsedMs", "query", "stats")}


@pytest.mark.parametrize("name", OTHERS)
def test_the_argument_changes_the_answer(ask: Ask, name: str) -> None:
    without, with_it = OTHERS[name]
    assert comparable(ask(**without)) != comparable(ask(**with_it))


@pytest.mark.parametrize("name", ERRORS)
def test_the_argument_is_refused_where_it_cannot_be_met(ask: Ask, name: str) -> None:
    arguments, code = ERRORS[name]
    with pytest.raises(ToolError) as caught:
        ask(**arguments)
    assert caught.value.code == code


def test_no_argument_is_without_a_proof_that_it_does_something() -> None:
    proven = {name for arguments, *_ in FILTERS for name in arguments} | set(OTHERS) | set(ERRORS)
    proven |= {"repoPath", "workspacePath"}  # which repositories: tests/search/test_federated.py
    assert proven == {field.name for field in FIELDS}


def test_all_filters_have_to_hold_together(ask: Ask) -> None:
    assert names(ask(mode="code", lang="python", calls="subprocess.run", riskTag="command-exec", path="src/")) == {
        "shell"
    }


def test_a_filter_never_shortens_the_page(ask: Ask) -> None:
    payload = ask("budget", mode="code", top=3, lang="python")
    assert len(payload["code"]) == 3
    assert payload["total"]["code"] > 3
    assert payload["truncated"]
