"""What a host tells of itself to others than the person who started it: clients, models, whoever asks its port.

They learn how it is. How it was started is nobody else's business: it may hold tokens, and says where things are.
"""

from collections.abc import Mapping
from typing import Any

from holdfast.observe.redaction import Redactor

__all__ = ["Discretion"]


class Discretion:
    """Makes of a document what anybody may read: without command, secrets, paths, and what programs printed."""

    def __init__(self) -> None:
        self._redactor = Redactor()

    def of(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """A copy of the document without all of that."""
        told: dict[str, Any] = self._redactor.value({k: v for k, v in document.items() if k != "command"})
        if isinstance(told.get("last_fault"), dict):
            told["last_fault"].pop("stderr", None)
        return told
