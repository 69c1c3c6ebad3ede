"""Noticing that a program was changed: by its files, and only once they have stopped changing.

Files are looked at from time to time, by size, time and identity: that works on every system and network drive,
needs no library, and costs little for what a server is made of.
"""

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from holdfast.errors import UsageError

__all__ = ["MAX_FILES", "POLL", "Watch"]

POLL = 0.25  # seconds between two looks; a change counts when two looks in a row see the same
MAX_FILES = 20_000
# What a program writes beside itself while it runs, and what is far too much to look at.
_PASSED_OVER = frozenset({"__pycache__", "node_modules"})
_RESTLESS = 20  # looks in a row at files that never come to rest, after which a change counts all the same


class Watch:
    """Paths whose content matters. `look` is to be called again and again; it is True once per settled change.

    Whoever may have to come back to a change calls `find`, and `confirm` when it is done with.
    """

    def __init__(self, paths: Sequence[str | os.PathLike[str]]) -> None:
        self.paths = [Path(path).absolute() for path in paths]
        for given, path in zip(paths, self.paths, strict=True):
            if not os.fspath(given) or not path.exists():
                missing = f"{path} is not there" if os.fspath(given) else "an empty path names nothing"
                raise UsageError(f"{missing}, so it cannot be watched", remedy="name a file or directory")
        self._settled = self._print()
        self._last = self._settled
        self._restless = 0

    def look(self) -> bool:
        """Whether the files have changed since the last time that this was True, and are at rest."""
        if not self.find():
            return False
        self.confirm()
        return True

    def find(self) -> bool:
        """Whether the files are at rest and not those that were confirmed; True until they are."""
        now = self._print()
        is_at_rest, self._last = now == self._last, now
        self._restless = 0 if is_at_rest else self._restless + 1
        return (is_at_rest or self._restless >= _RESTLESS) and now != self._settled

    @property
    def is_changed(self) -> bool:
        """Whether the last look saw other files than those that were confirmed, at rest or not."""
        return self._last != self._settled

    def confirm(self) -> None:
        """What the last look saw is dealt with; what has changed since then is not."""
        self._restless = 0
        self._settled = self._last

    def _print(self) -> bytes:
        digest = hashlib.sha256()
        for count, (name, facts) in enumerate(self._entries(), 1):
            if count > MAX_FILES:
                raise UsageError(
                    f"there are more than {MAX_FILES} files to watch",
                    remedy="watch a smaller directory, or one file",
                )
            digest.update(os.fsencode(name) + repr(facts).encode() + b"\0")
        return digest.digest()

    def _entries(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        for path in self.paths:
            if path.is_dir():
                yield from _below(path)
            else:
                yield str(path), _facts(path)  # which is nothing at all between two versions of a file


def _below(root: Path) -> Iterator[tuple[str, tuple[int, ...]]]:
    for directory, names, files in os.walk(root):
        names[:] = sorted(name for name in names if not name.startswith(".") and name not in _PASSED_OVER)
        for name in sorted(files):
            if not name.startswith(".") and not name.endswith((".pyc", "~", ".swp", "#")):
                path = os.path.join(directory, name)
                yield path, _facts(path)


def _facts(path: str | os.PathLike[str]) -> tuple[int, ...]:
    try:
        told = os.stat(path)
    except OSError:
        return ()
    return (told.st_size, told.st_mtime_ns, told.st_ino)
