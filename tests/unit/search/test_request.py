"""What may be asked of a search, and how everything else is refused."""

import json
import math
from dataclasses import fields, replace
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from holdfast.errors import ToolError
from holdfast.search.request import (
    FIELDS,
    SHORTCUTS,
    SearchRequest,
    as_regex,
    cache_key,
    modes,
    with_shortcuts,
)
from holdfast.search.request_fields import GROUPS, split_list
from holdfast.search.request_schema import input_schema, schema_violations

# The arguments that every client may rely on, and their flags.
PROMISED = {
    "query": (), "repoPath": ("--repo",), "mode": ("--mode",), "backend": ("--backend",),
    "output": ("--compact", "--json"), "ann": ("--ann", "--no-ann"), "top": ("-n", "--top"),
    "context": ("--context",), "type": ("--type",), "author": ("--author",), "import": ("--import",),
    "calls": ("--calls",), "uses": ("--uses",), "signature": ("--signature",), "param": ("--param",),
    "decorator": ("--decorator",), "inferredType": ("--inferred-type",), "returnType": ("--return-type",),
    "throws": ("--throws",), "reads": ("--reads",), "writes": ("--writes",), "mutates": ("--mutates",),
    "alias": ("--alias",), "awaits": ("--awaits",), "risk": ("--risk",), "riskTag": ("--risk-tag",),
    "riskSource": ("--risk-source",), "riskSink": ("--risk-sink",), "riskCategory": ("--risk-category",),
    "riskFlow": ("--risk-flow",), "branchesMin": ("--branches",), "loopsMin": ("--loops",),
    "breaksMin": ("--breaks",), "continuesMin": ("--continues",), "churnMin": ("--churn",),
    "chunkAuthor": ("--chunk-author",), "modifiedAfter": ("--modified-after",),
    "modifiedSince": ("--modified-since",), "visibility": ("--visibility",), "extends": ("--extends",),
    "lint": ("--lint", "--no-lint"), "async": ("--async", "--no-async"),
    "generator": ("--generator", "--no-generator"), "returns": ("--returns", "--no-returns"),
    "branch": ("--branch",), "lang": ("--lang",), "case": ("--case", "--no-case"),
    "caseFile": ("--case-file", "--no-case-file"), "caseTokens": ("--case-tokens", "--no-case-tokens"),
    "path": ("--path",), "file": ("--file",), "ext": ("--ext",), "meta": ("--meta",),
    "metaJson": ("--meta-json",),
}  # fmt: skip

VALIDATOR = jsonschema_rs.Draft202012Validator(input_schema())


def request(**arguments: Any) -> SearchRequest:
    return SearchRequest.from_arguments({"query": "retry", **arguments})


def refused(**arguments: Any) -> list[dict[str, Any]]:
    with pytest.raises(ToolError) as caught:
        request(**arguments)
    assert caught.value.code == "INVALID_REQUEST"
    found: list[dict[str, Any]] = caught.value.details["violations"]
    return found


def keywords(**arguments: Any) -> list[str]:
    return [item["keyword"] for item in refused(**arguments)]


# --- the table ------------------------------------------------------------------------------------------------


def test_every_promised_argument_is_there_under_its_flag() -> None:
    own = {"explain", "definition", "references", "callers", "workspacePath"}
    assert {field.name: field.flags for field in FIELDS if field.name not in own} == PROMISED


def test_the_request_has_one_attribute_per_row_of_the_table_with_its_default() -> None:
    rows = {field.attribute: field for field in FIELDS}

    assert [attribute.name for attribute in fields(SearchRequest)] == list(rows)
    for attribute in fields(SearchRequest)[1:]:
        row = rows[attribute.name]
        assert attribute.default == (() if row.kind in {"texts", "places"} else row.default)


def test_every_row_is_explained_in_one_line_and_belongs_to_a_group() -> None:
    for field in FIELDS:
        assert field.help.endswith((".", "...")), field.name
        assert "\n" not in field.help
        assert field.group in GROUPS or field.name == "query"


@each_row("field", FIELDS, ids=lambda field: field.name)
def test_the_example_of_every_argument_is_valid_and_fits_the_schema(field: Any) -> None:
    arguments = {"query": "retry", field.name: field.example}

    assert schema_violations(arguments) == []
    assert VALIDATOR.is_valid(arguments)


