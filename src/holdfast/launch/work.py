"""What a worker is given: the run, the artifacts it may read, the two work trees, and a place for what it makes.

A worker is a function `work(place)` in a process of its own. It reads artifacts by name, writes artifacts into a
folder that nobody else looks at, and says what happens as events; whether any of it counts is decided by the
engine, in one transaction, when the process has ended well. A worker that dies has changed nothing but the work
trees, which it must be able to write again, and the ledger of what a model was asked, which makes that once.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast.errors import ToolError
from holdfast.launch.documents import DocumentError, decode, encode, sha256

__all__ = ["Given", "Made", "Workplace"]

TEXT = "text"
"""The schema id of an artifact that is text, such as a draft or a report."""


@dataclass(frozen=True, slots=True)
class Given:
    """An artifact that a worker may read."""

    path: Path
    sha256: str
    schema_id: str


@dataclass(frozen=True, slots=True)
class Made:
    """An artifact that a worker has made; its content is in `path`."""

    name: str
    path: Path
    sha256: str
    schema_id: str


@dataclass(slots=True)
class Workplace:
    """One piece of work. `scope` is a section, the id of an issue, or `run`; `about` is what else was asked."""

    run_id: str
    worker: str
    scope: str
    attempt: int
    config: Mapping[str, Any]
    root: Path
    out: Path
    given: Mapping[str, Given]
    about: Mapping[str, Any] = field(default_factory=dict)
    made: dict[str, Made] = field(default_factory=dict)

    @property
    def repo(self) -> Path:
        """The product's repository at its commit; read only."""
        return self.root / "work" / "repo"

    @property
    def site(self) -> Path:
        """The work tree of the site."""
        return self.root / "work" / "site"

    def has(self, name: str) -> bool:
        """Whether there is such an artifact."""
        return name in self.given

    def read(self, name: str) -> Any:
        """A JSON artifact, checked against its schema and its digest."""
        content = self._content(name)
        try:
            return decode(self.given[name].schema_id, content)
        except DocumentError as error:
            raise ToolError(
                "SCHEMA_VALIDATION_FAILED", str(error), details={"artifact": name, "violations": error.violations}
            ) from error

    def read_text(self, name: str) -> str:
        """A text artifact."""
        return self._content(name).decode("utf-8")

    def write(self, name: str, document: Any, *, schema: str = "") -> str:
        """Make a JSON artifact; its schema has the name without `.json` unless another is given. Its digest."""
        schema = schema or name.removesuffix(".json")
        try:
            content = encode(schema, document)
        except DocumentError as error:
            raise ToolError(
                "SCHEMA_VALIDATION_FAILED", str(error), details={"artifact": name, "violations": error.violations}
            ) from error
        return self._keep(name, content, schema)

    def write_text(self, name: str, text: str) -> str:
        """Make a text artifact, such as `drafts/docs/install.md` or `reports/diff_report.md`. Its digest."""
        return self._keep(name, text.encode("utf-8"), TEXT)

    def tell(self, event: str, **payload: Any) -> None:
        """Say that something happened; it becomes an event of the run."""
        _say({"event": event, "payload": payload})

    def progress(self, done: int, total: int, text: str = "") -> None:
        """Say how far this is; shown to whoever watches, and not kept."""
        _say({"progress": {"done": done, "total": total, "text": text}})

    def _content(self, name: str) -> bytes:
        if name not in self.given:
            raise ToolError("INTERNAL", f"{self.worker} needs {name}, which no worker has made yet")
        kept = self.given[name]
        content = kept.path.read_bytes()
        if sha256(content) != kept.sha256:
            raise ToolError(
                "SCHEMA_VALIDATION_FAILED", f"{name} was changed after it was written", details={"artifact": name}
            )
        return content

    def _keep(self, name: str, content: bytes, schema_id: str) -> str:
        path = self.out / f"{len(self.made):05d}"
        if name in self.made:
            path = self.made[name].path
        path.write_bytes(content)
        self.made[name] = Made(name, path, sha256(content), schema_id)
        return self.made[name].sha256


def _say(what: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(what, ensure_ascii=False) + "\n")
    sys.stdout.flush()
