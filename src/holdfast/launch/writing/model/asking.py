"""A model within the budget of a run: asked again where that helps, told as events, and nothing asked twice.

An answer is kept on disk before anything is made of it, so work that is done again after a kill gets the same
answer, and asks nobody. What the answer is worth is judged elsewhere.
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from holdfast.launch.documents import sha256
from holdfast.launch.writing.model.chat import Completion, Endpoint, NoAnswer, Question, complete
from holdfast.launch.writing.model.ledger import Allowance, Ledger

__all__ = ["BUDGET", "Model", "Reply"]

BUDGET = "the budget for the model is used up"
_TRIES = 3
_PAUSE = 0.5
_LONGEST_WAIT = 30.0
_MOST_FAILURES = 3
_REASONS = frozenset({"stop", "length", "tool_calls"})
_FREE = frozenset(
    {"address", "tls", "not_recorded", "no_record", "status_401", "status_403", "status_404", "status_429"}
)
_NEVER = threading.Event()
_INTERRUPTED: Mapping[str, Any] = {
    "error_class": "interrupted",
    "error_summary": "the process that had asked the model has ended",
    "retryable": False,
}


class Reply(NamedTuple):
    """What the model said; without text, `problem` says why there is none, and `is_lost` that nobody answered."""

    text: str
    problem: str = ""
    is_lost: bool = False


@dataclass(slots=True)
class Model:
    """Whom to ask, and what it may cost. `tell` is told of every call; `records` are what is known of each."""

    endpoints: list[Endpoint]
    ledger: Ledger
    allowance: Allowance
    section: str
    at_once: int
    deadline: float
    tell: Callable[..., None]
    records: dict[str, dict[str, Any]] = field(default_factory=dict)
    _failures: dict[Endpoint, int] = field(default_factory=dict)

    def recover(self, told: Mapping[str, bool] | None) -> None:
        """Take over what earlier attempts did, and tell what they, when they were killed, had no time to tell.

        `told` maps the calls that events tell of to whether their end was told; None where that is not known.
        """
        for call in self.ledger.calls().values():
            if call.section != self.section or not call.begun:
                continue
            answer = self.ledger.answer(self.section, call.prompt_hash)
            record = answer if answer and answer["call_id"] == call.call_id else None
            if not call.is_over:
                tokens = record["token_usage"]["total"] if record else 0
                self.ledger.end(call.call_id, tokens or call.tokens, None if record else _INTERRUPTED)
            record = record or _failed(call.begun, self.section, call.failure or _INTERRUPTED)
            self.records[call.call_id] = record
            if told is not None and call.call_id not in told:
                self.tell("LLM_CALL_STARTED", **call.begun)
            if not (call.is_over if told is None else told.get(call.call_id, False)):
                self._tell_end(record)

    def ask(self, question: Question) -> Reply:
        """The answer to one question; of the next endpoint where one does not answer."""
        kept = self.ledger.answer(self.section, question.prompt_hash)
        if kept is not None:
            self.records[kept["call_id"]] = kept
            return _reply(kept)
        problem = "the model failed too often and is not asked any more"
        for endpoint in self.endpoints:
            if endpoint.obstacle:
                problem = endpoint.obstacle
                continue
            if self._failures.get(endpoint, 0) >= _MOST_FAILURES:
                continue
            reply = self._ask(endpoint, question)
            if not reply.is_lost:
                return reply
            problem = reply.problem
        return Reply("", problem, is_lost=True)

    def _ask(self, endpoint: Endpoint, question: Question) -> Reply:
        for attempt in range(1, _TRIES + 1):
            try:
                record = self._call(endpoint, question)
            except NoAnswer as error:
                wait = _PAUSE * 2 ** (attempt - 1) if error.wait is None else error.wait
                is_worth_it = error.is_busy and attempt < _TRIES and wait <= _LONGEST_WAIT
                if not is_worth_it or time.monotonic() + wait >= self.deadline:
                    if error.error_class != "not_recorded":
                        self._failures[endpoint] = self._failures.get(endpoint, 0) + 1
                    return Reply("", error.summary, is_lost=True)
                _NEVER.wait(wait)
            else:
                if record is None:
                    return Reply("", BUDGET)
                self._failures[endpoint] = 0
                return _reply(record)
        raise AssertionError("the last try returns")

    def _call(self, endpoint: Endpoint, question: Question) -> dict[str, Any] | None:
        """The record of one call that was answered; None where the budget allows no call; NoAnswer."""
        with self.ledger.slot(self.at_once, self.deadline) as is_free:
            left = self.deadline - time.monotonic()
            if not is_free or left <= 0:
                raise NoAnswer("no_time", "there was no time left to ask the model")
            about = {
                "model": endpoint.model, "provider_base_url": endpoint.shown, "prompt_hash": question.prompt_hash,
                "temperature": question.temperature, "max_tokens": question.max_tokens,
                "most_tokens": (most := question.most_tokens),
            }  # fmt: skip
            call_id = self.ledger.begin(self.section, question.prompt_hash, most, self.allowance, about)
            if call_id is None:
                return None
            begun = {"call_id": call_id, **about}
            self.tell("LLM_CALL_STARTED", **begun)
            began = time.monotonic()
            try:
                found = complete(endpoint, question, self.section, min(endpoint.timeout, left))
            except NoAnswer as error:
                failure = {
                    "error_class": error.error_class, "error_summary": error.summary, "retryable": error.is_busy,
                }  # fmt: skip
                self.ledger.end(call_id, 0 if error.error_class in _FREE else most, failure)
                self._tell_end(_failed(begun, self.section, failure))
                raise
            milliseconds = int((time.monotonic() - began) * 1000)
            record = _record({**begun, "section": self.section}, question, found, milliseconds)
            self.ledger.keep(record)
            self.ledger.end(call_id, found.usage["total"] or most)
            self._tell_end(record)
            return record

    def _tell_end(self, record: dict[str, Any]) -> None:
        self.records[record["call_id"]] = record
        if "error_class" in record:
            self.tell("LLM_CALL_FAILED", **{name: record[name] for name in ("call_id", *_INTERRUPTED)})
            return
        reason = record["finish_reason"]
        self.tell(
            "LLM_CALL_FINISHED", call_id=record["call_id"], latency_ms=record["latency_ms"],
            token_usage=record["token_usage"], finish_reason=reason if reason in _REASONS else "error",
            output_hash=record["output_hash"],
        )  # fmt: skip


def _failed(begun: Mapping[str, Any], section: str, failure: Mapping[str, Any]) -> dict[str, Any]:
    return {"schema_version": "1.0", **begun, "section": section, **failure}


def _record(begun: Mapping[str, Any], question: Question, found: Completion, milliseconds: int) -> dict[str, Any]:
    return {
        "schema_version": "1.0",
        **begun,
        "messages": [dict(one) for one in question.messages],
        "text": found.text,
        "output_hash": sha256(found.text.encode()),
        "finish_reason": found.finish_reason,
        "token_usage": found.usage,
        "latency_ms": milliseconds,
    }


def _reply(record: Mapping[str, Any]) -> Reply:
    reason, text = record["finish_reason"], record["text"]
    if reason != "stop":
        return Reply("", f"the model stopped early: {reason}")
    return Reply(text) if text.strip() else Reply("", "the model said nothing")
