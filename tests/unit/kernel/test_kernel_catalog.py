"""Listing the tools of a worker, and what their definitions promise."""

from typing import Any

import pytest
from tests.unit.kernel.driver import (
    DESCRIPTION,
    INITIALIZE,
    INITIALIZED,
    SERVER,
    TOOLS,
    World,
    answer,
    request,
    tool,
)

from holdfast.kernel.catalog import ToolFacts, pointer_value, read_catalog
from holdfast.kernel.health import health
from holdfast.kernel.policy import Policy
from holdfast.kernel.state import ErrandKind, WorkerPhase
from holdfast.vocabulary.effects import EffectKind

LIST_CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}


def listing(**policy: Any) -> World:
    """A live session whose worker has just been asked for its tools."""
    world = World(**policy)
    world.worker_up()
    world.client_sends(request(0, "initialize", INITIALIZE))
    world.worker_answers(0, world.server)
    world.client_sends(INITIALIZED)
    world.heard.clear()
    return world


def page(world: World, tools: list[Any], cursor: Any = None) -> None:
    result = {"tools": tools} if cursor is None else {"tools": tools, "nextCursor": cursor}
    world.worker_says(answer(world.errand(ErrandKind.LIST_TOOLS), result))


def test_the_pages_of_a_list_are_followed_to_the_end() -> None:
    world = listing()
    page(world, TOOLS[:1], "b")
    page(world, TOOLS[1:2], "c")
    page(world, TOOLS[2:])

    assert [one["params"].get("cursor") for one in world.sent_to(1, "tools/list")] == [None, "b", "c"]
    assert list(world.worker.catalog.tools) == [one["name"] for one in TOOLS]
    assert world.worker.phase is WorkerPhase.READY


def test_a_cursor_that_does_not_advance_ends_the_list() -> None:
    world = listing()
    page(world, TOOLS[:1], "same")
    page(world, TOOLS[1:2], "same")

    assert world.worker.phase is WorkerPhase.READY
    assert list(world.worker.catalog.tools) == ["read", "write"]


def test_a_list_without_end_is_followed_for_a_bounded_number_of_pages() -> None:
    world = listing(pages_max=5)
    for number in range(6):
        page(world, [tool(f"t{number}")], f"page {number}")

    assert world.worker.phase is WorkerPhase.READY


@pytest.mark.parametrize("cursor", ["", 7, None, {}, False])
def test_a_cursor_that_is_none_ends_the_list(cursor: Any) -> None:
    world = listing()
    world.worker_says(answer(world.errand(ErrandKind.LIST_TOOLS), {"tools": [], "nextCursor": cursor}))

    assert world.worker.phase is WorkerPhase.READY


def test_a_server_that_cannot_list_its_tools_is_served_and_its_calls_are_sent_at_most_once() -> None:
    world = listing()
    world.worker_fails(world.errand(ErrandKind.LIST_TOOLS))
    world.calls(1, "read")
    world.lose_worker()

    assert world.code_of(1) == "AMBIGUOUS_OUTCOME"


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ({"error": {"code": -32603, "message": "a key stands twice"}}, "a key stands twice"),
        ({"result": {}}, "its answer holds no list of tools"),
        ({"error": {"code": -32601, "message": "Method not found"}}, None),  # it has none
        ({"result": {"tools": []}}, None),
    ],
)
def test_a_worker_whose_tools_are_not_known_is_told_of_with_the_reason(
    reply: dict[str, Any], why: str | None
) -> None:
    world = listing()
    world.worker_says({"jsonrpc": "2.0", "id": world.errand(ErrandKind.LIST_TOOLS), **reply})

    assert health(world.state, world.now, 0.0)["tools_trouble"] == why
    told = [event.message for event in world.events("tools_not_listed")]
    assert told == ([] if why is None else [why])


def test_a_list_that_is_read_at_last_ends_the_trouble_with_it() -> None:
    world = listing()
    world.worker_fails(world.errand(ErrandKind.LIST_TOOLS))
    world.worker_says(LIST_CHANGED)
    page(world, TOOLS)

    assert health(world.state, world.now, 0.0)["tools_trouble"] is None


def test_an_error_on_a_later_page_keeps_what_was_listed_before() -> None:
    world = listing()
    page(world, TOOLS[:2], "next")
    world.worker_fails(world.errand(ErrandKind.LIST_TOOLS))

    assert list(world.worker.catalog.tools) == ["read", "write"]


def test_a_list_that_does_not_come_in_time_does_not_keep_the_worker_from_serving() -> None:
    world = listing(list_timeout=2.0)
    world.calls(1, "read")
    world.advance(2.0)

    assert world.worker.phase is WorkerPhase.READY
    assert world.dispatched(1) == ["initialize", "tools/call"]


