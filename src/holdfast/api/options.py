"""What the front process is told when it starts: one JSON line on its stdin, ahead of the first message.

Not on the command line, where every user of the machine could read it; tokens stand in it as digests. Unknown keys
are refused, so that a host and a front of different versions do not misunderstand each other in silence.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from holdfast.api.addresses import is_network
from holdfast.api.callers import Token
from holdfast.errors import UsageError, WireError
from holdfast.wire.codec import decode
from holdfast.wire.framing import MAX_MESSAGE_BYTES

__all__ = ["FrontOptions", "MountedRepository", "parse_options", "read_options_line"]

MAX_LINE_BYTES = 1024 * 1024
_DIGEST = re.compile(r"[0-9a-f]{64}")
_WHOLE = frozenset(
    {
        "maxBodyBytes",
        "concurrency",
        "maxConnections",
        "clientConnections",
        "idleTimeout",
        "clientConcurrency",
        "clientSessions",
        "clientStreams",
        "maxSessions",
    }
)


@dataclass(frozen=True, slots=True)
class MountedRepository:
    """A repository that may be asked for: what callers call it, and where it really is."""

    alias: str
    root: str


@dataclass(frozen=True, slots=True)
class FrontOptions:
    """Everything that an operator can turn; the key of the JSON line is the same name in camelCase."""

    schema_version: str
    id_prefix: str = ""  # what the ids of requests to the host begin with; nobody else may know it
    repositories: tuple[MountedRepository, ...] = ()
    workspace: str | None = None  # the file that lists some of them, if one does
    workspace_roots: tuple[str, ...] = ()  # which
    tokens: tuple[Token, ...] = ()
    pinned: bool = False  # whether every handshake settles on the oldest revision
    allowed_hosts: tuple[str, ...] = ()
    cors_origins: tuple[str, ...] = ()
    max_body_bytes: int = 1_000_000
    max_message_bytes: int = MAX_MESSAGE_BYTES  # of the host; the front reads twice as much in one message
    timeout: float = 120.0  # seconds that the work of one request may take
    body_timeout: float = 10.0  # seconds in which the whole body has to arrive
    header_timeout: float = 10.0  # seconds in which the head of a request has to arrive
    write_timeout: float = 30.0  # seconds in which a client has to read a fair part of what it is sent
    idle_timeout: int = 15  # seconds that a connection may wait for its next request
    keep_alive: float = 15.0  # seconds of silence after which a stream shows that it is alive
    concurrency: int = 32  # requests that may be at work at the same time
    client_concurrency: int = 0  # of them, requests of one client; 0 is its share, see `Allowances`
    client_rate: float = 0.0  # requests of one client a second; 0 is no limit
    client_sessions: int = 256  # MCP sessions of one client
    client_streams: int = 256  # event streams of one client
    max_sessions: int = 1000  # MCP sessions of all clients
    session_idle: float = 1800.0  # seconds after which a session that nobody uses is over
    max_connections: int = 2048
    client_connections: int = (
        256  # from one address, unless it is this machine's or a trusted proxy's; 0 is no limit
    )
    trusted_proxies: tuple[str, ...] = ()  # addresses and networks whose word on where a request comes from counts
    drain: float = 5.0  # seconds that running requests are given when the front is told to end
    show_paths: bool = False

    def __repr__(self) -> str:
        """Without the tokens: this may end up in a log."""
        return f"FrontOptions(repositories={[one.alias for one in self.repositories]}, ...)"


def read_options_line(descriptor: int) -> bytes:
    """The first line; read byte by byte, because what follows belongs to the protocol."""
    line = bytearray()
    while len(line) <= MAX_LINE_BYTES:
        byte = os.read(descriptor, 1)
        if byte in (b"", b"\n"):
            return bytes(line)
        line += byte
    raise UsageError("the options of the HTTP front do not end", remedy="send them as one JSON line on its stdin")


def parse_options(line: bytes) -> FrontOptions:
    """The options that a line says; UsageError tells what is wrong with it, never what stands in it."""
    try:
        given = decode(line)
    except WireError as error:
        raise _refusal("they are not JSON") from error
    if not isinstance(given, dict):
        raise _refusal("they are not a JSON object")
    names = {_camel(field.name): field.name for field in fields(FrontOptions)}
    unknown = sorted(set(given) - set(names))
    if unknown:
        raise _refusal(f"there is no option {', '.join(unknown)}")
    if "schemaVersion" not in given:
        raise _refusal("schemaVersion must be given")
    return FrontOptions(**{names[key]: _value(key, value) for key, value in given.items()})


def _value(key: str, value: Any) -> Any:
    if key == "repositories":
        return _repositories(value)
    if key == "tokens":
        return _tokens(value)
    if key == "workspace":
        return _checked(key, value, value is None or (isinstance(value, str) and os.path.isabs(value)))
    if key in {"allowedHosts", "corsOrigins", "workspaceRoots"}:
        return _texts(key, value)
    if key == "trustedProxies":
        return _checked(key, _texts(key, value), all(map(is_network, value)))
    if key in {"showPaths", "pinned"}:
        return _checked(key, value, isinstance(value, bool))
    if key in {"schemaVersion", "idPrefix"}:
        return _checked(key, value, isinstance(value, str) and bool(value))
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
    is_number = is_number and (value > 0 or key in {"clientRate", "clientConcurrency", "clientConnections"})
    if key in _WHOLE:
        return _checked(key, value, is_number and isinstance(value, int))
    return _checked(key, value, is_number)


def _checked(key: str, value: Any, holds: bool) -> Any:
    if not holds:
        raise _refusal(f"{key} has a value that it cannot have")
    return value


def _texts(key: str, value: Any) -> tuple[str, ...]:
    _checked(key, value, isinstance(value, list) and all(isinstance(text, str) and text for text in value))
    return tuple(value)


def _tokens(value: Any) -> tuple[Token, ...]:
    _checked("tokens", value, isinstance(value, list) and all(map(_is_token, value)))
    tokens = tuple(Token(one["name"], one["digest"], _patterns(one.get("tools"))) for one in value)
    _checked("tokens", value, len({token.name for token in tokens}) == len(tokens))
    return tokens


def _is_token(value: Any) -> bool:
    if not isinstance(value, Mapping) or not {"name", "digest"} <= set(value) <= {"name", "digest", "tools"}:
        return False
    digest, name = value["digest"], value["name"]
    return isinstance(name, str) and bool(name) and isinstance(digest, str) and bool(_DIGEST.fullmatch(digest))


def _patterns(value: Any) -> tuple[str, ...] | None:
    return None if value is None else _texts("tokens", value)


def _repositories(value: Any) -> tuple[MountedRepository, ...]:
    _checked("repositories", value, isinstance(value, list) and all(map(_is_repository, value)))
    mounted = tuple(MountedRepository(one["alias"], os.path.realpath(one["root"])) for one in value)
    _checked("repositories", value, len({one.alias for one in mounted}) == len(mounted))
    return mounted


def _is_repository(value: Any) -> bool:
    if not isinstance(value, Mapping) or set(value) != {"alias", "root"}:
        return False
    alias, root = value["alias"], value["root"]
    if not isinstance(alias, str) or not isinstance(root, str):
        return False
    return bool(alias) and "/" not in alias and alias.isprintable() and os.path.isabs(root) and "\0" not in root


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _refusal(problem: str) -> UsageError:
    return UsageError(f"the options of the HTTP front cannot be used: {problem}")
