"""The orders of a small shop: three ways for a tool to survive a crash in the middle of a call.

holdfast tools examples/orders.py
holdfast call examples/orders.py place_order sku=A-1 count=2 key=order-7
holdfast serve examples/orders.py

`place_order` commits its key together with the order, so a repeated call takes effect once. `ship` hands a parcel
to a carrier outside of the database; after a crash `find_parcel` is asked whether it got there. `count_orders`
only reads.
"""

import os
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from holdfast import ErrorSpec, Server, ToolError, effect, load_settings
from holdfast.dedup import KeyTable

server = Server("orders", version="1.0.0", instructions="Place an order under a key of your own, then ship it.")

Key = Annotated[str, Field(min_length=1, max_length=512)]


class Order(BaseModel):
    """An order as it was placed."""

    number: int = Field(description="The number that the shop gave the order.")
    sku: str = Field(description="The number of the article.")
    count: int = Field(ge=1, description="How many were ordered.")


class Orders(BaseModel):
    """How many orders there are."""

    count: int = Field(ge=0, description="How many orders there are.")


class Parcel(BaseModel):
    """An order on its way."""

    number: int = Field(description="The number of the order.")
    address: str = Field(description="Where it goes.")
    tracking: str = Field(description="The number of the parcel.")


class Evidence(BaseModel):
    """What is known of a lost call of `ship`: it took effect, it did not and may be repeated, or nobody knows."""

    outcome: Literal["completed", "safe_to_retry", "unknown"] = Field(description="What became of the call.")
    result: Parcel | None = Field(default=None, description="What it would have returned, if it took effect.")


def shop() -> Path:
    """The directory with everything that the shop knows."""
    return load_settings().state_path() / "examples" / "orders"


@contextmanager
def database() -> Iterator[sqlite3.Connection]:
    """A connection of this call alone: plain tools run in threads, several at a time."""
    directory = shop()
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    with closing(sqlite3.connect(directory / "orders.db", timeout=10, isolation_level=None)) as connection:
        connection.execute(
            "CREATE TABLE IF NOT EXISTS orders (number INTEGER PRIMARY KEY, sku TEXT, count INTEGER)"
        )
        yield connection


@server.tool(
    version="1.0.0",
    effect=effect.deduplicated("/arguments/key"),
    timeout=20.0,
    errors=(
        ErrorSpec("KEY_CONFLICT", "The key was used before, for another order.", "Use a new key for a new order."),
    ),
    security="Writes the order database; no network access.",
    examples=({"sku": "A-1", "count": 2, "key": "order-7"},),
)
def place_order(sku: str, count: Annotated[int, Field(ge=1)], key: Key) -> Order:
    """Place an order. Calls with the same key take effect once.

    Args:
        sku: The number of the article, such as A-1.
        count: How many of it.
        key: A name for this order, chosen by the caller.
    """
    with database() as connection:
        keys = KeyTable(connection)
        with keys.once(key, {"sku": sku, "count": count}, tool="place_order") as slot:
            if not slot.stored:
                added = connection.execute("INSERT INTO orders (sku, count) VALUES (?, ?)", (sku, count))
                slot.store({"number": added.lastrowid, "sku": sku, "count": count})
        return Order.model_validate(slot.outcome)


@server.tool(
    version="1.0.0",
    effect=effect.replay_safe(),
    read_only=True,
    timeout=20.0,
    security="Reads the order database; no network access.",
    examples=({},),
)
def count_orders() -> Orders:
    """Count the orders that were placed."""
    with database() as connection:
        (count,) = connection.execute("SELECT count(*) FROM orders").fetchone()
        return Orders(count=count)


@server.tool(
    version="1.0.0",
    effect=effect.probe_required("find_parcel"),
    timeout=20.0,
    errors=("NOT_FOUND",),
    security="Writes a label into the outbox of the shop; no network access.",
    examples=({"number": 1, "address": "1 Harbour Street"},),
)
def ship(number: Annotated[int, Field(ge=1)], address: str) -> Parcel:
    """Hand the parcel of an order to the carrier; every call makes another parcel.

    Args:
        number: The number of the order.
        address: Where the parcel goes.
    """
    with database() as connection:
        if connection.execute("SELECT 1 FROM orders WHERE number = ?", (number,)).fetchone() is None:
            raise ToolError("NOT_FOUND", f"there is no order {number}", details={"number": number})
    parcel = Parcel(number=number, address=address, tracking=uuid.uuid4().hex)
    label = label_of(number)
    draft = label.with_suffix(f".{parcel.tracking}")
    draft.write_text(parcel.model_dump_json(), encoding="utf-8")
    os.replace(draft, label)  # the carrier takes whole labels only
    return parcel


@server.tool(
    version="1.0.0",
    effect=effect.replay_safe(),
    read_only=True,
    timeout=20.0,
    security="Reads the outbox of the shop; no network access.",
    examples=({"number": 1},),
)
def find_parcel(number: Annotated[int, Field(ge=1)]) -> Evidence:
    """Tell whether the parcel of an order was handed to the carrier: the probe of `ship`.

    It takes the arguments of the lost call that it names itself. "completed" comes with the result that the lost
    call would have had.

    Args:
        number: The number of the order.
    """
    try:
        parcel = Parcel.model_validate_json(label_of(number).read_bytes())
    except FileNotFoundError:
        return Evidence(outcome="safe_to_retry")
    return Evidence(outcome="completed", result=parcel)


def label_of(number: int) -> Path:
    """The label of an order, in the directory that the carrier takes labels from."""
    directory = shop() / "outbox"
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    return directory / f"{number}.label"


if __name__ == "__main__":
    server.run()
