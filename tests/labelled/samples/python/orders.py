"""Orders of a small shop: taken, priced, sent and looked up again."""

from __future__ import annotations

import asyncio
import json as codec
from collections import defaultdict, deque
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import httpx

from shop.errors import OutOfStock
from shop.money import round_half as rounded

T = TypeVar("T")
LIMIT = 100
RATES: dict[str, float] = {"de": 0.19, "fr": 0.2}
_open = deque()

__all__ = ["Order", "Shop", "price_of"]


class Priced(Protocol):
    """Whatever has a price."""

    def price(self) -> float: ...


@dataclass(frozen=True)
class Line:
    name: str
    count: int = 1
    tags: list[str] = field(default_factory=list)

    @property
    def label(self) -> str:
        return f"{self.count} x {self.name}"


@dataclass
class Order(Priced):
    number: int
    lines: list[Line]

    def price(self) -> float:
        total = 0.0
        for line in self.lines:
            total += PRICES[line.name] * line.count
        return total

    def __len__(self) -> int:
        return len(self.lines)

    @classmethod
    def parse(cls, text: str, *, strict: bool = True) -> Order:
        """Reads an order.

        Raises:
            ValueError: The text is no order.
        """
        data = codec.loads(text)
        if strict and "lines" not in data:
            raise ValueError("no lines")
        return cls(data["number"], [Line(**line) for line in data["lines"]])

    @staticmethod
    def empty(number=0):
        return Order(number, [])


PRICES = defaultdict(float)


class Cache(Generic[T]):
    """Remembers what was asked for last."""

    def __init__(self, size: int = LIMIT) -> None:
        self.size = size
        self.items: dict[str, T] = {}
        self._order = deque(maxlen=size)

    def get(self, key: str, default: T | None = None) -> T | None:
        return self.items.get(key, default)

    def put(self, key: str, value: T) -> None:
        if key not in self.items and len(self.items) >= self.size:
            oldest = self._order.popleft()
            del self.items[oldest]
        self.items[key] = value
        self._order.append(key)

    def clear(self):
        self.items.clear()
        self._order.clear()

    def __contains__(self, key: object) -> bool:
        return key in self.items


class Shop:
    class Closed(Exception):
        pass

    opened = 0

    def __init__(self, name, stock, *args, client=None, **options):
        self.name = name
        self.stock = stock
        self.client = client or httpx.AsyncClient()
        self.options = options
        Shop.opened += 1

    async def send(self, order: Order, retries: int = 3) -> bool:
        for attempt in range(retries):
            try:
                answer = await self.client.post("/orders", json=order.lines)
            except httpx.TransportError:
                await asyncio.sleep(2**attempt)
                continue
            if answer.status_code == 200:
                return True
            elif answer.status_code == 410:
                break
        return False

    async def watch(self):
        while True:
            async with self.client.stream("GET", "/events") as events:
                async for event in events.aiter_lines():
                    yield codec.loads(event)

    def take(self, name: str, count: int) -> None:
        left = self.stock.get(name, 0)
        if left < count:
            raise OutOfStock(name, left)
        self.stock[name] = left - count

    def total(self, orders: list[Order]) -> float:
        return rounded(sum(order.price() for order in orders if order.lines))

    def _hidden(self):
        nonlocal_count = lambda: len(self.stock)
        return nonlocal_count()

    def __del__(self):
        global LIMIT
        LIMIT = LIMIT - 1


def price_of(name: str, country: str = "de") -> float:
    """The price with tax."""
    match country:
        case "de" | "fr":
            rate = RATES[country]
        case _:
            rate = 0.0

    def with_tax(price):
        return price * (1 + rate)

    return with_tax(PRICES[name])


def split(orders, size=10):
    batch = []
    for order in orders:
        batch.append(order)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


@contextmanager
def opened(name):
    shop = Shop(name, {})
    try:
        yield shop
    finally:
        shop.client = None


def _first(items, /, default=None):
    return items[0] if items else default


def merge(*shops: Shop, **more: Shop) -> dict[str, int]:
    found = {}
    for shop in (*shops, *more.values()):
        found |= shop.stock
        left, right = shop.name, shop.options
        _open.extend([left, right])
    return found


async def run(path: str) -> None:
    with open(path) as file, opened("main") as shop:
        await asyncio.gather(*(shop.send(Order.parse(line)) for line in file))


def main():
    import sys

    try:
        asyncio.run(run(sys.argv[1]))
    except (IndexError, Shop.Closed) as trouble:
        print(trouble)
        raise SystemExit(2) from trouble
    except OutOfStock:
        raise


if __name__ == "__main__":
    main()
