"""Checks of the list of tools: of the right form, usable, and the same each time."""

from typing import Any

from holdfast.probe.arguments import compiled
from holdfast.probe.bench import Bench
from holdfast.probe.model import FailedError, check
from holdfast.probe.shapes import complaints_about_list
from holdfast.probe.survey import MAX_PAGES, all_tools

__all__ = ["CHECKS"]

MAX_NAME = 128


@check(
    "catalog.shape",
    "The list of tools has the form of its revision",
    weight=3,
    why="One bad tool makes strict clients refuse the whole list.",
    how="Lists the tools in each era that the server speaks, page by page; wants the required members and types.",
)
async def shape(bench: Bench) -> None:
    """Looks at every page."""
    bench.need_tools()
    eras = [bench.survey.revision, *(["2026-07-28"] if bench.survey.modern and bench.survey.handshake else [])]
    for revision in eras:
        talk = await bench.session(revision)
        params: dict[str, Any] = {}
        for _ in range(MAX_PAGES):
            answer = await talk.ask("tools/list", params)
            if "error" in answer:
                raise FailedError(f"tools/list was refused: {answer['error']['message']}")
            wrong = complaints_about_list(answer["result"], revision)
            if wrong:
                raise FailedError(f"tools/list in {revision} is not valid: {wrong[0]}")
            if "nextCursor" not in answer["result"]:
                break
            params = {"cursor": answer["result"]["nextCursor"]}
        else:
            raise FailedError(f"the list of tools has no end: more than {MAX_PAGES} pages")


@check(
    "catalog.schemas",
    "Every published schema is a JSON Schema, and that of the input one of an object",
    weight=3,
    why="A client that cannot compile a schema cannot offer the tool.",
    how="Compiles the input and output schema of every tool; wants `type: object` for the input.",
)
async def schemas(bench: Bench) -> None:
    """Compiles every schema."""
    bench.need_tools()
    for tool in await all_tools(await bench.session()):
        for key in ("inputSchema", "outputSchema"):
            schema = tool.get(key)
            if schema is None and key == "outputSchema":
                continue
            complaint = _complaint(schema)
            if complaint:
                raise FailedError(f"{key} of {tool['name']!r}: {complaint}")
        if tool["inputSchema"].get("type") != "object":
            raise FailedError(f"inputSchema of {tool['name']!r} is not one of an object")


@check(
    "catalog.names",
    "Names of tools are unique and usable",
    weight=2,
    why="Of two tools with one name only one can be called; some clients refuse unusual names.",
    how=f"Lists the tools; wants different names of 1 to {MAX_NAME} printable characters, none of them a space.",
)
async def names(bench: Bench) -> None:
    """Looks at the names."""
    bench.need_tools()
    seen: set[str] = set()
    for tool in await all_tools(await bench.session()):
        name = tool["name"]
        if name in seen:
            raise FailedError(f"there are two tools with the name {name!r}")
        if not 0 < len(name) <= MAX_NAME or not name.isprintable() or " " in name:
            raise FailedError(f"{name[:200]!r} is no usable name")
        seen.add(name)


@check(
    "catalog.order",
    "The list of tools is the same each time, in the same order",
    weight=2,
    why="Lists are cached and put into prompts; another order each time defeats both.",
    how="Lists the tools twice in one session and once in another; wants three equal lists.",
)
async def order(bench: Bench) -> None:
    """Lists three times."""
    bench.need_tools()
    talk, other = await bench.session(), await bench.session()
    first, again, elsewhere = await all_tools(talk), await all_tools(talk), await all_tools(other)
    for words, found in (("asked again", again), ("asked in another session", elsewhere)):
        if [tool["name"] for tool in found] != [tool["name"] for tool in first]:
            raise FailedError(f"{words}, the server lists other tools, or the same in another order")
        if found != first:
            raise FailedError(f"{words}, the server describes the same tools differently")


def _complaint(schema: Any) -> str:
    return compiled(schema)[0] if isinstance(schema, dict) else "it is not an object"


CHECKS = (shape, schemas, names, order)
