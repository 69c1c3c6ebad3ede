"""Which files of the product a run looks at, as its configuration says."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

__all__ = ["Selection"]


class Selection:
    """The `ingestion` of a configuration: directories to scan, patterns to leave out."""

    def __init__(self, ingestion: Mapping[str, Any]) -> None:
        folders = [_plain(folder) for folder in ingestion.get("scan_directories", ())]
        self._folders = tuple(folder for folder in folders if folder)
        self._scans_all = len(self._folders) < len(folders) or not folders
        self._patterns = tuple(ingestion.get("exclude_patterns", ()))

    def why_not(self, path: str) -> str:
        """Why the file is left out; "" where it is taken."""
        if not self._scans_all and "/" in path and not any(path.startswith(f"{name}/") for name in self._folders):
            # What lies at the root is taken always: the manifest, the README and the license are there.
            return "it is outside of scan_directories"
        for pattern in self._patterns:
            if _matches(pattern, path):
                return "exclude_patterns names it"
        return ""


def _plain(folder: str) -> str:
    return folder.removeprefix("./").strip("/").removeprefix(".")


def _matches(pattern: str, path: str) -> bool:
    """As in .gitignore: a pattern with a slash is for paths, one without for the name of any file or folder."""
    wanted = pattern.removeprefix("./").removeprefix("/").removesuffix("/")
    if "/" in wanted or pattern.startswith("/"):
        return _expression(wanted).fullmatch(path) is not None
    return any(_expression(wanted).fullmatch(part) for part in path.split("/"))


@cache
def _expression(pattern: str) -> Any:
    """Whoever writes a pattern decides how long matching takes, except with this engine, which is always quick."""
    import re2

    parts = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    split = [part for part in re.split(r"(\*\*/|\*\*|\*|\?)", pattern) if part]
    return re2.compile("(?s)" + "".join(parts.get(part) or re2.escape(part) for part in split) + "(?:/.*)?")
