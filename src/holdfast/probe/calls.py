"""Checks of tool calls: wrong ones are refused, right ones give what was promised, endless ones end."""

from typing import Any

from holdfast.probe.arguments import is_valid, wrongly_typed
from holdfast.probe.bench import Bench, call_params
from holdfast.probe.expect import HTTP_REFUSED, is_refusal
from holdfast.probe.model import FailedError, SkippedError, ToolUse, check
from holdfast.probe.shapes import complaints_about_call
from holdfast.probe.talk import Talk

__all__ = ["CHECKS"]

LARGE = 2**20


async def _must_fail(talk: Talk, params: dict[str, Any], what: str) -> None:
    """A call that is refused, as an error or as a tool error, and a server that goes on."""
    answer = await talk.ask("tools/call", params)
    await talk.alive(what)
    if not is_refusal(answer):
        raise FailedError(f"{what} was answered as a success")


def _with(use: ToolUse, arguments: Any) -> dict[str, Any]:
    return {"name": use.name, "arguments": arguments}


def _schema(bench: Bench, use: ToolUse) -> dict[str, Any]:
    schema = bench.survey.definition(use.name).get("inputSchema")
    return schema if isinstance(schema, dict) else {}


@check(
    "calls.unknown-tool",
    "An unknown tool is refused",
    weight=3,
    why="Models invent names; only a refusal makes them look at the list again.",
    how="Calls `probe_no_such_tool`; wants an error, or a result with isError.",
)
async def unknown_tool(bench: Bench) -> None:
    """Calls a tool that is not there."""
    bench.need_tools()
    await _must_fail(
        await bench.session(), {"name": "probe_no_such_tool", "arguments": {}}, "a call of an unknown tool"
    )


@check(
    "calls.no-name",
    "A call that names no tool is refused",
    weight=2,
    why="A malformed call must be told from a failed one.",
    how="Sends tools/call without a name, then with a number for one; wants an error.",
)
async def no_name(bench: Bench) -> None:
    """Calls nobody."""
    bench.need_tools()
    talk = await bench.session()
    await _must_fail(talk, {"arguments": {}}, "a call without a name")
    await _must_fail(talk, {"name": 5, "arguments": {}}, "a call whose name is a number")


@check(
    "calls.arguments-type",
    "Arguments that are not an object are refused",
    weight=2,
    why="A tool that is run without the arguments it was given does something else than it was asked to.",
    how="Calls a tool with an array as its arguments; wants an error.",
)
async def arguments_type(bench: Bench) -> None:
    """Sends an array of arguments."""
    use = bench.tool()
    await _must_fail(await bench.session(), _with(use, [1, 2]), "a call with an array of arguments")


@check(
    "calls.wrong-type",
    "An argument of a wrong type is refused",
    weight=2,
    why="The published schema is a promise; what is let through breaks inside the tool, or worse, works wrongly.",
    how="Calls a read-only tool with one argument of a type that its schema excludes; wants an error.",
)
async def wrong_type(bench: Bench) -> None:
    """Sends a wrong type."""
    use = bench.tool_that(
        lambda use, schema: is_valid(schema, use.arguments) and wrongly_typed(schema, use.arguments) is not None,
        "no tool that may be called has an argument whose type matters",
    )
    arguments = wrongly_typed(_schema(bench, use), use.arguments)
    await _must_fail(await bench.session(), _with(use, arguments), "an argument of a wrong type")


@check(
    "calls.missing-argument",
    "A call without a required argument is refused",
    weight=2,
    why="Models forget arguments; a default that nobody declared hides it.",
    how="Calls a read-only tool without its required arguments; wants an error.",
)
async def missing_argument(bench: Bench) -> None:
    """Leaves everything out."""
    use = bench.tool_that(
        lambda _, schema: not is_valid(schema, {}), "no tool that may be called requires an argument"
    )
    await _must_fail(await bench.session(), _with(use, {}), "a call without its required arguments")


@check(
    "calls.unknown-argument",
    "An argument that the schema excludes is refused",
    weight=1,
    why="A misspelt argument that is dropped in silence is a call that does something else.",
    how="Adds `probe_no_such_argument` where the schema is closed; wants an error.",
)
async def unknown_argument(bench: Bench) -> None:
    """Adds an argument."""
    more = {"probe_no_such_argument": 1}
    use = bench.tool_that(
        lambda use, schema: is_valid(schema, use.arguments) and not is_valid(schema, {**use.arguments, **more}),
        "no tool that may be called has a schema that excludes other arguments",
    )
    await _must_fail(
        await bench.session(), _with(use, {**use.arguments, **more}), "an argument that does not exist"
    )


