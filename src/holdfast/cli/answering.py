"""Answers what a tool asks during `holdfast call`: from the command line, by a person at the terminal, or not.

Only forms and addresses are answered here; there is no model to sample. Without a terminal a question is declined,
with a line that says so.
"""

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from holdfast.cli.connect import say
from holdfast.errors import UsageError, WireError
from holdfast.present.bounds import clean_line
from holdfast.wire.codec import decode

__all__ = ["TypedAnswers", "read_answers"]

T = TypeVar("T")

ELICIT = "elicitation/create"
_YES = frozenset({"y", "yes", "true", "1", "on"})
_NO = frozenset({"n", "no", "false", "0", "off"})


class _NoAnswer(Exception):  # noqa: N818 - what a person does, not a defect
    """The person gave none: `action` is decline or cancel."""

    def __init__(self, action: str) -> None:
        super().__init__(action)
        self.action = action


def read_answers(texts: Sequence[str]) -> list[dict[str, Any]]:
    """The forms that were filled in on the command line."""
    return [_read_answer(text) for text in texts]


def _read_answer(text: str) -> dict[str, Any]:
    try:
        value = decode(text.encode("utf-8", "replace"))
    except WireError as error:
        raise UsageError(f"--answer is not JSON: {error}", remedy='--answer \'{"name": "Ann"}\'') from error
    if not isinstance(value, dict):
        raise UsageError("--answer is not a JSON object", remedy='--answer \'{"name": "Ann"}\'')
    return value


class TypedAnswers:
    """The answerer of the command line. Make it before the streams are guarded: it keeps the terminal."""

    def __init__(self, given: Sequence[dict[str, Any]] = ()) -> None:
        self._given = list(given)
        is_terminal = sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
        self._terminal = os.fdopen(os.dup(sys.stdin.fileno()), "r") if is_terminal else None

    @property
    def capabilities(self) -> dict[str, Any]:
        """A person can be asked to fill in a form and to open an address."""
        return {"elicitation": {"form": {}, "url": {}}}

    def knows(self, method: str) -> bool:
        """Whether such a question can be answered."""
        return method == ELICIT

    async def answer(self, method: str, params: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002
        """The next answer of the command line, or what a person types."""
        message = str(params.get("message", ""))
        if self._given:
            say(f"holdfast: the tool asks: {message} (answered by --answer)")
            return {"action": "accept", "content": self._given.pop(0)}
        if self._terminal is None:
            say(f"holdfast: the tool asks: {message}")
            say("  declined: there is no terminal to answer at (try: --answer '{...}')")
            return {"action": "decline"}
        say(f"the tool asks: {message}")
        try:
            if params.get("mode") == "url":
                return await self._address(str(params.get("url", "")))
            return {"action": "accept", "content": await self._form(params.get("requestedSchema"))}
        except _NoAnswer as none:
            say({"decline": "declined", "cancel": "left without an answer"}[none.action])
            return {"action": none.action}

    async def _address(self, address: str) -> dict[str, Any]:
        say(f"  open {address}")
        opened = await self._line("  done? [y/N]")
        return {"action": "accept" if opened.strip().lower() in _YES else "decline"}

    async def _form(self, schema: Any) -> dict[str, Any]:
        # Another server may send anything as its schema: what means nothing is left out.
        fields = _member(schema, "properties", dict)
        required = _member(schema, "required", list)
        content: dict[str, Any] = {}
        for name, field in fields.items():
            value = await self._field(str(name), field if isinstance(field, dict) else {}, name in required)
            if value is not None:
                content[name] = value
        return content

    async def _field(self, name: str, field: dict[str, Any], is_required: bool) -> Any:
        for value, title in _choices(field):
            say(f"    {value}" + (f": {title}" if title != value else ""))
        default = field.get("default")
        hint = _kind(field) + (f", default {default}" if default is not None else "")
        empty = "" if default is not None or not is_required else "; empty to decline"
        while True:
            text = (await self._line(f"  {field.get('title', name)} ({hint}{empty}):")).strip()
            if not text and default is None and is_required:
                raise _NoAnswer("decline")
            if not text:
                return default
            try:
                return _value(field, text)
            except ValueError as error:
                say(f"    {error}")

    async def _line(self, prompt: str) -> str:
        """One line of the person; the thread that waits for it keeps nobody from ending the program."""
        terminal = self._terminal
        assert terminal is not None
        loop = asyncio.get_running_loop()
        typed: asyncio.Future[str] = loop.create_future()

        def settle(line: str) -> None:
            if not typed.done():
                typed.set_result(line)

        def read() -> None:
            line = terminal.readline()
            loop.call_soon_threadsafe(settle, line)

        print(clean_line(prompt), end=" ", file=sys.stderr, flush=True)
        threading.Thread(target=read, name="terminal", daemon=True).start()
        line = await typed
        if not line:
            say("")
            raise _NoAnswer("cancel")
        return line


def _choices(field: dict[str, Any]) -> list[tuple[str, str]]:
    """Values and titles of what can be chosen."""
    inner = field.get("items") if field.get("type") == "array" else field
    titled = _member(inner, "oneOf", list) or _member(inner, "anyOf", list)
    if titled:
        choices = [item for item in titled if isinstance(item, dict) and "const" in item]
        return [(str(item["const"]), str(item.get("title", item["const"]))) for item in choices]
    values = [str(value) for value in _member(inner, "enum", list)]
    names = [str(name) for name in _member(inner, "enumNames", list)]
    return list(zip(values, names if len(names) == len(values) else values, strict=True))


def _member(schema: Any, name: str, kind: type[T]) -> T:
    """A member of a schema, or an empty one where there is none of this kind."""
    found = schema.get(name) if isinstance(schema, dict) else None
    return found if isinstance(found, kind) else kind()


def _kind(field: dict[str, Any]) -> str:
    kind = str(field.get("type", "string"))
    if _choices(field):
        return "several of these, with commas" if kind == "array" else "one of these"
    return {"string": "text", "boolean": "yes or no", "integer": "whole number"}.get(kind, kind)


def _value(field: dict[str, Any], text: str) -> Any:
    read = _READERS.get(str(field.get("type")), str)
    value = read(text)
    allowed = [choice for choice, _ in _choices(field)]
    wrong = [one for one in (value if isinstance(value, list) else [value]) if allowed and one not in allowed]
    if wrong:
        raise ValueError(f"{wrong[0]!r} is not one of {', '.join(allowed)}")
    return value


def _switch(text: str) -> bool:
    if text.lower() in _YES | _NO:
        return text.lower() in _YES
    raise ValueError("write yes or no")


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a whole number") from None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a number") from None


_READERS: dict[str, Callable[[str], Any]] = {
    "boolean": _switch,
    "integer": _integer,
    "number": _number,
    "array": lambda text: [part.strip() for part in text.split(",") if part.strip()],
}
