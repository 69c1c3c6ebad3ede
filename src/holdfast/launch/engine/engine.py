"""The interface of an engine: who is asked to do something with a run.

An engine decides where and when the steps of a run are executed. What the steps are, and what they leave behind,
is the same for every engine, and so is the truth about a run: the store.
"""

from collections.abc import Callable
from typing import Any, Protocol

__all__ = ["Engine", "never"]


def never() -> bool:
    """The `stop` of a caller who does not stop."""
    return False


class Engine(Protocol):
    """Executes runs. `identity` is what no other process is called."""

    identity: str

    def begin(self, kind: str, run_id: str) -> str:
        """Ask for something that nobody will wait for; the id of the request."""

    def ask(self, kind: str, run_id: str) -> str:
        """Ask for something; its id. The outcome is looked for in the store, and we are woken now and then."""

    def wake(self) -> None:
        """See to it that somebody looks at the requests, as long as somebody waits for them here."""

    def perform(self, kind: str, run_id: str, *, stop: Callable[[], bool] = never) -> dict[str, Any]:
        """Ask for something and wait for its outcome; ToolError where it is refused, fails, or is stopped."""

    def adopt(self, *, leaving: str = "") -> list[str]:
        """Go on with the runs whose execution was interrupted, but for one; their ids."""

    def is_at_work(self, holder: str) -> bool:
        """Whether who holds a run still lives; a process that was killed leaves its name in the store."""

    def close(self, *, at_once: bool = True) -> None:
        """Stop executing, at once or after the steps in hand; the rest stays for whoever comes next."""
