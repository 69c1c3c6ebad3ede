"""Answers that are too large, shortened where their tool says so: rows from the end of a list, or lines of a text.

Half a JSON document is none, so only the author of a tool can say what may be left out of it and where the number
of what is missing belongs. The shortened answer meets the output schema like any other; where it would not, or
where even nothing of the list is too much, the answer stays as it is, and who supervises the server decides.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from holdfast.contract.model import ToolContract
from holdfast.contract.refusal import refusal
from holdfast.present.graphemes import boundary_before
from holdfast.present.output_cost import Limits
from holdfast.settings import Settings, ToolRule
from holdfast.vocabulary.faults import Fault
from holdfast.worker.answer import ToolResult, is_within

__all__ = ["NO_PROMISE", "OutputPromise", "OutputWords", "output_promise"]

_LEAST = {"output_bytes": 1024, "output_tokens": 256}
_DEEPEST = 16  # references behind references, in a schema that refers to itself

Answer = ToolResult | Fault


@dataclass(frozen=True, slots=True)
class OutputPromise:
    """How much a tool tells at once (None where it does not say), and what is shortened where it is more."""

    output_bytes: int | None = None
    output_tokens: int | None = None
    shorten: tuple[str, ...] = ()
    note: tuple[str, ...] = ()

    @property
    def is_declared(self) -> bool:
        """Whether the tool has a limit of its own."""
        return bool(self.output_bytes or self.output_tokens)

    def to_wire(self) -> dict[str, int]:
        """The limits as they are published, where there are any."""
        said = {"outputBytes": self.output_bytes, "outputTokens": self.output_tokens}
        return {key: value for key, value in said.items() if value}

    def limits(self, settings: Settings, rule: ToolRule | None) -> Limits:
        """What holds in this process: a person's word about the tool, the tool's own, the word for all tools."""

        def first(*values: int | None) -> int:
            return next((value for value in values if value is not None), 0)

        said = rule or ToolRule()  # its 0 takes every limit off; the tool's own 0 is no limit of its own
        return Limits(
            first(said.output_bytes, self.output_bytes or None, settings.output_bytes),
            first(said.output_tokens, self.output_tokens or None, settings.output_tokens),
        )

    def fitted(
        self, payload: Any, limits: Limits, answer: Callable[[Any], Answer], is_valid: Callable[[Any], bool]
    ) -> Answer:
        """The answer, shortened as far as it must be and may be."""
        whole = answer(payload)
        found = _find(payload, self.shorten) if self.shorten else None
        if is_within(whole, limits) or not isinstance(found, list | str):
            return whole
        best: Answer | None = None
        low, high = -1, len(found)  # so much of it is too little or fits, and so much is too much
        while high - low > 1:
            middle = (low + high) // 2
            shorter = self._shortened(payload, found, middle)
            if not is_valid(shorter):
                low = middle  # the schema wants more of it
                continue
            told = answer(shorter)
            if is_within(told, limits):
                best, low = told, middle
            else:
                high = middle
        return whole if best is None else best

    def _shortened(self, payload: Any, found: list[Any] | str, count: int) -> Any:
        kept = _lines(found, count) if isinstance(found, str) else found[:count]
        shorter = _replaced(payload, self.shorten, kept)
        if not self.note:
            return shorter
        before = _find(payload, self.note)
        known = before if type(before) is int else 0
        return _replaced(shorter, self.note, known + len(found) - len(kept))


NO_PROMISE = OutputPromise()


class OutputWords(TypedDict, total=False):
    """The options of a tool that are about the size of its answers."""

    output_bytes: int
    output_tokens: int
    shorten: str
    shorten_note: str


def output_promise(contract: ToolContract, words: OutputWords) -> OutputPromise:
    """What a tool declares about the size of its answers, or the refusal that says what is wrong with it."""
    tool, schema = contract.name, contract.output_schema
    for word in words.keys() - OutputWords.__annotations__.keys():
        raise TypeError(f"a tool has no option {word!r}")
    output_bytes, output_tokens = words.get("output_bytes"), words.get("output_tokens")
    shorten, shorten_note = words.get("shorten"), words.get("shorten_note")
    for option, value in (("output_bytes", output_bytes), ("output_tokens", output_tokens)):
        least = _LEAST[option]
        if value is not None and (type(value) is not int or 0 != value < least or value > 2**31):
            raise refusal(tool, f"{option} is {value!r}", f"use a whole number from {least} on; 0 for no limit")
    if shorten_note is not None and shorten is None:
        raise refusal(tool, "has shorten_note without shorten", 'say what is shortened: shorten="/items"')
    if shorten is not None and contract.paging is not None:
        raise refusal(tool, "has pages and shorten", "drop shorten: a page holds as many rows as fit")
    return OutputPromise(
        output_bytes,
        output_tokens,
        _pointer(tool, "shorten", shorten, schema, {"array", "string"}),
        _pointer(tool, "shorten_note", shorten_note, schema, {"integer", "number"}),
    )


def _pointer(
    tool: str, option: str, pointer: object, schema: Mapping[str, Any] | None, kinds: set[str]
) -> tuple[str, ...]:
    if pointer is None:
        return ()
    if not isinstance(pointer, str) or not pointer.startswith("/") or len(pointer) < 2:
        raise refusal(tool, f"{option} is {pointer!r}", f'write a JSON Pointer to a field: {option}="/items"')
    names = tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])
    inner = [dict(schema or {})]
    for name in names:
        inner = [found for one in inner for found in _members(one, name, schema or {})]
    if not any(_kinds(one, schema or {}) & kinds for one in inner):
        wanted = " or ".join(sorted(kinds))
        raise refusal(
            tool, f"{option}={pointer!r} leads to no {wanted} of its result", "point at a declared field of it"
        )
    return names


def _members(schema: Any, name: str, root: Mapping[str, Any]) -> list[Any]:
    """The schemas that a field of this name may have."""
    found = []
    for one in _branches(schema, root):
        properties = one.get("properties")
        if isinstance(properties, dict) and name in properties:
            found.append(properties[name])
    return found


def _kinds(schema: Any, root: Mapping[str, Any]) -> set[str]:
    kinds: set[str] = set()
    for one in _branches(schema, root):
        kind = one.get("type")
        kinds |= {kind} if isinstance(kind, str) else set(kind or ())
    return kinds


def _branches(schema: Any, root: Mapping[str, Any], depth: int = 0) -> list[dict[str, Any]]:
    """A schema with what it refers to and what it offers a choice of."""
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return []
    found = [schema]
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        target: Any = root
        for part in reference[2:].split("/"):
            target = target.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(target, dict) else None
        found += _branches(target, root, depth + 1)
    for word in ("anyOf", "oneOf", "allOf"):
        for choice in schema.get(word) or ():
            found += _branches(choice, root, depth + 1)
    return found


def _lines(text: str, count: int) -> str:
    """At most so many characters: whole lines, or part of the first."""
    end = text.rfind("\n", 0, count + 1)
    return text[:end] if end > 0 else text[: boundary_before(text, count)]


def _find(payload: Any, names: tuple[str, ...]) -> Any:
    for name in names:
        payload = payload.get(name) if isinstance(payload, dict) else None
    return payload


def _replaced(payload: Any, names: tuple[str, ...], value: Any) -> Any:
    """The payload with another value at this place; everything else is shared with it."""
    if not names:
        return value
    inner = payload.get(names[0]) if isinstance(payload, dict) else None
    return {**(payload or {}), names[0]: _replaced(inner, names[1:], value)}
