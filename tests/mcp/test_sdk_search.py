"""The arguments of `search`: each does over MCP what it does in the engine, and each is a flag of the command."""

from typing import Any

import click
import pytest
from tests.mcp.official_client import OfficialClient
from tests.search.test_arguments import ERRORS, FILTERS, OTHERS, comparable, names

from holdfast.cli.search import command
from holdfast.search.request_fields import FIELDS


def _argument(flag: str) -> str:
    first, *rest = flag.split("-")
    return first + "".join(word.capitalize() for word in rest)


# The flags that section 9.1 of the contract names; every other argument there has its own name with dashes.
ODD_FLAGS = {
    "repoPath": {"--repo"},
    "output": {"--compact", "--json"},
    "ann": {"--ann", "--no-ann"},
    "top": {"-n"},
    **{f"{name}Min": {f"--{name}"} for name in ("branches", "loops", "breaks", "continues", "churn")},
}
PLAIN = [
    "mode", "backend", "context", "type", "author", "import", "calls", "uses", "signature", "param",
    "decorator", "inferred-type", "return-type", "throws", "reads", "writes", "mutates", "alias", "awaits",
    "risk", "risk-tag", "risk-source", "risk-sink", "risk-category", "risk-flow", "chunk-author",
    "modified-after", "modified-since", "visibility", "extends", "lint", "async", "generator", "returns",
    "branch", "lang", "case", "case-file", "case-tokens", "path", "file", "ext", "meta", "meta-json",
]  # fmt: skip
CONTRACTED = {_argument(flag): {f"--{flag}"} for flag in PLAIN} | ODD_FLAGS


@pytest.mark.requirement("S1-9-none-ignored")
@pytest.mark.requirement("S0-10-argument-mapping")
def test_every_filter_keeps_what_it_says_and_leaves_out_the_rest(client: OfficialClient) -> None:
    calls = [("search", {"query": "*", "mode": "code", "top": 1000, **arguments}) for arguments, *_ in FILTERS]
    for (arguments, there, not_there), answer in zip(FILTERS, client.call_all(calls), strict=True):
        kept = names(answer.payload)
        assert (there in kept, not_there in kept) == (True, False), arguments


@pytest.mark.requirement("S1-9-none-ignored")
def test_every_other_argument_changes_the_answer_or_is_refused(client: OfficialClient) -> None:
    without = client.call_all([("search", pair[0]) for pair in OTHERS.values()])
    with_it = client.call_all([("search", pair[1]) for pair in OTHERS.values()])
    for name, one, other in zip(OTHERS, without, with_it, strict=True):
        assert comparable(one.payload) != comparable(other.payload), name
    refused = client.call_all([("search", arguments) for arguments, _ in ERRORS.values()])
    assert [answer.code for answer in refused] == [code for _, code in ERRORS.values()]


@pytest.mark.requirement("S1-9-mapping")
def test_every_argument_of_the_tool_is_a_flag_of_the_command(client: OfficialClient) -> None:
    flags = {flag for option in command.params for flag in (*option.opts, *option.secondary_opts)}
    arguments = client.tools["search"]["inputSchema"]["properties"]
    assert [field.name for field in FIELDS] == list(arguments)
    assert {field.name for field in FIELDS if not set(field.flags) & flags} == {"query"}
    assert any(isinstance(option, click.Argument) for option in command.params), "query stands by itself"
    assert len(CONTRACTED) == 53, "all that the contract has but the query"
    assert {name: said for name, said in CONTRACTED.items() if not said <= flags_of(name) & flags} == {}


def flags_of(name: str) -> set[str]:
    """The flags that an argument says it has."""
    return {flag for field in FIELDS if field.name == name for flag in field.flags}


@pytest.mark.requirement("S1-9.1-query")
def test_a_query_is_required(client: OfficialClient) -> None:
    assert client.tools["search"]["inputSchema"]["required"] == ["query"]
    error = client.call("search", top=3).error
    assert error is not None
    (violation,) = error.data["details"]
    assert (violation["keyword"], violation["params"]) == ("required", {"missingProperty": "query"})


@pytest.mark.requirement("S1-9.1-repo-path")
def test_without_a_repository_the_first_that_is_served_is_searched(client: OfficialClient) -> None:
    default = client.call("search", query="budget")
    named = client.call("search", query="budget", repoPath="repo")
    assert comparable(default.payload) == comparable(named.payload)
    assert client.call("search", query="budget", repoPath="bare").code == "NO_INDEX"


