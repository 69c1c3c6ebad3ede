"""What is known of addresses of other sites, on disk: shared by all runs of a workspace, and by several at once.

A good answer is believed for days, a bad one for less: what is broken may be mended. A file that cannot be read is
an empty one, and one that cannot be written costs questions, not a run.
"""

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Answered", "LinkCache"]

_HOUR = 3600.0
_LIVES = {"ok": 7 * 24 * _HOUR, "broken": 24 * _HOUR, "unsure": _HOUR, "unreachable": _HOUR / 6}
_MOST = 20_000
_LARGEST = 32 << 20
_LONGEST = 2000


class Answered(NamedTuple):
    """What is known of a link; `moved` is where it leads for good.

    The verdict is `ok`, `broken`, `unsure` (an answer that proves nothing), `unreachable`, or `unchecked`.
    """

    verdict: str
    detail: str = ""
    moved: str = ""


class LinkCache:
    """The answers in one file; `None` for a cache that forgets."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._known = self._read()

    def get(self, url: str, *, stale: bool = False) -> Answered | None:
        """What is known of an address, None where that is nothing or too old; `stale` believes it at any age."""
        row = self._known.get(url)
        if row is None:
            return None
        age = time.time() - row["at"]
        is_fresh = 0 <= age < _LIVES[row["verdict"]]
        return Answered(row["verdict"], row["detail"], row["moved"]) if is_fresh or stale else None

    def keep(self, answers: Mapping[str, Answered]) -> None:
        """Add what was found out now to what others have found out meanwhile."""
        now = time.time()
        fresh = {
            url: {"at": now, "verdict": one.verdict, "detail": one.detail, "moved": one.moved}
            for url, one in answers.items()
            if one.verdict in _LIVES and len(url) <= _LONGEST
        }
        if self._path is None or not fresh:
            return
        with contextlib.suppress(OSError):  # a full disk, or one that is read only
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.with_suffix(".lock").open("ab") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                rows = self._read() | fresh
                newest = sorted(rows, key=lambda url: (-rows[url]["at"], url))[:_MOST]
                self._write({url: rows[url] for url in sorted(newest)})

    def _write(self, rows: Mapping[str, Any]) -> None:
        assert self._path is not None
        draft = self._path.with_suffix(f".{os.getpid()}")
        try:
            draft.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
            draft.replace(self._path)
        finally:
            draft.unlink(missing_ok=True)

    def _read(self) -> dict[str, dict[str, Any]]:
        if self._path is None:
            return {}
        try:
            with self._path.open("rb") as file:
                rows = json.loads(file.read(_LARGEST + 1))
        except (OSError, ValueError, RecursionError):
            return {}
        return {url: row for url, row in rows.items() if _is_row(row)} if isinstance(rows, dict) else {}


def _is_row(row: object) -> bool:
    if not isinstance(row, dict) or not all(
        isinstance(row.get(name), str) for name in ("verdict", "detail", "moved")
    ):
        return False
    return row["verdict"] in _LIVES and isinstance(row.get("at"), int | float)
