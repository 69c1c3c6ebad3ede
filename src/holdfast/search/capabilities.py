"""What this installation can do, found out and not assumed, without loading what it finds.

Some names are those of the libraries with which another server does the same; they are kept for its clients, and
say whether the thing itself works here.
"""

import importlib.util
import os
import platform
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

from holdfast.version import __version__

__all__ = ["announced_capabilities", "capabilities", "platform_key", "reading_abilities", "vector_extension"]

_GIT_SECONDS = 5.0
_ARCHITECTURES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}
_READERS = {"documents": "pypdf", "languages": "tree_sitter_language_pack"}
_EXTENSION_NAMES = ("vec0.so", "vec0.dylib", "vec0.dll")


def announced_capabilities(cache_dir: Path) -> dict[str, Any]:
    """What a client is told in the handshake: found in a moment, and without starting a program."""
    return {
        # A DOCX needs the standard library alone, whose parser of XML some distributions leave out.
        "docs": {"pdfjsDist": _has("pypdf"), "mammoth": _has("pyexpat")},
        "vector": {"sqliteVec": vector_extension(cache_dir)["available"], "hnsw": _has("usearch")},
        "mcp": {"sdk": _has("mcp"), "native": True, "legacy": True},
        "search": {"tantivy": _has("tantivy"), "sqliteFts": _sqlite_has("ENABLE_FTS5"), "regex": _has("re2")},
        "watcher": {"watchfiles": _has("watchfiles")},
    }


def capabilities(cache_dir: Path) -> dict[str, Any]:
    """All of it: also how many languages can be parsed, and the version of git, or None."""
    return {**announced_capabilities(cache_dir), "languages": _languages(), "git": _git_version()}


def reading_abilities() -> str:
    """What reads files: this version, and optional readers. With others, the same files give other chunks."""
    return ",".join([__version__, *(name for name, module in _READERS.items() if _has(module))])


def vector_extension(cache_dir: Path) -> dict[str, Any]:
    """The extension of SQLite for vectors: where it is, and whether this Python could load it."""
    path = _extension_path(cache_dir)
    enabled = _can_load_extensions()
    return {"enabled": enabled, "path": path, "available": enabled and path is not None}


def platform_key() -> str:
    """What the directory of programs for this machine is called: `linux-x64`."""
    machine = platform.machine().lower()
    return f"{sys.platform}-{_ARCHITECTURES.get(machine, machine)}"


def _extension_path(cache_dir: Path) -> str | None:
    """It may come and go while a server runs, so it is looked for every time."""
    places = [cache_dir / "extensions" / "sqlite-vec" / platform_key()]
    package = _package("sqlite_vec")
    if package is not None:
        places.append(package)
    found = (place / name for place in places for name in _EXTENSION_NAMES if os.path.isfile(place / name))
    return next((str(path) for path in found), None)


@cache
def _has(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):  # a module without a spec, or a half of one
        return False


@cache
def _package(name: str) -> Path | None:
    spec = importlib.util.find_spec(name)
    places = (spec.submodule_search_locations if spec else None) or []
    return next((Path(place) for place in places), None)


@cache
def _sqlite_has(option: str) -> bool:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(":memory:")) as database:
        (is_used,) = database.execute("SELECT sqlite_compileoption_used(?)", (option,)).fetchone()
    return bool(is_used)


@cache
def _can_load_extensions() -> bool:
    import sqlite3

    # Some builds of Python leave the method out, some of SQLite what it would do.
    return hasattr(sqlite3.Connection, "enable_load_extension") and not _sqlite_has("OMIT_LOAD_EXTENSION")


@cache
def _languages() -> int:
    from holdfast.search.languages import LANGUAGES, available

    return sum(available(language) is not None for language in LANGUAGES)


@cache
def _git_version() -> str | None:
    from holdfast.git.asking import Git, GitError

    try:
        said = Git("/").whole("version", seconds=_GIT_SECONDS).decode("utf-8", "replace")
    except GitError:
        return None
    found = re.search(r"(?<![0-9])[0-9]+(?:\.[0-9]+)+", said)
    return found[0] if found else None
