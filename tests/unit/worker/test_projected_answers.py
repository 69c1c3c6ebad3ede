"""Answers as a caller reads them: bounds of the surface, both details, rules before output, pages."""

import asyncio
import functools
import re
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, JsonValue

from holdfast.errors import ContractError
from holdfast.present import continuation
from holdfast.present.marks import selector, shown
from holdfast.present.paging import Paging
from holdfast.present.policy import surface_policy
from holdfast.settings import Settings
from holdfast.testing import ScriptedClient, connect
from holdfast.vocabulary import effects as effect
from holdfast.vocabulary.events import FaultRecorded
from holdfast.worker.server import Server
from holdfast.worker.targets import load_target


class Row(BaseModel):
    name: Annotated[str, selector()]
    load: int = 0
    note: Annotated[str, shown(full_only=True)] = "a note"


@dataclass
class Rows:
    of: str
    rows: list[Row]


@dataclass
class Free:
    data: dict[str, JsonValue]


LENGTH = {"rows": 100}


def in_a_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """The test, run in an event loop of its own."""

    @functools.wraps(test)
    def run(**arguments: Any) -> None:
        asyncio.run(test(**arguments))

    return run


def make_server(**options: Any) -> Server:
    server = Server("shown", version="1.0.0", **options)
    safe = effect.replay_safe()

    @server.tool(effect=safe, surface="list", pages=True)
    async def rows(of: str = "x") -> Rows:
        """Rows."""
        return Rows(of, [Row(name=f"{of}-{number}", load=LENGTH["rows"]) for number in range(LENGTH["rows"])])

    @server.tool(effect=safe, surface="list", pages=Paging("rows", json_rows=3))
    async def few(of: str = "x") -> Rows:
        """Rows, a few at a time."""
        return Rows(of, [Row(name=f"{of}-{number}") for number in range(7)])

    @server.tool(effect=safe, surface="ops")
    async def lines() -> list[int]:
        """Many lines."""
        return list(range(100))

    @server.tool(effect=safe, surface=surface_policy("read", forbid_opaque_ids=True, reference_only=True))
    async def free(data: dict[str, JsonValue]) -> Free:
        """Whatever it is given."""
        return Free(data)

    return server


async def pages_of(client: ScriptedClient, tool: str, **arguments: Any) -> list[Any]:
    pages: list[Any] = []
    cursor: dict[str, Any] = {}
    while len(pages) < 50:
        result = await client.call(tool, **arguments, **cursor)
        assert not result.is_error, result.text
        pages.append(result)
        if "next_cursor" not in result.payload:
            return pages
        cursor = {"cursor": result.payload["next_cursor"]}
    raise AssertionError("the pages do not end")


@pytest.mark.parametrize(("detail", "lines"), [("concise", 8), ("full", 24)])
@in_a_loop
async def test_the_kind_of_surface_bounds_the_lines(detail: str, lines: int) -> None:
    async with connect(make_server()) as client:
        text = (await client.call("lines", detail=detail)).text
        assert len(text.split("\n")) == lines
        assert text.endswith(f"… {100 - lines + 2} item(s) omitted")


@pytest.mark.parametrize("render", ["porcelain", "json"])
@pytest.mark.parametrize("detail", ["concise", "full"])
@in_a_loop
async def test_over_all_pages_every_row_comes_exactly_once(render: str, detail: str) -> None:
    async with connect(make_server()) as client:
        pages = await pages_of(client, "rows", render=render, detail=detail)
        names = [row["name"] for page in pages for row in page.payload["rows"]]
        assert names == [f"x-{number}" for number in range(100)]
        assert all(("note" in page.payload["rows"][0]) == (detail == "full") for page in pages)


@in_a_loop
async def test_text_and_data_of_a_page_hold_the_same_rows_and_the_same_cursor() -> None:
    async with connect(make_server()) as client:
        page = await client.call("rows")
        shown_names = re.findall(r'^\[\d+\] \{name="([^"]+)"', page.text, re.MULTILINE)
        assert shown_names == [row["name"] for row in page.payload["rows"]]
        assert page.text.endswith(
            f"… {100 - len(shown_names)} row(s) omitted; continue with cursor={page.payload['next_cursor']}"
        )


@in_a_loop
async def test_form_and_detail_may_change_from_page_to_page() -> None:
    async with connect(make_server()) as client:
        first = await client.call("few", render="json")
        second = await client.call("few", detail="full", cursor=first.payload["next_cursor"])
        assert [row["name"] for row in second.payload["rows"]] == ["x-3", "x-4", "x-5", "x-6"]


@in_a_loop
async def test_a_cursor_survives_the_server_that_gave_it() -> None:
    async with connect(make_server()) as client:
        cursor = (await client.call("rows")).payload["next_cursor"]
    async with connect(make_server()) as client:
        assert not (await client.call("rows", cursor=cursor)).is_error


@in_a_loop
async def test_rows_are_known_by_their_selector_and_a_changed_list_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with connect(make_server()) as client:
        cursor = (await client.call("rows")).payload["next_cursor"]
        monkeypatch.setitem(LENGTH, "rows", 99)
        result = await client.call("rows", cursor=cursor)
        assert result.code == "INVALID_REQUEST"
        assert "the list has changed" in result.text
        assert "Start over" in result.text


@pytest.mark.parametrize(
    ("tool", "arguments"), [("few", {}), ("rows", {"of": "y"}), ("rows", {"cursor": "nonsense"})]
)
@in_a_loop
async def test_a_cursor_of_something_else_is_refused_before_the_tool_runs(
    tool: str, arguments: dict[str, Any]
) -> None:
    async with connect(make_server()) as client:
        cursor = (await client.call("rows")).payload["next_cursor"]
        result = await client.call(tool, **{"cursor": cursor, **arguments})
        assert (result.is_error, result.code) == (True, "INVALID_REQUEST")
        assert "hint: Start over" in result.text


