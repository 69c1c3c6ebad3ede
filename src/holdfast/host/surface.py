"""The form of what the client sees: what the host answers by itself, and how large an answer may be.

The kernel decides who gets which answer; here an answer on its way out is looked at where its form may have to
change, and passes as it is, byte for byte, where nothing applies. Requests for the host's own tools and resources
are answered before the kernel hears of them, so also while the worker hangs or is gone. Whatever goes wrong here
costs the change and never the answer.
"""

import secrets
import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from holdfast.host.bounded_output import OutputBounds, encoded
from holdfast.host.listen_streams import LISTEN, ListenStreams
from holdfast.host.output_store import OUTPUT_SCHEME, OutputError
from holdfast.host.own_tools import (
    OWN_RESOURCES,
    OWN_TOOLS,
    document_contents,
    invalid_call,
    list_answer,
    not_found,
    profile_of,
    read_result,
    resource_entry,
    template_entry,
    tool_entry,
    tool_result,
)
from holdfast.kernel.accounting import trace_of
from holdfast.kernel.commands import ToClient
from holdfast.kernel.rules import describes_itself
from holdfast.observe.sink import EventSink
from holdfast.present.profile import META_CAPABILITIES, META_REVISION, MODERN, Profile
from holdfast.vocabulary.events import CallEnded, Event, FaultRecorded, RequestEnded
from holdfast.vocabulary.meta import META_SUPERVISION
from holdfast.wire.codec import RELAY_DEPTH, decode, encode
from holdfast.wire.envelope import INTERNAL_ERROR, METHOD_NOT_FOUND, Request, error_message, result_message

__all__ = ["Surface"]

Document = Callable[[], Mapping[str, Any]]

_HANDSHAKES = frozenset({"initialize", "server/discover"})
# By the method that lists them: the member of the result.
_LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}
_RESOURCE_LISTS = frozenset({"resources/list", "resources/templates/list"})


class _Told(NamedTuple):
    """One answer, taken apart."""

    command: ToClient
    message: dict[str, Any]
    profile: Profile


class _Own(NamedTuple):
    """An answer of the host's own, and how the request ended with it."""

    payload: bytes
    outcome: str = "ok"
    code: str | None = None


