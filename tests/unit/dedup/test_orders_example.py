"""The example of the room: orders that are placed once, parcels that can be found again."""

import asyncio
import importlib.util
from pathlib import Path
from typing import Any

import pytest

from holdfast.testing import CallResult, assert_tool_contract, connect
from holdfast.worker.server import Server

EXAMPLE = Path(__file__).parents[3] / "examples" / "orders.py"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Server:
    monkeypatch.setenv("HOLDFAST_STATE_DIR", str(tmp_path))
    spec = importlib.util.spec_from_file_location("orders_example", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    loaded = module.server
    assert isinstance(loaded, Server)
    return loaded


def answers(server: Server, *calls: tuple[str, dict[str, Any]]) -> list[CallResult]:
    """What the calls end with, one after the other, in one session."""

    async def main() -> list[CallResult]:
        async with connect(server) as client:
            return [await client.call(tool, **arguments) for tool, arguments in calls]

    return asyncio.run(main())


def test_an_order_is_placed_once_per_key(server: Server) -> None:
    order = ("place_order", {"sku": "A-1", "count": 2, "key": "order-7"})
    first, again, count = answers(server, order, order, ("count_orders", {}))

    assert first.payload == again.payload
    assert first.payload["number"] == 1
    assert count.payload["count"] == 1


def test_calls_at_the_same_time_place_one_order(server: Server) -> None:
    async def main() -> tuple[list[CallResult], CallResult]:
        async with connect(server) as client:
            calls = [client.call("place_order", sku="A-1", count=2, key=f"k{number % 2}") for number in range(10)]
            return await asyncio.gather(*calls), await client.call("count_orders")

    orders, count = asyncio.run(main())

    assert {order.payload["number"] for order in orders} == {1, 2}
    assert count.payload["count"] == 2


def test_a_key_of_another_order_is_a_conflict_that_the_caller_reads(server: Server) -> None:
    _, conflict, count = answers(
        server,
        ("place_order", {"sku": "A-1", "count": 2, "key": "order-7"}),
        ("place_order", {"sku": "A-1", "count": 3, "key": "order-7"}),
        ("count_orders", {}),
    )

    assert conflict.code == "KEY_CONFLICT"
    assert count.payload["count"] == 1


def test_the_probe_tells_what_became_of_a_parcel(server: Server) -> None:
    before, refused, _, shipped, after = answers(
        server,
        ("find_parcel", {"number": 1}),
        ("ship", {"number": 1, "address": "1 Harbour Street"}),
        ("place_order", {"sku": "A-1", "count": 2, "key": "order-7"}),
        ("ship", {"number": 1, "address": "1 Harbour Street"}),
        ("find_parcel", {"number": 1}),
    )

    assert before.payload["outcome"] == "safe_to_retry"
    assert refused.code == "NOT_FOUND"
    assert after.payload["outcome"] == "completed"
    assert after.payload["result"].items() <= shipped.payload.items()


def test_every_tool_of_the_example_keeps_its_contract(server: Server) -> None:
    asyncio.run(assert_tool_contract(server, run=("place_order", "count_orders", "find_parcel")))
