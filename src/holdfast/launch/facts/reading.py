"""Reading the product's repository: text files that the inventory knows, within limits, and nothing else.

A file that is not read is remembered with the reason, so that a page that lacks something can be explained. Links
are not followed, and nothing that was read is ever run. Credentials are redacted before anything sees the text.
"""

import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from holdfast.launch.facts.blocks import Section
from holdfast.launch.secret_scan import redact_secrets

__all__ = ["LARGEST_CODE", "LARGEST_PROSE", "LONGEST_LINE", "Repository"]

LARGEST_PROSE = 1 << 20
LARGEST_CODE = 2 << 20
LONGEST_LINE = 20_000  # characters; what is longer is data, whatever its name says


class Repository:
    """The files of a repository by their paths, sorted; `skipped` says what could not be read, and why."""

    def __init__(self, root: Path, inventory: Mapping[str, Any]) -> None:
        self._root = root
        self.inventory = inventory
        self.skipped: dict[str, str] = {}
        self._kinds = {str(item["path"]): str(item["kind"]) for item in inventory["paths"]}
        self._generated = {str(item["path"]) for item in inventory["paths"] if item.get("generated")}
        self.paths = sorted(self._kinds)
        self._texts: dict[str, str | None] = {}
        self.sections: dict[str, list[Section]] = {}

    def has(self, path: str) -> bool:
        """Whether there is such a file."""
        return path in self._kinds

    def is_text(self, path: str) -> bool:
        """Whether the inventory holds this for a text that can be read."""
        return self._kinds.get(path) == "text"

    def under(self, roots: Iterable[str], suffixes: Iterable[str]) -> list[str]:
        """The written (not generated) files below one of these folders, with one of these endings."""
        folders = tuple("" if root in (".", "") else root.rstrip("/") + "/" for root in roots)
        endings = tuple(suffixes)
        return [
            path
            for path in self.paths
            if path.startswith(folders) and path.lower().endswith(endings) and path not in self._generated
        ]

    def entries(self, kind: str) -> list[str]:
        """The documents of one kind (readme, changelog, license, docs), nearest to the root first."""
        found = [str(item["path"]) for item in self.inventory["doc_entrypoints"] if item["kind"] == kind]
        return sorted(found, key=lambda path: (path.count("/"), PurePosixPath(path).suffix.lower() != ".md", path))

    def text(self, path: str, limit: int = LARGEST_PROSE) -> str | None:
        """The text of a file with plain line ends, or None: then `skipped` says why."""
        if path not in self._texts:
            self._texts[path] = self._read(path, limit)
        return self._texts[path]

    def _read(self, path: str, limit: int) -> str | None:
        kind = self._kinds.get(path, "missing")
        if kind != "text":
            return self._skip(path, {"large": "too_large", "undecodable": "not_utf8"}.get(kind, kind))
        try:
            data = _plain_bytes(self._root / path, limit)
        except OSError:
            return self._skip(path, "not_a_plain_file")
        return self._decoded(path, data, limit)

    def _decoded(self, path: str, data: bytes, limit: int) -> str | None:
        if len(data) > limit:
            return self._skip(path, "too_large")
        if b"\0" in data:
            return self._skip(path, "binary")
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return self._skip(path, "not_utf8")
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        if any(len(line) > LONGEST_LINE for line in text.split("\n")):
            return self._skip(path, "line_too_long")
        return redact_secrets(text)

    def _skip(self, path: str, reason: str) -> str | None:
        self.skipped[path] = reason
        return None

    def skips(self) -> list[dict[str, str]]:
        """What was not read, sorted by path."""
        return [{"path": path, "reason": self.skipped[path]} for path in sorted(self.skipped)]


def _plain_bytes(location: Path, limit: int) -> bytes:
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with open(os.open(location, flags), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError("it is no plain file")
        return file.read(limit + 1)
