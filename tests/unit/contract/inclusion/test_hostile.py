"""Schemas that were written to hang, to crash or to mislead: each is answered, and soon."""

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.contract.inclusion import Comparison, Effect, Limits, compare_schemas
from holdfast.contract.inclusion.keywords import KEYWORDS, OLDER_KEYWORDS

S: dict[str, Any] = {"type": "string"}
I: dict[str, Any] = {"type": "integer"}  # noqa: E741


def nested(depth: int, leaf: Any, word: str = "properties") -> Any:
    """A leaf below many properties, or many allOf."""
    for _ in range(depth):
        leaf = {"properties": {"a": leaf}} if word == "properties" else {word: [leaf]}
    return leaf


def doubled(depth: int, leaf: Any) -> Any:
    """A schema that grows to two to the power of depth when its references are written out."""
    steps = {
        f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}, {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}]}]}
        for n in range(depth)
    }
    return {"$ref": "#/$defs/d0", "$defs": {**steps, f"d{depth}": leaf}}


def product(factors: int, options: int, **beside: Any) -> Any:
    """A conjunction of alternatives: options to the power of factors."""
    parts = [
        {"anyOf": [{"properties": {f"p{f}": {"const": o}}, "required": [f"p{f}"]} for o in range(options)]}
        for f in range(factors)
    ]
    return {"allOf": parts, **beside}


def mutual(**leaf: Any) -> Any:
    """Two schemas that need each other."""
    return {
        "$ref": "#/$defs/a",
        "$defs": {
            "a": {"properties": {"x": {"$ref": "#/$defs/b"}}, **leaf},
            "b": {"items": {"$ref": "#/$defs/a"}},
        },
    }


def crowd(count: int, references: int, **beside: Any) -> Any:
    """Some recursive schemas, each of which refers to each of them several times."""
    parts = {f"n{n}": {"$ref": f"#/$defs/a{n % count}"} for n in range(references)}
    return {"$ref": "#/$defs/a0", "$defs": {f"a{n}": {"properties": parts, **beside} for n in range(count)}}


def many(count: int, part: Any, letter: str = "p") -> Any:
    """An object of many properties."""
    return {"properties": {f"{letter}{n}": part for n in range(count)}}


HOSTILE: dict[str, tuple[Any, Any]] = {
    "product": (product(10, 3), product(10, 4)),
    "product that is equal": (product(20, 2), product(20, 2, minProperties=1)),
    "doubling": (doubled(18, S), doubled(18, I)),
    "deep": (nested(5_000, S), nested(5_000, I)),
    "deep allOf": (nested(5_000, S, "allOf"), nested(5_000, I, "allOf")),
    "as deep as allowed": (nested(39, S), nested(39, I)),
    "mutual recursion": (mutual(required=["y"]), mutual(minProperties=1)),
    "many properties": (many(5_000, S), many(5_001, S)),
    "many removed": ({**many(2_000, S), "additionalProperties": False}, {"additionalProperties": False}),
    "many renamed": (many(1_000, S), many(1_000, S, "q")),
    "many required": (
        {"required": [f"p{n}" for n in range(5_000)]}, {"required": [f"p{n}" for n in range(4_999)]},
    ),
    "huge enum": ({"enum": list(range(10_000))}, {"enum": list(range(1, 10_001))}),
    "nested quantifiers": ({"pattern": "^" + "(" * 25 + "a" + ")*" * 25 + "$"}, {"pattern": "^a*$"}),
    "catastrophic": ({"pattern": "^(a|a|aa)*b$"}, {"pattern": "^(a*)*c$"}),
    "exponential automaton": ({"pattern": "(a|b)*a(a|b){18}$"}, {"pattern": "(a|b)*b(a|b){18}$"}),
    "long repetition": ({"pattern": "^(a?){200}a{200}$"}, {"pattern": "^(a?){199}a{200}$"}),
    "long text": ({"minLength": 10**12}, {"minLength": 10**12 + 1}),
    "long array": ({"minItems": 10**9}, {"minItems": 10**9 + 1}),
    "large object": ({"minProperties": 10**9}, {"minProperties": 10**9 + 1}),
    "tiny steps": ({"multipleOf": 1e-300, "maximum": 1}, {"multipleOf": 1e-299, "maximum": 1}),
    "many alternatives": (
        {"oneOf": [{"required": [f"p{n}"]} for n in range(25)]},
        {"oneOf": [{"required": [f"p{n}"]} for n in range(26)]},
    ),
    "many conditions": (
        {"anyOf": [{"properties": {f"p{n}": {}}} for n in range(12)], "unevaluatedProperties": False},
        {"anyOf": [{"properties": {f"p{n}": {}}} for n in range(13)], "unevaluatedProperties": False},
    ),
    "many patterns": (
        {"patternProperties": {f"a{n}(b|c)*": S for n in range(9)}, "additionalProperties": False},
        {"patternProperties": {f"a{n}(b|c)*": I for n in range(9)}},
    ),
    "an address that is none": ({"$ref": "http://[x#y"}, S),
    "a name that is none": ({"$id": "http://[x#y", "items": {"$ref": "#"}}, S),
    "a pointer with a long index": ({"allOf": [{}], "$ref": "#/allOf/" + "9" * 5_000}, S),
    "a pattern with a long count": ({"pattern": "a{" + "9" * 5_000 + "}"}, S),
    "everything refers to everything": (crowd(75, 150), crowd(75, 150, required=["n1"])),
    "a few that refer to each other often": (crowd(6, 300), crowd(6, 300, required=["n1"])),
    "long names": (
        {"properties": {f"{'ab' * 10_000}{n}": S for n in range(20)}},
        {"properties": {f"{'ba' * 10_000}{n}": S for n in range(20)}},
    ),
    "itself": ({"allOf": [{"$ref": "#"}]}, {"anyOf": [{"$ref": "#"}]}),
    "a circle": ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}, {}),
}  # fmt: skip


