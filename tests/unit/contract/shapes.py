"""Types and functions that the tests of this room derive contracts from."""

import dataclasses
import datetime as dt
import decimal
import enum
import uuid
from typing import Annotated, Literal, NamedTuple, NewType, NotRequired

from annotated_types import Ge, Le, MaxLen, MinLen
from pydantic import BaseModel, Field, JsonValue
from typing_extensions import TypedDict

Sku = NewType("Sku", str)


class Colour(enum.Enum):
    """The colour of a box."""

    RED = "red"
    BLUE = "blue"


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 2


class Point(NamedTuple):
    x: int
    y: int = 0


@dataclasses.dataclass
class Money:
    """An amount of money."""

    cents: int
    currency: str = "EUR"


class Place(TypedDict):
    shelf: int
    note: NotRequired[str]


class Item(BaseModel):
    """One article."""

    sku: Annotated[str, MinLen(1), MaxLen(8)]
    price: Money
    place: Place | None = None
    tags: list[str] = []


class Titled(BaseModel):
    model_config = {"title": "A box with a title"}
    colour: Colour = Field(default=Colour.RED, title="Colour of the box")


class Node(BaseModel):
    value: int
    children: list["Node"] = []


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    name: str = ""


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]


def numbers(a: int, b: float, c: Annotated[int, Ge(1), Le(10)] = 1) -> int:
    """Add."""
    return a + c + int(b)


def texts(sku: Sku, kind: Literal["a", "b"] = "a", name: Annotated[str, Field(pattern="^[a-z]+$")] = "x") -> str:
    """Join."""
    return sku + kind + name


def collections(
    names: Annotated[list[str], MinLen(1)],
    unique: set[int],
    pair: tuple[int, str],
    many: tuple[float, ...] = (),
    counts: dict[str, int] | None = None,
) -> list[str]:
    """Collect."""
    return [*names, *map(str, unique), str(pair), str(many), str(counts)]


def records(item: Item, money: Money, place: Place, point: Point, pet: Pet, node: Node | None = None) -> Item:
    """Keep."""
    return item


def choices(
    colour: Colour, size: Size = Size.SMALL, either: int | str | None = None, free: JsonValue = None
) -> bool:
    """Choose."""
    return True


def moments(
    when: dt.datetime,
    day: dt.date,
    number: uuid.UUID,
    price: decimal.Decimal = decimal.Decimal("1.10"),
) -> str:
    """Remember."""
    return f"{when} {day} {number} {price}"


PLAIN = (numbers, texts, collections, records, choices)