def test_the_schema_is_closed_and_describes_every_argument() -> None:
    schema = input_schema()

    assert (schema["required"], schema["additionalProperties"]) == (["query"], False)
    assert all(part["description"] and part["examples"] for part in schema["properties"].values())
    jsonschema_rs.meta.validate(schema)


# --- what is refused ------------------------------------------------------------------------------------------


def test_all_violations_are_told_at_once() -> None:
    found = refused(query=7, top="abc", backend="zzz", nonsense=1, path=["a", ""])

    assert [(item["instancePath"], item["keyword"]) for item in found] == [
        ("/query", "type"), ("/top", "type"), ("/backend", "enum"), ("", "additionalProperties"),
        ("/path/1", "pattern"),
    ]  # fmt: skip
    assert all(item.keys() == {"instancePath", "schemaPath", "keyword", "params", "message"} for item in found)


def test_a_misspelled_argument_is_told_what_it_was_meant_to_be() -> None:
    assert "did you mean 'riskTag'" in refused(riskTags="x")[0]["message"]


@pytest.mark.parametrize("arguments", [None, [], "query", 7])
def test_arguments_that_are_no_object_are_refused(arguments: Any) -> None:
    with pytest.raises(ToolError, match="must be an object"):
        SearchRequest.from_arguments(arguments)


@pytest.mark.parametrize("query", ["", "  \n", 5, None, ["a"], True])
def test_a_query_is_a_text_that_says_something(query: Any) -> None:
    assert refused(query=query)[0]["instancePath"] == "/query"


@pytest.mark.parametrize("top", ["abc", "5", 2.5, True, None, [1], 1001, math.inf, math.nan])
def test_top_is_a_whole_number_up_to_a_thousand(top: Any) -> None:
    assert refused(top=top)[0]["instancePath"] == "/top"


@pytest.mark.parametrize(("given", "top"), [(0, 1), (-3, 1), (7.0, 7), (1000, 1000)])
def test_top_below_one_becomes_one(given: Any, top: int) -> None:
    assert request(top=given).top == top


@each_row("name", [field.name for field in FIELDS if field.kind in {"text", "texts", "json", "places"}])
def test_a_blank_text_is_no_filter(name: str) -> None:
    assert keywords(**{name: " "}) == ["pattern"]


@pytest.mark.parametrize("name", [field.name for field in FIELDS if field.kind == "flag"])
def test_a_boolean_is_true_false_or_not_given_and_nothing_else(name: str) -> None:
    attribute = next(field.attribute for field in FIELDS if field.name == name)

    assert [getattr(request(**{name: value}), attribute) for value in (True, False, None)] == [True, False, None]
    assert keywords(**{name: 1}) == keywords(**{name: "false"}) == ["type"]


def test_what_is_too_long_or_too_many_is_refused() -> None:
    assert keywords(calls="x" * 4097) == ["maxLength"]
    assert keywords(path=["x"] * 257) == ["maxItems"]
    assert keywords(path=[]) == ["minItems"]
    assert keywords(meta={str(number): 1 for number in range(257)}) == ["maxProperties"]


def test_of_thousands_of_violations_a_part_is_told() -> None:
    assert len(refused(path=[7] * 10_000, **{f"x{number}": 1 for number in range(200)})) == 64


def test_half_a_character_is_refused_wherever_it_stands() -> None:
    assert keywords(calls="\udcff") == ["unicode"]
    assert keywords(path=["a", "\ud800"]) == ["unicode"]
    assert keywords(meta={"key": ["\ud800"]}) == ["unicode"]
    assert refused(**{"\ud800": 1})[0]["message"].encode()


def test_conditions_without_a_bottom_are_refused() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    assert keywords(meta=deep) == ["unicode"]


@pytest.mark.parametrize("value", ["yesterday", "2025-13-01", "2025-01-01T25:00", "1"])
def test_a_date_that_is_none_is_refused(value: str) -> None:
    assert keywords(modifiedAfter=value) == ["format"]


@pytest.mark.parametrize("entry", ["/(/", "/[a/", "/" + "(" * 2000 + "/"])
def test_a_broken_regular_expression_is_refused(entry: str) -> None:
    assert keywords(path=[entry]) == keywords(file=entry) == ["regex"]


@pytest.mark.parametrize("entry", ["/(a)\\1/", "/(?=a)b/"])
def test_an_expression_that_no_linear_engine_runs_is_refused(entry: str) -> None:
    assert keywords(path=[entry]) == ["regex"]


