"""The doctrine of answers, as the test kit asserts it."""

import asyncio
import functools
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, JsonValue

from holdfast.present.policy import surface_policy
from holdfast.testing import assert_projection_doctrine, assert_tool_contract
from holdfast.vocabulary import effects as effect
from holdfast.worker.server import Server
from holdfast.worker.targets import load_target

EXAMPLES = Path(__file__).parent.parent.parent.parent / "examples"


def in_a_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """The test, run in an event loop of its own."""

    @functools.wraps(test)
    def run(**arguments: Any) -> None:
        asyncio.run(test(**arguments))

    return run


class Answer(BaseModel):
    data: dict[str, JsonValue]


def server_that_answers(data: dict[str, Any], **options: Any) -> Server:
    server = Server("doctrine", version="1.0.0", **options)

    @server.tool(
        effect=effect.replay_safe(),
        examples=[{}],
        surface=surface_policy("list", forbid_opaque_ids=True),
    )
    async def answer() -> Answer:
        """An answer."""
        return Answer(data=data)

    return server


@pytest.mark.parametrize("options", [{}, {"presentation": "meta"}, {"output_schema": "off"}, {"render": "json"}])
@in_a_loop
async def test_a_server_that_keeps_the_doctrine_passes(options: dict[str, Any]) -> None:
    await assert_projection_doctrine(server_that_answers({"a\x1b": "😀" * 5000}, **options))


@in_a_loop
async def test_a_broken_rule_is_told_with_its_place() -> None:
    with pytest.raises(AssertionError, match="/data/orderId: opaque_id"):
        await assert_projection_doctrine(server_that_answers({"orderId": 1}))


@in_a_loop
async def test_a_tool_that_may_not_be_run_is_left_alone_unless_named() -> None:
    server = Server("doctrine", version="1.0.0")

    @server.tool(examples=[{}])
    async def fail() -> Answer:
        """Fails."""
        raise RuntimeError("it ran")

    await assert_projection_doctrine(server)
    with pytest.raises(AssertionError, match="it ran"):
        await assert_projection_doctrine(server, run=("fail",))


@in_a_loop
async def test_the_example_keeps_the_doctrine_and_its_contract() -> None:
    server = load_target(str(EXAMPLES / "parcels.py"))
    await assert_projection_doctrine(server)
    await assert_tool_contract(server)
