"""Whether a tool returns content: items such as text, images and links, which are sent as they are."""

import types
import typing
from collections.abc import Sequence
from typing import Any

from holdfast.contract.binding import OutputRejected
from holdfast.present.content import (
    CONTENT_TYPES,
    Audio,
    EmbeddedResource,
    Image,
    ResourceLink,
    Text,
    WithContent,
    content_to_wire,
)

__all__ = ["content_kinds", "dump_content", "is_content_type", "split_content"]


_KINDS: dict[Any, str] = {
    Text: "text",
    Image: "image",
    Audio: "audio",
    EmbeddedResource: "resource",
    ResourceLink: "resource_link",
}


def is_content_type(annotation: Any) -> bool:
    """Whether a type is an item of content, a union of such, or a list of them."""
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is None:
        return isinstance(annotation, type) and issubclass(annotation, CONTENT_TYPES)
    if origin in {list, tuple, Sequence, typing.Union, types.UnionType}:
        return bool(inner) and all(one is Ellipsis or is_content_type(one) for one in inner)
    return False


def content_kinds(annotation: Any) -> tuple[str, ...]:
    """The kinds of items that a tool of this return type may give, in the order of the type, each once."""
    inner = typing.get_args(annotation)
    if not inner:
        return (_KINDS[annotation],) if annotation in _KINDS else ()
    found = [kind for one in inner if one is not Ellipsis for kind in content_kinds(one)]
    return tuple(dict.fromkeys(found))


def dump_content(value: Any) -> list[dict[str, Any]]:
    """The items that a tool returned, as they are sent."""
    try:
        return content_to_wire(value)
    except TypeError as error:
        raise OutputRejected([str(error)]) from error


def split_content(value: Any) -> tuple[Any, list[dict[str, Any]]]:
    """The value of a tool, and the items that it put behind it."""
    if isinstance(value, WithContent):
        return value.value, [item.to_wire() for item in value.content]
    return value, []
