"""What a tool can ask its client: a form, an address to open, a completion of its model, the roots it works in.

    from holdfast import question

    answers = await ctx.ask(who=question.form("Who are you?", Person), where=question.roots())

A question knows how it is put on the wire at a revision, which capabilities the client must have declared for it,
and what of an answer can be believed. Who is asked, and when, is the business of `asking`.
"""

import uuid
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypedDict, TypeVar, Unpack
from urllib.parse import unquote, urlsplit

from holdfast.errors import ContractError, IncapableError
from holdfast.present.profile import Profile
from holdfast.worker.forms import Form, Titles, UnreadableError, form_of

__all__ = [
    "Elicited",
    "Question",
    "Root",
    "Sampled",
    "SamplingWords",
    "form",
    "roots",
    "sampling",
    "titles",
    "url",
]

T = TypeVar("T")

ACTIONS = ("accept", "decline", "cancel")
_WIRE_NAMES = {
    "system_prompt": "systemPrompt",
    "temperature": "temperature",
    "stop_sequences": "stopSequences",
    "model_preferences": "modelPreferences",
    "include_context": "includeContext",
    "metadata": "metadata",
    "tools": "tools",
    "tool_choice": "toolChoice",
}
_NO_FORM = "the protocol revision of this session has no questions to a person"
_NO_URL = "the protocol revision of this session has no addresses to be opened"
_NO_TOOLS = "the protocol revision of this session gives the client's model no tools"


@dataclass(frozen=True, slots=True)
class Elicited(Generic[T]):
    """What a person did with a question: `action` is accept, decline or cancel; `value` is set if accepted."""

    action: str
    value: T | None = None

    @property
    def accepted(self) -> bool:
        """Whether the person has answered."""
        return self.action == "accept"


@dataclass(frozen=True, slots=True)
class Sampled:
    """What the model of the client said. `content` is always a list of content blocks, as they came."""

    role: str
    content: list[dict[str, Any]]
    model: str
    stop_reason: str | None = None

    @property
    def text(self) -> str:
        """The texts of it, joined."""
        return "".join(str(block["text"]) for block in self.content if block.get("type") == "text")


@dataclass(frozen=True, slots=True)
class Root:
    """A place that the client works in."""

    uri: str
    name: str | None = None

    @property
    def path(self) -> Path | None:
        """The directory on this machine; None where it is none."""
        try:
            parts = urlsplit(self.uri)
        except ValueError:  # the client may call anything a root
            return None
        return Path(unquote(parts.path)) if parts.scheme == "file" and parts.netloc in {"", "localhost"} else None


class SamplingWords(TypedDict, total=False):
    """What a request for a completion can say besides its messages; the protocol has the meaning of each."""

    system_prompt: str | None
    temperature: float | None
    stop_sequences: list[str] | None
    model_preferences: dict[str, Any] | None
    include_context: str | None
    metadata: dict[str, Any] | None
    tools: list[dict[str, Any]] | None
    tool_choice: dict[str, Any] | None


class Question(ABC, Generic[T]):
    """Something that a client can be asked; made by the functions of this module."""

    __slots__ = ()
    method = ""
    noun = ""  # what a key that nobody gave is made of

    @abstractmethod
    def required(self, profile: Profile) -> dict[str, Any]:
        """The capabilities that the client must have declared."""

    @abstractmethod
    def params(self, profile: Profile) -> dict[str, Any]:
        """The parameters on the wire; IncapableError where the revision cannot say it."""

    @abstractmethod
    def read(self, answer: Mapping[str, Any]) -> T:
        """What the result of the client stands for; UnreadableError where it is not what was asked for."""


class _FormQuestion(Question[Elicited[T]]):
    __slots__ = ("_form", "_message")
    method = "elicitation/create"
    noun = "elicitation"

    def __init__(self, message: str, asked: Form) -> None:
        self._message = message
        self._form = asked

    def required(self, profile: Profile) -> dict[str, Any]:  # noqa: ARG002
        return {"elicitation": {}}

    def params(self, profile: Profile) -> dict[str, Any]:
        if not profile.elicits_forms:
            raise IncapableError(_NO_FORM, self.required(profile))
        return {
            "message": self._message,
            "requestedSchema": self._form.requested(has_choices=profile.form_choices),
        }

    def read(self, answer: Mapping[str, Any]) -> Elicited[T]:
        action = _action(answer)
        return Elicited(action, self._form.read(answer.get("content")) if action == "accept" else None)


