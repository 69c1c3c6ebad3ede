"""What a server offers may change while it serves: who must hear of it, and whether it was announced that it may.

Everything here may be called from any thread: tools run in threads too.
"""

import threading
import weakref
from collections.abc import Iterable
from typing import Protocol

from holdfast.errors import ContractError

__all__ = ["KINDS", "Changes", "Follower"]

KINDS = ("tools", "prompts", "resources")


class Follower(Protocol):
    """A session, as far as it is told of changes."""

    def list_changed(self, kind: str) -> None:
        """One of the lists has changed: tools, prompts or resources."""

    def resource_updated(self, uri: str) -> None:
        """What stands under an address has changed."""


class Changes:
    """The sessions of a server, and the lists of which it says that they may change."""

    def __init__(self, declared: bool | Iterable[str]) -> None:
        self._lock = threading.Lock()
        self._followers: weakref.WeakSet[Follower] = weakref.WeakSet()
        if isinstance(declared, bool):
            declared = KINDS if declared else ()
        named = (declared,) if isinstance(declared, str) else tuple(declared)
        if unknown := [name for name in named if name not in KINDS]:
            raise ContractError(
                f"list_changed names {unknown[0]!r}", remedy=f"use True, or some of {', '.join(KINDS)}"
            )
        self.declared = frozenset(named)

    def follow(self, follower: Follower) -> None:
        """Tell a session from now on."""
        with self._lock:
            self._followers.add(follower)

    def leave(self, follower: Follower) -> None:
        """Tell a session nothing more."""
        with self._lock:
            self._followers.discard(follower)

    def check(self, kind: str) -> None:
        """Refuse a change that clients, who are there, were told would not happen."""
        if kind not in self.declared and self._present():
            raise ContractError(
                f"the {kind} of a server that is being served cannot change",
                remedy=f'say that they may: Server(..., list_changed=("{kind}",))',
            )

    def list_changed(self, kind: str) -> None:
        """A list has changed."""
        for follower in self._present():
            follower.list_changed(kind)

    def resource_updated(self, uri: str) -> None:
        """A resource has changed."""
        for follower in self._present():
            follower.resource_updated(uri)

    def _present(self) -> list[Follower]:
        with self._lock:
            return list(self._followers)
