"""Every keyword of 2020-12 and every kind of edit has a rule, or a written excuse; the missing one fails here."""

from typing import Any

import jsonschema_rs
import pytest
from tests.rows import each_row

from holdfast.contract.inclusion import RULES, Bump, Effect, bumps_of, compare_schemas, floors_of
from holdfast.contract.inclusion.keywords import KEYWORDS, OLDER_KEYWORDS, Treatment

S = {"type": "string"}
I = {"type": "integer"}  # noqa: E741
N = {"type": "number"}
# keyword -> (what stands beside it, a tight value, a looser one, one that fits neither)
EDITS: dict[str, tuple[dict[str, Any], Any, Any, Any]] = {
    "$ref": ({"$defs": {"a": I, "b": N, "c": S}}, "#/$defs/a", "#/$defs/b", "#/$defs/c"),
    "$dynamicRef": (
        {"$defs": {"a": {**I, "$dynamicAnchor": "a"}, "b": {**N, "$dynamicAnchor": "b"},
                   "c": {**S, "$anchor": "c"}}},
        "#a", "#b", "#c",
    ),
    "allOf": ({}, [S, {"minLength": 2}], [S], [I]),
    "anyOf": ({}, [S], [S, I], [{"type": "null"}]),
    "oneOf": ({}, [S], [S, I], [{"type": "null"}]),
    "not": ({}, N, I, S),
    "if": ({"then": {"minimum": 3}}, N, I, {"maximum": 1}),
    "then": ({"if": N}, {"minimum": 3}, {"minimum": 2}, {"maximum": 1}),
    "else": ({"if": N}, {"minLength": 3}, {"minLength": 2}, {"maxLength": 1}),
    "dependentSchemas": (
        {}, {"a": {"minProperties": 3}}, {"a": {"minProperties": 2}}, {"b": {"maxProperties": 1}},
    ),
    "prefixItems": ({}, [I], [N], [S]),
    "items": ({}, I, N, S),
    "contains": ({}, I, N, S),
    "properties": ({}, {"a": I}, {"a": N}, {"a": S}),
    "patternProperties": ({}, {"^a": I}, {"^a": N}, {"^a": S}),
    "additionalProperties": ({}, I, N, S),
    "propertyNames": ({}, {"maxLength": 2}, {"maxLength": 3}, {"minLength": 4}),
    "unevaluatedItems": ({}, I, N, S),
    "unevaluatedProperties": ({}, I, N, S),
    "type": ({}, "integer", "number", "string"),
    "enum": ({}, ["a"], ["a", "b"], ["c"]),
    "const": ({}, 1, 1, 2),
    "multipleOf": ({}, 6, 3, 4),
    "maximum": ({}, 1, 2, 3),
    "exclusiveMaximum": ({}, 1, 2, 3),
    "minimum": ({}, 2, 1, 0),
    "exclusiveMinimum": ({}, 2, 1, 0),
    "maxLength": ({}, 1, 2, 3),
    "minLength": ({}, 3, 2, 1),
    "pattern": ({}, "^aa", "^a", "^b"),
    "maxItems": ({}, 1, 2, 3),
    "minItems": ({}, 3, 2, 1),
    "uniqueItems": ({}, True, False, False),
    "maxContains": ({"contains": S}, 1, 2, 3),
    "minContains": ({"contains": S}, 3, 2, 4),
    "maxProperties": ({}, 1, 2, 3),
    "minProperties": ({}, 3, 2, 1),
    "required": ({}, ["a", "b"], ["a"], ["c"]),
    "dependentRequired": ({}, {"a": ["b", "c"]}, {"a": ["b"]}, {"b": ["c"]}),
    "format": ({}, "date", "date-time", "time"),
    "contentEncoding": ({}, "base64", "base32", "base16"),
    "contentMediaType": ({}, "text/html", "text/plain", "image/png"),
    "contentSchema": ({}, I, N, S),
    "title": ({}, "a", "b", "c"),
    "description": ({}, "a", "b", "c"),
    "default": ({}, 1, 2, 3),
    "deprecated": ({}, True, False, False),
    "readOnly": ({}, True, False, False),
    "writeOnly": ({}, True, False, False),
    "examples": ({}, [1], [2], [3]),
    "$comment": ({}, "a", "b", "c"),
}  # fmt: skip

# keyword -> why its change alone needs no rule
EXCUSED = {
    "$schema": "the meaning of each dialect is compared; dialect.changed tells of it",
    "$vocabulary": "belongs to meta-schemas, which describe no tool",
    "$id": "a name; what references through it lead to is compared",
    "$anchor": "a name; what references through it lead to is compared",
    "$dynamicAnchor": "a name; what references through it lead to is compared",
    "$defs": "holds schemas that say nothing until they are referred to",
}
# An edit that is none: the two values mean the same, or the edit does not exist for the keyword.
NOTHING_TO_SEE = {
    ("const", "relax"), ("const", "tighten"), ("uniqueItems", "replace"), ("deprecated", "replace"),
    ("readOnly", "replace"), ("writeOnly", "replace"),
}  # fmt: skip
SILENT = (Treatment.ANNOTATION, Treatment.ASSERTABLE)
KINDS_OF_EDIT = ("add", "remove", "tighten", "relax", "replace")


