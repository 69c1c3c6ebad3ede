"""What a test answers when the server asks its client: a form, the client's model, its roots."""

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["Answers", "Reply", "accept", "cancel", "decline"]

Reply = (
    Any  # an answer, or a function of the question's parameters that returns one; None: the client has no answer
)


def accept(content: Mapping[str, Any] | None = None, /, **fields: Any) -> dict[str, Any]:
    """The form, filled in."""
    return {"action": "accept", "content": {**(content or {}), **fields}}


def decline() -> dict[str, Any]:
    """The person says no."""
    return {"action": "decline"}


def cancel() -> dict[str, Any]:
    """The person goes away without an answer."""
    return {"action": "cancel"}


class Answers:
    """Answers by the method of a question; the client declares the capabilities that have one."""

    def __init__(self, elicit: Reply = None, sample: Reply = None, roots: Reply = None) -> None:
        given: dict[str, tuple[Reply, dict[str, Any], Callable[[Any], Any]]] = {
            "elicitation/create": (elicit, {"elicitation": {"form": {}, "url": {}}}, _as_it_is),
            "sampling/createMessage": (sample, {"sampling": {}}, _completion),
            "roots/list": (roots, {"roots": {}}, _roots),
        }
        self._known = {method: row for method, row in given.items() if row[0] is not None}
        self.capabilities: dict[str, Any] = {}
        for _, capability, _ in self._known.values():
            self.capabilities.update(capability)
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def knows(self, method: str) -> bool:
        """Whether there is an answer to such a question."""
        return method in self._known

    def to(self, method: str, params: dict[str, Any]) -> Any:
        """The result for one question."""
        self.asked.append((method, params))
        reply, _, form = self._known[method]
        return form(reply(params) if callable(reply) else reply)

    async def answer(self, method: str, params: dict[str, Any]) -> Any:
        """The same, for a client session that asks whoever answers."""
        return self.to(method, params)

    def input_for(self, message: Mapping[str, Any]) -> dict[str, Any] | None:
        """What a repeated request brings along, if the answer to it was questions that this knows; else None."""
        result = message.get("result")
        if not isinstance(result, dict) or result.get("resultType") != "input_required":
            return None
        asked = result.get("inputRequests") or {}
        if not all(self.knows(one["method"]) for one in asked.values()):
            return None
        responses = {key: self.to(one["method"], one.get("params") or {}) for key, one in asked.items()}
        more: dict[str, Any] = {"inputResponses": responses}
        return {**more, "requestState": result["requestState"]} if "requestState" in result else more


def _as_it_is(reply: Any) -> Any:
    return reply


def _completion(reply: Any) -> Any:
    if not isinstance(reply, str):
        return reply
    return {"role": "assistant", "content": {"type": "text", "text": reply}, "model": "scripted"}


def _roots(reply: Any) -> Any:
    if not isinstance(reply, list):
        return reply
    return {"roots": [{"uri": item} if isinstance(item, str) else item for item in reply]}