@pytest.mark.parametrize("arguments", [{"meta": "=x"}, {"meta": [1]}, {"metaJson": "{"}, {"metaJson": "[1]"}])
def test_conditions_on_records_that_make_no_sense_are_refused(arguments: dict[str, Any]) -> None:
    found = refused(**arguments)

    assert [(item["instancePath"], item["keyword"]) for item in found] == [(f"/{min(arguments)}", "conditions")]


def test_wrong_conditions_of_both_arguments_are_told() -> None:
    assert [item["instancePath"] for item in refused(meta="=x", metaJson="{")] == ["/meta", "/metaJson"]


@pytest.mark.parametrize("arguments", [{"ext": "*."}, {"ext": ["."]}, {"type": "Declaration"}])
def test_an_entry_that_names_nothing_is_refused(arguments: dict[str, Any]) -> None:
    assert keywords(**arguments) == ["pattern"]


# --- what values mean -----------------------------------------------------------------------------------------


def test_values_may_begin_with_a_dash_and_keep_their_inner_spaces() -> None:
    made = request(query="  -x  y ", riskFlow="->", path=["my docs/", "-a,b"])

    assert (made.query, made.risk_flow, made.path) == ("-x  y", "->", ("my docs/", "-a,b"))


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("src/, my docs/,", ["src/", "my docs/"]),
        ("/a{1,2}/", ["/a{1,2}/"]),
        ("/a{1,2}/i,src", ["/a{1,2}/i", "src"]),
        ("/src/,/tests/", ["/src/", "/tests/"]),
        ("/src/a,/tests/", ["/src/a", "/tests/"]),
        ("/open,lib", ["/open", "lib"]),
    ],
)
def test_a_list_in_one_text_is_split_at_commas_but_not_inside_of_an_expression(
    text: str, entries: list[str]
) -> None:
    assert split_list(text) == entries


def test_an_expression_is_told_from_a_path() -> None:
    assert as_regex("/a/b/i") == ("a/b", "i")
    assert [as_regex(entry) for entry in ("/", "//", "/src", "src/", "/a/x")] == [None] * 5


def test_extensions_kinds_and_languages_have_one_spelling() -> None:
    made = request(ext="*.PY, ts,.Tar.gz,py", type="ClassDeclaration,method,Record,class", lang=["Python ", "GO"])

    assert made.ext == (".py", ".ts", ".tar.gz")
    assert made.type == ("class", "method", "record")
    assert made.lang == ("python", "go")


@pytest.mark.parametrize(
    ("mode", "searched"),
    [
        (None, ("code", "prose", "extracted-prose")),
        ("both", ("code", "prose", "extracted-prose")),
        ("code", ("code",)),
        ("prose", ("prose", "extracted-prose")),
        ("extracted-prose", ("extracted-prose",)),
        ("records", ("records",)),
        ("all", ("code", "prose", "extracted-prose", "records")),
    ],
)
def test_a_mode_says_what_is_searched(mode: str | None, searched: tuple[str, ...]) -> None:
    assert modes(request(**({"mode": mode} if mode else {}))) == searched


def test_other_spellings_of_a_choice_mean_the_same() -> None:
    assert request(backend="fts") == request(backend="sqlite-fts")
    assert request(output="json") == request(output="full")
    assert request(mode="both") == request()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-02", 86400.0),
        ("1970-01-02T00:00:00Z", 86400.0),
        ("1970-01-02T00:00:00", 86400.0),
        ("1970-01-02T02:00:00.5+02:00", 86400.5),
    ],
)
def test_a_time_without_a_zone_is_utc(text: str, seconds: float) -> None:
    assert request(modifiedAfter=text).modified_after_seconds(0) == seconds


def test_of_two_conditions_on_the_time_the_later_one_counts() -> None:
    now = 10 * 86400.0

    assert request().modified_after_seconds(now) is None
    assert request(modifiedSince=2).modified_after_seconds(now) == 8 * 86400
    assert request(modifiedSince=0).modified_after_seconds(now) == now
    assert request(modifiedSince=9.5, modifiedAfter="1970-01-03").modified_after_seconds(now) == 2 * 86400