def edited(keyword: str, edit: str) -> tuple[dict[str, Any], dict[str, Any]]:
    beside, tight, loose, other = EDITS[keyword]
    values: dict[str, tuple[Any, Any]] = {
        "add": (None, tight),
        "remove": (tight, None),
        "tighten": (loose, tight),
        "relax": (tight, loose),
        "replace": (tight, other),
    }
    old, new = ({**beside, keyword: value} if value is not None else beside for value in values[edit])
    return old, new


EDITED = [
    (keyword, edit) for keyword in sorted(EDITS) for edit in KINDS_OF_EDIT if (keyword, edit) not in NOTHING_TO_SEE
]
SAYING = [(keyword, edit) for keyword, edit in EDITED if KEYWORDS[keyword] not in SILENT]
# Where the bumps of input and output are not simply those of the proven effect: ("*" for every other edit)
WEIGHED: dict[tuple[str, str], tuple[str, str]] = {
    **{(word, "*"): ("patch", "patch") for word in ("title", "examples", "$comment")},
    ("description", "*"): ("minor", "patch"),
    ("description", "add"): ("patch", "patch"),
    **{(word, "*"): ("minor", "major") for word in ("contentEncoding", "contentMediaType", "contentSchema")},
    ("default", "*"): ("major", "patch"),
    ("deprecated", "*"): ("patch", "patch"),
    ("deprecated", "add"): ("minor", "minor"),
    ("deprecated", "tighten"): ("minor", "minor"),
    ("format", "*"): ("major", "major"),
    ("format", "add"): ("major", "minor"),
    ("format", "remove"): ("minor", "major"),
    ("prefixItems", "add"): ("major", "major"),
    ("prefixItems", "remove"): ("major", "major"),
    ("properties", "add"): ("minor", "minor"),
    ("properties", "remove"): ("major", "minor"),
    ("readOnly", "*"): ("minor", "patch"),
    ("readOnly", "add"): ("major", "patch"),
    ("readOnly", "tighten"): ("major", "patch"),
    ("writeOnly", "*"): ("patch", "minor"),
    ("writeOnly", "add"): ("patch", "major"),
    ("writeOnly", "tighten"): ("patch", "major"),
}


@each_row(("keyword", "edit"), EDITED)
def test_each_edit_of_each_keyword_has_its_own_rule_and_a_decided_effect(keyword: str, edit: str) -> None:
    verdict = compare_schemas(*edited(keyword, edit))

    assert verdict.changes, "no rule"
    assert all(change.rule in RULES for change in verdict.changes)
    assert not [change.rule for change in verdict.changes if change.rule.startswith("schema.")]
    assert verdict.effect is not Effect.UNKNOWN
    assert (verdict.effect is Effect.EQUAL) is (KEYWORDS[keyword] in SILENT)


@each_row("side", [0, 1], ids=["input", "output"])
@each_row(("keyword", "edit"), EDITED)
def test_each_edit_is_priced_for_input_and_for_output(keyword: str, edit: str, side: int) -> None:
    verdict = compare_schemas(*edited(keyword, edit))
    weighed = WEIGHED.get((keyword, edit), WEIGHED.get((keyword, "*")))
    expected = floors_of(verdict.effect)[side] if weighed is None else Bump(weighed[side])

    assert max(bumps_of(change)[side] for change in verdict.changes) is expected


@pytest.mark.parametrize(("edit", "expected"), [("tighten", Effect.NARROWS), ("relax", Effect.WIDENS)])
def test_tightening_narrows_and_relaxing_widens(edit: str, expected: Effect) -> None:
    verdicts = {keyword: compare_schemas(*edited(keyword, edit)) for keyword, found in SAYING if found == edit}
    lacking = [
        keyword
        for keyword, verdict in verdicts.items()
        if (verdict.witness_lost if edit == "tighten" else verdict.witness_gained) is None
    ]

    assert {keyword for keyword, verdict in verdicts.items() if verdict.effect is not expected} == set()
    assert lacking == []
    assert len(verdicts) > 30


def test_every_keyword_of_the_standard_is_edited_or_excused() -> None:
    assert set(KEYWORDS) == EDITS.keys() | EXCUSED.keys()
    assert not EDITS.keys() & EXCUSED.keys()
    assert set(OLDER_KEYWORDS.values()) <= set(KEYWORDS)


def test_the_table_of_keywords_is_the_standard() -> None:
    listed: set[str] = set()
    for vocabulary in (
        "core",
        "applicator",
        "unevaluated",
        "validation",
        "format-annotation",
        "content",
        "meta-data",
    ):
        name = f"https://json-schema.org/draft/2020-12/meta/{vocabulary}"
        bundled: Any = jsonschema_rs.bundle({"$ref": name}, offline=True)
        listed |= set(bundled["$defs"][name]["properties"])
    assert listed == set(KEYWORDS)
