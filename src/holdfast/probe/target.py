"""Where a server is found: a command line to start, or an address to ask. Data only."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

from holdfast.errors import UsageError

__all__ = ["HttpTarget", "StdioTarget", "Target", "http_target"]


@dataclass(frozen=True, slots=True)
class StdioTarget:
    """A program that speaks on stdin and stdout; `env` None means our own environment."""

    argv: tuple[str, ...]
    label: str
    env: Mapping[str, str] | None = field(default=None, repr=False)
    transport: str = "stdio"


@dataclass(frozen=True, slots=True)
class HttpTarget:
    """An endpoint of Streamable HTTP; `headers` go with every request, above all authorization."""

    url: str
    parts: SplitResult
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    transport: str = "http"

    @property
    def label(self) -> str:
        """The address without what may be secret in it."""
        port = f":{self.parts.port}" if self.parts.port else ""
        return f"{self.parts.scheme}://{self.parts.hostname}{port}{self.parts.path}"

    @property
    def is_local(self) -> bool:
        """Whether the address is one of this machine only."""
        return self.parts.hostname in {"localhost", "::1"} or (self.parts.hostname or "").startswith("127.")


Target = StdioTarget | HttpTarget


def http_target(url: str, headers: Mapping[str, str] | None = None) -> HttpTarget:
    """The endpoint at this address; a UsageError where it is no address."""
    try:
        parts = urlsplit(url)
        bad = parts.scheme not in {"http", "https"} or not parts.hostname or parts.port == 0
    except ValueError:
        bad = True
    if bad or any(not character.isprintable() or character == " " for character in url):
        raise UsageError(f"{url!r} is not the address of a server", remedy="such as http://127.0.0.1:8000/mcp")
    return HttpTarget(url, parts, dict(headers or {}))