@pytest.mark.requirement("S1-9.1-mode")
def test_a_mode_is_one_of_six(client: OfficialClient) -> None:
    modes = ["code", "prose", "extracted-prose", "records", "all", "both"]
    assert client.tools["search"]["inputSchema"]["properties"]["mode"]["enum"] == modes
    code, prose, extracted, records, every, both = (
        client.call("search", query="budget", mode=mode).payload for mode in modes
    )
    assert (code["prose"], prose["code"], extracted["code"], records["code"]) == ([], [], [], [])
    assert all((code["code"], prose["prose"], extracted["extractedProse"], records["records"], every["records"]))
    assert comparable(both) == comparable(client.call("search", query="budget").payload)


@pytest.mark.requirement("S1-9.1-output")
def test_an_output_is_compact_full_or_json(client: OfficialClient) -> None:
    compact, full, as_json, default = (
        comparable(client.call("search", query="budget", **more).payload)
        for more in ({"output": "compact"}, {"output": "full"}, {"output": "json"}, {})
    )
    assert (compact, full) == (default, as_json)
    assert compact["code"][0].keys() < full["code"][0].keys()
    assert client.call("search", query="budget", output="xml").error is not None


@pytest.mark.requirement("S1-9.1-ann")
def test_null_for_vectors_means_the_default(client: OfficialClient) -> None:
    default, null, no = (
        comparable(client.call("search", query="budget", **more).payload)
        for more in (dict[str, Any](), {"ann": None}, {"ann": False})
    )
    assert default == null == no
    wanted = client.call("search", query="budget", ann=True).payload
    assert [warning["code"] for warning in wanted["warnings"]] != []


@pytest.mark.requirement("S1-9.1-top")
@pytest.mark.parametrize("top", [0, -5])
def test_less_than_one_result_means_one(client: OfficialClient, top: int) -> None:
    assert len(client.call("search", query="budget", mode="code", top=top).payload["code"]) == 1


@pytest.mark.requirement("S1-9.1-context")
def test_context_shows_lines_around_a_hit(client: OfficialClient) -> None:
    asked = {"query": "exhausted", "mode": "code", "file": "budget.py", "top": 1}
    (without,) = client.call("search", **asked).payload["code"]
    (around,) = client.call("search", **asked, context=2).payload["code"]
    assert "context" not in without
    assert (len(around["context"]["before"]), len(around["context"]["after"])) == (2, 2)


@pytest.mark.requirement("S1-9.1-lists")
@pytest.mark.parametrize(("name", "one"), [("path", "src/"), ("file", "budget.py"), ("ext", "py")])
def test_a_list_may_be_one_text_or_an_array(client: OfficialClient, name: str, one: str) -> None:
    alone, listed, joined = (
        [hit["id"] for hit in client.call("search", query="budget", mode="code", **{name: value}).payload["code"]]
        for value in (one, [one], f"{one},no-such-thing")
    )
    assert alone == listed == joined != []
    assert client.call("search", query="budget", mode="code", **{name: "no-such-thing"}).payload["code"] == []


@pytest.mark.requirement("S1-9.1-meta")
@pytest.mark.parametrize("meta", [{"service": "mail"}, ["service=mail"], "service=mail"])
def test_conditions_on_records_may_be_an_object_a_list_or_a_text(client: OfficialClient, meta: Any) -> None:
    found = client.call("search", query="budget", mode="records", meta=meta).payload["records"]
    assert len(found) == 1
    assert len(client.call("search", query="budget", mode="records").payload["records"]) == 2


@pytest.mark.requirement("S1-9.1-meta-json")
@pytest.mark.parametrize("meta", [{"service": "mail"}, '{"service": "mail"}'])
def test_conditions_as_json_may_be_an_object_or_a_text_of_it(client: OfficialClient, meta: Any) -> None:
    found = client.call("search", query="budget", mode="records", metaJson=meta).payload["records"]
    assert len(found) == 1
    refused = client.call("search", query="budget", mode="records", metaJson="{")
    assert (refused.code, refused.payload["details"][0]["instancePath"]) == ("INVALID_REQUEST", "/metaJson")
