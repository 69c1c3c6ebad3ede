"""Where events go: the one interface that the rest of the package knows. Tests have one that keeps a list."""

from typing import Protocol

from holdfast.vocabulary.events import Event

__all__ = ["EventSink"]


class EventSink(Protocol):
    """Takes events; never raises, never blocks for long."""

    def emit(self, event: Event) -> None:
        """Take one event; it may be buffered."""

    def flush(self) -> None:
        """Write what is buffered."""

    def close(self) -> None:
        """Write what is buffered and let go of the file."""
