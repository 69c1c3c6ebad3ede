"""The two crossings: JSON arguments to Python values, returned values to JSON."""

import datetime as dt
import decimal
import os
import uuid
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, Strict
from tests.rows import each_row
from tests.unit.contract.shapes import Cat, Colour, Item, Money, Node, Point, Size, choices, moments, records
from typing_extensions import TypedDict

from holdfast.contract.binding import ArgumentsRejected, OutputRejected
from holdfast.contract.derive import DerivedTool, derive_tool

RECORD: dict[str, Any] = {
    "item": {"sku": "A-1", "price": {"cents": 5}, "place": {"shelf": 2}},
    "money": {"cents": 1, "currency": "USD"},
    "place": {"shelf": 3, "note": "left"},
    "point": [1, 2],
    "pet": {"kind": "cat"},
    "node": {"value": 1, "children": [{"value": 2}]},
}


def returning(annotation: Any) -> DerivedTool:
    def give() -> None:
        """Give."""

    give.__annotations__["return"] = annotation
    return derive_tool(give)


def test_records_arrive_as_what_the_function_declared() -> None:
    bound = derive_tool(records).bind(RECORD)
    assert bound["item"].price == Money(5)
    assert bound["item"].place == {"shelf": 2}
    assert bound["money"] == Money(1, "USD")
    assert bound["point"] == Point(1, 2)
    assert isinstance(bound["point"], Point)
    assert isinstance(bound["pet"], Cat)
    assert bound["node"] == Node(value=1, children=[Node(value=2)])


def test_choices_and_moments_arrive_typed() -> None:
    assert derive_tool(choices).bind({"colour": "red", "size": 2, "free": {"a": [1]}}) == {
        "colour": Colour.RED,
        "size": Size.LARGE,
        "free": {"a": [1]},
    }
    number = str(uuid.uuid4())
    bound = derive_tool(moments).bind(
        {"when": "2024-02-29T12:00:00Z", "day": "2024-02-29", "number": number, "price": "2.50"}
    )
    assert bound["when"] == dt.datetime(2024, 2, 29, 12, tzinfo=dt.UTC)
    assert (bound["day"], bound["number"]) == (dt.date(2024, 2, 29), uuid.UUID(number))
    assert str(bound["price"]) == "2.50"


def test_an_argument_that_is_not_given_is_left_to_the_default_of_the_function() -> None:
    assert derive_tool(choices).bind({"colour": "blue"}) == {"colour": Colour.BLUE}


def test_a_default_written_in_a_field_is_filled_in() -> None:
    def page(size: int = Field(10, ge=1), tags: list[str] = Field(default_factory=list)) -> int:  # noqa: B008
        """Page."""
        return size + len(tags)

    tool = derive_tool(page)
    assert tool.bind({}) == {"size": 10, "tags": []}
    assert tool.contract.input_schema["properties"]["size"] == {"type": "integer", "default": 10, "minimum": 1}
    assert "required" not in tool.contract.input_schema


def test_a_parameter_with_an_alias_is_published_under_it_and_bound_to_its_own_name() -> None:
    def find(class_: Annotated[str, Field(alias="class")]) -> str:
        """Find."""
        return class_

    tool = derive_tool(find, examples=[{"class": "a"}])
    assert list(tool.contract.input_schema["properties"]) == ["class"]
    assert tool.bind({"class": "a"}) == {"class_": "a"}


def test_arguments_that_are_no_parameters_are_not_passed_on() -> None:
    assert derive_tool(choices).bind({"colour": "red", "render": "json"}) == {"colour": Colour.RED}


def even(number: int) -> int:
    if number % 2:
        raise ValueError("not even")
    return number


def test_what_a_schema_cannot_say_is_refused_with_every_place() -> None:
    def plan(days: list[dt.date], at: int | uuid.UUID, half: Annotated[int, AfterValidator(even)]) -> None:
        """Plan."""

    with pytest.raises(ArgumentsRejected) as caught:
        derive_tool(plan).bind({"days": ["2024-01-01", "2024-02-30"], "at": "x/y", "half": 3})
    found = {(item["instancePath"], item["keyword"]) for item in caught.value.violations}
    assert found >= {("/days/1", "format"), ("/at", "format"), ("/half", "value_error")}
    for item in caught.value.violations:
        assert item.keys() == {"instancePath", "schemaPath", "keyword", "params", "message"}
        assert item["schemaPath"].startswith("/properties/")


class Renamed(BaseModel):
    inner: int = Field(alias="outer")


class Row(TypedDict):
    a: int