@in_a_loop
async def test_a_cursor_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    async with connect(make_server()) as client:
        cursor = (await client.call("rows")).payload["next_cursor"]
        monkeypatch.setattr(continuation, "CURSOR_SECONDS", -1)
        result = await client.call("rows", cursor=cursor)
        assert result.code == "INVALID_REQUEST"
        assert "older than" in result.text


@pytest.mark.parametrize("cursor", [7, None, [], {}, "x" * 65])
@in_a_loop
async def test_a_cursor_that_is_no_text_breaks_the_schema(cursor: Any) -> None:
    async with connect(make_server()) as client:
        result = await client.call("rows", cursor=cursor)
        assert result.code == "INVALID_REQUEST"
        assert "cursor" in result.text


@in_a_loop
async def test_only_tools_with_pages_publish_a_cursor() -> None:
    async with connect(make_server()) as client:
        tools = (await client.request("tools/list"))["result"]["tools"]
        with_cursor = {tool["name"] for tool in tools if "cursor" in tool["inputSchema"]["properties"]}
        with_next = {tool["name"] for tool in tools if "next_cursor" in tool["outputSchema"].get("properties", {})}
        assert with_cursor == with_next == {"rows", "few"}


@in_a_loop
async def test_a_page_that_is_too_large_to_be_sent_has_fewer_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = replace(Settings(), event_log=False, max_message_bytes=4096)
    async with connect(make_server(), settings=settings) as client:
        pages = await pages_of(client, "rows", render="json", of="y" * 100)
        assert sum(len(page.payload["rows"]) for page in pages) == 100
        assert len(pages) > 2


@pytest.mark.parametrize(
    ("data", "place", "rule"),
    [
        ({"userId": 1}, "/data/userId", "opaque_id"),
        ({"a": [{"deep": {"id": 1}}]}, "/data/a/0/deep/id", "opaque_id"),
        ({"a": {"body": "…"}}, "/data/a/body", "reference_only"),
    ],
)
@pytest.mark.parametrize("render", ["porcelain", "json"])
@in_a_loop
async def test_a_broken_rule_ends_the_call_and_only_the_log_says_where(
    data: dict[str, Any], place: str, rule: str, render: str
) -> None:
    async with connect(make_server()) as client:
        result = await client.call("free", data=data, render=render)
        recorded = [event for event in client.events if isinstance(event, FaultRecorded)]
        assert result.code == "INTERNAL"
        assert place not in result.text
        assert recorded[0].fault_id in result.text
        assert recorded[0].details == {"violations": [{"path": place, "rule": rule}]}


@in_a_loop
async def test_a_harmless_answer_passes_the_same_rules() -> None:
    async with connect(make_server()) as client:
        assert (await client.call("free", data={"paid": 1})).payload["data"] == {"paid": 1}


@pytest.mark.requirement("OURS-14-structured")
@in_a_loop
async def test_a_server_without_output_schemas_pages_its_text() -> None:
    async with connect(make_server(output_schema="off")) as client:
        first = await client.call("rows")
        cursor = first.text.rpartition("cursor=")[2]
        assert "[14]" in (await client.call("rows", cursor=cursor)).text
        assert "structuredContent" not in first.message["result"]


ISOLATED = """
from typing import Annotated
from pydantic import BaseModel
from holdfast import Server, effect
from holdfast.present.marks import selector, shown

server = Server("isolated", version="1.0.0")

class Row(BaseModel):
    name: Annotated[str, selector()]
    secret: Annotated[str, shown(skip=True)] = "s"

class Rows(BaseModel):
    rows: list[Row]

@server.tool(effect=effect.replay_safe(), isolate=True, pages=True)
def rows() -> Rows:
    "Rows."
    return Rows(rows=[Row(name=str(number)) for number in range(20)])
"""


@in_a_loop
async def test_a_tool_in_a_process_of_its_own_is_projected_and_paged_like_any_other(tmp_path: Path) -> None:
    file = tmp_path / "isolated_rows.py"
    file.write_text(ISOLATED, encoding="utf-8")
    async with connect(load_target(str(file))) as client:
        pages = await pages_of(client, "rows")
        rows = [row for page in pages for row in page.payload["rows"]]
        assert rows == [{"name": str(number)} for number in range(20)]
        assert len(pages) == 2


def declare(**options: Any) -> None:
    server = Server("refused", version="1.0.0")

    @server.tool(**{"effect": effect.replay_safe(), **options})
    async def tool(of: str = "x") -> Rows:
        """A tool."""
        return Rows(of, [])


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"surface": "lists"}, "no kind of surface"),
        ({"surface": 7}, "no kind of surface"),
        ({"pages": "row"}, "no list"),
        ({"pages": 1}, "pages is 1"),
        ({"pages": True, "effect": effect.at_most_once()}, "another call"),
        ({"pages": True, "porcelain": lambda payload, presentation: "x"}, "porcelain of its own"),
        ({"pages": True, "reserved": ("cursor",)}, "reserved and in use"),
    ],
)
def test_a_tool_that_declares_nonsense_is_refused(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(ContractError) as refused:
        declare(**options)
    assert reason in f"{refused.value.message} {refused.value.remedy}"


def test_a_type_that_breaks_the_rules_of_its_surface_is_refused_when_declared() -> None:
    server = Server("refused", version="1.0.0")

    class Bad(BaseModel):
        rowId: int  # noqa: N815 - the spelling is the point

    with pytest.raises(ContractError, match="/rowId"):

        @server.tool(surface=surface_policy("read", forbid_opaque_ids=True))
        async def tool() -> Bad:
            """A tool."""
            return Bad(rowId=1)
