"""One question to an HTTP service of the chat-completions kind, and its answer. No budget, no second try.

Whatever is not a whole completion is `NoAnswer`. The key comes from the environment and goes into one header; an
answer that repeats it is cleaned before anybody sees it.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from holdfast.contract.canonical import canonical_json
from holdfast.errors import HoldfastError
from holdfast.launch.documents import sha256
from holdfast.launch.http_client import Answer, Unreachable, call
from holdfast.launch.writing.model.calls_told import NONE
from holdfast.launch.writing.model.recorded import RECORDED, RecordedError, recorded_answers

__all__ = ["Completion", "Endpoint", "NoAnswer", "Question", "complete", "endpoints_of", "question"]

_TIMEOUT = 120.0
_MAX_TOKENS = 1000
_MAX_BYTES = 1 << 20
_LONGEST_TEXT = 100_000
_PER_MESSAGE = 64
_MOST_TOKENS = 10**9
_SHORTEST_SECRET = 4
_BUSY = frozenset({429, 500, 502, 503, 504})
_USAGE = {"input": "prompt_tokens", "output": "completion_tokens", "total": "total_tokens"}


class NoAnswer(HoldfastError):  # noqa: N818 - a state of the other side, not a mistake
    """No completion came. `wait` is how long the other side wants to be left alone, where it says so."""

    def __init__(
        self, error_class: str, summary: str, *, is_busy: bool = False, wait: float | None = None
    ) -> None:
        super().__init__(summary)
        self.error_class = error_class
        self.summary = summary
        self.is_busy = is_busy
        self.wait = wait


class Completion(NamedTuple):
    """What the model said, why it stopped, and what that cost; `total` is 0 where it does not tell."""

    text: str
    finish_reason: str
    usage: dict[str, int]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Whom to ask. `key_env` names the variable that holds the key."""

    base_url: str
    model: str
    key_env: str
    timeout: float

    @property
    def key(self) -> str:
        """The key, as the environment has it now; never kept."""
        return os.environ.get(self.key_env, "").strip() if self.key_env else ""

    @property
    def obstacle(self) -> str:
        """Why it cannot even be asked; "" where it can."""
        is_missing = bool(self.key_env) and not self.key and not self.base_url.startswith(RECORDED)
        return (
            f"the environment variable {self.key_env}, which should hold the model's key, is not set"
            if is_missing
            else ""
        )

    @property
    def shown(self) -> str:
        """The address without what may be secret in it; of a recorded one only that it is one."""
        if self.base_url.startswith(RECORDED):
            return RECORDED
        parts = urlsplit(self.base_url)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, without whom."""

    messages: tuple[Mapping[str, str], ...]
    prompt_hash: str
    temperature: float
    max_tokens: int
    extra: Mapping[str, Any]

    @property
    def most_tokens(self) -> int:
        """What it can cost at most: a token has a byte at least."""
        asked = sum(len(one["content"].encode()) + _PER_MESSAGE for one in self.messages)
        return asked + self.max_tokens


def endpoints_of(settings: Mapping[str, Any]) -> list[Endpoint]:
    """Whom a configuration names, in the order in which they are asked; nobody's key is given to another."""
    named = [settings, settings.get("fallback") or {"api_base_url": NONE}]
    return [
        Endpoint(
            one["api_base_url"],
            one["model"],
            one.get("api_key_env", ""),
            float(one.get("request_timeout_s", _TIMEOUT)),
        )
        for one in named
        if one["api_base_url"] != NONE
    ]  # fmt: skip


def question(settings: Mapping[str, Any], system: str, text: str) -> Question:
    """A question as a configuration wants it asked. Its digest is that of its words, whoever is asked."""
    decoding = settings["decoding"]
    messages = ({"role": "system", "content": system}, {"role": "user", "content": text})
    return Question(
        messages,
        sha256(canonical_json(list(messages))),
        decoding["temperature"],
        decoding.get("max_tokens", _MAX_TOKENS),
        {name: decoding[name] for name in ("top_p", "seed") if name in decoding},
    )


def complete(endpoint: Endpoint, question: Question, section: str, timeout: float) -> Completion:
    """The answer; NoAnswer where there is none."""
    if endpoint.base_url.startswith(RECORDED):
        return _recorded(endpoint, question, section)
    key = endpoint.key
    body = {
        "model": endpoint.model, "messages": [dict(one) for one in question.messages], "stream": False,
        "temperature": question.temperature, "max_tokens": question.max_tokens, **question.extra,
    }  # fmt: skip
    url = endpoint.base_url.rstrip("/") + "/chat/completions"
    try:
        answer = call("POST", url, json=body, token=key or None, timeout=timeout, max_bytes=_MAX_BYTES)
        found = _read(answer)
    except Unreachable as error:
        raise NoAnswer(error.reason, f"the model gave no answer ({error.reason})") from error
    is_telling = len(key) >= _SHORTEST_SECRET
    return found._replace(text=found.text.replace(key, "[key]")) if is_telling else found


def _recorded(endpoint: Endpoint, question: Question, section: str) -> Completion:
    try:
        answers = recorded_answers(Path(endpoint.base_url.removeprefix(RECORDED)))
    except RecordedError as error:
        raise NoAnswer("no_record", str(error)) from error
    found = answers.get((section, question.prompt_hash)) or answers.get(("", question.prompt_hash))
    if found is None:
        raise NoAnswer("not_recorded", "the file of recorded answers has none to this question")
    return Completion(found["text"], found["finish_reason"], dict(found["token_usage"]))


def _read(answer: Answer) -> Completion:
    if answer.status != 200:
        is_busy = answer.status in _BUSY
        told = f"the model answered with the status {answer.status}"
        raise NoAnswer(f"status_{answer.status}", told, is_busy=is_busy, wait=answer.retry_after())
    kind = answer.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise NoAnswer("content_type", "the model answered with something that is no JSON")
    document = answer.json()
    try:
        choice = document["choices"][0]
        message = choice["message"]
        text = message.get("content")
        reason = choice.get("finish_reason") or ("tool_calls" if message.get("tool_calls") else "stop")
        counted = document.get("usage") or {}
        usage = {key: _count(counted.get(name)) for key, name in _USAGE.items()}
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise NoAnswer("no_completion", "the model's answer is no completion") from error
    if not isinstance(text, str | None) or not isinstance(reason, str) or len(text or "") > _LONGEST_TEXT:
        raise NoAnswer("no_completion", "the model's answer is no completion")
    whole = (text or "").encode("utf-8", "replace").decode()
    usage["total"] = max(usage["total"], usage["input"] + usage["output"])
    return Completion(whole, reason[:100], usage)


def _count(value: object) -> int:
    return min(value, _MOST_TOKENS) if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