@each_row(
    ("annotation", "value", "payload"),
    [
        (int, 5, 5),
        (str, "a", "a"),
        (float, 1, 1.0),
        (bool, True, True),
        (None, None, {}),
        (Item, Item(sku="a", price=Money(1)),
         {"sku": "a", "price": {"cents": 1, "currency": "EUR"}, "place": None, "tags": []}),
        (Money, Money(2), {"cents": 2, "currency": "EUR"}),
        (Row, {"a": 1}, {"a": 1}),
        (Point, Point(1), [1, 0]),
        (Colour, Colour.RED, "red"),
        (list[Colour], [Colour.RED], ["red"]),
        (dict[str, Money], {"x": Money(1)}, {"x": {"cents": 1, "currency": "EUR"}}),
        (decimal.Decimal, decimal.Decimal("1.10"), "1.10"),
        (dt.date, dt.date(2024, 1, 2), "2024-01-02"),
        (Renamed, Renamed(outer=3), {"outer": 3}),
        (Item | Money, Money(4), {"cents": 4, "currency": "EUR"}),
        (dict[str, JsonValue], {"a": [1, None, {"b": "c"}]}, {"a": [1, None, {"b": "c"}]}),
        (list[JsonValue], [2**70, "😀", {"null": None}], [2**70, "😀", {"null": None}]),
        (dict[str, int], {"\ufffd": 1}, {"\ufffd": 1}),
        (list[float | None], [1.5, None], [1.5, None]),
    ],
    ids=lambda value: str(value)[:30],
)  # fmt: skip
def test_a_returned_value_becomes_plain_json(annotation: Any, value: Any, payload: Any) -> None:
    assert returning(annotation).dump(value) == payload


LOOP: list[Any] = []
LOOP.append(LOOP)
FILE_NAME = os.fsdecode(b"report-\xff")  # as os.listdir gives it


@each_row(
    ("annotation", "value", "said"),
    [
        (int, "5", "Expected `int`"),
        (str, 5, "Expected `str`"),
        (Item, {"sku": "a"}, "Expected `Item`"),
        (Item, Item.model_construct(sku=5, price=Money(1)), "field_name='sku'"),
        (Item | Money, 5, "Expected `Money`"),
        (Row, {"a": "x"}, "field_name='a'"),
        (list[int], (1, 2), "Expected `list"),
        (None, 5, "returned int"),
        (float, float("nan"), "not finite"),
        (list[float], [1.0, float("inf")], "not finite"),
        (dict[str, JsonValue], {"a": [float("-inf")]}, "not finite"),
        (Annotated[JsonValue, Field(description="Free.")], float("nan"), "not finite"),
        (list[JsonValue], [2**70, float("nan")], "not finite"),
        (list[float | None], [None, float("nan")], "not finite"),
        (str, FILE_NAME, "not valid Unicode"),
        (list[str], ["a", FILE_NAME], "not valid Unicode"),
        (dict[str, int], {FILE_NAME: 1}, "not valid Unicode"),
        (tuple[dict[str, int], int], ({FILE_NAME: 1}, 2), "not valid Unicode"),
        (Money, Money(1, FILE_NAME), "not valid Unicode"),
        (JsonValue, {"a": [2**70, {"b": FILE_NAME}]}, "not valid Unicode"),
        (JsonValue, {"a": {FILE_NAME: 2**70}}, "not valid Unicode"),
        pytest.param(dict[str, JsonValue], {"a": object()}, "object", id="an object"),
        (JsonValue, LOOP, "Circular"),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_a_value_that_is_not_what_was_declared_is_rejected_and_warns_nobody(
    annotation: Any, value: Any, said: str
) -> None:
    with pytest.raises(OutputRejected) as caught:
        returning(annotation).dump(value)
    assert any(said in reason for reason in caught.value.reasons)


class Booking(BaseModel):
    model_config = ConfigDict(strict=True)
    day: dt.date
    colour: Colour
    places: tuple[int, ...]


def test_a_strict_type_takes_what_its_schema_says() -> None:
    def book(booking: Booking, number: Annotated[uuid.UUID, Strict()], big: int = 0) -> None:
        """Book."""

    number = uuid.uuid4()
    told = {"day": "2024-02-29", "colour": "red", "places": [1, 2]}
    bound = derive_tool(book).bind({"booking": told, "number": str(number), "big": 10**30})
    assert bound["booking"] == Booking(day=dt.date(2024, 2, 29), colour=Colour.RED, places=(1, 2))
    assert (bound["number"], bound["big"]) == (number, 10**30)
    with pytest.raises(ArgumentsRejected, match="/booking/day"):
        derive_tool(book).bind({"booking": {**told, "day": "2024-02-30"}, "number": str(number)})


def test_a_default_that_a_call_changes_is_new_for_the_next_call() -> None:
    def collect(seen: list[int] = [], price: Money = Money(1)) -> list[int]:  # noqa: B006, B008
        """Collect."""
        seen.append(price.cents)
        price.cents += 1
        return seen

    tool = derive_tool(collect)
    assert [collect(**tool.bind({})) for _ in range(3)] == [[1], [1], [1]]
    assert tool.contract.input_schema["properties"]["seen"]["default"] == []


def test_the_default_of_the_signature_is_the_one_that_the_function_gets() -> None:
    def wait(seconds: Annotated[int, Field(default=4, ge=1)] = 5) -> int:
        """Wait."""
        return seconds

    tool = derive_tool(wait)
    assert wait(**tool.bind({})) == tool.contract.input_schema["properties"]["seconds"]["default"] == 5
