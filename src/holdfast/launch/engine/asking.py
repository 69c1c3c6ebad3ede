"""How whoever wants something asks for it: a request in the store, and the wait for its outcome.

The same for every engine. A request that was interrupted with the process that carried it out is asked for again;
what it had begun is then carried to its end, not begun a second time.
"""

import contextlib
import errno
import secrets
import socket
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING, Any

from holdfast.errors import ToolError
from holdfast.launch.engine.engine import never
from holdfast.launch.engine.refusals import store_unusable
from holdfast.launch.store.refusals import StoreError

if TYPE_CHECKING:
    from holdfast.launch.store.run_store import RunStore

__all__ = ["INTERRUPTED", "Asking", "failure", "unexpected"]

INTERRUPTED = {"interrupted": True}
"""The outcome of a request whose execution ended without one; whoever waits for it asks again."""
_LOOK = 0.1  # seconds between two looks at a request
_PATIENCE = 10.0  # seconds that whoever executes has to stop what it was asked to stop


class Asking(ABC):
    """The part of an engine that asks, and waits."""

    identity: str
    _store: "RunStore"
    _closing: threading.Event

    @abstractmethod
    def wake(self) -> None:
        """See to it that somebody looks at the requests."""

    @abstractmethod
    def _given_up(self) -> Exception | None:
        """Why nobody will look at them, where that is so."""

    def perform(self, kind: str, run_id: str, *, stop: Callable[[], bool] = never) -> dict[str, Any]:
        """Ask for something and wait for its outcome; ToolError where it is refused, fails, or is stopped."""
        try:
            run = self._store.run(run_id)
            again = {"fix": f"finish_fix:{run.fix_attempts if run else 0}", "open_pr": "finish_open_pr"}
            outcome = self._wait(self.ask(kind, run_id), stop)
            while outcome == INTERRUPTED:
                outcome = self._wait(self.ask(again.get(kind, kind), run_id), stop)
        except StoreError as trouble:
            raise unexpected(run_id, trouble) from trouble
        if "error" in outcome:
            error = outcome["error"]
            raise ToolError(
                error["code"], error["message"], details=error["details"], hint=error["hint"],
                retryable=error["retryable"],
            )  # fmt: skip
        done: dict[str, Any] = outcome["done"]
        return done

    def ask(self, kind: str, run_id: str) -> str:
        """Ask for something; its id. The outcome is looked for in the store, and we are woken now and then."""
        request = secrets.token_hex(8)
        self._store.ask(request, run_id, kind, self.identity, datetime.now(UTC))
        self.wake()
        return request

    def _wait(self, request: str, stop: Callable[[], bool]) -> dict[str, Any]:
        asked_to_stop: float | None = None
        while True:
            found = self._store.request(request)
            if found is None or found.state == "cancelled":
                return failure(ToolError("CANCELLED", "the request was cancelled", details={"scope": "request"}))
            if found.state == "done":
                return found.outcome or INTERRUPTED
            if asked_to_stop is None and stop():
                asked_to_stop = monotonic()
                self._store.cancel_request(request)
            if asked_to_stop is not None and monotonic() - asked_to_stop > _PATIENCE:
                return failure(_not_stopped(found.run_id))
            trouble = self._given_up()
            if trouble is not None:
                with contextlib.suppress(StoreError):  # then it stays, and is done by whoever comes next
                    self._store.cancel_request(request)
                return failure(trouble if isinstance(trouble, ToolError) else unexpected(found.run_id, trouble))
            self.wake()
            if self._closing.wait(_LOOK):
                return failure(ToolError("CANCELLED", "the engine was closed", details={"scope": "request"}))


def failure(error: ToolError) -> dict[str, Any]:
    """The outcome of a request that has failed."""
    return {
        "error": {
            "code": error.code, "message": error.message, "details": error.details, "hint": error.hint,
            "retryable": bool(error.retryable),
        }
    }  # fmt: skip


def unexpected(run_id: str, error: BaseException) -> ToolError:
    """What a caller is told of trouble that is nobody's refusal; the rest is in the log."""
    import logging

    logging.getLogger(__name__).error("a request failed", exc_info=error)
    if isinstance(error, StoreError):
        return store_unusable(error, run_id=run_id)
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return ToolError(
            "INTERNAL",
            f"there is no space left for the run on {socket.gethostname()}",
            details={"run_id": run_id, "cause_class": type(error).__name__, "reason": "disk_full"},
            hint="make room there, then launch_resume",
            retryable=True,
        )
    return ToolError(
        "INTERNAL",
        "the request failed unexpectedly",
        details={"run_id": run_id, "cause_class": type(error).__name__},
        retryable=False,
    )


def _not_stopped(run_id: str) -> ToolError:
    return ToolError(
        "CANCELLED",
        "the request was cancelled; the process that carries it out does not answer",
        details={"run_id": run_id, "scope": "request", "reason": "owner_does_not_answer"},
        hint="see whether that process was stopped; to cancel the run works at once",
    )
