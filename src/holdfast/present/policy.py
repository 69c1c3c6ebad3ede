"""What the answers of a tool may not hold: ids that mean nothing to a reader, and bodies where a reference is due.

A policy belongs to a tool. What its output schema already shows to break it is refused when the tool is
registered; what only a value can show, such as the keys of a free-form map, ends the call before anything is
sent. Keys are compared as words, so `userId`, `userID` and `user_id` are one name.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from holdfast.errors import ContractError
from holdfast.present.porcelain import SurfaceKind

__all__ = [
    "PolicyViolation",
    "ProjectionPolicy",
    "declared_violations",
    "is_opaque_id",
    "policy_violations",
    "surface_policy",
]

OPAQUE_ID = "opaque_id"
REFERENCE_ONLY = "reference_only"
LIST_ROW = "list_row"

_BODIES = frozenset({"body", "content", "text", "bytes"})
_NOT_IN_LISTS = frozenset({"body", "payload_preview", "analysis", "rationale"})
# Between a letter that is not upper case and one that is; before the last capital of `HTTPServer`, but not within
# the plural `IDs`; and whatever is neither letter nor digit.
_WORD_BOUNDARY = re.compile(
    r"(?<=[^\W_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z](?!s(?![a-z]))[a-z])|[\W_]+",
)
_MOST_REPORTED = 8


class PolicyViolation(NamedTuple):
    """One place of an answer that breaks a rule: its JSON Pointer and the name of the rule."""

    path: str
    rule: str


@dataclass(frozen=True, slots=True)
class ProjectionPolicy:
    """What kind of surface a tool is, and which rules its answers obey whatever the tool returns.

    `forbid_opaque_ids` keeps out every key `id` and every key that ends in the word `id` or `ids`, except those in
    `allowed_ids`; `reference_only` keeps out `body`, `content`, `text` and `bytes`. On a `list` surface no row
    carries `body`, `payload_preview`, `analysis` or `rationale`.
    """

    kind: SurfaceKind = SurfaceKind.READ
    forbid_opaque_ids: bool = False
    reference_only: bool = False
    allowed_ids: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for option in ("forbid_opaque_ids", "reference_only"):
            if not isinstance(getattr(self, option), bool):
                raise ContractError(f"{option} is {getattr(self, option)!r}", remedy="write True or False")
        _check_allowed(self.allowed_ids, forbidden=self.forbid_opaque_ids)

    @property
    def is_strict(self) -> bool:
        """Whether there is any rule to enforce."""
        return self.forbid_opaque_ids or self.reference_only or self.kind is SurfaceKind.LIST

    def broken_rule(self, key: str) -> str | None:
        """The rule that a key breaks by being there."""
        if self.forbid_opaque_ids and key not in self.allowed_ids and is_opaque_id(key):
            return OPAQUE_ID
        name = _snake(key)
        if self.reference_only and name in _BODIES:
            return REFERENCE_ONLY
        if self.kind is SurfaceKind.LIST and name in _NOT_IN_LISTS:
            return LIST_ROW
        return None


def surface_policy(
    kind: str | SurfaceKind = SurfaceKind.READ,
    *,
    forbid_opaque_ids: bool = False,
    reference_only: bool = False,
    allowed_ids: Collection[str] = (),
) -> ProjectionPolicy:
    """The policy of a tool, for `@server.tool(surface=...)`; ContractError where it makes no sense."""
    return ProjectionPolicy(_kind(kind), forbid_opaque_ids, reference_only, tuple(_keys(allowed_ids)))


def is_opaque_id(key: str) -> bool:
    """Whether a key names an id: `id`, `user_id`, `userId`, `userID`, `user-ids`; but not `paid` or `grid`."""
    return _snake(key).rpartition("_")[2] in {"id", "ids"}


def policy_violations(policy: ProjectionPolicy, payload: Any) -> list[PolicyViolation]:
    """The places of a payload that break the policy, the outermost first; a few of them, where there are many."""
    if not policy.is_strict:
        return []
    found: list[PolicyViolation] = []
    level: list[tuple[str, Any]] = [("", payload)]
    # Level by level and without recursion: a payload may be nested as deeply as JSON allows.
    while level and len(found) < _MOST_REPORTED:
        inner: list[tuple[str, Any]] = []
        for path, value in level:
            for key, member in _members(value):
                place = f"{path}/{_escaped(key)}"
                rule = policy.broken_rule(key) if isinstance(key, str) else None
                if rule is not None:
                    found.append(PolicyViolation(place, rule))
                if isinstance(member, Mapping | list | tuple):
                    inner.append((place, member))
        level = inner
    return found[:_MOST_REPORTED]


def declared_violations(policy: ProjectionPolicy, schema: Mapping[str, Any]) -> list[PolicyViolation]:
    """The fields of an output schema that would break the policy whenever they are there."""
    if not policy.is_strict:
        return []
    found: list[PolicyViolation] = []
    seen: set[int] = set()
    waiting: list[tuple[str, Any]] = [("", schema)]
    while waiting:
        path, part = waiting.pop(0)
        if id(part) in seen:
            continue
        seen.add(id(part))
        for key, member in _members(part):
            if key == "properties" and isinstance(member, Mapping):
                for name, inner in member.items():
                    rule = policy.broken_rule(name)
                    if rule is not None:
                        found.append(PolicyViolation(f"{path}/{_escaped(name)}", rule))
                    waiting.append((f"{path}/{_escaped(name)}", inner))
            elif key == "$defs" and isinstance(member, Mapping):
                waiting += [(f"{path}/{name}", inner) for name, inner in member.items()]
            elif key not in {"default", "examples", "const", "enum"} and isinstance(member, Mapping | list):
                waiting.append((path, member))
    return found


def _members(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, list | tuple):
        yield from enumerate(value)


def _snake(key: str) -> str:
    return _WORD_BOUNDARY.sub("_", key).strip("_").lower()


def _escaped(step: object) -> str:
    return str(step).replace("~", "~0").replace("/", "~1")


def _kind(given: object) -> SurfaceKind:
    try:
        return SurfaceKind(given)
    except ValueError:
        words = ", ".join(kind.value for kind in SurfaceKind)
        raise ContractError(f"{given!r} is no kind of surface", remedy=f"use one of {words}") from None


def _keys(given: Any) -> Collection[str]:
    if isinstance(given, str) or not isinstance(given, Collection):
        raise ContractError(f"allowed_ids is {given!r}", remedy='write a tuple of keys: allowed_ids=("order_id",)')
    return given


def _check_allowed(keys: tuple[Any, ...], *, forbidden: bool) -> None:
    for key in keys:
        if not isinstance(key, str) or not is_opaque_id(key):
            raise ContractError(f"allowed_ids holds {key!r}, which is no id", remedy="remove it")
    if keys and not forbidden:
        raise ContractError("allowed_ids without a rule to except from", remedy="add forbid_opaque_ids=True")
    if len(set(keys)) != len(keys):
        raise ContractError("allowed_ids lists a key twice", remedy="list it once")
