"""Answers shortened where their tool says so: within the limits, valid, and with the number of what is missing."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import TypedDict

from holdfast.errors import ContractError
from holdfast.present.output_bounds import Verdict, judge
from holdfast.present.output_cost import Limits
from holdfast.settings import Configuration, Settings, ToolRule
from holdfast.testing import connect
from holdfast.vocabulary import effects as effect
from holdfast.vocabulary.faults import Fault, fault
from holdfast.worker.answer import ToolResult
from holdfast.worker.server import Server
from holdfast.worker.shorten import OutputPromise


class Rows(TypedDict):
    """A list, and how much of it is missing."""

    rows: list[str]
    omitted: int


class Page(TypedDict):
    """Some text."""

    text: str


def server(**output: Any) -> Server:
    """A server with a list of any length."""
    made = Server("sizes", version="1.0.0")

    @made.tool(**output)
    def rows(count: int) -> Rows:
        """Give rows."""
        return {"rows": [f"row number {number}" for number in range(count)], "omitted": 0}

    return made


def structured(made: Server, count: int, **knobs: Any) -> dict[str, Any]:
    """What a client is given as structured content."""

    async def ask() -> dict[str, Any]:
        async with connect(made, settings=Settings(event_log=False, **knobs)) as client:
            result = (await client.call("rows", count=count, render="json")).message["result"]
        told: dict[str, Any] = result["structuredContent"]
        assert json.loads(result["content"][0]["text"]) == told
        return told

    return asyncio.run(ask())


def answered(payload: Any) -> ToolResult | Fault:
    """An answer with nothing but the payload."""
    return ToolResult({"content": [{"type": "text", "text": json.dumps(payload)}]})


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 300), st.integers(1024, 4000), st.integers(0, 3))
def test_rows_are_dropped_from_the_end_until_the_answer_fits(count: int, limit: int, least: int) -> None:
    promise = OutputPromise(limit, None, ("rows",), ("omitted",))
    payload: dict[str, Any] = {"rows": [f"row number {number}" for number in range(count)], "other": [1]}
    valid = lambda shorter: len(shorter["rows"]) >= least  # noqa: E731

    told = promise.fitted(payload, Limits(limit), answered, valid)

    assert isinstance(told, ToolResult)
    text = told.result["content"][0]["text"]
    left = json.loads(text)
    assert len(text) <= limit
    assert left["rows"] == payload["rows"][: len(left["rows"])]
    assert left.get("omitted", 0) == count - len(left["rows"])
    if len(left["rows"]) < count:
        longer = {**left, "rows": payload["rows"][: len(left["rows"]) + 1]}
        assert len(json.dumps(longer)) > limit - 2


def test_an_answer_that_is_too_large_without_its_rows_stays_as_it_is() -> None:
    payload = {"rows": ["a"], "other": "x" * 5000}

    told = OutputPromise(1024, None, ("rows",)).fitted(payload, Limits(1024), answered, lambda _: True)

    assert told == answered(payload)


def test_a_schema_that_wants_more_rows_is_obeyed() -> None:
    payload = {"rows": ["x" * 100] * 50}
    promise = OutputPromise(1024, None, ("rows",))

    assert promise.fitted(payload, Limits(1024), answered, lambda one: len(one["rows"]) > 40) == answered(payload)


def test_what_is_too_large_to_be_sent_at_all_is_shortened_too() -> None:
    def answer(payload: Any) -> ToolResult | Fault:
        return answered(payload) if len(payload["rows"]) < 7 else fault("RESULT_TOO_LARGE", "too large")

    told = OutputPromise(None, None, ("rows",)).fitted({"rows": ["x"] * 99}, Limits(), answer, lambda _: True)

    assert told == answered({"rows": ["x"] * 6})


def test_a_text_loses_whole_lines() -> None:
    payload = {"text": "a line of text\n" * 200}

    told = OutputPromise(1024, None, ("text",)).fitted(payload, Limits(1024), answered, lambda _: True)

    assert isinstance(told, ToolResult)
    left = json.loads(told.result["content"][0]["text"])["text"]
    assert set(left.split("\n")) == {"a line of text"}
    assert 50 < left.count("\n") < 64


def test_a_tool_of_a_server_is_shortened_to_what_it_declares() -> None:
    made = server(output_bytes=1024, shorten="/rows", shorten_note="/omitted")

    told = structured(made, 500)

    assert told["omitted"] == 500 - len(told["rows"]) > 0
    assert 900 < len(json.dumps(told, separators=(",", ":"))) <= 1024
    assert structured(made, 3)["omitted"] == 0


def test_a_setting_and_a_rule_for_the_tool_say_how_short() -> None:
    made = server(shorten="/rows")

    assert len(structured(made, 500)["rows"]) == 500
    wide = len(structured(made, 500, output_bytes=4096)["rows"])
    made.obey(Configuration(Settings(), {"rows": ToolRule(output_bytes=1024)}, {}, {}, None))
    narrow = len(structured(made, 500, output_bytes=4096)["rows"])
    assert 0 < narrow < wide < 500


def test_a_tool_that_says_it_has_no_limit_is_still_held_to_that_of_a_person() -> None:
    made = server(output_bytes=0, shorten="/rows")

    assert len(structured(made, 500)["rows"]) == 500
    assert len(structured(made, 500, output_bytes=4096)["rows"]) < 500  # as the host holds it to that, too


@pytest.mark.parametrize("render", ["json", "porcelain"])
@pytest.mark.parametrize("limit", [{"output_bytes": 1024}, {"output_tokens": 256}], ids=str)
def test_a_page_has_fewer_rows_where_a_limit_is_small_and_no_row_is_lost(limit: Any, render: str) -> None:
    made = server(effect=effect.replay_safe(), pages="rows")
    limits = Limits(limit.get("output_bytes", 0), limit.get("output_tokens", 0))

    async def pages() -> list[str]:
        rows: list[str] = []
        more: dict[str, str] = {}
        async with connect(made, settings=Settings(event_log=False, **limit)) as client:
            while True:
                answer = await client.call("rows", count=120, render=render, **more)
                result = answer.message["result"]
                assert judge(result, limits, "", None) is Verdict.WITHIN
                rows += result["structuredContent"]["rows"]
                if "next_cursor" not in result["structuredContent"]:
                    return rows
                more = {"cursor": result["structuredContent"]["next_cursor"]}

    assert asyncio.run(pages()) == [f"row number {number}" for number in range(120)]


def test_limits_are_published_where_they_are_declared_and_nowhere_else() -> None:
    plain, bounded = server(), server(output_bytes=2048, output_tokens=500)

    told = [one.tool_definitions()[0]["_meta"]["io.holdfast/supervision"] for one in (plain, bounded)]
    assert told == [{"dialect": "status"}, {"dialect": "status", "outputBytes": 2048, "outputTokens": 500}]
    assert "io.holdfast/supervision" not in plain.capabilities()["experimental"]
    assert bounded.capabilities()["experimental"]["io.holdfast/supervision"] == {"outputBounds": True}


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({"output_bytes": 10}, "output_bytes is 10"),
        ({"output_bytes": -1}, "output_bytes is -1"),
        ({"output_bytes": True}, "output_bytes is True"),
        ({"output_tokens": "many"}, "output_tokens is 'many'"),
        ({"shorten": "rows"}, "shorten is 'rows'"),
        ({"shorten": 5}, "shorten is 5"),
        ({"shorten": "/missing"}, "leads to no array or string"),
        ({"shorten": "/omitted"}, "leads to no array or string"),
        ({"shorten": "/rows", "shorten_note": "/rows"}, "leads to no integer or number"),
        ({"shorten_note": "/omitted"}, "shorten_note without shorten"),
    ],
)
def test_what_makes_no_sense_is_refused_when_the_tool_is_registered(words: dict[str, Any], problem: str) -> None:
    with pytest.raises(ContractError, match=problem):
        server(**words)


def test_a_word_that_nobody_knows_is_refused() -> None:
    with pytest.raises(TypeError, match="'output_byts'"):
        server(output_byts=5)


class Inner(TypedDict):
    """A part."""

    items: list[int] | None
    left_out: int | None


class Outer(TypedDict):
    """A whole."""

    part: Inner


def test_a_pointer_leads_through_references_and_choices() -> None:
    made = Server("deep", version="1.0.0")

    @made.tool(shorten="/part/items", shorten_note="/part/left_out")
    def deep() -> Outer:
        """Give a whole."""
        raise NotImplementedError

    tool = made.find_tool("deep")
    assert tool is not None
    assert (tool.output.shorten, tool.output.note) == (("part", "items"), ("part", "left_out"))