@pytest.mark.timeout(10)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_pair_is_answered(name: str) -> None:
    old, new = HOSTILE[name]
    verdict = compare_schemas(old, new, limits=Limits(steps=8_000))

    assert isinstance(verdict, Comparison)
    assert verdict.changes or verdict.effect is Effect.EQUAL
    if verdict.effect is Effect.UNKNOWN:
        assert verdict.reason_unknown


def test_a_true_is_not_a_one() -> None:
    verdict = compare_schemas({"const": 1}, {"const": True})

    assert verdict.effect is Effect.INCOMPARABLE
    assert compare_schemas({"enum": [0, False]}, {"enum": [False]}).effect is Effect.NARROWS
    assert compare_schemas({"default": 1}, {"default": True}).changes[0].rule == "annotation.default_changed"


def test_a_large_whole_number_is_not_its_neighbour() -> None:
    verdict = compare_schemas({"const": 2**53}, {"const": 2**53 + 1})

    assert verdict.effect is Effect.INCOMPARABLE
    assert compare_schemas({"minimum": 10**300}, {"minimum": 10**300 + 1}).effect is Effect.NARROWS


def test_not_a_number_is_never_equal_even_to_itself() -> None:
    for value in (float("nan"), float("inf")):
        assert compare_schemas({"minimum": value}, {"minimum": value}).effect is Effect.UNKNOWN
        assert compare_schemas({"minimum": value}, {"minimum": None}).effect is Effect.UNKNOWN


def test_the_room_left_on_the_stack_does_not_change_that_an_answer_comes() -> None:
    def at_depth(frames: int) -> Comparison:
        return at_depth(frames - 1) if frames else compare_schemas(nested(30, S), nested(30, I))

    assert at_depth(sys.getrecursionlimit() - 250).effect in (Effect.INCOMPARABLE, Effect.UNKNOWN)


def test_a_value_that_would_keep_the_validator_busy_for_years_is_not_shown_to_it() -> None:
    verdict = compare_schemas(doubled(30, S), doubled(30, I))

    assert verdict.effect is Effect.UNKNOWN
    assert verdict.witness_lost is verdict.witness_gained is None


WORDS = st.sampled_from([*KEYWORDS, *OLDER_KEYWORDS, "x"])
SCALARS = st.sampled_from(
    [None, True, False, 0, 1, -1, 1.5, "", "#", "#/$defs/a", "a", "^a", "string", "http://[x", 10**30]
)
JUNK = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=3), max_leaves=12
)


@settings(max_examples=150, deadline=None)
@given(JUNK, JUNK)
def test_any_json_at_all_is_answered(old: Any, new: Any) -> None:
    verdict = compare_schemas(old, new)

    assert verdict.changes or verdict.effect is Effect.EQUAL
    assert bool(verdict.reason_unknown) or verdict.effect is not Effect.UNKNOWN


def test_nothing_heavy_is_imported_for_what_did_not_change() -> None:
    program = (
        "import sys; from holdfast.contract.inclusion import compare_schemas; "
        "compare_schemas({'type': 'string', 'title': 'a'}, {'title': 'b', 'type': 'string'}); "
        "print(sorted({'jsonschema_rs', 'pydantic', 'asyncio', 'psutil'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=30)

    assert ran.stdout.strip() == "[]"


def test_definitions_that_double_at_every_level_are_unknown_and_not_a_hang() -> None:
    def doubling(leaf: str) -> dict[str, Any]:
        pairs = {
            f"d{level}": {
                "type": "object",
                "properties": {side: {"$ref": f"#/$defs/d{level + 1}"} for side in ("left", "right")},
                "required": ["left", "right"],
            }
            for level in range(30)
        }
        return {"$ref": "#/$defs/d0", "$defs": {**pairs, "d30": {"type": leaf}}}

    assert compare_schemas(doubling("string"), doubling("integer")).effect is Effect.UNKNOWN
