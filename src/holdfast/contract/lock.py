"""The lock of a server: the surface that somebody agreed to, kept in a file beside the code.

It holds the snapshot, the versions and digest of each tool, the earlier surfaces of the same major version, the
names that were removed and must not come back for something else, and what was accepted although a rule says no.
`contract/gate.py` holds a live surface against it.
"""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from holdfast.contract.atomic import refuse_link_out, write_atomically
from holdfast.contract.canonical import canonical_json, fingerprint
from holdfast.contract.compare.reading import LOCK_REMEDY, MAX_BYTES, UnreadableError, read_json
from holdfast.contract.compare.versions import numbers_of
from holdfast.contract.compare.view import SurfaceView, read_surface
from holdfast.contract.reserved import next_reserved
from holdfast.contract.waivers import Waiver, read_waiver
from holdfast.errors import ContractError

__all__ = [
    "LOCK_VERSION",
    "Lock",
    "line_of",
    "line_of_numbers",
    "next_lock",
    "read_lock",
    "read_lock_file",
    "write_lock_file",
]

LOCK_VERSION = 1


@dataclass(frozen=True)
class Lock:
    """What was agreed to. `history` holds the earlier surfaces of the current major version, oldest first."""

    name: str
    snapshot: dict[str, Any]
    history: tuple[dict[str, Any], ...] = ()
    waivers: tuple[Waiver, ...] = ()
    reserved: dict[str, dict[str, Any]] = field(default_factory=dict)

    @cached_property
    def view(self) -> SurfaceView:
        """The agreed surface."""
        return read_surface(self.snapshot, "the lock")

    def to_document(self) -> dict[str, Any]:
        """The lock as JSON; tools of earlier surfaces stand in it once each."""
        definitions: dict[str, Any] = {}
        current = {fingerprint(tool) for tool in self.snapshot["tools"]}
        for earlier in self.history:
            definitions |= {
                digest: tool for tool in earlier["tools"] if (digest := fingerprint(tool)) not in current
            }
        view = self.view
        document: dict[str, Any] = {
            "lockVersion": LOCK_VERSION,
            "name": self.name,
            "surfaceVersion": view.version,
            "snapshot": self.snapshot,
            "tools": {
                name: {"version": tool.version, "schemaVersion": tool.schema_version, "digest": tool.digest}
                for name, tool in view.tools.items()
            },
            "history": [{**old, "tools": [fingerprint(tool) for tool in old["tools"]]} for old in self.history],
            "definitions": definitions,
            "reserved": self.reserved,
            "waivers": [waiver.to_json() for waiver in self.waivers],
        }
        return {**document, "fingerprint": fingerprint(document)}


def line_of(view: SurfaceView) -> tuple[int, ...] | None:
    """What versions have in common that clients may expect to be compatible; None where none is kept."""
    numbers = numbers_of(view.version if view.version is not None else view.server_version)
    if numbers is None:
        return None
    return line_of_numbers(numbers)


def line_of_numbers(numbers: tuple[int, int, int]) -> tuple[int, ...]:
    """The part of a version that moves when clients may break."""
    return numbers[:1] if numbers[0] else numbers[:2]


def next_lock(previous: Lock | None, snapshot: dict[str, Any], waivers: Iterable[Waiver], today: dt.date) -> Lock:
    """The lock of a surface that was agreed to, after the one before. Waivers that have run out are dropped."""
    view = read_surface(snapshot, "the live surface")
    kept = {(waiver.rule, waiver.path): waiver for waiver in (previous.waivers if previous else ())}
    kept |= {(waiver.rule, waiver.path): waiver for waiver in waivers}
    current = tuple(waiver for _, waiver in sorted(kept.items()) if waiver.counts(today))
    if previous is None:
        return Lock(view.name, snapshot, waivers=current)
    earlier = [*previous.history]
    if fingerprint(previous.snapshot) != fingerprint(snapshot):
        earlier.append(previous.snapshot)
    line = line_of(view)
    history = [old for old in earlier if line is not None and line_of(read_surface(old)) == line]
    unique = {fingerprint(old): old for old in history if fingerprint(old) != fingerprint(snapshot)}
    reserved = next_reserved(previous.reserved, previous.view, view)
    return Lock(view.name, snapshot, tuple(unique.values()), current, reserved)


def read_lock_file(path: Path) -> Lock:
    """The lock in a file."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)  # one more than is read, so that its size is told
    except FileNotFoundError:
        raise UnreadableError(
            f"there is no lock {path}", remedy="write one with `holdfast contract lock`"
        ) from None
    except OSError as error:
        raise UnreadableError(
            f"{path} cannot be read: {error.strerror or error}", remedy="check the path"
        ) from error
    return read_lock(data, str(path))


def read_lock(data: bytes, source: str) -> Lock:
    """The lock in these bytes; an UnreadableError says what is wrong with them."""
    document = read_json(data, source, is_lock=True)
    if not isinstance(document, dict) or "lockVersion" not in document:
        raise UnreadableError(
            f"{source} is no lock",
            remedy="name one, or a file for a new one to `holdfast contract lock --lock FILE`",
        )
    if document["lockVersion"] != LOCK_VERSION:
        raise UnreadableError(
            f"{source} is a lock of version {document['lockVersion']!r}; this program reads {LOCK_VERSION}",
            remedy=f"update holdfast, or {LOCK_REMEDY}",
        )
    stated = document.pop("fingerprint", None)
    if stated != fingerprint(document):
        raise UnreadableError(
            f"{source} was changed by hand or merged: its fingerprint does not fit", remedy=LOCK_REMEDY
        )
    try:
        return _lock(document, source)
    except (KeyError, TypeError, AttributeError) as error:
        raise UnreadableError(f"{source} is a lock with parts missing: {error}", remedy=LOCK_REMEDY) from error


def _lock(document: dict[str, Any], source: str) -> Lock:
    snapshot = document["snapshot"]
    read_surface(snapshot, f"the snapshot in {source}")
    known = document["definitions"] | {fingerprint(tool): tool for tool in snapshot["tools"]}
    history = tuple({**old, "tools": [known[digest] for digest in old["tools"]]} for old in document["history"])
    for old in history:
        read_surface(old, f"the history in {source}")
    waivers = tuple(read_waiver(value, source) for value in document["waivers"])
    rows = document["reserved"].items()
    reserved = {key: {"tool": row["tool"], "path": row["path"], **row} for key, row in rows}
    return Lock(document["name"], snapshot, history, waivers, reserved)


def write_lock_file(path: Path, lock: Lock, *, replaces: Lock | None) -> int:
    """Write all of the lock or nothing, and only over the lock that it follows; return the number of bytes."""
    data = canonical_json(lock.to_document())

    def check() -> None:
        if path.exists() != (replaces is not None) or (replaces is not None and read_lock_file(path) != replaces):
            raise ContractError(f"{path} was written by somebody else meanwhile", remedy="run the command again")

    refuse_link_out(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, data, check=check)
    except OSError as error:
        raise ContractError(
            f"{path} cannot be written: {error.strerror or error}", remedy="check the path, or name another --lock"
        ) from error
    return len(data)
