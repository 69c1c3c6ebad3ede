"""Examples of tools, run for real: the answer of each is held against the output schema of its tool.

Only tools that change nothing, or may be repeated at will, are run. What a tool shows as an example has to work;
an error answer is a finding, and so is an answer that its schema does not allow.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.client.peer import PeerError
from holdfast.client.session import ClientSession
from holdfast.contract.compare.view import ToolView, read_surface
from holdfast.errors import SessionError

__all__ = ["ExampleRun", "is_safe", "run_examples"]

CALL_TIMEOUT = 30.0


@dataclass(frozen=True, slots=True)
class ExampleRun:
    """How one example ended; `problem` is empty when the answer is what the contract says."""

    tool: str
    number: int
    arguments: dict[str, Any]
    answer: Any = None
    problem: str = ""


def is_safe(tool: ToolView) -> bool:
    """Whether calling the tool does no harm: it says that it only reads. "May be repeated" is not enough."""
    hints = tool.facets.get("annotations") or {}
    return hints.get("readOnlyHint") is True


async def run_examples(
    session: ClientSession, snapshot: Mapping[str, Any], *, timeout: float | None = None
) -> list[ExampleRun]:
    """Run every example of every safe tool in the snapshot, one after the other."""
    runs = []
    for tool in read_surface(dict(snapshot)).tools.values():
        if not is_safe(tool):
            continue
        for number, arguments in enumerate(_examples(tool), 1):
            limit = timeout or _limit(tool)
            runs.append(await _run(session, tool, number, arguments, limit))
    return runs


def _examples(tool: ToolView) -> Iterator[dict[str, Any]]:
    listed = tool.facets.get("examples")
    for example in listed if isinstance(listed, list) else ():
        if isinstance(example, dict):
            yield example


def _limit(tool: ToolView) -> float:
    stated = tool.facets.get("timeoutMs")
    return stated / 1000 + 1 if isinstance(stated, int | float) and stated else CALL_TIMEOUT


async def _run(
    session: ClientSession, tool: ToolView, number: int, arguments: dict[str, Any], timeout: float
) -> ExampleRun:
    try:
        result = await session.call_tool(tool.name, arguments, timeout=timeout)
    except PeerError as error:
        told = "; ".join(error.violations) or str(error)
        return ExampleRun(tool.name, number, arguments, problem=f"the call is refused: {told}")
    except SessionError as error:
        return ExampleRun(tool.name, number, arguments, problem=str(error))
    answer = result.get("structuredContent", result.get("content"))
    return ExampleRun(tool.name, number, arguments, answer, _verdict(tool, result))


def _verdict(tool: ToolView, result: dict[str, Any]) -> str:
    if result.get("isError") is True:
        return f"the tool answers with an error: {_first_text(result)}"
    schema = tool.facets.get("output")
    if schema is None:
        return ""
    if "structuredContent" not in result:
        return "the tool publishes an output schema, but its answer has no structuredContent"
    from jsonschema_rs import ReferencingError, ValidationError, validator_for

    try:
        wrong = next(iter(validator_for(schema, offline=True).iter_errors(result["structuredContent"])), None)
    except (ValidationError, ReferencingError) as error:
        return f"the output schema cannot be used: {error}"
    if wrong is None:
        return ""
    place = "/".join(map(str, wrong.instance_path))
    return f"the answer does not fit the output schema at /{place}: {wrong.message}"


def _first_text(result: dict[str, Any]) -> str:
    content = result.get("content")
    for item in content if isinstance(content, list) else ():
        if isinstance(item, dict) and isinstance(item.get("text"), str):
            return str(item["text"])[:200]
    return "no text"