def test_without_a_handshake_a_worker_has_the_time_of_its_start_to_list_its_tools() -> None:
    world = World(list_timeout=2.0, start_timeout=30.0)
    world.worker_up()
    world.calls(1, "read", **DESCRIPTION)
    world.advance(20.0)  # it fetches itself first, or waits for a handshake that does not come
    assert world.worker.phase is WorkerPhase.LISTING
    page(world, TOOLS)
    world.replace_worker()
    world.worker_answers(1, {"content": []})

    assert world.answer_to(1)["result"] == {"content": []}  # read is safe to repeat, and that is known


def test_without_a_handshake_a_list_that_never_comes_does_not_keep_the_worker_from_serving_either() -> None:
    world = World(list_timeout=2.0, start_timeout=30.0)
    world.worker_up()
    world.calls(1, "read", **DESCRIPTION)
    world.advance(30.0)

    assert world.worker.phase is WorkerPhase.READY
    assert world.dispatched(1) == ["tools/call"]


def test_a_server_without_tools_is_never_asked_for_them_and_serves() -> None:
    world = World()
    world.server = {**SERVER, "capabilities": {"resources": {}}}
    world.worker_up()
    world.client_sends(request(0, "initialize", INITIALIZE))
    world.worker_answers(0, world.server)
    world.client_sends(INITIALIZED)
    world.client_sends(request(1, "resources/read", {"uri": "a:b"}))
    world.replace_worker()
    world.worker_answers(1, {"contents": []})

    assert world.sent_to(1, "tools/list") + world.sent_to(2, "tools/list") == []
    assert world.answer_to(1)["result"] == {"contents": []}


@pytest.mark.parametrize("result", [None, 5, [], {"tools": 3}, {"tools": [None, 5, {"name": 1}, {}]}])
def test_a_list_that_makes_no_sense_is_an_empty_one(result: Any) -> None:
    world = listing()
    world.worker_says(answer(world.errand(ErrandKind.LIST_TOOLS), result))

    assert world.worker.phase is WorkerPhase.READY
    assert dict(world.worker.catalog.tools) == {}


def test_a_new_worker_with_other_tools_is_served_and_the_client_is_told_of_the_change() -> None:
    world = World.live()
    world.tools = TOOLS[:2]
    world.replace_worker()

    assert world.worker.phase is WorkerPhase.READY
    assert world.told("notifications/tools/list_changed") == [{}]


def test_a_new_worker_with_the_same_tools_in_another_order_is_no_change() -> None:
    world = World.live()
    world.tools = TOOLS[::-1]
    world.replace_worker()

    assert world.heard == []


def test_a_list_that_changes_while_the_worker_lives_is_read_again() -> None:
    world = World.live(tools=[tool("later")])
    world.worker_says(LIST_CHANGED)
    world.tools = [tool("later", "replay_safe")]
    world.serve()
    world.calls(1, "later")
    world.replace_worker()

    assert world.told("notifications/tools/list_changed") == [{}]
    assert world.dispatched(2) == ["tools/call"]


def test_a_change_in_the_middle_of_a_list_starts_it_anew() -> None:
    world = listing()
    page(world, TOOLS[:1], "b")
    stale = world.errand(ErrandKind.LIST_TOOLS)
    world.worker_says(LIST_CHANGED)
    world.worker_says(answer(stale, {"tools": [tool("stale")]}))
    page(world, TOOLS[1:2], "b")
    page(world, TOOLS[2:])

    assert list(world.worker.catalog.tools) == [one["name"] for one in TOOLS[1:]]


def test_many_changes_while_tools_are_listed_are_one_more_list_and_nothing_is_late() -> None:
    world = listing()
    for _ in range(50):
        world.worker_says(LIST_CHANGED)
    page(world, [tool("stale")])
    page(world, TOOLS)

    assert [message["method"] for message in world.sent_to(1) if "method" in message].count("tools/list") == 2
    assert list(world.worker.catalog.tools) == [one["name"] for one in TOOLS]
    assert world.worker.phase is WorkerPhase.READY
    assert world.count("late") == 0


def test_a_list_that_changed_before_the_handshake_is_not_asked_for() -> None:
    world = World()
    world.worker_up()
    world.worker_says(LIST_CHANGED)

    assert world.sent == []


def test_the_client_gets_the_lists_of_the_worker_itself_page_by_page() -> None:
    world = World.live()
    world.client_sends(b'{"jsonrpc":"2.0","method":"tools/list","params":{"cursor":"x"},"id":"L"}')
    attempt = world.state.pending["L"].attempt
    world.worker_says(b'{ "jsonrpc":"2.0","id": %d ,"result":{"tools":[ ],"nextCursor":"y"}}' % attempt)

    assert world.sent[-1].message["params"] == {"cursor": "x"}
    assert world.raw[-1] == b'{ "jsonrpc":"2.0","id": "L" ,"result":{"tools":[ ],"nextCursor":"y"}}'


