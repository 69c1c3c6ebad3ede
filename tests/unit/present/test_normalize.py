"""Declared spellings are taken over exactly; what is published is what is accepted."""

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import ContractError, HoldfastError, UsageError
from holdfast.present.normalize import (
    Normalization,
    NormalizationError,
    aliases,
    integers,
    match_token,
    paths,
    tokens,
)
from holdfast.present.paths import PathStyle

Validator = jsonschema_rs.Draft202012Validator

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "file": {"type": "string", "title": "File", "description": "What to read."},
        "limit": {"type": "integer", "minimum": 1, "maximum": 250, "default": 10},
        "offset": {"anyOf": [{"type": "integer", "exclusiveMinimum": -5}, {"type": "null"}], "default": None},
        "level": {"$ref": "#/$defs/Level"},
        "ratio": {"type": "number", "minimum": 0.5},
        "mode": {"$ref": "#/$defs/Mode", "description": "How."},
        "form": {"anyOf": [{"const": "plain_text"}, {"type": "null"}]},
        "free": {"type": "string"},
    },
    "required": ["file", "limit"],
    "additionalProperties": False,
    "$defs": {"Mode": {"type": "string", "enum": ["fast", "very-exact", "a+b"]}, "Level": {"enum": [1, 2, 30]}},
}
FIELDS = SCHEMA["properties"]
DECLARED = (
    aliases(path="file", filename="file", max="limit", how="mode")
    | integers("limit", "offset", "level", "ratio")
    | paths("file")
    | tokens("mode", ("fast", "very-exact", "a+b"), {"quick": "fast", "Sum": "a+b"})
    | tokens("form", ["plain_text"])
)

NUMBER_TEXTS = st.from_regex(r"[ \t]?-?[0-9]{1,3}(\.0?)?[ ]?", fullmatch=True) | st.sampled_from(
    ["250", "251", "0", "1", "-4", "-5", "30", "031", "7.5", "1e3", "", "9" * 399, "9" * 401, "\u00a07"]
)
PATH_TEXTS = st.sampled_from(
    ["a/b", "./a", "", " a", "a ", "a\0", "file:///a%20b", "file://host/a", "file://localhost/a", "FILE:///x?y",
     "file:///", "file:///%e2%82%ac", "file:///%ff", "file:///a%2fb", "file:///a b", "file:///a ", "x file:///a",
     "a\n", "\u3000"]
)  # fmt: skip
TOKEN_TEXTS = st.sampled_from(
    ["fast", "FAST", "very_exact", "Very Exact", "veryexact", "quick", "SUM", "A+B", "a+b\n", "aab", " fast",
     "plain text", "PLAIN-TEXT", "slow", ""]
)  # fmt: skip
VALUES: st.SearchStrategy[Any] = (
    NUMBER_TEXTS
    | PATH_TEXTS
    | TOKEN_TEXTS
    | st.text(max_size=12)
    | st.integers(-10, 300)
    | st.sampled_from([None, True, 7.0, 7.5, 2**70, [], {}])
)
ARGUMENTS = st.dictionaries(
    st.sampled_from([*FIELDS, "path", "filename", "max", "how", "unknown"]), VALUES, max_size=6
) | st.builds(
    lambda file, limit, others: {file[0]: file[1], limit[0]: limit[1], **others},
    st.tuples(st.sampled_from(["file", "path", "filename"]), PATH_TEXTS),
    st.tuples(st.sampled_from(["limit", "max"]), NUMBER_TEXTS | st.integers(0, 260)),
    st.fixed_dictionaries(
        {},
        optional={
            "mode": TOKEN_TEXTS,
            "how": TOKEN_TEXTS,
            "form": TOKEN_TEXTS | st.none(),
            "level": NUMBER_TEXTS,
            "offset": NUMBER_TEXTS | st.none(),
            "ratio": NUMBER_TEXTS,
        },
    ),
)
NEARLY_RIGHT = st.builds(
    lambda base, odd: {**base, **odd},
    st.sampled_from(
        [{"file": "a", "limit": 7}, {"path": "file:///a", "max": " 7.0"}, {"filename": "./a", "limit": "7"}]
    ),
    st.dictionaries(st.sampled_from(["mode", "how", "form"]), TOKEN_TEXTS, max_size=1)
    | st.dictionaries(st.sampled_from(["limit", "level", "offset", "ratio"]), NUMBER_TEXTS, max_size=1)
    | st.dictionaries(st.sampled_from(["file", "path", "free"]), PATH_TEXTS | st.text(max_size=9), max_size=1)
    | st.dictionaries(st.sampled_from(sorted(FIELDS)), VALUES, max_size=1),
)

