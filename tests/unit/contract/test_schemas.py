"""Schema and types agree: what the schema accepts can be bound, what it must refuse it refuses, at every level."""

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from tests.unit.contract.near_schema import arguments_near
from tests.unit.contract.shapes import PLAIN, moments

from holdfast.contract.binding import ArgumentsRejected
from holdfast.contract.derive import derive_tool

TOOLS = {function.__name__: derive_tool(function) for function in (*PLAIN, moments)}
VALIDATORS = {name: jsonschema_rs.Draft202012Validator(tool.contract.input_schema) for name, tool in TOOLS.items()}

MONEY = st.fixed_dictionaries({"cents": st.integers()}, optional={"currency": st.text(max_size=3)})
PLACE = st.fixed_dictionaries({"shelf": st.integers()}, optional={"note": st.text(max_size=3)})
NODE = st.recursive(
    st.fixed_dictionaries({"value": st.integers()}),
    lambda inner: st.fixed_dictionaries({"value": st.integers(), "children": st.lists(inner, max_size=2)}),
    max_leaves=4,
)
RECORDS = st.fixed_dictionaries(
    {
        "item": st.fixed_dictionaries(
            {"sku": st.text(min_size=1, max_size=8), "price": MONEY}, optional={"place": st.none() | PLACE}
        ),
        "money": MONEY,
        "place": PLACE,
        "point": st.lists(st.integers(), min_size=1, max_size=2),
        "pet": st.sampled_from([{"kind": "cat", "lives": 3}, {"kind": "dog", "name": "Rex"}]),
    },
    optional={"node": NODE},
)


@pytest.mark.parametrize("name", [function.__name__ for function in PLAIN])
@settings(max_examples=80)
@given(data=st.data())
def test_whatever_the_schema_accepts_the_types_accept(name: str, data: st.DataObject) -> None:
    arguments = data.draw(arguments_near(TOOLS[name].contract.input_schema))
    accepted = VALIDATORS[name].is_valid(arguments)
    event("accepted" if accepted else "refused")
    try:
        bound = TOOLS[name].bind(arguments)
    except ArgumentsRejected:
        assert not accepted
    else:
        assert not accepted or bound.keys() >= arguments.keys()


@given(RECORDS)
def test_every_record_of_the_declared_types_is_accepted_by_both(arguments: dict[str, Any]) -> None:
    assert VALIDATORS["records"].is_valid(arguments)
    assert TOOLS["records"].bind(arguments).keys() == arguments.keys()


def objects(value: Any) -> list[dict[str, Any]]:
    """Every object inside a value, itself included."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return ([value] if isinstance(value, dict) else []) + [found for item in inner for found in objects(item)]


@given(RECORDS, st.data())
def test_an_unknown_key_is_refused_at_every_level(arguments: dict[str, Any], data: st.DataObject) -> None:
    place = data.draw(st.sampled_from(objects(arguments)))
    place["no such field"] = 1
    assert not VALIDATORS["records"].is_valid(arguments)


def test_a_map_stays_a_map() -> None:
    arguments = {"names": ["a"], "unique": [1], "pair": [1, "a"], "counts": {"any key": 1}}
    assert VALIDATORS["collections"].is_valid(arguments)
    assert TOOLS["collections"].bind(arguments)["counts"] == {"any key": 1}


@pytest.mark.parametrize(
    ("field", "value"),
    [("when", "yesterday"), ("day", "2024-02-30"), ("number", "1234"), ("when", "2024-13-01T00:00:00Z")],
)
def test_formats_are_the_one_thing_that_only_the_types_refuse(field: str, value: str) -> None:
    good = {
        "when": "2024-01-01T00:00:00Z",
        "day": "2024-01-01",
        "number": "12345678-1234-5678-1234-567812345678",
    }
    assert TOOLS["moments"].bind(good)
    assert VALIDATORS["moments"].is_valid({**good, field: value})
    with pytest.raises(ArgumentsRejected, match=f"/{field}"):
        TOOLS["moments"].bind({**good, field: value})


def test_a_whole_number_that_no_machine_integer_holds_is_refused_and_not_rounded() -> None:
    arguments = {"a": 1e20, "b": 1.0}
    assert VALIDATORS["numbers"].is_valid(arguments)  # to JSON Schema, 1e20 is an integer
    with pytest.raises(ArgumentsRejected, match="/a"):
        TOOLS["numbers"].bind(arguments)


def test_parameters_are_published_in_the_order_of_the_signature() -> None:
    schema = TOOLS["records"].contract.input_schema
    assert list(schema["properties"]) == ["item", "money", "place", "point", "pet", "node"]
    assert schema["required"] == ["item", "money", "place", "point", "pet"]
