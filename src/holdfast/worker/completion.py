"""`completion/complete`: how an argument of a prompt, or a value in the address of a resource, may go on.

What a type says needs no function: the words of a Literal, an Enum or a bool are offered as far as they begin with
what was typed.
"""

from collections.abc import Sequence
from typing import Any

from holdfast.contract.binding import OutputRejected
from holdfast.present.profile import shape_result
from holdfast.vocabulary.faults import fault
from holdfast.worker.answer import ToolResult
from holdfast.worker.offer_call import Asked, OfferCall, admit, refuse

__all__ = ["MAX_VALUES", "admit_completion"]

MAX_VALUES = 100  # that the protocol lets one answer hold


def admit_completion(asked: Asked) -> None:
    """Admit the request, or answer at once."""
    read = _read(asked.params)
    if isinstance(read, str):
        refuse(asked, "<malformed>", fault("INVALID_REQUEST", read), {})
        return
    of, argument, value, given = read
    known = {one.name: one for one in asked.server.arguments_of(of)}
    if argument not in known:
        problem = fault("NOT_FOUND", f"there is no argument {argument[:120]!r} of {of[:120]!r}")
        refuse(asked, "<unknown>", problem, {})
        return
    completer = asked.server.completer_of(of, argument)
    if completer is None:
        begun = value.lower()
        words = [word for word in known[argument].words if word.lower().startswith(begun)]
        asked.answer(ToolResult(_result(asked, words)))
        return
    keywords = completer.keywords(value, given)
    call = OfferCall(
        asked,
        completer,
        str(completer.contract.name),
        keywords,
        lambda values: _result(asked, values),
        timeout=None,
        about={},
    )
    admit(call, asked, {})


def _read(params: dict[str, Any]) -> tuple[str, str, str, dict[str, str]] | str:
    """What is to be completed: of what, which argument, the text so far, the other arguments; or what is wrong."""
    ref, argument, context = params.get("ref"), params.get("argument"), params.get("context", {})
    if not isinstance(ref, dict) or ref.get("type") not in {"ref/prompt", "ref/resource"}:
        return "completion/complete needs a ref to a prompt or a resource"
    of = ref.get("name" if ref["type"] == "ref/prompt" else "uri")
    if not isinstance(of, str):
        return "the ref has no name, or no uri"
    if not isinstance(argument, dict) or not all(isinstance(argument.get(key), str) for key in ("name", "value")):
        return "completion/complete needs an argument with its name and the value so far"
    given = context.get("arguments", {}) if isinstance(context, dict) else None
    if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
        return "the arguments in the context must be texts"
    return of, argument["name"], argument["value"], given


def _result(asked: Asked, values: Any) -> dict[str, Any]:
    is_list = isinstance(values, Sequence) and not isinstance(values, str)  # a text is a sequence of texts, too
    if not is_list or not all(isinstance(value, str) for value in values):
        raise OutputRejected(["a completion returns a list of texts"])
    told = {
        "values": list(values[:MAX_VALUES]),
        "total": len(values),
        "hasMore": len(values) > MAX_VALUES,
    }
    return shape_result({"completion": told}, asked.profile, asked.server.server_info)
