"""The prompts and resources of a server as a person reads them, and what one of them gives."""

import base64
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any, TypeVar

from holdfast.cli.argument_list import shortened
from holdfast.cli.calling import present
from holdfast.cli.connect import connected, load_server, run
from holdfast.cli.options import Source
from holdfast.cli.streams import guarded_streams
from holdfast.client.answering import Answerer
from holdfast.client.peer import PeerError, PeerInfo
from holdfast.client.session import ClientSession
from holdfast.errors import SessionError, UsageError
from holdfast.present.bounds import clean_line
from holdfast.present.counted import counted
from holdfast.settings import Settings, load_configuration
from holdfast.wire.codec import encode
from holdfast.worker.server import Server

__all__ = [
    "asked",
    "contents_lines",
    "describe_prompts",
    "describe_resources",
    "message_lines",
    "refuse_unless_offered",
    "shown",
    "text_arguments",
]

Answer = TypeVar("Answer")


def asked(
    source: Source,
    options: dict[str, Any],
    question: Callable[[ClientSession], Awaitable[Answer]],
    *,
    timeout: float,
    answers: tuple[str, ...],
) -> tuple[PeerInfo, Answer | PeerError]:
    """Who the server is, and its answer to a question; `answers` are to what it asks itself."""
    from holdfast.cli.answering import TypedAnswers, read_answers

    answerer = TypedAnswers(read_answers(answers))
    with guarded_streams():
        server = load_server(source)
        settings = load_configuration(
            {**options, "event_log": False}, server=server.name if server else None
        ).settings
        return run(_asked(source, server, settings, timeout, answerer, question))


async def _asked(
    source: Source,
    server: Server | None,
    settings: Settings,
    timeout: float,
    answerer: Answerer,
    question: Callable[[ClientSession], Awaitable[Answer]],
) -> tuple[PeerInfo, Answer | PeerError]:
    async with connected(source, server, settings, timeout=timeout, answerer=answerer) as session:
        try:
            return session.peer, await question(session)
        except PeerError as error:
            return session.peer, error


def shown(answer: Any, lines: Callable[[Any], Iterable[str]], *, as_json: bool) -> int:
    """Print an answer; 1 where it is an error, as for every call that did not succeed."""
    if isinstance(answer, PeerError):
        return present(answer, as_json=as_json)
    printed = [encode(answer).decode()] if as_json else list(lines(answer))
    print("\n".join(printed).rstrip("\n"))
    return 0


def refuse_unless_offered(peer: PeerInfo, what: str) -> None:
    """UsageError where a server has none at all; asked for one, many would only say `unknown method`."""
    if what not in peer.capabilities:
        raise UsageError(f"{peer.name} offers no {what}", remedy="`holdfast tools` lists what it can do")


def text_arguments(words: tuple[str, ...]) -> dict[str, str]:
    """The arguments of a prompt, as key=value."""
    found: dict[str, str] = {}
    for word in words:
        key, sign, value = word.partition("=")
        if not sign or not key:
            raise UsageError(f"{word!r} is no argument", remedy="write key=value")
        found[key] = value
    return found


def describe_prompts(peer: PeerInfo, prompts: list[dict[str, Any]]) -> Iterator[str]:
    """The lines of a list of prompts."""
    yield _headline(peer, prompts, "prompt")
    for prompt in prompts:
        yield ""
        yield from _named(prompt, "name")
        for argument in prompt.get("arguments") or []:
            if isinstance(argument, dict):
                need = "required" if argument.get("required") is True else "optional"
                words = shortened(str(argument.get("description") or ""))
                yield clean_line(f"    {argument.get('name')}  {need}  {words}".rstrip())


def describe_resources(
    peer: PeerInfo, resources: list[dict[str, Any]], templates: list[dict[str, Any]]
) -> Iterator[str]:
    """The lines of a list of resources and templates."""
    yield _headline(peer, [*resources, *templates], "resource")
    for resource in resources:
        yield ""
        yield from _named(resource, "uri")
        yield from _kind(resource)
    for template in templates:
        yield ""
        yield from _named(template, "uriTemplate")
        yield from _kind(template)


def contents_lines(result: dict[str, Any]) -> Iterator[str]:
    """What was read, as text; of bytes only how many they are."""
    for part in _listed(result, "contents"):
        if isinstance(part.get("text"), str):
            yield part["text"]
        else:
            yield clean_line(
                f"[{part.get('mimeType') or 'bytes'}: {_size(part.get('blob', ''))}; --json gives them]"
            )


def _size(blob: Any) -> str:
    try:
        return f"{len(base64.b64decode(str(blob), validate=False))} bytes"
    except ValueError:  # what a stranger calls base64
        return "not in base64"


def message_lines(result: dict[str, Any]) -> Iterator[str]:
    """The messages of a prompt: who speaks, and what."""
    for message in _listed(result, "messages"):
        content = message.get("content")
        item = content if isinstance(content, dict) else {}
        yield clean_line(f"{message.get('role')}:")
        if item.get("type") == "text":
            yield str(item.get("text"))
        elif item.get("type") == "resource":
            resource = item.get("resource")
            yield clean_line(f"[resource {resource.get('uri') if isinstance(resource, dict) else ''}]")
        else:
            yield clean_line(f"[{item.get('type')} {item.get('uri') or item.get('mimeType') or ''}]")
        yield ""


def _headline(peer: PeerInfo, entries: list[dict[str, Any]], what: str) -> str:
    return clean_line(
        f"{peer.name or 'unnamed server'} {peer.version}".rstrip() + f": {counted(len(entries), what)}"
    )


def _named(entry: dict[str, Any], key: str) -> Iterator[str]:
    yield clean_line(str(entry.get(key)))
    for word in ("title", "description"):
        text = entry.get(word)
        if isinstance(text, str) and text.strip():
            yield f"  {clean_line(shortened(text.strip().splitlines()[0]))}"


def _kind(entry: dict[str, Any]) -> Iterator[str]:
    said = [str(entry[key]) for key in ("mimeType",) if entry.get(key)]
    if type(entry.get("size")) is int:
        said.append(f"{entry['size']} bytes")
    if said:
        yield clean_line(f"    {', '.join(said)}")


def _listed(result: dict[str, Any], key: str) -> list[dict[str, Any]]:
    parts = result.get(key)
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise SessionError(f"the server answered without {key}")
    return parts