ORIGINAL = Validator(SCHEMA)
WIDENED = Validator(DECLARED.widen(SCHEMA))


def assert_published_as_accepted(arguments: dict[str, Any]) -> None:
    try:
        meant = ORIGINAL.is_valid(DECLARED.apply(arguments))
    except NormalizationError:
        meant = False
    assert WIDENED.is_valid(arguments) == meant


@pytest.mark.requirement("OURS-14b-published")
@given(ARGUMENTS)
def test_the_widened_schema_accepts_exactly_what_normalization_makes_acceptable(arguments: dict[str, Any]) -> None:
    assert_published_as_accepted(arguments)


@settings(max_examples=100)
@given(NEARLY_RIGHT)
def test_that_holds_near_the_border_too(arguments: dict[str, Any]) -> None:
    assert_published_as_accepted(arguments)


BOUND = st.integers(-120, 120) | st.floats(-50, 50)
KEYWORDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


@given(st.dictionaries(st.sampled_from(KEYWORDS), BOUND, max_size=3), st.integers(-130, 130), NUMBER_TEXTS)
def test_the_text_of_a_number_is_accepted_exactly_where_the_number_is(
    bounds: dict[str, Any], number: int, text: str
) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", **bounds}}}
    try:
        widened = Validator(integers("n").widen(schema))
    except ContractError:  # no integer lies within the bounds
        assert not any(Validator(schema).is_valid({"n": whole}) for whole in range(-130, 130))
        return
    assert widened.is_valid({"n": f"{number}.0"}) == Validator(schema).is_valid({"n": number})
    assert not widened.is_valid({"n": text + "x"})


@given(ARGUMENTS)
def test_nothing_declared_changes_nothing(arguments: dict[str, Any]) -> None:
    empty = Normalization()
    applied = empty.apply(arguments)
    assert applied == arguments
    assert applied is not arguments
    assert empty.widen(SCHEMA) == SCHEMA
    assert not empty


@given(ARGUMENTS)
def test_arguments_that_fit_already_are_not_changed_except_for_tidy_paths(arguments: dict[str, Any]) -> None:
    kept = {name: value for name, value in arguments.items() if name != "file"}
    if ORIGINAL.is_valid({"file": "a", "limit": 1, **kept}):
        assert DECLARED.apply(kept) == kept


def test_spellings_are_normalized_together() -> None:
    given_arguments = {"path": "file:///tmp/a%20b", "max": " 7.000 ", "how": "QUICK", "form": "Plain-Text"}
    assert DECLARED.apply(given_arguments) == {
        "file": "/tmp/a b",
        "limit": 7,
        "mode": "fast",
        "form": "plain_text",
    }


def test_a_huge_number_stays_exact() -> None:
    assert integers("n").apply({"n": "9007199254740993.0"}) == {"n": 9007199254740993}


@pytest.mark.parametrize("text", ["7.5", "1e3", "", "seven", "+1", "0x10"])
def test_text_that_is_no_whole_number_is_a_violation_at_its_field(text: str) -> None:
    with pytest.raises(NormalizationError) as caught:
        integers("limit").apply({"limit": text})
    assert caught.value.violations == [
        {
            "instancePath": "/limit",
            "schemaPath": "/properties/limit",
            "keyword": "integerText",
            "params": {},
            "message": "limit is not the text of a whole number",
        }
    ]


def test_a_field_given_under_two_names_is_a_violation_that_lists_both() -> None:
    with pytest.raises(NormalizationError) as caught:
        DECLARED.apply({"file": "a", "path": "a", "limit": 1})
    (item,) = caught.value.violations
    assert item["params"] == {"field": "file", "given": ["file", "path"]}
    assert "file and path" in item["message"]
    assert isinstance(caught.value, HoldfastError)


