"""Whether the SQLite extension for vectors is here, can be loaded, and finds a neighbour.

Loading runs native code in this very process, so the caller runs this in a process of its own, and only code
whose digest is known is loaded: from the manifest of downloads, or from the command line. Arguments end up in SQL,
so every name is checked to be nothing but a name.
"""

import errno
import re
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from holdfast.errors import ToolError
from holdfast.search.downloads.extensions import MANIFEST, checked_provider, extension_path, extensions_dir
from holdfast.search.downloads.placing import Content, content_of_file
from holdfast.search.downloads.platforms import Machine, machine
from holdfast.search.downloads.shelf import Entry, Shelf, real_path
from holdfast.search.downloads.sources import checked_sha256

__all__ = ["verify_extensions"]

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_OPTION = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\s*=\s*[A-Za-z0-9_.-]+)?")
_ENCODINGS = ("float32", "json")
_ANN_MODES = ("auto", "extension", "js")
_ENTRY_POINT = "sqlite3_vec_init"  # SQLite would guess it from the name of the file, which the caller may choose
_SQLITES = ("sqlite3", "pysqlite3")  # in the order in which they are tried
_VECTORS = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
_NOT_ASKED = {"attempted": False, "ok": False, "reason": None}


def verify_extensions(
    cache_dir: Path,
    *,
    provider: str | None = None,
    target: Path | None = None,
    path: Path | None = None,
    sha256: str | None = None,
    platform: str | None = None,
    arch: str | None = None,
    module: str | None = None,
    table: str | None = None,
    column: str | None = None,
    encoding: str | None = None,
    options: str | None = None,
    ann_mode: str | None = None,
    load: bool = True,
) -> dict[str, Any]:
    """Look for the extension, load it into a database in memory, and ask it for the nearest of two vectors.

    A file is loaded only if the manifest has its digest, or `sha256` is its digest. `target`, `path` and `sha256`
    come from the command line alone: native code that a client names must not run.
    """
    name, made_for, vouched = checked_provider(provider), machine(platform, arch), checked_sha256(sha256)
    config = _config(name, made_for, module, table, column, encoding, options, ann_mode)
    directory = extensions_dir(cache_dir, target)
    found = extension_path(directory, name, made_for) if path is None else real_path(path)
    with _reading(found):
        content = content_of_file(found)
    noted = Shelf(directory, MANIFEST, is_own=target is None).entries()
    distrust = None if content is None else _distrust(content, noted, f"{name}/{made_for.key}", path, vouched)
    reason = _reason_not_to_load(config, made_for, asked=load, exists=content is not None) or distrust
    loaded, smoke = ({**_NOT_ASKED, "reason": reason}, dict(_NOT_ASKED)) if reason else _try(found, config)
    return {
        "config": config,
        "path": str(found),
        "exists": content is not None,
        "sha256": None if content is None else content["sha256"],
        "load": loaded,
        "smoke": smoke,
    }


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        code = "FORBIDDEN" if error.errno in (errno.EACCES, errno.EPERM) else "INVALID_REQUEST"
        message = f"{path.name} cannot be read: {error.strerror or error}"
        hint = "give the `path` of a library that can be read"
        raise ToolError(code, message, details={"path": str(path)}, hint=hint) from error


def _config(
    provider: str, made_for: Machine, module: str | None, table: str | None, column: str | None,
    encoding: str | None, options: str | None, ann_mode: str | None,
) -> dict[str, Any]:  # fmt: skip
    """What is verified, with every default filled in; all that is wrong with it at once."""
    names = {"module": module or "vec0", "table": table or "dense_vectors_ann", "column": column or "embedding"}
    chosen_encoding, chosen_mode = encoding or _ENCODINGS[0], ann_mode or _ANN_MODES[0]
    parts = [part.strip() for part in (options or "").split(",") if part.strip()]
    wrong = [key for key, value in names.items() if not _IDENTIFIER.fullmatch(value)]
    wrong += ["encoding"] if chosen_encoding not in _ENCODINGS else []
    wrong += ["annMode"] if chosen_mode not in _ANN_MODES else []
    wrong += ["options"] if not all(map(_OPTION.fullmatch, parts)) else []
    if wrong:
        hint = (
            f"module, table and column are plain names; encoding is one of {', '.join(_ENCODINGS)}; "
            f"annMode is one of {', '.join(_ANN_MODES)}; options are NAME=VALUE with commas"
        )
        message = f"this cannot be used: {', '.join(wrong)}"
        raise ToolError("INVALID_REQUEST", message, details={"invalid": wrong}, hint=hint)
    return {
        "annMode": chosen_mode,
        "enabled": chosen_mode != "js",
        "provider": provider,
        **names,
        "encoding": chosen_encoding,
        "options": ", ".join(re.sub(r"\s*=\s*", "=", part) for part in parts),
        "platform": made_for.platform,
        "arch": made_for.arch,
        "platformKey": made_for.key,
    }


