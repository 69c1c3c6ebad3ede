"""What is shown to the validator, what it is spared, and the values that are drawn when nothing else helps."""

from typing import Any

import jsonschema_rs
import pytest

from holdfast.contract.inclusion.cost import visits
from holdfast.contract.inclusion.documents import Document
from holdfast.contract.inclusion.sampling import samples
from holdfast.contract.inclusion.witnesses import Jury

S = {"type": "string"}
TREE = {"properties": {"next": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}}


def jury(old: Any, new: Any, *, careful: bool = False) -> Jury:
    return Jury(Document(old), Document(new), assert_formats=False, careful=careful)


def test_a_value_is_a_witness_only_for_the_one_side_that_accepts_it() -> None:
    both = jury(S, {"type": ["string", "null"]})

    assert both.confirm(None, "new") is not None
    assert both.confirm(None, "old") is None
    assert both.confirm("text", "new") is None
    assert both.first([1, "text", None], "new") == both.confirm(None, "new")


def test_a_schema_that_the_validator_refuses_has_no_witnesses() -> None:
    broken = jury({"type": "nonsense"}, S)

    assert not broken.ready
    assert "nonsense" in broken.trouble_old
    assert broken.confirm(1, "new") is broken.search("new") is None


def test_nothing_is_fetched() -> None:
    outside = jury({"$ref": "https://e.test/schema"}, S)

    assert not outside.ready
    assert "e.test" in outside.trouble_old


def test_the_search_prefers_a_small_value() -> None:
    witness = jury({"type": "integer", "minimum": 3}, {"type": "integer", "minimum": 4}).search("old")

    assert witness is not None
    assert witness.value == 3


def nested(depth: int) -> Any:
    """A value so many properties deep."""
    value: Any = {}
    for _ in range(depth):
        value = {"next": value}
    return value


@pytest.mark.parametrize(("depth", "least"), [(0, 1), (10, 1_000), (60, 10**18)])
def test_the_visits_of_a_validator_are_counted_without_making_them(depth: int, least: int) -> None:
    assert visits(Document(TREE), nested(depth)) >= least


def test_a_careful_jury_spares_the_validator() -> None:
    careful = jury(TREE, {**TREE, "maxProperties": 0}, careful=True)

    assert careful.confirm(nested(2), "old") is not None
    assert careful.confirm(nested(60), "old") is None


def test_samples_are_the_same_each_time_and_reach_inside_and_outside() -> None:
    schema = {"type": "object", "properties": {"a": {"enum": [1, 2]}, "b": {"pattern": "^x+$"}}, "required": ["a"]}
    drawn = list(samples([Document(schema)], 200, seed=5))
    validator = jsonschema_rs.validator_for(schema)

    assert drawn == list(samples([Document(schema)], 200, seed=5))
    assert len({validator.is_valid(value) for value in drawn}) == 2


def test_every_sample_is_json() -> None:
    schema = {
        "prefixItems": [S],
        "contains": {"multipleOf": 3},
        "anyOf": [{"minItems": 1}, TREE],
        "not": {"const": 1},
    }
    for value in samples([Document(schema), Document(TREE)], 200):
        assert jsonschema_rs.validator_for(True).is_valid(value)
