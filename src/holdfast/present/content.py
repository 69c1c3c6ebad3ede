"""What a result, a prompt or a resource is made of besides plain values: text, pictures, sound, resources, links.

Authors make these objects; `to_wire` is their form with everything that any revision knows. What a revision cannot
carry is changed where an answer is shaped, in `eras`.
"""

import base64
import mimetypes
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from holdfast.present.icons import Icon, icons_to_wire

__all__ = [
    "CONTENT_TYPES",
    "Annotations",
    "Audio",
    "Content",
    "EmbeddedResource",
    "Image",
    "Message",
    "ResourceContents",
    "ResourceLink",
    "Text",
    "WithContent",
    "content_to_wire",
]

Role = Literal["user", "assistant"]
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Annotations:
    """For whom something is meant ("user", "assistant"), how important it is (0 to 1), when it last changed."""

    audience: tuple[Role, ...] = ()
    priority: float | None = None
    last_modified: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "audience", tuple(self.audience))
        if not set(self.audience) <= {"user", "assistant"}:
            raise ValueError(f"an audience is user or assistant, not {self.audience!r}")
        if self.priority is not None and not 0 <= self.priority <= 1:
            raise ValueError(f"a priority is a number from 0 to 1, not {self.priority!r}")

    def to_wire(self) -> dict[str, Any]:
        """The annotations as they are published; what was not said is left out."""
        told: dict[str, Any] = {}
        if self.audience:
            told["audience"] = list(self.audience)
        if self.priority is not None:
            told["priority"] = self.priority
        if self.last_modified is not None:
            told["lastModified"] = self.last_modified
        return told


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of text, exactly as it is to be read."""

    text: str
    annotations: Annotations | None = None

    def __post_init__(self) -> None:
        _check("text", self.text, str)

    def to_wire(self) -> dict[str, Any]:
        """The item of a result or a message."""
        return _annotated({"type": "text", "text": self.text}, self.annotations)


@dataclass(frozen=True, slots=True)
class Image:
    """A picture, given as its bytes."""

    data: bytes
    mime_type: str = "image/png"
    annotations: Annotations | None = None

    def __post_init__(self) -> None:
        _check("data", self.data, bytes)

    @classmethod
    def from_file(cls, path: str | Path) -> "Image":
        """The picture in a file; its kind follows from the name."""
        return cls(Path(path).read_bytes(), mimetypes.guess_type(str(path))[0] or "image/png")

    def to_wire(self) -> dict[str, Any]:
        """The item of a result or a message."""
        return _annotated(
            {"type": "image", "data": _base64(self.data), "mimeType": self.mime_type}, self.annotations
        )


@dataclass(frozen=True, slots=True)
class Audio:
    """Sound, given as its bytes. Clients before 2025-03-26 are told in words that there would be some."""

    data: bytes
    mime_type: str = "audio/wav"
    annotations: Annotations | None = None

    def __post_init__(self) -> None:
        _check("data", self.data, bytes)

    @classmethod
    def from_file(cls, path: str | Path) -> "Audio":
        """The sound in a file; its kind follows from the name."""
        guessed = mimetypes.guess_type(str(path))[0] or "audio/wav"
        return cls(Path(path).read_bytes(), "audio/wav" if guessed == "audio/x-wav" else guessed)

    def to_wire(self) -> dict[str, Any]:
        """The item of a result or a message."""
        return _annotated(
            {"type": "audio", "data": _base64(self.data), "mimeType": self.mime_type}, self.annotations
        )


@dataclass(frozen=True, slots=True)
class ResourceContents:
    """What stands under one address: text or bytes. As the result of a resource, `uri` may be left out."""

    data: str | bytes
    mime_type: str | None = None
    uri: str | None = None

    def __post_init__(self) -> None:
        _check("data", self.data, str, bytes)

    def to_wire(self, uri: str, mime_type: str | None = None) -> dict[str, Any]:
        """The entry in the answer to a read of `uri`; `mime_type` is that of the resource."""
        kind = self.mime_type or mime_type
        kind = kind or ("text/plain" if isinstance(self.data, str) else "application/octet-stream")
        told: dict[str, Any] = {"uri": self.uri or uri, "mimeType": kind}
        told |= {"text": self.data} if isinstance(self.data, str) else {"blob": _base64(self.data)}
        return told


@dataclass(frozen=True, slots=True)
class EmbeddedResource:
    """A resource with its contents, inside of a result or a message."""

    uri: str
    data: str | bytes
    mime_type: str | None = None
    annotations: Annotations | None = None

    def __post_init__(self) -> None:
        _check("uri", self.uri, str)
        _check("data", self.data, str, bytes)

    def to_wire(self) -> dict[str, Any]:
        """The item of a result or a message."""
        contents = ResourceContents(self.data, self.mime_type).to_wire(self.uri)
        return _annotated({"type": "resource", "resource": contents}, self.annotations)


@dataclass(frozen=True, slots=True)
class ResourceLink:
    """The address of a resource, to be read if wanted. Clients before 2025-06-18 get it as text."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    icons: tuple[Icon, ...] = ()
    annotations: Annotations | None = None

    def __post_init__(self) -> None:
        _check("uri", self.uri, str)
        _check("name", self.name, str)

    def to_wire(self) -> dict[str, Any]:
        """The item of a result or a message."""
        said = {
            "title": self.title,
            "description": self.description,
            "mimeType": self.mime_type,
            "size": self.size,
        }
        told: dict[str, Any] = {"type": "resource_link", "uri": self.uri, "name": self.name}
        told |= {key: value for key, value in said.items() if value is not None}
        return _annotated({**told, **icons_to_wire(self.icons)}, self.annotations)