def _reason_not_to_load(config: dict[str, Any], made_for: Machine, *, asked: bool, exists: bool) -> str | None:
    if not exists:
        return "not installed; call download_extensions"
    if not asked:
        return "not asked for"
    if not config["enabled"]:
        return "annMode js uses no extension"
    return None if made_for.is_this_one else f"made for {made_for.key}, which this machine is not"


def _distrust(
    content: Content, noted: dict[str, Entry], name: str, path: Path | None, vouched: str | None
) -> str | None:
    """Return the reason why this content must not be loaded; None where its digest is known."""
    if vouched is not None:
        return None if vouched == content["sha256"] else "its SHA-256 is not the given one"
    known = list(noted.values()) if path is not None else [noted[name]] if name in noted else []
    if any(entry.get("content") == content for entry in known):
        return None
    if path is None and known:
        return "changed since it was downloaded; download it again with force"
    return "its SHA-256 is not that of a download; fetch it with download_extensions"


def _try(path: Path, config: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    sqlite = _loading_sqlite()
    connection = sqlite.connect(":memory:")
    try:
        connection.enable_load_extension(True)  # noqa: FBT003 - the name of an argument that has none
        try:
            connection.execute("SELECT load_extension(?, ?)", (str(path), _ENTRY_POINT))
        except sqlite.Error as error:
            return {"attempted": True, "ok": False, "reason": str(error)[:500]}, dict(_NOT_ASKED)
        connection.enable_load_extension(False)  # noqa: FBT003
        loaded = {"attempted": True, "ok": True, "reason": None}
        try:
            reason = _smoke(connection, config)
        except sqlite.Error as error:
            reason = str(error)[:500]
        return loaded, {"attempted": True, "ok": reason is None, "reason": reason}
    finally:
        connection.close()


def _smoke(connection: sqlite3.Connection, config: dict[str, Any]) -> str | None:
    """Why it does not do what it is for; None when it does. Every name in here was checked to be one."""
    table, column = config["table"], config["column"]
    options = f", {config['options']}" if config["options"] else ""
    connection.execute(f'CREATE VIRTUAL TABLE "{table}" USING {config["module"]}({column} float[3]{options})')
    for number, vector in enumerate(_VECTORS, 1):
        row = (number, _encoded(vector, config["encoding"]))
        connection.execute(f'INSERT INTO "{table}"(rowid, {column}) VALUES (?, ?)', row)  # noqa: S608
    nearest = connection.execute(
        f'SELECT rowid FROM "{table}" WHERE {column} MATCH ? AND k = 1',  # noqa: S608
        (_encoded((0.9, 0.1, 0.0), config["encoding"]),),
    ).fetchall()
    return None if nearest == [(1,)] else f"it found {nearest} where row 1 is the nearest"


def _encoded(vector: tuple[float, ...], encoding: str) -> bytes | str:
    return struct.pack(f"<{len(vector)}f", *vector) if encoding == "float32" else str(list(vector))


def _loading_sqlite() -> ModuleType:
    """A SQLite for Python that may load extensions; the one of the standard library often may not."""
    for name in _SQLITES:
        try:
            module = import_module(name)
        except ImportError:
            continue
        if hasattr(getattr(module, "Connection", None), "enable_load_extension"):
            return module
    raise ToolError(
        "CAPABILITY_MISSING",
        "the SQLite of this Python cannot load extensions",
        hint="`pip install pysqlite3`, or use a Python that was built with --enable-loadable-sqlite-extensions",
    )
