"""Who asks: the bearer of a token, or, where no tokens are set, whoever comes from an address.

A token may be bound to some of the tools. It is known by its digest alone: the token itself is nowhere kept, so it
cannot be told by accident.
"""

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

__all__ = ["Caller", "Token", "digest_of_token", "matching_token"]


@dataclass(frozen=True, slots=True)
class Token:
    """What an operator gave out: its name, its SHA-256, and patterns of the tools it is for; None is all."""

    name: str
    digest: str
    tools: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Caller:
    """One client, as limits know it; `key` tells it from every other."""

    key: str
    tools: tuple[str, ...] | None = None
    principal: str = ""  # the name of its token; an address tells of nobody in particular

    def may_call(self, tool: str) -> bool:
        """Whether a tool is for this caller: to be called, and to be seen in a list."""
        return self.tools is None or any(fnmatchcase(tool, pattern) for pattern in self.tools)


def digest_of_token(token: str) -> str:
    """What is kept of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def matching_token(tokens: Iterable[Token], sent: str) -> Token | None:
    """The token that was sent; each is compared in the same time, whether it is the right one or not."""
    digest = digest_of_token(sent)
    found = [token for token in tokens if hmac.compare_digest(digest, token.digest)]
    return found[0] if found else None
