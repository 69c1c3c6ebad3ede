"""The releases of a session by their numbers: how their workers are started, and whose tools may break callers.

Which of them serves is the kernel's to say. Numbers are not used again.
"""

from collections.abc import Callable, Sequence

from holdfast.host.worker_process import WorkerOptions
from holdfast.kernel.state import State

__all__ = ["CheckOf", "Releases"]

CheckOf = Callable[[Sequence[str]], Callable[[], object] | None]
"""What is to be asked before each start of a worker by this command, if anything."""


class Releases:
    """The release that a host begins with, as number 1, and those that followed."""

    def __init__(self, first: WorkerOptions) -> None:
        self.check_of: CheckOf = lambda _: None
        self._options = {1: first}
        self._accepted: set[int] = set()  # whose tools may break callers

    def __getitem__(self, number: int) -> WorkerOptions:
        """How the workers of a release are started."""
        return self._options[number]

    def add(self, served: int, command: Sequence[str] | None, *, accept_breaking: bool) -> int:
        """Another program, or without a command the one that is served as it is now; its number."""
        number = max(self._options) + 1
        now = self._options[served]
        self._options[number] = now if command is None else now.of_release(command, self.check_of(command))
        if accept_breaking:
            self._accepted.add(number)
        return number

    def may_break(self, number: int) -> bool:
        """Whether it was asked for although its tools may break callers."""
        return number in self._accepted

    def forget(self, state: State) -> None:
        """Keep what serves, what it would go back to, and what is being prepared."""
        kept = {state.release, max(self._options), *(worker.release for worker in state.workers.values())}
        kept |= {state.probation.previous} if state.probation is not None else set()
        self._options = {number: self._options[number] for number in kept}
        self._accepted &= kept
