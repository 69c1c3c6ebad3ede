"""A server of our own whose tools have limits: one is shortened, one is cut, one can be neither."""

from typing_extensions import TypedDict

from holdfast import Server, effect

server = Server("bounded", version="1.0.0")


class Rows(TypedDict):
    """Rows, and how many of them are missing."""

    rows: list[str]
    omitted: int


class Report(TypedDict):
    """Rows, all of them."""

    rows: list[str]


@server.tool(effect=effect.replay_safe(), output_bytes=2048, shorten="/rows", shorten_note="/omitted")
def shortened(count: int) -> Rows:
    """Give rows, of which some may be missing."""
    return {"rows": [f"row {number}" for number in range(count)], "omitted": 0}


@server.tool(effect=effect.replay_safe(), output_bytes=2048)
def whole(count: int) -> Report:
    """Give rows, of which none may be missing."""
    return {"rows": [f"row {number}" for number in range(count)]}


@server.tool(effect=effect.replay_safe())
def free(count: int) -> Report:
    """Give rows without any limit."""
    return {"rows": [f"row {number}" for number in range(count)]}