class Surface:
    """The stage between the kernel and the client. `documents` are what the host's own tools tell, by name."""

    def __init__(
        self, bounds: OutputBounds, log: EventSink, documents: Mapping[str, Document] | None = None
    ) -> None:
        self.revision: Callable[[], str] = str  # of the handshake
        self.is_shaking_hands: Callable[[], bool] = bool  # whether the answer to it is still to come
        self.has_tool: Callable[[str], bool] = lambda _: False  # whether the worker has a tool of this name
        self.lacks: Callable[[str], bool] = lambda _: False  # whether the server said that it has no such thing
        self.emit: Callable[[Event], None] = log.emit  # where what happens here is told, and may be counted
        self._bounds = bounds
        self._streams = ListenStreams()
        self._documents = dict(documents or {})
        self._tools = {OWN_TOOLS[name]["name"]: name for name in self._documents}
        self._collisions: set[str] = set()
        self._answered = 0

    def close(self) -> None:
        """Forget what was kept for the client."""
        self._bounds.close()

    # --- requests ----------------------------------------------------------------------------------------------

    def answer(self, request: Request) -> bytes | None:
        """The host's own answer to a request; None for one that is the kernel's."""
        if request.method == LISTEN:
            self._streams.opened(request)
        answer = self._answer_of(request)
        profile = self._profile(request) if answer is not None else None
        if answer is None or profile is None:
            return None
        begun = time.monotonic()
        try:
            own = answer(request, profile)
        except Exception as error:  # noqa: BLE001 - a question about the health must not end the session
            fault_id = self._record(f"the host failed to answer {request.method}", error)
            message = f"the host failed to answer ({fault_id})"
            failed = error_message(request.id, INTERNAL_ERROR, message, {"code": "INTERNAL"})
            own = _Own(encode(failed), "error", "INTERNAL")
        if own is None:
            return None
        self._tell_end(request, own, begun)
        return own.payload

    def _answer_of(self, request: Request) -> Callable[[Request, Profile], _Own | None] | None:
        """Who answers a request in place of the worker; None where nobody does."""
        if request.method == "tools/call":
            return self._answer_call if _word(request.params.get("name")) in self._tools else None
        if request.method == "resources/read":
            return self._answer_read if self._owns(_word(request.params.get("uri"))) else None
        is_ours_alone = request.method in _RESOURCE_LISTS and self._has_resources and self.lacks("resources")
        return self._answer_list if is_ours_alone else None

    @property
    def _has_resources(self) -> bool:
        return bool(self._documents) or self._bounds.are_on

    def _owns(self, uri: str) -> bool:
        if OWN_RESOURCES.get(uri) in self._documents:
            return True
        if not uri.startswith(OUTPUT_SCHEME) or not self._bounds.are_on:
            return False
        # Where nobody behind this host has resources, it is of one that came before, and gone with it.
        return self._bounds.store.is_ours(uri) or self.lacks("resources")

    def _profile(self, request: Request) -> Profile | None:
        """How to speak to the client; None where a server has to tell it that the request is not in order."""
        meta = request.params.get("_meta")
        if isinstance(meta, dict) and META_REVISION in meta:
            is_good = meta[META_REVISION] == MODERN and isinstance(meta.get(META_CAPABILITIES), dict)
            return profile_of(MODERN) if is_good else None
        revision = self.revision()
        # A client that does not wait for the answer to its handshake may ask as well how the host is.
        return profile_of(revision) if revision or self.is_shaking_hands() else None

    def _answer_call(self, request: Request, profile: Profile) -> _Own | None:
        tool: str = request.params["name"]
        if self.has_tool(tool):
            self._tell_collision(tool)
            return None
        if request.params.get("arguments", {}) != {}:
            return _Own(encode(invalid_call(request.id, tool, profile)), "rejected", "INVALID_REQUEST")
        return _Own(encode(tool_result(request.id, self._documents[self._tools[tool]](), profile)))

    def _answer_list(self, request: Request, profile: Profile) -> _Own:
        entries = self._own_entries(request.method, profile)
        return _Own(encode(list_answer(request.id, _LISTS[request.method], entries, profile)))

    def _answer_read(self, request: Request, profile: Profile) -> _Own:
        uri: str = request.params["uri"]
        name = OWN_RESOURCES.get(uri)
        if name is not None:
            contents = document_contents(uri, self._documents[name]())
            return _Own(encode(result_message(request.id, read_result(contents, profile))))
        try:
            kept = self._bounds.store.read(uri)
        except OutputError as error:
            return _Own(encode(not_found(request.id, uri, str(error), profile)), "error", "NOT_FOUND")
        # It was written as it is sent: only what stands around it is made now.
        envelope = encode(result_message(request.id, {**read_result([], profile), "contents": 0}))
        before, after = envelope.rsplit(b'"contents":0', 1)
        return _Own(before + b'"contents":' + kept + after)

    # --- answers -----------------------------------------------------------------------------------------------

    def shaped(self, command: ToClient) -> bytes:
        """The bytes of what the kernel says in the form in which the client gets them; none where it gets none."""
        try:
            if command.answers is None:
                return self._streams.told(command.payload)
            if command.method == LISTEN:
                return self._streams.answered(command.answers, command.payload)
            if command.method == "tools/call":
                return self._bounds.bounded(command, self._profile_of)
            change = self._change(command.method)
            if change is None:
                return command.payload
            message = decode(command.payload, max_depth=RELAY_DEPTH, halves="kept")
            changed = change(_Told(command, message, self._profile_of(command)))
            return command.payload if changed is None else encoded(changed)
        except Exception as error:  # noqa: BLE001 - an answer in another form is better than none
            self._record(f"the host failed to shape {command.method or 'a notification'}", error)
            return command.payload

    def _profile_of(self, command: ToClient) -> Profile:
        return profile_of(MODERN if command.is_modern else self.revision())

    def _change(self, method: str) -> Callable[[_Told], dict[str, Any] | None] | None:
        if method in _HANDSHAKES:
            return self._with_capabilities
        if method == "tools/list":
            return self._with_own_entries if self._documents else None
        if method in _LISTS or method == "resources/read":
            change = self._with_own_entries if method in _LISTS else self._without_unknown_method
            return change if self._has_resources else None
        return None

    def _with_capabilities(self, told: _Told) -> dict[str, Any] | None:
        """What the host can do besides; and lists of tools may change, since a worker may be replaced."""
        result = told.message.get("result")
        capabilities = result.get("capabilities") if isinstance(result, dict) else None
        if not isinstance(result, dict) or not isinstance(capabilities, dict):
            return None
        if _declares_bounds(capabilities):
            self._bounds.are_on = True
        able = dict(capabilities)
        if self._documents:
            able.setdefault("tools", {})
        if self._has_resources:
            able.setdefault("resources", {})
        tools = able.get("tools")
        if isinstance(tools, dict):
            able["tools"] = {**tools, "listChanged": True}
        if able == capabilities:
            return None
        return {**told.message, "result": {**result, "capabilities": able}}

    def _with_own_entries(self, told: _Told) -> dict[str, Any] | None:
        """A list with the host's own at its end; in place of an error where the worker has no such list."""
        method = told.command.method
        own = self._own_entries(method, told.profile)
        if _is_unknown_method(told.message):
            return list_answer(told.message["id"], _LISTS[method], own, told.profile)
        result = told.message.get("result")
        entries = result.get(_LISTS[method]) if isinstance(result, dict) else None
        if not own or not isinstance(result, dict) or not isinstance(entries, list) or result.get("nextCursor"):
            return None
        return {**told.message, "result": {**result, _LISTS[method]: [*entries, *own]}}

    def _own_entries(self, method: str, profile: Profile) -> list[dict[str, Any]]:
        if method == "resources/list":
            return [resource_entry(name, profile) for name in self._documents]
        if method == "resources/templates/list":
            return [template_entry(profile)] if self._bounds.are_on else []
        free = {tool: name for tool, name in self._tools.items() if not self.has_tool(tool)}
        for tool in self._tools.keys() - free.keys():
            self._tell_collision(tool)
        return [tool_entry(name, profile) for name in free.values()]

    def _without_unknown_method(self, told: _Told) -> dict[str, Any] | None:
        """A worker without resources does not know the method; its client was told that it exists."""
        if not _is_unknown_method(told.message):
            return None
        return not_found(told.message["id"], "", "there is no such resource", told.profile)

    # --- telling -----------------------------------------------------------------------------------------------

    def _tell_end(self, request: Request, own: _Own, begun: float) -> None:
        self._answered += 1
        is_call = request.method == "tools/call"
        trace = trace_of(request.params)
        self.emit(
            (CallEnded if is_call else RequestEnded)(
                request.id,
                f"host.{self._answered}",
                request.params["name"] if is_call else request.method,
                own.outcome,
                round((time.monotonic() - begun) * 1000, 3),
                own.code,
                trace=trace.parent,
                method=request.method,
                ended_by="host",
                attempts=0,
                trace_state=trace.state,
                is_modern=describes_itself(request.method, request.params),
            )
        )

    def _tell_collision(self, tool: str) -> None:
        if tool not in self._collisions:
            self._collisions.add(tool)
            text = f"the server has a tool {tool} of its own, which is the one that clients get"
            self.emit(FaultRecorded("health tools", None, tool, "HoldfastError", text, ""))

    def _record(self, text: str, error: Exception) -> str:
        fault_id = secrets.token_hex(4)
        trace = "".join(traceback.format_exception(error))
        self.emit(FaultRecorded(fault_id, None, None, type(error).__name__, f"{text}: {error}", trace))
        return fault_id


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _is_unknown_method(message: Mapping[str, Any]) -> bool:
    error = message.get("error")
    return isinstance(error, dict) and error.get("code") == METHOD_NOT_FOUND


def _declares_bounds(capabilities: Mapping[str, Any]) -> bool:
    experimental = capabilities.get("experimental")
    ours = experimental.get(META_SUPERVISION) if isinstance(experimental, dict) else None
    return isinstance(ours, dict) and ours.get("outputBounds") is True
