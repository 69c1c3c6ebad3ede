"""Patterns for messages, as data: what must be equal, what may be anything, and what is only known when it runs.

Plain values match themselves, of exactly their type: 1 is not true and not 1.0. Objects and arrays match member by
member, with nothing left over, unless a `Has` says otherwise.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Id:
    """A request id that no other exchange of the same process uses."""

    number: int


@dataclass(frozen=True, slots=True)
class File:
    """The path of a file of this exchange alone."""

    name: str


@dataclass(frozen=True, slots=True)
class Var:
    """A value that a `Save` has seen before."""

    name: str


@dataclass(frozen=True, slots=True)
class Long:
    """Bytes that are too many to be written out: a beginning, one part repeated, an end."""

    begin: bytes
    part: bytes
    times: int
    end: bytes = b""


@dataclass(frozen=True, slots=True)
class PerMode:
    """A value that differs between modes; each use is explained in the exchange's `differences`."""

    default: Any
    legacy: Any = ...
    sdk: Any = ...

    def of(self, mode: str) -> Any:
        """The value in this mode."""
        own = {"legacy": self.legacy, "sdk": self.sdk}.get(mode, ...)
        return self.default if own is ... else own

    @property
    def modes(self) -> set[str]:
        """The modes that differ."""
        return {name for name in ("legacy", "sdk") if getattr(self, name) is not ...}


@dataclass(frozen=True, slots=True)
class PerTopology:
    """A value that differs behind the host; each use is explained in the exchange's `differences`."""

    default: Any
    hosted: Any


class _Any:
    def __repr__(self) -> str:
        return "ANY"


ANY = _Any()


@dataclass(frozen=True, slots=True)
class Is:
    """Any value of these types; a boolean is no number."""

    kinds: tuple[type, ...]


@dataclass(frozen=True, slots=True)
class Has:
    """An object with at least these members, and none of those in `without`."""

    members: Mapping[str, Any]
    without: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ListOf:
    """An array whose elements all match, with at least so many of them."""

    element: Any
    at_least: int = 1


@dataclass(frozen=True, slots=True)
class Text:
    """A text in which the regular expression is found."""

    expression: str


@dataclass(frozen=True, slots=True)
class Json:
    """A text that is one line of compact JSON and whose value matches."""

    value: Any


@dataclass(frozen=True, slots=True)
class Save:
    """Matches what its pattern matches, and remembers it."""

    name: str
    pattern: Any = ANY


@dataclass(slots=True)
class Run:
    """One run of an exchange: the mode, the topology, and what placeholders stand for."""

    mode: str
    topology: str
    first_id: int
    directory: Path
    since: str = ""  # when it began: older records of the event log are others'
    variables: dict[str, Any] = field(default_factory=dict)


def resolve(value: Any, run: Run) -> Any:
    """The value with its placeholders filled in, ready to be sent."""
    if isinstance(value, PerMode):
        return resolve(value.of(run.mode), run)
    if isinstance(value, PerTopology):
        return resolve(value.hosted if run.topology == "hosted" else value.default, run)
    if isinstance(value, Id):
        return run.first_id + value.number
    if isinstance(value, File):
        return str(run.directory / value.name)
    if isinstance(value, Var):
        return run.variables[value.name]
    if isinstance(value, Long):
        return value.begin + value.part * value.times + value.end
    if isinstance(value, dict):
        return {key: resolve(item, run) for key, item in value.items()}
    if isinstance(value, list):
        return [resolve(item, run) for item in value]
    return value


def mismatch(pattern: Any, actual: Any, run: Run, place: str = "$") -> str | None:
    """Where and how the value does not match, or None."""
    if isinstance(pattern, PerMode | PerTopology | Id | File | Var):
        return mismatch(resolve(pattern, run), actual, run, place)
    if pattern is ANY:
        return None
    if isinstance(pattern, Save):
        run.variables[pattern.name] = actual
        return mismatch(pattern.pattern, actual, run, place)
    if isinstance(pattern, Is | Text | Json):
        return _mismatched_scalar(pattern, actual, run, place)
    if isinstance(pattern, Has | ListOf | dict | list):
        return _mismatched_members(pattern, actual, run, place)
    same = type(pattern) is type(actual) and pattern == actual
    return None if same else f"{place}: expected {pattern!r}, got {actual!r}"


def _mismatched_scalar(pattern: Is | Text | Json, actual: Any, run: Run, place: str) -> str | None:
    if isinstance(pattern, Is):
        fits = isinstance(actual, pattern.kinds) and (type(actual) is not bool or bool in pattern.kinds)
        return None if fits else f"{place}: expected {pattern.kinds}, got {actual!r}"
    if not isinstance(actual, str):
        return f"{place}: expected a text, got {actual!r}"
    if isinstance(pattern, Text):
        found = re.search(pattern.expression, actual)
        return None if found else f"{place}: {pattern.expression!r} is not found in {actual!r}"
    try:
        value = json.loads(actual)
    except ValueError as error:
        return f"{place}: not JSON ({error}): {actual[:200]!r}"
    if "\n" in actual or json.dumps(value, ensure_ascii=False, separators=(",", ":")) != actual:
        return f"{place}: not compact JSON: {actual[:200]!r}"
    return mismatch(pattern.value, value, run, place + " as JSON")


def _mismatched_members(pattern: Any, actual: Any, run: Run, place: str) -> str | None:
    if isinstance(pattern, dict | Has):
        return _mismatched_object(pattern, actual, run, place)
    if not isinstance(actual, list):
        return f"{place}: expected an array, got {actual!r}"
    if isinstance(pattern, ListOf):
        if len(actual) < pattern.at_least:
            return f"{place}: expected at least {pattern.at_least} elements, got {actual!r}"
        pattern = [pattern.element] * len(actual)
    if len(pattern) != len(actual):
        return f"{place}: expected {len(pattern)} elements, got {len(actual)}: {actual!r}"
    found = (
        mismatch(expected, item, run, f"{place}[{number}]")
        for number, (expected, item) in enumerate(zip(pattern, actual, strict=True))
    )
    return next((problem for problem in found if problem), None)


def _mismatched_object(pattern: dict[str, Any] | Has, actual: Any, run: Run, place: str) -> str | None:
    if not isinstance(actual, dict):
        return f"{place}: expected an object, got {actual!r}"
    members = pattern.members if isinstance(pattern, Has) else pattern
    unwanted = set(pattern.without) & set(actual) if isinstance(pattern, Has) else set(actual) - set(members)
    if unwanted:
        return f"{place}: unexpected members {sorted(unwanted)} in {actual!r}"
    for key, expected in members.items():
        if key not in actual:
            return f"{place}: no member {key!r} in {actual!r}"
        problem = mismatch(expected, actual[key], run, f"{place}.{key}")
        if problem:
            return problem
    return None
