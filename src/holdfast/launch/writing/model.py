"""A model behind an HTTP address of the chat-completions kind: one question, one answer, told as events.

It is asked at temperature 0 and within the budget of the run; what its answer is worth is judged elsewhere. The
key comes from the environment and goes into one header: no event, no error and no artifact has it.
"""

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from holdfast.launch.http_client import Answer, Unreachable, call

__all__ = ["Model", "Reply"]

_TIMEOUT = 120.0
_MAX_TOKENS = 1000
_MAX_BYTES = 1 << 20
_CHARACTERS_PER_TOKEN = 3
_MOST_FAILURES = 3
_REASONS = frozenset({"stop", "length", "tool_calls"})


class Reply(NamedTuple):
    """What the model said; without text, `problem` says why there is none."""

    text: str
    problem: str = ""


@dataclass(slots=True)
class Model:
    """A model with what is left of its budget. `tell` is told of every call."""

    settings: Mapping[str, Any]
    calls_left: int
    tokens_left: int
    tell: Callable[..., None]
    prefix: str
    _asked: int = field(default=0)
    _failures: int = field(default=0)

    def ask(self, system: str, text: str) -> Reply:
        """The answer to one question, of the fallback where the first address does not answer."""
        reply = self._ask(self.settings, system, text)
        fallback = self.settings.get("fallback")
        return self._ask({**self.settings, **fallback}, system, text) if not reply.text and fallback else reply

    def _ask(self, settings: Mapping[str, Any], system: str, text: str) -> Reply:
        request = _request(settings, system, text)
        cost = len(system + text) // _CHARACTERS_PER_TOKEN + request["max_tokens"]
        if self.calls_left < 1 or self.tokens_left < cost:
            return Reply("", "the budget for the model is used up")
        if self._failures >= _MOST_FAILURES:
            return Reply("", "the model failed too often and is not asked any more")
        self.calls_left -= 1
        self._asked += 1
        prompt_hash = _digest(json.dumps(request["messages"], ensure_ascii=False))
        call_id = "llm_" + _digest(f"{self.prefix}:{self._asked}:{prompt_hash}")[:16]
        self.tell(
            "LLM_CALL_STARTED", call_id=call_id, model=request["model"],
            provider_base_url=_shown(settings["api_base_url"]), prompt_hash=prompt_hash, temperature=0,
            max_tokens=request["max_tokens"],
        )  # fmt: skip
        began = time.monotonic()
        try:
            answer = _posted(settings, request)
            reply, usage, reason = _read(answer)
        except Unreachable as error:
            return self._failed(call_id, error.reason, is_retryable=error.reason in ("connection", "timeout"))
        if not reply:
            self.tokens_left -= cost
            return self._failed(call_id, f"status_{answer.status}", is_retryable=answer.status in (429, 502, 503))
        self._failures = 0
        self.tokens_left -= usage["total"] or cost
        self.tell(
            "LLM_CALL_FINISHED", call_id=call_id, latency_ms=int((time.monotonic() - began) * 1000),
            token_usage=usage, finish_reason=reason, output_hash=_digest(reply),
        )  # fmt: skip
        return Reply(reply) if reason == "stop" else Reply("", f"the model stopped early: {reason}")

    def _failed(self, call_id: str, reason: str, *, is_retryable: bool) -> Reply:
        self._failures += 1
        summary = "the model gave no usable answer"
        self.tell(
            "LLM_CALL_FAILED", call_id=call_id, error_class=reason, error_summary=summary, retryable=is_retryable
        )
        return Reply("", f"{summary}: {reason}")


def _request(settings: Mapping[str, Any], system: str, text: str) -> dict[str, Any]:
    decoding = settings["decoding"]
    messages = [{"role": "system", "content": system}, {"role": "user", "content": text}]
    request = {
        "model": settings["model"], "messages": messages, "temperature": 0,
        "max_tokens": decoding.get("max_tokens", _MAX_TOKENS),
    }  # fmt: skip
    return request | ({"top_p": decoding["top_p"]} if "top_p" in decoding else {})


def _posted(settings: Mapping[str, Any], request: Mapping[str, Any]) -> Answer:
    key = os.environ.get(settings["api_key_env"]) if settings.get("api_key_env") else None
    url = settings["api_base_url"].rstrip("/") + "/chat/completions"
    timeout = float(settings.get("request_timeout_s", _TIMEOUT))
    return call("POST", url, json=request, token=key or None, timeout=timeout, max_bytes=_MAX_BYTES)


def _read(answer: Answer) -> tuple[str, dict[str, int], str]:
    """The text, what it cost, and why it ended; no text where the answer is none."""
    nothing = {"input": 0, "output": 0, "total": 0}
    if answer.status != 200:
        return "", nothing, "error"
    try:
        document = answer.json()
        choice = document["choices"][0]
        text = choice["message"]["content"]
        reason = choice.get("finish_reason") or "stop"
        told = document.get("usage") or {}
        usage = {key: _count(told.get(name)) for key, name in _USAGE.items()}
    except (KeyError, IndexError, TypeError, AttributeError):
        return "", nothing, "error"
    return text if isinstance(text, str) else "", usage, reason if reason in _REASONS else "error"


_USAGE = {"input": "prompt_tokens", "output": "completion_tokens", "total": "total_tokens"}


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _shown(url: str) -> str:
    """The address without what may be secret in it."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