Content = Text | Image | Audio | EmbeddedResource | ResourceLink
CONTENT_TYPES = (Text, Image, Audio, EmbeddedResource, ResourceLink)


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt: who speaks, and what; plain text may be given as it is."""

    role: Role
    content: str | Content

    def __post_init__(self) -> None:
        if self.role not in {"user", "assistant"}:
            raise ValueError(f"the role of a message is user or assistant, not {self.role!r}")
        _check("content", self.content, str, *CONTENT_TYPES)

    @classmethod
    def user(cls, content: str | Content) -> "Message":
        """Something that the user says."""
        return cls("user", content)

    @classmethod
    def assistant(cls, content: str | Content) -> "Message":
        """Something that the model says."""
        return cls("assistant", content)

    def to_wire(self) -> dict[str, Any]:
        """The message as it is published."""
        content = Text(self.content) if isinstance(self.content, str) else self.content
        return {"role": self.role, "content": content.to_wire()}


class WithContent(Generic[Value]):
    """The value that a tool returns, with further content behind its text: `WithContent(item, Image(png))`."""

    __slots__ = ("content", "value")

    def __init__(self, value: Value, *content: Content) -> None:
        for item in content:
            _check("content", item, *CONTENT_TYPES)
        self.value = value
        self.content = content


def content_to_wire(value: Any) -> list[dict[str, Any]]:
    """The items of a result from what a tool returned: one item of content, or several; TypeError for others."""
    items = value if isinstance(value, (list, tuple)) else (value,)
    for item in items:
        _check("content", item, *CONTENT_TYPES)
    return [item.to_wire() for item in items]


def _annotated(item: dict[str, Any], annotations: Annotations | None) -> dict[str, Any]:
    told = annotations.to_wire() if annotations is not None else {}
    return {**item, "annotations": told} if told else item


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _check(field: str, value: object, *kinds: type) -> None:
    """Types are held to where the object is made: its author may have seen no type checker."""
    if not isinstance(value, kinds):
        names = " or ".join(kind.__name__ for kind in kinds)
        raise TypeError(f"{field} is {type(value).__name__}, and must be {names}")
