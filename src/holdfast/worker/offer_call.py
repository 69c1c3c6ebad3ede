"""Reads of resources, prompts and completions as calls: queued, with a deadline, cancellable, answered once.

They differ from calls of tools in their answers: there is no tool error, so a failure is a JSON-RPC error, whose
data says the same as the envelope of a tool would.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from holdfast.contract.binding import ArgumentsRejected, OutputRejected
from holdfast.errors import InputNeeded, StopWork, ToolError
from holdfast.observe.sink import EventSink
from holdfast.present.compact import json_ready
from holdfast.present.dialects import Dialect
from holdfast.present.eras import input_required
from holdfast.present.profile import Profile
from holdfast.present.secrets import NO_SECRETS, Secrets
from holdfast.settings import Settings
from holdfast.vocabulary.faults import Fault, fault
from holdfast.wire.codec import encode
from holdfast.wire.envelope import INTERNAL_ERROR, INVALID_PARAMS, Request
from holdfast.worker.admission import call_context, rejection, trace_parent
from holdfast.worker.answer import ENVELOPE_BYTES, Answer, ProtocolError, ToolResult, answer_incapable
from holdfast.worker.asking import Asking, Unfinished, needed_in
from holdfast.worker.calls import CallTable, LiveCall
from holdfast.worker.client_log import ClientLog
from holdfast.worker.faults import Declared, declared_fault, internal_fault
from holdfast.worker.invoke import Runnable, run_here
from holdfast.worker.registry import Registry

__all__ = ["Asked", "OfferCall", "admit", "refuse", "refuse_arguments"]

_INVALID = frozenset({"INVALID_REQUEST", "INVALID_INPUT", "NOT_FOUND"})


class _Offer(Runnable, Protocol):
    """A function that somebody may ask for, with what it declares."""

    @property
    def contract(self) -> Declared:
        """The codes that it may end with."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, and everything of its session that is needed to answer it."""

    server: Registry
    calls: CallTable
    settings: Settings
    log: EventSink
    request: Request
    profile: Profile
    answer: Callable[[Answer], None]
    send_progress: Callable[[dict[str, Any]], None]
    asking: Asking
    client_log: ClientLog

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of the request."""
        return self.request.params

    @property
    def meta(self) -> dict[str, Any]:
        """What describes the request."""
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}


class OfferCall(LiveCall):
    """A call of the function of a prompt, a resource or a completion; `result` makes the answer of its value."""

    __slots__ = ("_about", "_asked", "_keywords", "_offer", "_result")

    def __init__(
        self,
        asked: Asked,
        offer: _Offer,
        name: str,
        keywords: dict[str, Any],
        result: Callable[[Any], dict[str, Any]],
        *,
        timeout: float | None,
        about: Mapping[str, Any],
        secrets: Secrets = NO_SECRETS,
    ) -> None:
        context = call_context(
            asked.calls,
            asked.settings,
            asked.log,
            asked.request.id,
            name,
            asked.meta,
            asked.profile,
            asked.send_progress,
            asking=asked.asking,
            client_log=asked.client_log,
            secrets=secrets,
        )
        super().__init__(
            asked.request.id,
            context,
            asked.answer,
            trace_parent(asked.meta),
            timeout=timeout,
            method=asked.request.method,
        )
        self._asked = asked
        self._offer = offer
        self._keywords = keywords
        self._result = result
        self._about = about

    @property
    def dialect(self) -> Dialect:
        """The dialect of the server."""
        return self._asked.server.surface.dialect

    async def run(self, log: EventSink, settings: Settings) -> Any:  # noqa: ARG002 - as every call has it
        """Run the function; what it returns is brought into the form of the answer, and so checked, at once."""
        try:
            return self._result(await run_here(self._offer, self._keywords, self.context))
        except ToolError as error:
            return declared_fault(self._offer.contract, error, self.context, log)
        except OutputRejected as error:
            return internal_fault(error, self.context, log, cause_class="OutputContractViolation")
        except StopWork:
            raise asyncio.CancelledError from None
        except (InputNeeded, BaseExceptionGroup) as error:
            needed = needed_in(error)
            if needed is None:
                raise
            return self.context.asking.unfinished(needed)

    def told(self, outcome: Any, settings: Settings) -> ToolResult | Fault:
        """The result, or what is missing for one, where it can be sent."""
        if isinstance(outcome, Unfinished):
            outcome = input_required(outcome.requests, outcome.state, self._asked.server.server_info)
        if len(encode(outcome)) > settings.max_message_bytes - ENVELOPE_BYTES:
            return fault(
                "RESULT_TOO_LARGE",
                f"the answer of {self.name} is larger than {settings.max_message_bytes} bytes",
                details={"limitBytes": settings.max_message_bytes},
            )
        return ToolResult(outcome)

    def failed(self, problem: Fault, duration_ms: float = 0.0) -> Answer:  # noqa: ARG002 - no envelope has it
        """A JSON-RPC error."""
        return answer_incapable(self._asked.profile, problem) or _error(self._asked, problem, self._about)


def admit(call: OfferCall, asked: Asked, about: Mapping[str, Any]) -> None:
    """Let the call wait or run, or answer at once that there is no room."""
    problem = asked.calls.overload()
    if problem is not None:
        refuse(asked, call.name, problem, about)
    else:
        asked.calls.submit(call)


def refuse(asked: Asked, name: str, problem: Fault, about: Mapping[str, Any]) -> None:
    """Answer a request that never became a call, and leave a record of it."""
    call_id = asked.calls.next_call_id()
    asked.log.emit(rejection(asked.request.id, call_id, name, problem, asked.request.method))
    asked.answer(_error(asked, problem, about))


def refuse_arguments(
    asked: Asked, name: str, error: ArgumentsRejected, about: Mapping[str, Any], secrets: Secrets = NO_SECRETS
) -> None:
    """Answer a request whose arguments do not fit: with all of what is wrong with them, and no secret of them."""
    if secrets:
        error = ArgumentsRejected(secrets.violations(error.violations))
    message = f"invalid arguments for {name}: {error}"
    problem = fault("INVALID_REQUEST", message[:2000], details={"violations": error.violations})
    refuse(asked, name, problem, about)


def _error(asked: Asked, problem: Fault, about: Mapping[str, Any]) -> ProtocolError:
    data: dict[str, Any] = {"code": problem.code, "message": problem.message, "retryable": problem.retryable}
    data["details"] = json_ready(dict(problem.details))
    further = {"hint": problem.hint, "timeoutMs": problem.timeout_ms, "faultId": problem.fault_id}
    data |= {key: value for key, value in further.items() if value is not None}
    if problem.code == "QUEUE_OVERLOADED":
        code = asked.profile.overload_code
    elif problem.code == "NOT_FOUND" and asked.request.method.startswith("resources/"):
        code = asked.profile.resource_not_found_code
    else:
        code = INVALID_PARAMS if problem.code in _INVALID else INTERNAL_ERROR
    return ProtocolError(code, problem.message, {**data, **about})