@check(
    "calls.large-argument",
    "An argument of a mebibyte is answered",
    weight=2,
    why="Documents are passed as arguments; a limit is fine, silence is not.",
    how="Calls a read-only tool with 1 MiB of text in an argument; wants any answer within --deadline seconds "
    "(HTTP: or a status 4xx), and one to the next request.",
)
async def large_argument(bench: Bench) -> None:
    """Sends a large text."""
    use = bench.tool()
    properties = _schema(bench, use).get("properties")
    typed = properties if isinstance(properties, dict) else {}
    texts = [name for name, part in typed.items() if isinstance(part, dict) and part.get("type") == "string"]
    name = texts[0] if texts else "probe_large"
    talk = await bench.session()
    delivery = await talk.send(
        talk.request("tools/call", _with(use, {**use.arguments, name: "x" * LARGE}), "large")
    )
    # It is about the answer, not about its speed.
    seconds = max(bench.options.timeout, bench.options.deadline)
    if not await talk.wait(lambda: talk.answers("large") or delivery.status in HTTP_REFUSED or None, seconds):
        raise FailedError("a call with a large argument was left without an answer")
    await talk.alive("a call with a large argument")


@check(
    "calls.result-shape",
    "The result of a call has the form of its revision",
    weight=3,
    why="A client that cannot read the result has not got it, whatever the tool did.",
    how="Calls a read-only tool, in each era that the server speaks; wants the required members and types.",
)
async def result_shape(bench: Bench) -> None:
    """Looks at a result."""
    use = bench.tool()
    eras = [bench.survey.revision, *(["2026-07-28"] if bench.survey.modern and bench.survey.handshake else [])]
    for revision in eras:
        talk = await bench.session(revision)
        answer = await talk.ask("tools/call", call_params(use))
        if "error" in answer:
            continue  # a refusal has a form of its own, and the envelope was read already
        wrong = complaints_about_call(answer["result"], revision)
        if wrong:
            raise FailedError(f"the result of {use.name} in {revision} is not valid: {wrong[0]}")


@check(
    "calls.output-schema",
    "Structured content fits the published output schema",
    weight=3,
    why="Clients check it, and throw away a result that breaks its own promise.",
    how="Calls a read-only tool that has an output schema; wants structured content that fits it.",
)
async def output_schema(bench: Bench) -> None:
    """Holds a result to its schema."""
    use = bench.tool()
    schema = bench.survey.definition(use.name).get("outputSchema")
    if not isinstance(schema, dict):
        raise SkippedError(f"{use.name} publishes no output schema")
    talk = await bench.session()
    answer = await talk.ask("tools/call", call_params(use))
    if is_refusal(answer):
        remedy = "give it arguments with which it succeeds: --tool NAME --arguments JSON"
        raise SkippedError(f"the call of {use.name} does not succeed", remedy)
    result = answer["result"]
    if not isinstance(result, dict) or "structuredContent" not in result:
        raise FailedError(f"{use.name} publishes an output schema and sends no structured content")
    if not is_valid(schema, result["structuredContent"]):
        raise FailedError(f"the structured content of {use.name} does not fit its output schema")


@check(
    "calls.deadline",
    "A call that never ends is ended by the server",
    weight=2,
    why="A client that gives up leaves the work running; only the server can end it.",
    how="Calls the tool that hangs; wants one answer that is an error within --deadline seconds.",
)
async def deadline(bench: Bench) -> None:
    """Waits for a call that does not end by itself."""
    use = bench.hang()
    talk = await bench.session()
    limit = bench.options.deadline
    answer = await talk.ask("tools/call", call_params(use), seconds=limit, request_id="hanging")
    if not is_refusal(answer):
        raise SkippedError(f"{use.name} ended by itself", "name a call that never ends: --hang-tool")
    await talk.alive("a call that was ended")


CHECKS = (
    unknown_tool, no_name, arguments_type, wrong_type, missing_argument, unknown_argument, large_argument,
    result_shape, output_schema, deadline,
)  # fmt: skip