class _UrlQuestion(Question[Elicited[None]]):
    __slots__ = ("_id", "_message", "_url")
    method = "elicitation/create"
    noun = "elicitation"

    def __init__(self, message: str, address: str, elicitation_id: str | None) -> None:
        self._message = message
        self._url = address
        self._id = elicitation_id

    def required(self, profile: Profile) -> dict[str, Any]:  # noqa: ARG002
        return {"elicitation": {"url": {}}}

    def params(self, profile: Profile) -> dict[str, Any]:
        if not profile.elicits_urls:
            raise IncapableError(_NO_URL, self.required(profile))
        told = {"mode": "url", "message": self._message, "url": self._url}
        return {**told, "elicitationId": self._id or str(uuid.uuid4())} if profile.names_elicitations else told

    def read(self, answer: Mapping[str, Any]) -> Elicited[None]:
        return Elicited(_action(answer))


class _SamplingQuestion(Question[Sampled]):
    __slots__ = ("_params",)
    method = "sampling/createMessage"
    noun = "sampling"

    def __init__(self, params: dict[str, Any]) -> None:
        self._params = params

    def required(self, profile: Profile) -> dict[str, Any]:
        needs: dict[str, Any] = {}
        if "tools" in self._params:
            needs["tools"] = {}
        if profile.sampling_tools and self._params.get("includeContext", "none") != "none":
            needs["context"] = {}
        return {"sampling": needs}

    def params(self, profile: Profile) -> dict[str, Any]:
        if "tools" in self._params and not profile.sampling_tools:
            raise IncapableError(_NO_TOOLS, self.required(profile))
        return self._params

    def read(self, answer: Mapping[str, Any]) -> Sampled:
        content = answer.get("content")
        blocks: list[Any] = content if isinstance(content, list) else [content]
        if not blocks or not all(
            isinstance(block, dict) and isinstance(block.get("type"), str) for block in blocks
        ):
            raise UnreadableError("the completion has no content")
        if any(block["type"] == "text" and not isinstance(block.get("text"), str) for block in blocks):
            raise UnreadableError("a text of the completion is no text")
        role, model, reason = answer.get("role"), answer.get("model"), answer.get("stopReason")
        if role not in {"user", "assistant"} or not isinstance(model, str):
            raise UnreadableError("the completion does not say by which role and model it is")
        return Sampled(str(role), blocks, model, reason if isinstance(reason, str) else None)


class _RootsQuestion(Question[list[Root]]):
    __slots__ = ()
    method = "roots/list"
    noun = "roots"

    def required(self, profile: Profile) -> dict[str, Any]:  # noqa: ARG002
        return {"roots": {}}

    def params(self, profile: Profile) -> dict[str, Any]:  # noqa: ARG002
        return {}

    def read(self, answer: Mapping[str, Any]) -> list[Root]:
        found = answer.get("roots")
        if not isinstance(found, list):
            raise UnreadableError("there is no list of roots")
        told = []
        for item in found:
            if not isinstance(item, dict) or not isinstance(item.get("uri"), str):
                raise UnreadableError("a root has no uri")
            name = item.get("name")
            told.append(Root(item["uri"], name if isinstance(name, str) else None))
        return told


def form(message: str, wanted: Any) -> Question[Elicited[Any]]:
    """Ask a person to fill in a form.

    `wanted` is a pydantic model or a dataclass with simple fields; one simple type, such as `bool` or a `Literal`;
    or a JSON Schema of the flat kind that the protocol allows.
    """
    return _FormQuestion(_text("message", message), form_of(wanted))


def url(message: str, address: str, *, elicitation_id: str | None = None) -> Question[Elicited[None]]:
    """Ask a person to open an address: for what must not pass through the client, such as a password."""
    if not urlsplit(address).scheme:
        raise ContractError(f"{address!r} is not an absolute address", remedy="write https://...")
    return _UrlQuestion(_text("message", message), address, elicitation_id)


def sampling(
    messages: str | Sequence[Mapping[str, Any]],
    *,
    max_tokens: int,
    **words: Unpack[SamplingWords],
) -> Question[Sampled]:
    """Ask the model of the client to complete a conversation; a text is what its user says."""
    said: list[Any] = (
        [{"role": "user", "content": {"type": "text", "text": messages}}]
        if isinstance(messages, str)
        else [dict(message) for message in messages]
    )
    told = {_WIRE_NAMES[name]: value for name, value in words.items() if value is not None}
    return _SamplingQuestion({"messages": said, "maxTokens": int(max_tokens), **told})


def roots() -> Question[list[Root]]:
    """Ask for the places that the client works in."""
    return _RootsQuestion()


def titles(choices: Mapping[str, str] | None = None, /, **more: str) -> Titles:
    """Titles for the choices of a form field: `Annotated[Literal["r", "g"], question.titles(r="Red")]`."""
    return Titles({**(choices or {}), **more})


def _action(answer: Mapping[str, Any]) -> str:
    action = answer.get("action")
    if action not in ACTIONS:
        raise UnreadableError(f"the action is not one of {', '.join(ACTIONS)}")
    return str(action)


def _text(what: str, given: object) -> str:
    if not isinstance(given, str) or not given:
        raise ContractError(f"a question has no {what}", remedy="say what is asked, in a sentence")
    return given
