"""Every key that the configuration of a repository may have, declared once: type, default, bounds, meaning.

The file comes with the project, and a project that was only cloned must not load code or choose where we write.
Keys by which it could are declared too, with the reason why they are refused. Defaults that are those of a server
or of a search are taken from where they are declared; a key that would do nothing does not exist.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from holdfast.search.discover import Limits
from holdfast.search.request_fields import FIELD_OF
from holdfast.settings import SETTINGS

__all__ = ["JSON", "KEYS", "REFUSED", "TOML", "TOOLS", "Key", "Refusal", "spelled"]

_MIB = 1024 * 1024
_DAY_MS = 24 * 3600 * 1000
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

JSON = "json"  # camelCase, the groups as objects
TOML = "toml"  # snake_case below [search], which is the group `search` itself

# The tools whose time can be limited; the registry of the server is held to this list by a test.
TOOLS = (
    "bootstrap", "build_index", "build_sqlite_index", "cache_gc", "check_status", "clean_artifacts",
    "compact_sqlite_index", "config_status", "download_dictionaries", "download_extensions", "download_models",
    "index_build", "index_status", "report_artifacts", "search", "show_file", "triage_context_pack",
    "triage_decision", "triage_ingest", "verify_extensions", "workspace_status",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Key:
    """One key.

    Kinds: `integer`; `choice`; `patterns` (as in an ignore file); `timeouts` (milliseconds by the name of a tool);
    `sources` (what may be downloaded, by its name).
    """

    path: str  # as in JSON, with dots
    kind: str
    default: Any
    help: str
    minimum: int = 0
    maximum: int = 2**31 - 1
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """A key that is known, and that the file of a project may not have."""

    path: str
    reason: str
    hint: str


def spelled(path: str, spelling: str) -> tuple[str, ...]:
    """The names that lead to a key in a file of this spelling."""
    names = tuple(path.split("."))
    if spelling == JSON:
        return names
    names = names[1:] if len(names) > 1 and names[0] == "search" else names
    return tuple("_".join(_HUMP.split(name)).lower() for name in names)


_OF_SERVER = {setting.name: setting.default for setting in SETTINGS}
_LIMITS = Limits()
_NONE: Mapping[str, Any] = MappingProxyType({})
_TOP, _MODE, _BACKEND = (FIELD_OF[name] for name in ("top", "mode", "backend"))

KEYS: tuple[Key, ...] = (
    Key("mcp.mode", "choice", _OF_SERVER["mcp_mode"],
        "How a server that is started for this repository speaks MCP on stdio.",
        choices=("native", "sdk", "legacy")),
    Key("mcp.queueMax", "integer", _OF_SERVER["queue_max"],
        "Calls that may wait in such a server; one more is answered QUEUE_OVERLOADED.", maximum=65536),
    Key("mcp.maxBufferBytes", "integer", _OF_SERVER["max_message_bytes"],
        "Largest message that such a server takes or sends, in bytes.", minimum=1024, maximum=1024 * _MIB),
    Key("mcp.toolTimeoutMs", "integer", None,
        "Milliseconds that a call to such a server may take; 0: no limit. Default: what the tool declares.",
        maximum=_DAY_MS),
    Key("mcp.toolTimeouts", "timeouts", _NONE,
        "The same for single tools, by their names; wins over toolTimeoutMs.", maximum=_DAY_MS),
    Key("search.top", "integer", _TOP.default, "How many results of each mode, where a search does not say.",
        minimum=1, maximum=_TOP.maximum or 0),
    Key("search.mode", "choice", "both", "What is searched, where a search does not say.", choices=_MODE.choices),
    Key("search.backend", "choice", _BACKEND.default, "The engine, where a search does not say.",
        choices=_BACKEND.choices),
    Key("indexing.maxFileBytes.code", "integer", _LIMITS.code, "Bytes of the largest file of code that counts.",
        minimum=1, maximum=64 * _MIB),
    Key("indexing.maxFileBytes.prose", "integer", _LIMITS.prose, "The same for prose.",
        minimum=1, maximum=64 * _MIB),
    Key("indexing.maxFileBytes.records", "integer", _LIMITS.records, "The same for records and documents.",
        minimum=1, maximum=64 * _MIB),
    Key("indexing.ignore", "patterns", (),
        "Files and directories that are not indexed: patterns as in a .holdfastignore at the root."),
    Key("cache.maxBytes", "integer", None,
        "Bytes that cache_gc leaves to the index of this repository, if a call does not say. Default: no limit.",
        minimum=_MIB, maximum=2**50),
    Key("cache.maxAgeDays", "integer", None,
        "Days after which cache_gc removes the index of this repository if it was not used, where a call does not "
        "say. Default: never.",
        minimum=1, maximum=36500),
    Key("dictionary.sources", "sources", _NONE,
        "Word lists that download_dictionaries may be asked for: name, source and SHA-256."),
    Key("models.sources", "sources", _NONE,
        "Models that download_models may be asked for: name, source and SHA-256."),
)  # fmt: skip

_WRITES = "a project must not choose where we write"
_LOADS = "a project must not choose code that we load or run"
_CACHE_DIR = "remove it; set HOLDFAST_CACHE_DIR or give --cache-dir"
_ARGUMENT = "remove it; name the source in the call itself"

REFUSED: tuple[Refusal, ...] = (
    *(
        Refusal(path, _WRITES, _CACHE_DIR)
        for path in (
            "cacheRoot", "cacheDir", "cache.root", "cache.dir", "cache.cacheRoot", "dictionary.dir", "models.dir",
            "sqlite.dbDir", "sqlite.codeDbPath", "sqlite.proseDbPath", "triage.recordsDir", "triage.dir",
        )
    ),
    *(
        Refusal(path, _LOADS, _ARGUMENT)
        for path in ("extensions", "vectorExtension", "sqlite.vectorExtension", "search.extensions")
    ),
    *(Refusal(path, _LOADS, "remove it; nothing that it names would be run") for path in ("tooling", "runtime")),
)  # fmt: skip
