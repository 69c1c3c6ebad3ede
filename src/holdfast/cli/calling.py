"""One call from the command line: the request, its way through a session, and how its outcome is shown."""

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from holdfast.cli.arguments import read_arguments
from holdfast.cli.connect import connected, say
from holdfast.cli.faults import describe_fault
from holdfast.cli.groups import meant
from holdfast.cli.options import Source
from holdfast.cli.tool_list import takes_presentation
from holdfast.client.answering import Answerer
from holdfast.client.peer import PeerError, PeerSilentError
from holdfast.client.session import ClientSession
from holdfast.errors import SessionError, UsageError
from holdfast.present.bounds import ELLIPSIS, clean_line
from holdfast.settings import Settings
from holdfast.vocabulary.events import FaultRecorded
from holdfast.wire.codec import encode
from holdfast.worker.server import Server

__all__ = ["Outcome", "Request", "explain", "perform", "present"]

Outcome = dict[str, Any] | PeerError

_MOST_NAMED = 30  # tools in the answer to a wrong name
_CUT = re.compile(rf"{ELLIPSIS} [0-9]+ \w+\(s\) omitted")


@dataclass(frozen=True, slots=True)
class Request:
    """What was typed. `words` are the arguments until the tool's schema is known."""

    tool: str
    words: tuple[str, ...]
    timeout: float = 0.0
    render: str | None = None
    detail: str | None = None
    progress: bool = False

    @classmethod
    def read(cls, tool: str, words: tuple[str, ...], **options: Any) -> "Request":
        """The request; `-` is read from stdin now, because a server in this process finds it empty."""
        request = cls(tool, words, **options)
        if words == ("-",):
            return replace(request, words=(encode(read_arguments(words, {})).decode(),))
        return request


async def perform(
    source: Source,
    server: Server | None,
    settings: Settings,
    request: Request,
    faults: list[FaultRecorded] | None = None,
    answerer: Answerer | None = None,
) -> Outcome:
    """Make the call; its result, or the protocol error that it was answered with."""
    async with connected(
        source, server, settings, timeout=request.timeout, faults=faults, answerer=answerer
    ) as session:
        tool = await _find(session, request)
        arguments = read_arguments(request.words, tool.get("inputSchema") or {})
        words = {"render": request.render, "detail": request.detail}
        chosen = {key: word for key, word in words.items() if word is not None}
        meta: dict[str, Any] = {}
        if takes_presentation(tool):
            arguments = {**arguments, **chosen}
        else:
            meta = {f"io.holdfast/{key}": word for key, word in chosen.items()}
        try:
            return await session.call_tool(
                request.tool,
                arguments,
                timeout=request.timeout,
                on_progress=_progress_printer(request.tool) if request.progress else None,
                meta=meta,
            )
        except PeerError as error:
            return error
        except PeerSilentError as error:
            raise SessionError(
                f"gave up after {request.timeout:g} s (--timeout); the call was cancelled"
            ) from error


async def _find(session: ClientSession, request: Request) -> dict[str, Any]:
    tools = await session.list_tools(timeout=request.timeout or None)
    for tool in tools:
        if tool["name"] == request.tool:
            return tool
    more = f" and {len(tools) - _MOST_NAMED} more" if len(tools) > _MOST_NAMED else ""
    names = (", ".join(tool["name"] for tool in tools[:_MOST_NAMED]) or "none") + more
    guess = meant(request.tool, (tool["name"] for tool in tools))
    raise UsageError(f"there is no tool {request.tool!r}{guess}", remedy=f"one of: {names}")


def _progress_printer(tool: str) -> Callable[[dict[str, Any]], None]:
    def show(notice: dict[str, Any]) -> None:
        progress, total = notice.get("progress"), notice.get("total")
        count = "" if total is None else f" ({progress}/{total})"
        say(f"{tool}: {notice.get('message') or progress}{count}")

    return show


def present(outcome: Outcome, *, as_json: bool) -> int:
    """Print the outcome and return the exit code: 1 for every call that did not succeed."""
    if as_json:
        document = {"error": outcome.to_wire()} if isinstance(outcome, PeerError) else outcome
        print(encode(document).decode())
        return 1 if isinstance(outcome, PeerError) or outcome.get("isError") else 0
    if isinstance(outcome, PeerError):
        say(f"holdfast: {outcome} (error {outcome.code})")
        for violation in outcome.violations:
            say(f"  {violation}")
        return 1
    failed = bool(outcome.get("isError"))
    lines = list(_readable(outcome))
    for line in lines:
        print(line, file=sys.stderr if failed else sys.stdout)
    if sys.stderr.isatty() and any(_CUT.search(line) for line in lines):
        say("(all of it: --json)")
    return 1 if failed else 0


def explain(faults: list[FaultRecorded], *, whole: bool) -> None:
    """Tell the author of a server in this process what went wrong inside it."""
    sys.stdout.flush()  # the answer comes first, also where both go to one terminal
    for fault in faults:
        for line in describe_fault(fault, whole=whole):
            say(line)


def _readable(result: dict[str, Any]) -> Iterator[str]:
    content = result.get("content")
    items = [item for item in content if isinstance(item, dict)] if isinstance(content, list) else []
    for item in items:
        resource = item.get("resource")
        whole = resource if isinstance(resource, dict) else item  # what is embedded has its own name and text
        if isinstance(whole.get("text"), str):
            yield whole["text"]
            continue
        words = [item.get("type", "unknown"), whole.get("uri"), whole.get("mimeType")]
        told = clean_line(f"[{' '.join(str(word) for word in words if word)}]")
        # A link is nothing more than its name, which `resources/read` takes.
        yield told if item.get("type") == "resource_link" else f"{told}; --json prints it whole"
    if not items and "structuredContent" in result:
        yield encode(result["structuredContent"]).decode()
