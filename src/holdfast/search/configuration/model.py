"""The configuration of one searched repository, complete and in its final form.

Plain data and what follows from it; where it is read from is the business of `loading`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from holdfast.search.configuration.keys import KEYS
from holdfast.search.discover import Limits

__all__ = [
    "DEFAULT_ORIGIN",
    "CacheLimits",
    "Indexing",
    "McpServer",
    "SearchConfiguration",
    "SearchDefaults",
]

DEFAULT_ORIGIN = "default"

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")

_ALIASES = {"index_build": "build_index"}
# The knob of a server that a key is the default of.
_KNOBS = {"mcp.mode": "mcp_mode", "mcp.queueMax": "queue_max", "mcp.maxBufferBytes": "max_message_bytes"}


@dataclass(frozen=True, slots=True)
class McpServer:
    """Of a server that is started for the repository, and of calls about it."""

    mode: str
    queue_max: int
    max_buffer_bytes: int
    tool_timeout_ms: int | None
    tool_timeouts: Mapping[str, int]

    def timeout_ms(self, tool: str) -> int | None:
        """Milliseconds that a call of this tool may take; 0: no limit, None: what the tool declares."""
        named = self.tool_timeouts.get(tool, self.tool_timeouts.get(_ALIASES.get(tool, tool)))
        return self.tool_timeout_ms if named is None else named


@dataclass(frozen=True, slots=True)
class SearchDefaults:
    """What a search means that does not say."""

    top: int
    mode: str
    backend: str

    def completed(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a search, with what they leave open."""
        own = {"top": self.top, "mode": self.mode, "backend": self.backend}
        return {**arguments, **{name: value for name, value in own.items() if arguments.get(name) is None}}


@dataclass(frozen=True, slots=True)
class Indexing:
    """Which files are not indexed, beside those that git ignores."""

    limits: Limits
    ignore: tuple[str, ...]

    def ignore_file(self) -> bytes:
        """The patterns as an ignore file at the root would hold them."""
        return "".join(f"{pattern}\n" for pattern in self.ignore).encode("utf-8", "surrogateescape")

    def digest(self) -> str:
        """Another one whenever other files may be indexed, wherever that was said."""
        import hashlib

        sizes = f"{self.limits.code} {self.limits.prose} {self.limits.records}\n".encode()
        return hashlib.sha256(sizes + self.ignore_file()).hexdigest()


@dataclass(frozen=True, slots=True)
class CacheLimits:
    """What the collection of garbage leaves; None: no limit."""

    max_bytes: int | None
    max_age_days: int | None


@dataclass(frozen=True, slots=True)
class SearchConfiguration:
    """The value of every key, with where it was said.

    `origins` has every key; `files` are the names of those that were read; `warnings` is for people and programs,
    as `{code, message}`. Sources are `{source, sha256}` by their names, and never without the digest; one that is
    a path of the repository is a whole path here.
    """

    mcp: McpServer
    search: SearchDefaults
    indexing: Indexing
    cache: CacheLimits
    dictionary_sources: Mapping[str, Mapping[str, str]]
    model_sources: Mapping[str, Mapping[str, str]]
    values: Mapping[str, Any]
    origins: Mapping[str, str]
    files: tuple[str, ...]
    warnings: tuple[Mapping[str, str], ...]

    @classmethod
    def of(
        cls,
        root: Path,
        said: Mapping[str, Any],
        origins: Mapping[str, str],
        files: tuple[str, ...] = (),
        warnings: tuple[Mapping[str, str], ...] = (),
    ) -> "SearchConfiguration":
        """The configuration in which some keys have been given values, and all others have their defaults."""
        values = {key.path: said.get(key.path, key.default) for key in KEYS}
        sizes = {mode: values[f"indexing.maxFileBytes.{mode}"] for mode in ("code", "prose", "records")}
        return cls(
            mcp=McpServer(*(values[key.path] for key in KEYS if key.path.startswith("mcp."))),
            search=SearchDefaults(*(values[key.path] for key in KEYS if key.path.startswith("search."))),
            indexing=Indexing(Limits(**sizes), values["indexing.ignore"]),
            cache=CacheLimits(values["cache.maxBytes"], values["cache.maxAgeDays"]),
            dictionary_sources=_placed(values["dictionary.sources"], root),
            model_sources=_placed(values["models.sources"], root),
            values=MappingProxyType(values),
            origins=MappingProxyType({key.path: origins.get(key.path, DEFAULT_ORIGIN) for key in KEYS}),
            files=files,
            warnings=warnings,
        )

    def server_settings(self) -> dict[str, Any]:
        """What the files say about a server, by the names of its knobs."""
        return {knob: self.values[path] for path, knob in _KNOBS.items() if self.origins[path] != DEFAULT_ORIGIN}

    def as_json(self) -> dict[str, Any]:
        """Every key with its value, in groups."""
        whole: dict[str, Any] = {}
        for path, value in self.values.items():
            *groups, name = path.split(".")
            inner = whole
            for group in groups:
                inner = inner.setdefault(group, {})
            inner[name] = _plain(value)
        return whole


def _placed(sources: Mapping[str, Mapping[str, str]], root: Path) -> Mapping[str, Mapping[str, str]]:
    """Sources of which those that are paths start at the root of the repository, wherever the server runs."""
    return MappingProxyType(
        {
            name: one if _SCHEME.match(one["source"]) else {**one, "source": str(root / one["source"])}
            for name, one in sources.items()
        }
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return list(value) if isinstance(value, tuple) else value
