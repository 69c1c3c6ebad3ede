"""Who answers when a server asks its client something; without anybody, a client offers nothing."""

from typing import Any, Protocol

from holdfast.errors import SessionError

__all__ = ["MAX_ROUNDS", "Answerer", "answers_to"]

MAX_ROUNDS = 20  # how often one call may ask for input


class Answerer(Protocol):
    """Answers the questions of a server on behalf of whoever uses the client."""

    @property
    def capabilities(self) -> dict[str, Any]:
        """What the client declares that it can be asked."""

    def knows(self, method: str) -> bool:
        """Whether such a question can be answered."""

    async def answer(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result for the server."""


async def answers_to(answerer: Answerer | None, result: dict[str, Any], about: str) -> dict[str, Any]:
    """What a repeated call brings along after a result that asks for input; SessionError where nobody answers."""
    asked = result.get("inputRequests")
    responses: dict[str, Any] = {}
    for key, one in asked.items() if isinstance(asked, dict) else ():
        method = one.get("method") if isinstance(one, dict) else None
        if answerer is None or not isinstance(method, str) or not answerer.knows(method):
            raise SessionError(f"{about} asks for {method!r}, which this client cannot answer")
        params = one.get("params")
        responses[key] = await answerer.answer(method, params if isinstance(params, dict) else {})
    more: dict[str, Any] = {"inputResponses": responses} if responses else {}
    if isinstance(result.get("requestState"), str):
        more["requestState"] = result["requestState"]
    if not more:
        raise SessionError(f"{about} asks for input, and does not say which")
    return more