def test_all_violations_are_listed_at_once() -> None:
    with pytest.raises(NormalizationError) as caught:
        DECLARED.apply({"path": "x\0", "filename": " y", "max": "1.5", "limit": "z"})
    assert [item["keyword"] for item in caught.value.violations] == ["alias", "alias", "integerText", "localPath"]


def test_pointers_escape_odd_names() -> None:
    with pytest.raises(NormalizationError) as caught:
        integers("a/b~c").apply({"a/b~c": "x"})
    assert caught.value.violations[0]["instancePath"] == "/a~1b~0c"


def test_the_widened_schema_has_nothing_at_its_root_that_hosts_refuse() -> None:
    widened = DECLARED.widen(SCHEMA)
    assert {"anyOf", "oneOf", "allOf", "not", "enum"}.isdisjoint(widened)
    assert widened["type"] == "object"
    assert "required" not in widened
    assert widened["properties"]["max"]["description"] == "Alias of limit."
    assert "default" not in widened["properties"]["max"]
    assert widened["properties"]["limit"]["default"] == 10


def test_a_path_style_needs_its_root_and_brings_paths_to_one_form() -> None:
    assert paths("p", style=PathStyle.RELATIVE, root="/r").apply({"p": "file:///r/a"}) == {"p": "a"}
    with pytest.raises(ContractError, match="style needs a root"):
        paths("p", style=PathStyle.ABSOLUTE)


@pytest.mark.parametrize(
    "declare",
    [
        lambda: tokens("m", ["fast", "FAST"]),
        lambda: tokens("m", ["a-b", "a_b"]),
        lambda: tokens("m", ["fast", "slow"], {"Slow": "fast"}),
        lambda: tokens("m", ["fast"], {"quick": "swift"}),
        lambda: tokens("m", ["fast", "slow"], {"x-y": "fast", "x y": "slow"}),
        lambda: aliases(a="b") | aliases(a="c"),
        lambda: aliases(a="b", b="c"),
        lambda: aliases(a="a"),
        lambda: aliases(a="b") | integers("a"),
        lambda: integers("n", "n"),
        lambda: integers("n") | paths("n"),
    ],
)
def test_a_declaration_that_could_mean_two_things_is_refused(declare: Any) -> None:
    with pytest.raises(ContractError):
        declare()


@pytest.mark.parametrize(
    "declared",
    [
        aliases(limit2="nothing"),
        aliases(mode="file"),
        integers("free"),
        integers("nothing"),
        paths("limit"),
        paths("mode"),
        tokens("mode", ["fast"]),
        tokens("free", ["fast"]),
        tokens("limit", ["fast"]),
    ],
    ids=repr,
)
def test_a_declaration_that_does_not_fit_the_schema_is_refused(declared: Normalization) -> None:
    with pytest.raises(ContractError):
        declared.widen(SCHEMA)


@pytest.mark.parametrize(
    ("declared", "field"),
    [
        (integers("x"), {"type": "integer", "multipleOf": 5}),
        (integers("x"), {"type": ["integer", "string"]}),
        (integers("x"), {"enum": ["a"]}),
        (paths("x"), {"type": "string", "pattern": "^a"}),
        (paths("x"), {"type": "string", "minLength": 3}),
        (paths("x"), False),
        (tokens("x", ["a"]), {"type": "string", "enum": ["a"], "maxLength": 1}),
        (tokens("x", ["a"]), True),
    ],
)
def test_a_field_whose_wider_form_cannot_be_published_is_refused(declared: Normalization, field: Any) -> None:
    with pytest.raises(ContractError):
        declared.widen({"type": "object", "properties": {"x": field}})


def test_arguments_with_rules_across_fields_are_refused() -> None:
    with pytest.raises(ContractError, match="minProperties"):
        integers("x").widen({"type": "object", "properties": {"x": {"type": "integer"}}, "minProperties": 1})


@pytest.mark.parametrize("word", ["tools/list", "TOOLS/LIST", "list tools", "List-Tools"])
def test_a_word_of_a_command_line_is_known_by_any_of_its_spellings(word: str) -> None:
    assert match_token(word, ["tools/list", "ping"], {"list_tools": "tools/list"}) == "tools/list"


def test_an_unknown_word_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="use one of fast, slow"):
        match_token("fas", ["fast", "slow"])