def test_case_holds_for_both_unless_one_of_them_says_otherwise() -> None:
    both, one = request(case=True), request(case=True, caseFile=False)

    assert (both.files_match_case, both.tokens_match_case) == (True, True)
    assert (one.files_match_case, one.tokens_match_case) == (False, True)
    assert request(caseTokens=True).tokens_match_case
    assert not request().files_match_case


# --- the same request again -----------------------------------------------------------------------------------

OTHER = {
    "text": "other", "texts": ["a", "b"], "integer": 3, "number": 2.5, "flag": False,
    "conditions": {"key": "value"}, "json": '{"key": "value"}', "places": ["a", "b,c"],
}  # fmt: skip


def other_value(field: Any) -> Any:
    if field.kind == "choice":
        return next(choice for choice in field.choices if choice not in {field.default, "both"})
    return "2025-01-01" if field.name == "modifiedAfter" else OTHER[field.kind]


@each_row("field", FIELDS, ids=lambda field: field.name)
def test_every_single_field_changes_the_cache_key(field: Any) -> None:
    plain = SearchRequest("retry")
    other = replace(plain, **{field.attribute: other_value(field)})

    assert cache_key(other) != cache_key(plain)
    assert cache_key(replace(other)) == cache_key(other)


ANYTHING = st.fixed_dictionaries(
    {"query": st.text(min_size=1, max_size=8).filter(lambda text: text.strip(" \t\r\n"))},
    optional={
        field.name: st.just(other_value(field)) if field.kind != "flag" else st.booleans()
        for field in FIELDS
        if field.name != "query"
    },
)


@given(ANYTHING)
def test_arguments_make_a_request_that_makes_the_same_arguments(arguments: dict[str, Any]) -> None:
    made = SearchRequest.from_arguments(arguments)
    again = SearchRequest.from_arguments(json.loads(json.dumps(made.to_arguments())))

    assert again == made
    assert cache_key(again) == cache_key(made)


@given(ANYTHING, ANYTHING)
def test_requests_with_different_arguments_have_different_keys(one: dict[str, Any], two: dict[str, Any]) -> None:
    first, second = SearchRequest.from_arguments(one), SearchRequest.from_arguments(two)

    assert (cache_key(first) == cache_key(second)) == (first == second)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 2**40) | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", " ", "\u00a0", ",", " ,\t", "code", "fts", "x" * 4096, "x" * 4097, "a,b"])
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip


@given(st.dictionaries(st.sampled_from([*PROMISED, "explain", "pth"]), JSON, max_size=6))
def test_the_check_by_hand_refuses_exactly_what_the_schema_refuses(arguments: dict[str, Any]) -> None:
    by_hand = schema_violations(arguments)

    assert (by_hand == []) == VALIDATOR.is_valid(arguments)
    of_schema = {(pointer(error.instance_path), error.kind.name) for error in VALIDATOR.iter_errors(arguments)}
    # Of a value of the wrong type only that is told.
    told = {(place, word) for place, word in of_schema if word == "type" or (place, "type") not in of_schema}
    assert {(item["instancePath"], item["keyword"]) for item in by_hand} == told


def pointer(path: Any) -> str:
    return "".join(f"/{part}" for part in path)


# --- shortcuts in the query -----------------------------------------------------------------------------------


def test_a_shortcut_of_the_query_sets_the_field_of_its_name() -> None:
    pairs = [("lang", "Python"), ("calls", "subprocess.run"), ("async", "false"), ("risk-tag", "exec")]
    made = with_shortcuts(request(lang="go"), pairs)

    assert (made.lang, made.calls, made.async_, made.risk_tag) == (
        ("go", "python"),
        "subprocess.run",
        False,
        "exec",
    )


@pytest.mark.parametrize(
    "pairs",
    [[("calls", "a"), ("calls", "b")], [("async", "perhaps")], [("modifiedafter", "x")], [("path", "/(/")]],
)
def test_a_shortcut_that_cannot_be_meant_is_refused(pairs: list[tuple[str, str]]) -> None:
    with pytest.raises(ToolError, match="INVALID_REQUEST"):
        with_shortcuts(request(), pairs)


def test_shortcuts_are_written_in_small_letters_and_have_a_value() -> None:
    assert {"lang", "path", "file", "ext", "type", "author", "calls", "import", "decorator", "async"} <= set(
        SHORTCUTS
    )
    assert all(name == name.lower() for name in SHORTCUTS)
    assert not {"query", "top", "mode", "output", "meta"} & set(SHORTCUTS)
