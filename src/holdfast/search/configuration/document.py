"""A whole document against the declared keys: its values, and everything in it that is wrong."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from holdfast.search.configuration.keys import JSON, KEYS, REFUSED, Key, Refusal, spelled
from holdfast.search.configuration.pairofcleats import NO_EFFECT
from holdfast.search.configuration.refusals import guess, printable
from holdfast.search.configuration.values import Place, check_value, type_violation
from holdfast.search.request_schema import Violation

__all__ = ["Document", "check_document"]


@dataclass(slots=True)
class Document:
    """What a file says: the values of keys, by their paths, and what cannot be."""

    values: dict[str, Any] = field(default_factory=dict)
    violations: list[Violation] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Group:
    """Keys that stand together; `rule` is where they stand in the schema, which is written as JSON is."""

    rule: str = ""
    entries: dict[str, "_Group | Key | Refusal"] = field(default_factory=dict)

    def usable(self) -> Iterator[str]:
        """The names that may stand here; a group of which everything is refused is no suggestion."""
        for name, entry in self.entries.items():
            if isinstance(entry, Key) or (isinstance(entry, _Group) and any(entry.usable())):
                yield name


def check_document(table: Any, spelling: str, file: str, names: tuple[str, ...] = ()) -> Document:
    """Look at all of a configuration; `names` lead to it in its file."""
    document = Document()
    _look(document, table, _declared(spelling), Place(file, names))
    return document


@cache
def _declared(spelling: str) -> _Group:
    root = _Group()
    rows: tuple[Key | Refusal, ...] = (*KEYS, *REFUSED, *(NO_EFFECT if spelling == JSON else ()))
    for row in rows:
        written = spelled(row.path, spelling)
        parts = row.path.split(".")[-len(written) :]
        group = root
        for name, part in zip(written[:-1], parts, strict=False):
            inner = group.entries.setdefault(name, _Group(f"{group.rule}/properties/{part}"))
            assert isinstance(inner, _Group)
            group = inner
        group.entries[written[-1]] = row
    return root


def _look(document: Document, table: Any, group: _Group, place: Place) -> None:
    if not isinstance(table, dict):
        document.violations.append(type_violation("object", table, place))
        return
    for name, value in table.items():
        entry = group.entries.get(name)
        if isinstance(entry, _Group):
            _look(document, value, entry, Place(place.file, (*place.names, name), entry.rule))
        elif isinstance(entry, Key):
            _take(document, value, entry, Place(place.file, (*place.names, name), _rule(entry)))
        elif isinstance(entry, Refusal):
            inner = Place(place.file, (*place.names, name), _rule(entry))
            refused = entry not in NO_EFFECT
            message = f"it cannot be set here: {entry.reason}" if refused else f"no effect: {entry.reason}"
            keyword = "refused" if refused else "noEffect"
            document.violations.append(inner.violation(keyword, message, remedy=entry.hint))
        else:
            message = (
                f"unknown key {printable(name)!r}{guess(name, list(group.usable()), len(document.violations))}"
            )
            document.violations.append(
                place.violation("additionalProperties", message, additionalProperty=printable(name))
            )


def _take(document: Document, value: Any, key: Key, place: Place) -> None:
    final, violations = check_value(key, value, place)
    document.violations.extend(violations)
    if not violations:
        document.values[key.path] = final


def _rule(row: Key | Refusal) -> str:
    return "".join(f"/properties/{part}" for part in row.path.split("."))
