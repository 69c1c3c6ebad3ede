"""What the work trees of a run on this machine were last made of, so that a machine of a pool knows old ones.

The mark is the digest of the bundle of patches in the site's work tree, empty before there is one. It is gone
while trees are being made, so half of them are never taken for whole ones.
"""

import secrets
from pathlib import Path

__all__ = ["TreeMark"]


class TreeMark:
    """The mark beside the work trees of one run."""

    def __init__(self, root: Path) -> None:
        self._work = root / "work"
        self._path = self._work / "bundle"

    def read(self) -> str | None:
        """The digest of the bundle, None where the trees are not to be relied on."""
        if (self._work / "repo").is_dir() != (self._work / "site").is_dir():
            return None  # somebody has removed one of them
        try:
            return self._path.read_text(encoding="ascii")
        except (FileNotFoundError, UnicodeDecodeError):
            return None

    def write(self, bundle: str) -> None:
        """The trees are made of this bundle now."""
        if self.read() == bundle:
            return
        self._work.mkdir(parents=True, exist_ok=True)
        draft = self._work / f".bundle.{secrets.token_hex(6)}"
        draft.write_text(bundle, encoding="ascii")
        draft.replace(self._path)

    def clear(self) -> None:
        """Rely on them no more."""
        self._path.unlink(missing_ok=True)
