"""Where the configuration of a repository is read from: `.pairofcleats.json` and `holdfast.toml` at its root.

Both may say something; `holdfast.toml` wins, key by key. In its place, the table `[tool.holdfast.search]` of a
`pyproject.toml` counts. One of those that is wrong in any way is INVALID_REQUEST, with everything that is wrong. A
`.pairofcleats.json` may be written for another program: it is read as far as it can be, with a warning for the
rest. The result is kept for as long as the files stay the same, so a call costs a look at three names.
"""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from holdfast.search.configuration.document import Document, check_document
from holdfast.search.configuration.files import (
    FileRefused,
    Stamp,
    parse_toml,
    read_bytes,
    read_text,
    stamp_of,
)
from holdfast.search.configuration.jsonc import JsoncError, parse_jsonc
from holdfast.search.configuration.keys import JSON, TOML
from holdfast.search.configuration.model import SearchConfiguration
from holdfast.search.configuration.pairofcleats import mapped
from holdfast.search.configuration.refusals import as_warnings, refused, syntax_violation
from holdfast.search.configuration.values import Place
from holdfast.search.repository import Repository
from holdfast.search.request_schema import Violation

__all__ = ["CONFIGURATION_FILES", "load_configuration"]

OWN_FILE = ".pairofcleats.json"
HOLDFAST_FILE = "holdfast.toml"
PROJECT_FILE = "pyproject.toml"
CONFIGURATION_FILES = (OWN_FILE, HOLDFAST_FILE, PROJECT_FILE)

_REMEMBERED = 64  # repositories
_HINT = "correct what details.violations lists, or remove it"


@dataclass(slots=True)
class _Reading:
    """What all files say, while they are read."""

    said: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    warnings: list[dict[str, str]] = field(default_factory=list)

    def add(self, document: Document, file: str, origin: str) -> None:
        """Take what a file says; it wins over those before."""
        self.files.append(file)
        self.violations += document.violations
        for path, value in document.values.items():
            if path in self.said and self.said[path] != value:
                message = f"{path} stands in {self.origins[path]} too; {origin} wins"
                self.warnings.append({"code": "configuration_overridden", "message": message})
            self.said[path], self.origins[path] = value, origin

    def configuration(self, root: Path) -> SearchConfiguration:
        """The whole, where nothing is wrong."""
        warnings = tuple(MappingProxyType(warning) for warning in self.warnings)
        return SearchConfiguration.of(root, self.said, self.origins, tuple(self.files), warnings)

    def tolerate(self, file: str, document: Document) -> None:
        """Take what a file says where it can be; the rest is a warning."""
        self.warnings += as_warnings(document.violations)
        document.violations = []
        self.add(document, file, file)

    def refuse(self, file: str, reason: str, params: Mapping[str, Any]) -> None:
        """Note a file that cannot be read at all."""
        self.files.append(file)
        self.violations.append(Place(file).violation("file", reason, **params))


_Stamps = tuple[Stamp | None, ...]
_Outcome = SearchConfiguration | list[Violation]
_known: OrderedDict[Path, tuple[_Stamps, _Outcome]] = OrderedDict()
_lock = threading.Lock()


def load_configuration(repository: Repository) -> SearchConfiguration:
    """The configuration of a repository; ToolError INVALID_REQUEST lists everything that is wrong in TOML."""
    root = repository.root
    stamps = tuple(map(stamp_of, _places(root)))
    with _lock:
        known = _known.get(root)
    if known is None or known[0] != stamps:
        # A file that changes while it is read has another stamp the next time, so it is read again then.
        known = (stamps, _read(root, stamps))
        with _lock:
            _known[root] = known
            _known.move_to_end(root)
            if len(_known) > _REMEMBERED:
                _known.popitem(last=False)
    outcome = known[1]
    if isinstance(outcome, SearchConfiguration):
        return outcome
    raise refused(outcome, hint=_HINT)


@lru_cache(maxsize=_REMEMBERED)
def _places(root: Path) -> tuple[str, ...]:
    return tuple(str(root / name) for name in CONFIGURATION_FILES)


def _read(root: Path, stamps: _Stamps) -> _Outcome:
    reading = _Reading()
    own, holdfast, project = (stamp is not None for stamp in stamps)
    if own:
        _read_own(reading, root)
    if holdfast:
        _read_holdfast(reading, root)
    elif project:
        _read_project(reading, root)
    return reading.violations or reading.configuration(root)


def _read_own(reading: _Reading, root: Path) -> None:
    try:
        table = parse_jsonc(read_text(root / OWN_FILE, inside=root))
    except FileRefused as refusal:
        document = Document(violations=[Place(OWN_FILE).violation("file", refusal.reason, **refusal.params)])
    except JsoncError as error:
        document = Document(violations=[syntax_violation(error, {"file": OWN_FILE})])
    else:
        document = check_document(mapped(table), JSON, OWN_FILE)
    reading.tolerate(OWN_FILE, document)


def _read_holdfast(reading: _Reading, root: Path) -> None:
    try:
        document = parse_toml(read_text(root / HOLDFAST_FILE, inside=root))
    except FileRefused as refusal:
        reading.refuse(HOLDFAST_FILE, refusal.reason, refusal.params)
        return
    if "search" in document:
        checked = check_document(document["search"], TOML, HOLDFAST_FILE, ("search",))
        reading.add(checked, HOLDFAST_FILE, f"{HOLDFAST_FILE} [search]")


def _read_project(reading: _Reading, root: Path) -> None:
    """The table of ours, if there is one: most projects that have such a file have never heard of us."""
    try:
        if b"holdfast" not in read_bytes(root / PROJECT_FILE, inside=root):
            return
    except FileRefused as refusal:
        message = f"{PROJECT_FILE} {refusal.reason}; what it may say about the search does not count"
        reading.warnings.append({"code": "configuration_unreadable", "message": message})
        return
    try:
        document = parse_toml(read_text(root / PROJECT_FILE, inside=root))
    except FileRefused as refusal:
        reading.refuse(PROJECT_FILE, refusal.reason, refusal.params)
        return
    tool = document.get("tool")
    ours = tool.get("holdfast") if isinstance(tool, dict) else None
    if isinstance(ours, dict) and "search" in ours:
        checked = check_document(ours["search"], TOML, PROJECT_FILE, ("tool", "holdfast", "search"))
        reading.add(checked, PROJECT_FILE, f"{PROJECT_FILE} [tool.holdfast.search]")