@pytest.mark.parametrize(
    ("definition", "kind"),
    [
        ({"annotations": {"readOnlyHint": True}}, EffectKind.REPLAY_SAFE),
        ({"annotations": {"readOnlyHint": 1}}, EffectKind.AT_MOST_ONCE),
        ({"annotations": {"idempotentHint": True}}, EffectKind.AT_MOST_ONCE),
        ({"annotations": [], "_meta": 5}, EffectKind.AT_MOST_ONCE),
        (tool("t", "replay_safe"), EffectKind.REPLAY_SAFE),
        (tool("t", "deduplicated", key="/arguments/k"), EffectKind.DEDUPLICATED),
        (tool("t", "deduplicated"), EffectKind.AT_MOST_ONCE),
        (tool("t", "probe_required", probe="p"), EffectKind.PROBE_REQUIRED),
        (tool("t", "probe_required"), EffectKind.AT_MOST_ONCE),
        (tool("t", "whatever"), EffectKind.AT_MOST_ONCE),
        ({**tool("t", "at_most_once"), "annotations": {"readOnlyHint": True}}, EffectKind.AT_MOST_ONCE),
        ({"_meta": {"io.libmcp/effect": {"recovery": {"kind": "replay_safe"}}}}, EffectKind.REPLAY_SAFE),
    ],
)
def test_the_effect_of_a_tool_is_what_it_declares_and_else_at_most_once(
    definition: dict[str, Any], kind: EffectKind
) -> None:
    catalog = read_catalog([{"name": "t", **definition}], Policy())

    assert catalog.tools["t"].effect.kind is kind


def test_hints_count_only_as_far_as_they_are_believed() -> None:
    hinted = [{"name": "t", "annotations": {"idempotentHint": True}}, {**TOOLS[0]}]
    trusting = read_catalog(hinted, Policy(trust_idempotent=True))
    wary = read_catalog(hinted, Policy(trusts_worker=False))

    assert trusting.tools["t"].effect.kind is EffectKind.REPLAY_SAFE
    assert wary.tools["read"].effect.kind is EffectKind.AT_MOST_ONCE


@pytest.mark.parametrize("timeout", [-1, 10**400, True, "5", None, {}])
def test_a_timeout_that_makes_no_sense_is_the_usual_one(timeout: Any) -> None:
    meta = {"io.holdfast/contract": {}, "io.holdfast/supervision": {"timeoutMs": timeout}}
    catalog = read_catalog([{"name": "t", "_meta": meta}], Policy(tool_timeout=9.0))

    assert catalog.tools["t"].timeout == 9.0


@pytest.mark.parametrize(
    ("pointer", "key"),
    [
        ("/arguments/k", "text a"),
        ("/params/arguments/k", "text a"),
        ("/arguments/n", "number 1"),
        ("/arguments/one", "text 1"),
        ("/arguments/empty", None),
        ("/arguments/missing/deeper", None),
        ("/arguments/list/0", None),
        ("/arguments/a~1b", "text slash"),
        ("/arguments/a~0b", "text tilde"),
        ("/arguments/yes", None),
    ],
)
def test_a_key_is_a_text_or_a_whole_number_at_the_place_it_points_to(pointer: str, key: str | None) -> None:
    arguments = {
        "k": "a", "n": 1, "one": "1", "empty": "", "list": ["x"], "a/b": "slash", "a~b": "tilde", "yes": True,
    }  # fmt: skip

    assert pointer_value({"arguments": arguments}, pointer) == key


def test_a_new_worker_that_cannot_list_its_tools_is_taken_at_its_predecessors_word() -> None:
    world = World.live()
    world.lose_worker()
    world.worker_up()
    world.worker_says(answer(world.errand(ErrandKind.INITIALIZE), world.server))
    number = world.errand(ErrandKind.LIST_TOOLS)
    world.worker_says({"jsonrpc": "2.0", "id": number, "error": {"code": -32603, "message": "not now"}})
    world.calls(1, "read")
    world.replace_worker()

    assert world.dispatched(3) == ["tools/call"]
    assert world.told("notifications/tools/list_changed") == []


def test_a_worker_that_is_not_trusted_is_believed_nothing_about_its_tools() -> None:
    (facts,) = read_catalog([tool("ours", "replay_safe", 0)], Policy(trusts_worker=False)).tools.values()

    assert facts == ToolFacts(arguments=("key", "n"))


def test_a_catalog_keeps_no_list_of_any_size() -> None:
    small, large = (read_catalog([{"name": "t", "description": "d" * size}], Policy()) for size in (1, 10**6))

    assert len(small.witness) == len(large.witness) == 32
    assert small.witness != large.witness


def test_pages_are_followed_only_as_long_as_they_are_not_too_large_together() -> None:
    world = World(pages_bytes=10_000)
    world.tools = []
    world.go_live()
    world.worker_says({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    for number in range(5):
        page = {"tools": [{"name": f"t{number}", "description": "d" * 4000}], "nextCursor": str(number)}
        if any(errand.kind is ErrandKind.LIST_TOOLS for errand in world.state.errands.values()):
            world.worker_says(answer(world.errand(ErrandKind.LIST_TOOLS), page))

    assert sorted(world.worker.catalog.tools) == ["t0", "t1", "t2"]
    assert world.worker.page_bytes == 0
