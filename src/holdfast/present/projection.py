"""What a reader is shown of a value: the fields of one level of detail, in the form that their marks ask for.

A projection is applied to plain JSON, so it does not matter in which process, or from what kind of class, the
value came. Full detail is the authoritative answer, and not a dump: what is marked `skip` is in neither.
How a projection, and the schema of what it gives, follow from the marks of a type is in `projection_schema`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.present.policy import PolicyViolation
from holdfast.present.render import DetailLevel
from holdfast.present.timestamp import canonical_timestamp

__all__ = ["Projection", "ProjectionBroken", "Shape", "target_of"]

_HIDDEN_IN = {DetailLevel.FULL: "concise_only", DetailLevel.CONCISE: "full_only"}


class ProjectionBroken(HoldfastError):  # noqa: N818 - an outcome of the call, not a defect
    """An answer that may not be sent as it is; `violations` are its places and the rules they break."""

    def __init__(self, violations: Iterable[PolicyViolation]) -> None:
        self.violations = list(violations)
        super().__init__("; ".join(f"{place or '/'}: {rule}" for place, rule in self.violations))


@dataclass(slots=True, eq=False)
class Shape:
    """What is known of the values at one place: fields with their marks, items, further values."""

    fields: dict[str, tuple[frozenset[str], "Shape"]] = field(default_factory=dict)
    items: "Shape | None" = None
    values: "Shape | None" = None
    first: tuple[str, ...] = ()  # selector and title stand first, so that a short preview names the object
    is_marked: bool = False

    def named(self, word: str) -> str | None:
        """The field that bears the mark."""
        return next((name for name, (words, _) in self.fields.items() if word in words), None)

    def inner(self) -> Iterator["Shape"]:
        """The shapes directly inside of this one."""
        yield from (shape for _, shape in self.fields.values())
        yield from (shape for shape in (self.items, self.values) if shape is not None)


@dataclass(frozen=True, slots=True)
class Projection:
    """The marks of one output type, ready to be applied."""

    shape: Shape

    def apply(self, payload: Any, detail: DetailLevel) -> Any:
        """The payload as it is shown in this detail; ProjectionBroken where a value is not what its mark says."""
        return _projected(self.shape, payload, _HIDDEN_IN[detail], "")

    def selector_of_rows(self, list_field: str) -> str | None:
        """The field that names each row of a list in the payload, where rows have one."""
        _, rows = self.shape.fields.get(list_field, (frozenset(), Shape()))
        return rows.items.named("selector") if rows.items is not None else None


def target_of(shape: Shape) -> Shape:
    """The shape of the object that a reference leads to, through a list if it is one of a list."""
    return shape.items if shape.items is not None and not shape.fields else shape


def _projected(shape: Shape, value: Any, hidden: str, place: str) -> Any:
    if not shape.is_marked:
        return value
    if isinstance(value, dict):
        return _projected_object(shape, value, hidden, place)
    if isinstance(value, list) and shape.items is not None:
        return [_projected(shape.items, item, hidden, f"{place}/{index}") for index, item in enumerate(value)]
    return value


def _projected_object(shape: Shape, value: dict[str, Any], hidden: str, place: str) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name in [*(name for name in shape.first if name in value), *value]:
        if name in result:
            continue
        words, inner = shape.fields.get(name, (frozenset(), shape.values))
        member = value[name]
        if "skip" in words or hidden in words or ("skip_none" in words and member is None):
            continue
        result[name] = _member(words, inner, member, hidden, f"{place}/{name}")
    return result


def _member(words: frozenset[str], inner: Shape | None, member: Any, hidden: str, place: str) -> Any:
    if "timestamp" in words and isinstance(member, str):
        try:
            return canonical_timestamp(member)
        except ValueError:
            raise ProjectionBroken([PolicyViolation(place, "timestamp")]) from None
    if "reference" in words:
        return _referred(target_of(inner) if inner is not None else Shape(), member)
    return member if inner is None else _projected(inner, member, hidden, place)


def _referred(target: Shape, member: Any) -> Any:
    if isinstance(member, list):
        return [_referred(target, item) for item in member]
    if not isinstance(member, dict):
        return member
    slug, title = target.named("selector"), target.named("title")
    shown = {"slug": member.get(slug)}
    if member.get(title) is not None:
        shown["title"] = member[title]
    return shown
