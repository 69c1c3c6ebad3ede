"""What `config_status` tells: the configuration in force, what this installation can do, what lies in the cache.

A warning is about something that matters here: nobody is told to download what nothing would use.
"""

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from holdfast.errors import ToolError
from holdfast.search.artifacts import fetched_names
from holdfast.search.capabilities import capabilities, vector_extension
from holdfast.search.configuration import CONFIGURATION_FILES, SearchConfiguration, load_configuration
from holdfast.search.home import IndexHome
from holdfast.search.repository import Repository, index_home
from holdfast.search.request_fields import PORTABLE_BACKENDS
from holdfast.settings import Settings

__all__ = ["config_status"]

_SQLITE_BACKENDS = (*PORTABLE_BACKENDS, "fts")
_OF_SERVER = {"mode": "mcp_mode", "queueMax": "queue_max", "maxBufferBytes": "max_message_bytes"}
_SERVER_ORIGIN = "server"
_Warning = tuple[str, str]


def config_status(repository: Repository, cache_dir: Path, *, server: Settings | None = None) -> dict[str, Any]:
    """The payload; a broken configuration is INVALID_REQUEST here as everywhere, with everything that is wrong.

    With the settings of the `server` that answers, those values are told that it really runs with.
    """
    configuration = load_configuration(repository)
    status: dict[str, Any] = {
        "repoPath": repository.shown,
        "repoId": repository.repo_id,
        "capabilities": capabilities(cache_dir),
        "config": configuration.as_json(),
        "origins": dict(configuration.origins),
        "files": [
            {"file": name, "exists": os.path.lexists(repository.root / name), "used": name in configuration.files}
            for name in CONFIGURATION_FILES
        ],
        "cache": _cache(repository, cache_dir),
    }
    warnings = [*_what_is_missing(configuration, status, cache_dir), *_left_out(repository, cache_dir, status)]
    if server is not None:
        warnings += _apply(server, configuration, status)
    told = [{"code": code, "message": message} for code, message in warnings]
    return {**status, "warnings": [*map(dict, configuration.warnings), *told]}


def _cache(repository: Repository, cache_dir: Path) -> dict[str, Any]:
    home = index_home(repository, cache_dir)
    portable = IndexHome(home).portable
    return {
        "cacheRoot": str(cache_dir),
        "cacheRootExists": cache_dir.is_dir(),
        "repoCacheRoot": str(home),
        "repoCacheExists": home.is_dir(),
        "dictionaries": fetched_names(cache_dir / "dictionaries"),
        "modelAvailable": bool(fetched_names(cache_dir / "models")),
        "sqlite": {"path": str(portable), "exists": portable.is_file()},
        "vectorExtension": vector_extension(cache_dir),
    }


def _what_is_missing(
    configuration: SearchConfiguration, status: dict[str, Any], cache_dir: Path
) -> Iterator[_Warning]:
    """What the configuration counts on, and what the search itself needs, as far as it is not there."""
    able, cache = status["capabilities"], status["cache"]
    words = {Path(name).stem for name in cache["dictionaries"]} | set(cache["dictionaries"])
    for name in configuration.dictionary_sources:
        if name not in words and name.replace("/", "--") not in words:
            how = f"download_dictionaries with lang {name} fetches it"
            yield "dictionary_missing", f"the dictionary {name} is configured and not there; {how}"
    models = set(fetched_names(cache_dir / "models"))
    for name in configuration.model_sources:
        if not models & {name, name.replace("/", "--"), name.partition("/")[0]}:
            yield "model_missing", f"the model {name} is configured and not there; download_models fetches it"
    if configuration.search.backend in _SQLITE_BACKENDS and not cache["sqlite"]["exists"]:
        yield "sqlite_missing", f"search.backend is {configuration.search.backend}; build_sqlite_index makes it"
    extension = cache["vectorExtension"]
    if extension["path"] is not None and not extension["enabled"]:
        yield "extension_missing", "the extension for vectors is there, but this Python cannot load extensions"
    if configuration.mcp.mode == "sdk" and not able["mcp"]["sdk"]:
        yield "mcp_transport_missing", "mcp.mode is sdk and the SDK is missing: pip install 'holdfast[sdk]'"
    if not able["watcher"]["watchfiles"]:
        yield "watcher_backend_missing", "an index cannot follow changes: pip install watchfiles"
    if not able["search"]["regex"]:
        yield "regex_backend_missing", "regular expressions cannot be searched: pip install google-re2"


def _left_out(repository: Repository, cache_dir: Path, status: dict[str, Any]) -> Iterator[_Warning]:
    """Documents that were found and could not be read for want of a library."""
    if status["capabilities"]["docs"]["pdfjsDist"]:
        return
    from holdfast.search.library import open_index

    try:
        with open_index(repository, cache_dir) as index:
            count = index.status()["skipped"].get("document", 0)
    except (ToolError, OSError, sqlite3.Error):  # no index that can be read: it does not matter yet
        return
    if count:
        message = f"{count} PDF files are not searched: pip install 'holdfast[documents]', then build anew"
        yield "document_extract_missing", message


def _apply(server: Settings, configuration: SearchConfiguration, status: dict[str, Any]) -> list[_Warning]:
    """Tell what the server runs with; it was started once, maybe for another repository or with flags."""
    warnings: list[_Warning] = []
    for name, knob in _OF_SERVER.items():
        actual, path = getattr(server, knob), f"mcp.{name}"
        said = configuration.values[path]
        if actual == said:
            continue
        if knob in configuration.server_settings():
            message = f"{path} is {said} in {configuration.origins[path]}; this server runs with {actual}"
            warnings.append(("server_setting", message))
        status["config"]["mcp"][name] = actual
        status["origins"][path] = _SERVER_ORIGIN
    return warnings
