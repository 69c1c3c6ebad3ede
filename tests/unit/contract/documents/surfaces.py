"""Surfaces for the tests of documents: one complete server, and snapshots of it with one thing changed."""

import copy
from typing import Any

from holdfast.contract.model import Deprecation, ErrorSpec, ToolContract
from holdfast.contract.snapshot import snapshot
from holdfast.contract.surface import Surface
from holdfast.vocabulary.effects import at_most_once, deduplicated, probe_required, replay_safe

FIND = ToolContract(
    name="find_articles",
    title="Find articles",
    description="Finds articles by words of their name.\n\nUse it before reserving anything.",
    input_schema={
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "Words of the name."},
            "limit": {"type": "integer", "minimum": 1, "default": 10, "description": "How many to return."},
            "order": {"enum": ["name", "age", None], "description": "How to sort; a | b."},
        },
        "required": ["query"],
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "properties": {
            "names": {"type": "array", "items": {"type": "string"}, "description": "The names that match."}
        },
        "required": ["names"],
    },
    output_example={"names": ["anvil"]},
    errors=(ErrorSpec("NOTHING_THERE", "Nothing matches.", "Use fewer words."),),
    effect=replay_safe(),
    version="1.2.0",
    examples=({"query": "anvil", "limit": 5},),
    security="Reads the table of articles; no files, no network.",
    read_only=True,
    timeout=5.0,
)
RESERVE = ToolContract(
    name="reserve.article",
    description="Reserves one article for a workshop.",
    input_schema={
        "type": "object",
        "properties": {"key": {"type": "string", "description": "The key of the reservation."}},
        "required": ["key"],
    },
    output_schema={"type": "object", "properties": {}},
    errors=(
        ErrorSpec("OUT_OF_STOCK", "There is | none.", "Wait.", retryable=True),
        ErrorSpec("CLOSED_TODAY", "Closed.", "Come back."),
    ),
    effect=deduplicated("/arguments/key"),
    examples=({"key": "a"},),
    security="Changes the table of reservations.",
    deprecated=Deprecation("1.0.0", "Slow", "find_articles"),
    aliases=("old_reserve",),
)
LEND = ToolContract(
    name="lend_article",
    description="Lends an article that was reserved.",
    input_schema={"type": "object", "properties": {}},
    output_schema={"type": "string", "description": "The number of the loan."},
    output_example="17",
    effect=probe_required("find_articles"),
    security="Changes the table of loans.",
)
CLOSE = ToolContract(
    name="close_room",
    description="Closes the stock room for today.",
    input_schema={"type": "object", "properties": {}, "additionalProperties": False},
    output_schema={
        "type": "object",
        "properties": {"closed": {"type": "boolean", "description": "Whether it is."}},
    },
    output_example={"closed": True},
    effect=at_most_once(),
    security="Changes the opening hours of today only.",
)
TOOLS = (FIND, RESERVE, LEND, CLOSE)


def stock_room(*tools: ToolContract) -> dict[str, Any]:
    """The snapshot of the stock room, with these tools or all of them."""
    return snapshot(
        Surface(
            name="stock-room",
            version="2.0.0",
            surface_version="1.3.0",
            tools=tools or TOOLS,
            instructions="Look an article up first.",
        )
    )


def changed(tool: str, **members: Any) -> dict[str, Any]:
    """The snapshot of the stock room with members of one tool replaced."""
    document = copy.deepcopy(stock_room())
    for one in document["tools"]:
        if one["name"] == tool:
            one.update(members)
    return document
