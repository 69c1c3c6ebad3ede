"""Marks on the fields of an answer: which level of detail shows a field, and what it is to a reader.

    class Order(BaseModel):
        number: Annotated[str, selector()]
        summary: Annotated[str, title()]
        placed: Annotated[datetime, timestamp()]
        customer: Annotated[Customer, reference()]
        history: Annotated[list[str], shown(full_only=True)]
        coupon: Annotated[str | None, shown(skip_none=True)] = None
        row_id: Annotated[int, shown(skip=True)] = 0

One is for arguments: `Annotated[str, secret()]` is a password or a key. Its value is in no event, no telemetry, no
error message and no stored outcome.

They work on pydantic models, dataclasses and TypedDicts alike, and on values of any nesting. A mark says nothing
about the value in Python; it travels in the JSON Schema of the field, from where `projection` takes it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from holdfast.errors import ContractError

__all__ = [
    "MARKS",
    "Mark",
    "SecretMark",
    "check_words",
    "reference",
    "secret",
    "selector",
    "shown",
    "timestamp",
    "title",
]

MARKS = "x-holdfast-shown"
"""The keyword under which marks stand in a schema, until the schema is published."""

_BARE = " is used without parentheses"
_EXCLUSIVE = (
    ("full_only", "concise_only"),
    ("selector", "title"),
    ("selector", "full_only"),
    ("selector", "concise_only"),
    ("selector", "skip_none"),
    ("selector", "reference"),
    ("selector", "timestamp"),
    ("title", "full_only"),
    ("title", "concise_only"),
    ("title", "reference"),
    ("title", "timestamp"),
    ("reference", "timestamp"),
)


@dataclass(frozen=True, slots=True)
class Mark:
    """What one annotation says of a field, in words."""

    words: tuple[str, ...]

    def __get_pydantic_json_schema__(self, core: Any, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        schema = dict(handler(core))
        schema[MARKS] = [*schema.get(MARKS, ()), *self.words]
        return schema


def shown(
    *, full_only: bool = False, concise_only: bool = False, skip: bool = False, skip_none: bool = False
) -> Mark:
    """When a field is shown: only in full detail, only in concise detail, never, or not while it is None."""
    given = {"full_only": full_only, "concise_only": concise_only, "skip": skip, "skip_none": skip_none}
    for word, value in given.items():
        if not isinstance(value, bool):
            raise ContractError(f"shown({word}={value!r})", remedy="write True, or leave it out")
    words = tuple(word for word, value in given.items() if value)
    if not words:
        raise ContractError("shown() says nothing", remedy="write shown(full_only=True), or remove it")
    check_words(words)
    return Mark(words)


def selector() -> Mark:
    """The field by which a reader names the object and asks for it again: a slug, not a number of the database."""
    return Mark(("selector",))


def title() -> Mark:
    """The field that says in words what the object is; it needs a selector beside it."""
    return Mark(("title",))


def timestamp() -> Mark:
    """A moment: shown as RFC 3339 in UTC, such as `2026-01-31T08:30:00Z`, whatever offset it came with."""
    return Mark(("timestamp",))


def reference() -> Mark:
    """Another object, or a list of them, of which only selector and title are shown, as `{slug, title}`."""
    return Mark(("reference",))


@dataclass(frozen=True, slots=True)
class SecretMark:
    """Says that an argument is a secret, in the words that JSON Schema has for it."""

    def __get_pydantic_json_schema__(self, core: Any, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        return {**handler(core), "writeOnly": True, "format": "password"}


def secret() -> SecretMark:
    """An argument whose value is written down nowhere: a password, a key, a token."""
    return SecretMark()


def check_words(words: tuple[str, ...]) -> None:
    """Refuse marks of one field that repeat or contradict each other."""
    for word in words:
        if word.endswith(_BARE):
            raise ContractError(word, remedy=f"write {word.removesuffix(_BARE)}()")
        if words.count(word) > 1:
            raise ContractError(f"{word} is said twice", remedy="say it once")
    if "skip" in words and len(words) > 1:
        other = next(word for word in words if word != "skip")
        raise ContractError(f"skip and {other} contradict each other", remedy="keep one of them")
    for one, other in _EXCLUSIVE:
        if one in words and other in words:
            raise ContractError(f"{one} and {other} contradict each other", remedy="keep one of them")


# `Annotated[int, shown]` would otherwise be no mark at all, and a field that was to be hidden would be shown.
for _maker in (shown, selector, title, timestamp, reference):
    vars(_maker)["__get_pydantic_json_schema__"] = Mark((_maker.__name__ + _BARE,)).__get_pydantic_json_schema__
# A secret without parentheses is a secret all the same: to be strict here could only tell one.
vars(secret)["__get_pydantic_json_schema__"] = SecretMark().__get_pydantic_json_schema__
