"""What an answer says, in one word each; and waiting for what no answer tells."""

import select
import time
from collections.abc import Callable
from typing import Any

__all__ = ["code_of", "error_of", "eventually", "is_retry_safe", "payload_of"]


def eventually(condition: Callable[[], object], bound: float = 10.0) -> bool:
    """Wait until the condition holds, for so many seconds at most; whether it does."""
    deadline = time.monotonic() + bound
    while not condition():
        if time.monotonic() > deadline:
            return False
        select.select([], [], [], 0.01)
    return True


def payload_of(answer: dict[str, Any]) -> dict[str, Any]:
    """What a tool returned."""
    assert "result" in answer, answer
    assert not answer["result"].get("isError"), answer
    payload: dict[str, Any] = answer["result"]["structuredContent"]
    return payload


def error_of(answer: dict[str, Any]) -> dict[str, Any]:
    """The typed data of a failure, whether it is told as an error or as a failed result of the tool."""
    if "error" in answer:
        data: dict[str, Any] = answer["error"]["data"]
        return data
    assert answer["result"]["isError"] is True, answer
    told: dict[str, Any] = answer["result"]["_meta"]["io.holdfast/error"]
    return told


def code_of(answer: dict[str, Any]) -> str:
    """The code of a failure."""
    return str(error_of(answer)["code"])


def is_retry_safe(answer: dict[str, Any]) -> bool:
    """What a failure says about calling again."""
    return bool(error_of(answer)["retry"]["safe"])
