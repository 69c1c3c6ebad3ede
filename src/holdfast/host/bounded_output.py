"""Holds results of tools to their limits: which limit a tool has, what is kept of what was cut, the fault instead.

A person's word about a tool counts first, then the tool's own, then the word for all tools. Structured content of
foreign servers is never touched, and their JSON only where a person has set a limit for that very tool: there is
nobody who could have said how to shorten it.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from holdfast.host.output_store import OutputError, OutputStore
from holdfast.kernel.catalog import ToolFacts
from holdfast.kernel.commands import ToClient
from holdfast.kernel.state import State
from holdfast.observe.sink import EventSink
from holdfast.present.dialects import Dialect
from holdfast.present.output_bounds import Verdict, cut_content, judge, output_link, size_and_kind, whole_of
from holdfast.present.output_cost import Limits
from holdfast.present.profile import Profile
from holdfast.present.render import Presentation, RenderMode, failure_text
from holdfast.settings import Settings, ToolRule
from holdfast.vocabulary.events import FaultRecorded
from holdfast.vocabulary.faults import Fault, fault
from holdfast.vocabulary.meta import META_ERROR
from holdfast.wire.codec import RELAY_DEPTH, decode, encode
from holdfast.wire.splice import raw_member

__all__ = ["OutputBounds", "encoded", "facts_of"]

_NO_FACTS = ToolFacts()
_NO_RULE = ToolRule()
_KNOWN_MAX = 1000


def facts_of(state: State, tool: str) -> ToolFacts | None:
    """What the worker that serves says about a tool of its own; None where it has no such tool."""
    active = state.workers.get(state.active)
    catalog = active.catalog if active is not None and active.catalog.tools else state.catalog
    return catalog.tools.get(tool) if catalog is not None else None


def encoded(value: Any) -> bytes:
    """A value as JSON, halves of characters included, which a worker may have sent and nobody else can."""
    try:
        return encode(value)
    except ValueError:
        return json.dumps(value, separators=(",", ":")).encode()


class _Limit(NamedTuple):
    """What one tool is held to; `is_explicit` where a person has said so about this very tool."""

    limits: Limits
    is_explicit: bool
    is_ours: bool
    dialect: Dialect
    facts: ToolFacts | None  # that it was made from


class _Whole(NamedTuple):
    """What a result says in full, and the link to it; `where` is None where it could not be kept."""

    where: str | None
    link: dict[str, Any] | None
    size: int


class OutputBounds:
    """The limits of all tools, and the store of what goes beyond them."""

    def __init__(
        self, settings: Settings, rules: Mapping[str, ToolRule], store: OutputStore, log: EventSink
    ) -> None:
        self.store = store
        self.facts: Callable[[str], ToolFacts | None] = lambda _: None  # what a tool says about itself
        self._general = Limits(settings.output_bytes, settings.output_tokens)
        self._rules = {name: rule for name, rule in rules.items() if _is_about_output(rule)}
        self._known: dict[str, _Limit] = {}
        self._log = log
        # Whether there may be something to read; a worker that declares limits sets it too.
        self.are_on = any(self._general) or bool(self._rules)

    def close(self) -> None:
        """Forget what was kept."""
        self.store.close()

    def bounded(self, command: ToClient, profile_of: Callable[[ToClient], Profile]) -> bytes:
        """The answer to a call of a tool within the limits of the tool; most often the bytes as they are."""
        facts = self.facts(command.tool)
        limit = self._known.get(command.tool)
        if limit is None or limit.facts is not facts:
            limit = self._limit(command.tool, facts)
        if not limit.limits.could_be_over(len(command.payload)):
            return command.payload
        profile = profile_of(command)
        message = decode(command.payload, max_depth=RELAY_DEPTH, halves="kept")
        result = message.get("result")
        # A question to the client, or the name of a task, is no result yet.
        if not isinstance(result, dict) or result.get("resultType", "complete") != "complete":
            return command.payload
        if "structuredContent" in result and not limit.is_ours:
            return command.payload
        changed = self._changed(command, result, limit, profile)
        return command.payload if changed is None else encoded({**message, "result": changed})

    def _limit(self, tool: str, facts: ToolFacts | None) -> _Limit:
        rule = self._rules.get(tool, _NO_RULE)
        own = facts or _NO_FACTS
        size = own.output_bytes or self._general.size if rule.output_bytes is None else rule.output_bytes
        tokens = own.output_tokens or self._general.tokens if rule.output_tokens is None else rule.output_tokens
        is_explicit = bool(rule.output_bytes or rule.output_tokens)
        limit = _Limit(Limits(size, tokens), is_explicit, own.is_ours, own.dialect, facts)
        if len(self._known) >= _KNOWN_MAX:  # a client may call what it likes
            self._known.clear()
        self._known[tool] = limit
        return limit

    def _changed(
        self, command: ToClient, result: dict[str, Any], limit: _Limit, profile: Profile
    ) -> dict[str, Any] | None:
        uri = self.store.new_uri()
        where = _where(uri)
        # The true link is no longer than this one.
        probe = output_link(uri, len(command.payload)) if _has_links(profile) else None
        verdict = judge(result, limit.limits, where, probe)
        if verdict is Verdict.WITHIN:
            return None
        if verdict is Verdict.JSON and not (limit.is_ours or limit.is_explicit):
            return None
        whole = self._kept(command, result, uri, profile)
        if verdict is Verdict.JSON:
            return _refused(command.tool, result, limit, whole)
        is_error = result.get("isError") is True
        content = cut_content(result["content"], limit.limits, whole.where, whole.link, is_error=is_error)
        return {**result, "content": content}

    def _kept(self, command: ToClient, result: dict[str, Any], uri: str, profile: Profile) -> _Whole:
        structured = None
        if "structuredContent" in result:
            raw = raw_member(raw_member(command.payload, "result") or b"{}", "structuredContent")
            structured = (raw or b"null").decode()
        contents = whole_of(result, uri, structured)
        size, kind = size_and_kind(contents)
        try:
            self.store.keep(uri, encoded(contents))
        except OutputError as trouble:
            text = f"the whole of a result was not kept: {trouble}"
            self._log.emit(FaultRecorded("outputs", None, command.tool, "HoldfastError", text, ""))
            return _Whole(None, None, size)
        self.are_on = True
        return _Whole(_where(uri), output_link(uri, size, kind) if _has_links(profile) else None, size)


def _where(uri: str) -> str:
    return f"the whole: {uri}"


def _has_links(profile: Profile) -> bool:
    return profile.revision >= "2025-06-18"


def _is_about_output(rule: ToolRule) -> bool:
    return rule.output_bytes is not None or rule.output_tokens is not None


def _refused(tool: str, result: dict[str, Any], limit: _Limit, whole: _Whole) -> dict[str, Any]:
    """A failed result in place of one that may not be cut; a failure keeps the code that it had."""
    problem = _too_large(tool, limit.limits, whole, completed=result.get("isError") is not True)
    dialect = limit.dialect
    form = RenderMode.PORCELAIN if dialect is Dialect.STATUS else RenderMode.JSON
    text = failure_text(problem, Presentation(form), dialect)
    told = {"code": problem.code, "category": problem.fault_class.value, "retryable": problem.retryable}
    meta = result.get("_meta")
    rest = {key: value for key, value in result.items() if key not in {"content", "structuredContent"}}
    content: list[dict[str, Any]] = [{"type": "text", "text": text}]
    return {
        **rest,
        "content": content if whole.link is None else [*content, whole.link],
        "isError": True,
        "_meta": {META_ERROR: told, **(meta if isinstance(meta, dict) else {})},
    }


def _too_large(tool: str, limits: Limits, whole: _Whole, *, completed: bool) -> Fault:
    words = [f"{limits.size:,} bytes" if limits.size else "", f"{limits.tokens:,} tokens" if limits.tokens else ""]
    said = {"limitBytes": limits.size, "limitTokens": limits.tokens}
    details: dict[str, Any] = {name: value for name, value in said.items() if value}
    return fault(
        "RESULT_TOO_LARGE",
        f"{tool} has {'answered' if completed else 'failed'} with {whole.size:,} bytes of JSON; "
        f"the limit is {' or '.join(filter(None, words))}",
        details={**details, "bytes": whole.size, "completed": completed},
        hint=f"Ask for less; {whole.where or 'the whole could not be kept'}",
    )
