"""Takes absolute paths out of what is answered: inside a repository they become `alias/...`, elsewhere a marker.

Where the machine keeps its files is nobody's business over a network. Texts under a key that names a path count
as one as soon as they begin like one; in other texts a path is what begins with a top-level directory of this
machine, or ends in a file extension. So JSON Pointers and regular expressions stay as they are. Source text of
search hits is content, and callers do not send it through here.
"""

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from holdfast.api.options import MountedRepository

__all__ = ["MARKER", "PathRedactor"]

MARKER = "<redacted:absolute-path>"
_MAX_DEPTH = 64

_TOP_LEVEL = frozenset(
    {
        "Applications", "Library", "System", "Users", "Volumes", "bin", "boot", "dev", "etc", "home", "lib",
        "lib64", "media", "mnt", "nix", "opt", "private", "proc", "root", "run", "sbin", "snap", "srv", "sys",
        "tmp", "usr", "var",
    }
)  # fmt: skip
_PATH_KEY = re.compile(r"(?:paths?|dirs?|directory|roots?|files?|folder|location|cwd)\Z", re.IGNORECASE)
_POINTERS = frozenset({"instancePath", "schemaPath"})  # JSON Pointers, though they look like paths
_EXTENSION = re.compile(r"\w\.[A-Za-z]\w{0,7}\Z")
_REST = r"""[^\s"'`<>|*?:;,()\[\]{}\\/]"""
_FOUND = re.compile(
    r"""(?P<file>(?<![\w+.-])file:/[^\s"'`<>|]+)"""
    r"""|(?P<url>(?<![\w+.-])[A-Za-z][\w+.-]*+://[^\s"'`<>]*)"""
    rf"""|(?P<windows>(?<!\w)(?:[A-Za-z]:[\\/]|\\\\[\w.$-]+\\)(?:{_REST}|[\\/])+)"""
    r"""|(?P<quoted>(?<=["'`])/[^"'`\r\n]+(?=["'`]))"""
    rf"""|(?P<posix>(?<![\w.~/\\>-])/++{_REST}++(?:/++{_REST}++)*+/*+)"""
)
_BEGINS_LIKE_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")


class PathRedactor:
    """Redacts text and JSON values for one set of repositories; does nothing where paths may be shown."""

    def __init__(
        self,
        repositories: Iterable[MountedRepository],
        *,
        show_paths: bool = False,
        top_level: Iterable[str] | None = None,
    ) -> None:
        self._show = show_paths
        self._top_level = _TOP_LEVEL | set(_machine_top_level() if top_level is None else top_level)
        # The longest first, so that a repository inside of another is called by its own name.
        mounted = sorted((one for one in repositories if one.root != "/"), key=lambda one: -len(one.root))
        self._aliases = {one.root: one.alias for one in mounted}
        names = "|".join(re.escape(one.root) for one in mounted)
        self._roots = re.compile(rf"(?<![\w.~/-])(?:{names})(?![\w.-])") if mounted else None

    def text(self, text: str) -> str:
        """A text for people without its absolute paths."""
        if self._show or ("/" not in text and "\\" not in text):
            return text
        if self._roots is not None:
            text = self._roots.sub(lambda found: self._aliases[found[0]], text)
        if text.startswith("/") and self._is_path(text):
            return MARKER  # the whole text: nobody can tell where a path with spaces ends
        return _FOUND.sub(self._marked, text)

    def value(self, value: Any, *, content: frozenset[str] = frozenset()) -> Any:
        """A copy of a JSON value without absolute paths; what stands under the top-level keys `content` stays."""
        if self._show or not isinstance(value, Mapping):
            return self._value(value, "", _MAX_DEPTH)
        return {
            self.text(key): item if key in content else self._value(item, key, _MAX_DEPTH)
            for key, item in value.items()
        }

    def _value(self, value: Any, key: str, depth: int) -> Any:
        if self._show:
            return value
        if isinstance(value, str):
            return self._text_under(key, value)
        if depth == 0 and isinstance(value, Mapping | list):
            return MARKER  # deeper than anything that a tool answers
        if isinstance(value, Mapping):
            return {self.text(name): self._value(item, name, depth - 1) for name, item in value.items()}
        if isinstance(value, list):
            return [self._value(item, key, depth - 1) for item in value]
        return value

    def _text_under(self, key: str, text: str) -> str:
        if key in _POINTERS:
            return text if self._roots is None else self._roots.sub(lambda found: self._aliases[found[0]], text)
        redacted = self.text(text)
        if _PATH_KEY.search(key) and (redacted.startswith("/") or _BEGINS_LIKE_WINDOWS.match(redacted)):
            return MARKER
        return redacted

    def _marked(self, found: re.Match[str]) -> str:
        if found.lastgroup == "url" or (found.lastgroup in {"posix", "quoted"} and not self._is_path(found[0])):
            return found[0]
        return MARKER

    def _is_path(self, text: str) -> bool:
        segments = [segment for segment in text.split("/") if segment]
        if not segments:
            return False
        if segments[0] in self._top_level:
            return True
        return len(segments) > 1 and not re.search(r"\s", text) and _EXTENSION.search(segments[-1]) is not None


def _machine_top_level() -> list[str]:
    try:
        return os.listdir("/")
    except OSError:
        return []
