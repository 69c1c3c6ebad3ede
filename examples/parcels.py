"""A server whose answers are written for a reader with little room: two levels of detail, rules, pages.

    holdfast call examples/parcels.py list_parcels
    holdfast call examples/parcels.py show_parcel number=P-0007 detail=full

The guide docs/guides/porcelain.md walks through it.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Annotated

from pydantic import BaseModel

from holdfast import Server, ToolError, effect, surface_policy
from holdfast.present.marks import reference, selector, shown, timestamp, title

server = Server("parcels", version="1.0.0")


class Customer(BaseModel):
    """Somebody who sends parcels."""

    handle: Annotated[str, selector()]
    name: Annotated[str, title()]
    row_id: Annotated[int, shown(skip=True)]
    street: str


@dataclass
class Parcel:
    """A parcel on its way."""

    number: Annotated[str, selector()]
    contents: Annotated[str, title()]
    sender: Annotated[Customer, reference()]
    posted: Annotated[datetime, timestamp()]
    grams: int
    damage: Annotated[str | None, shown(skip_none=True)] = None
    route: Annotated[list[str], shown(full_only=True)] = field(default_factory=list)


@dataclass
class Parcels:
    """The parcels of a day."""

    day: str
    parcels: list[Parcel]


_SENDERS = [
    Customer(handle="ada", name="Ada Lovelace", row_id=1, street="St James's Square 12"),
    Customer(handle="grace", name="Grace Hopper", row_id=2, street="Cathedral Avenue 5"),
]
_MORNING = datetime(2026, 3, 2, 8, 30, tzinfo=UTC)
_PARCELS = [
    Parcel(
        number=f"P-{number:04}",
        contents=["books", "a clock", "punched cards"][number % 3],
        sender=_SENDERS[number % 2],
        posted=_MORNING + timedelta(minutes=number),
        grams=250 + 10 * number,
        damage="a wet corner" if number == 7 else None,
        route=["London", "Dover", "Calais"],
    )
    for number in range(1, 41)
]


@server.tool(effect=effect.replay_safe(), read_only=True, examples=[{}], surface="list", pages=True)
async def list_parcels() -> Parcels:
    """All parcels of the day, in the order in which they were posted."""
    return Parcels("2026-03-02", _PARCELS)


@server.tool(
    effect=effect.replay_safe(),
    read_only=True,
    errors=("NOT_FOUND",),
    examples=[{"number": "P-0007"}],
    surface=surface_policy("read", forbid_opaque_ids=True),
)
async def show_parcel(number: str) -> Parcel:
    """One parcel.

    Args:
        number: The number on its label, such as P-0007.
    """
    for parcel in _PARCELS:
        if parcel.number == number:
            return parcel
    raise ToolError("NOT_FOUND", f"no parcel has the number {number}")


if __name__ == "__main__":
    server.run()
