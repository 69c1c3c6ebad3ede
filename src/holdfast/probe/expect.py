"""What checks expect of an answer, in one place: refused, answered once, ignored."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from holdfast.probe.model import FailedError
from holdfast.probe.talk import Delivery, Talk, is_same_id

__all__ = ["HTTP_REFUSED", "answered_once", "brief", "is_refusal", "must_be_ignored", "must_be_refused",
           "refused_or_served", "told_noise"]  # fmt: skip

HTTP_REFUSED = range(400, 500)  # statuses that say no, and so are an answer


def brief(value: Any) -> str:
    """A value in a few characters."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def told_noise(noise: Sequence[bytes]) -> str:
    """What a server wrote that is no message, in words."""
    what = "a line is no message" if len(noise) == 1 else f"{len(noise)} lines are no messages"
    return f"on stdout {what}: {brief(noise[0].decode(errors='replace'))}"


def is_refusal(answer: dict[str, Any]) -> bool:
    """Whether an answer says no: a JSON-RPC error, or a result that is a tool error."""
    result = answer.get("result")
    return "error" in answer or (isinstance(result, dict) and result.get("isError") is True)


async def must_be_refused(
    talk: Talk, data: bytes, what: str, *, codes: tuple[int, ...], request_id: Any = None
) -> None:
    """Send bytes that are wrong: they are answered with an error of one of these codes, and the server goes on.

    The error is for nobody (null), or for `request_id` where that can be read. Over HTTP a status of 400 to 499
    is a refusal, too.
    """
    answer = await _reaction(talk, data, what, request_id)
    if isinstance(answer, Delivery):
        if answer.status not in HTTP_REFUSED:
            raise FailedError(f"{what} got HTTP {answer.status} and no error")
        return
    if answer is None:
        raise FailedError(f"{what} was left without an answer")
    if "error" not in answer:
        raise FailedError(f"{what} was served as if nothing were wrong")
    code = answer["error"]["code"]
    if code not in codes:
        raise FailedError(f"{what} was refused with code {code} in place of {' or '.join(map(str, codes))}")


async def refused_or_served(talk: Talk, data: bytes, what: str, request_id: Any) -> None:
    """Send bytes that a server may or may not take: they are answered in any case, and the server goes on."""
    # They may be many, and take longer to read than others.
    answer = await _reaction(talk, data, what, request_id, talk.options.deadline)
    if isinstance(answer, Delivery) and answer.status not in HTTP_REFUSED:
        raise FailedError(f"{what} got HTTP {answer.status} and no answer")
    if answer is None:
        raise FailedError(f"{what} was left without an answer")


async def _reaction(
    talk: Talk, data: bytes, what: str, request_id: Any, seconds: float | None = None
) -> dict[str, Any] | Delivery | None:
    """What came back for these bytes: a message, or over HTTP the bare status; the server is alive behind them."""
    before = len(talk.inbox)
    delivery = await talk.write(data)

    def find() -> dict[str, Any] | None:
        for message in talk.inbox[before:]:
            its_id = message.get("id")
            if "method" not in message and (its_id is None or is_same_id(its_id, request_id)):
                return message
            # Over HTTP the connection tells whom an error is for, whatever its id.
            if talk.transport == "http" and "error" in message and not str(its_id).startswith("alive-"):
                return message
        return None

    if talk.transport == "http":
        await talk.wait(lambda: find() or delivery.is_done or None, seconds or talk.options.timeout)
        if delivery.failure and delivery.status is None:
            raise FailedError(f"{what} got no answer: {delivery.failure}")
    await talk.alive(what, seconds)
    found = await talk.wait(find, talk.options.settle)
    if found is None and delivery.status is not None:
        return delivery
    return found


async def must_be_ignored(talk: Talk, messages: list[dict[str, Any]], what: str) -> None:
    """Send messages that nobody answers; the server neither answers nor stumbles."""
    before = len(talk.inbox)
    for message in messages:
        await talk.send(message)
    await talk.alive(what)
    await talk.settle()
    answers = [
        message
        for message in talk.inbox[before:]
        if "method" not in message and not str(message.get("id")).startswith("alive-")
    ]
    if answers:
        raise FailedError(f"{what} was answered, which nothing waits for: {brief(answers[0])}")


async def answered_once(talk: Talk, ids: list[Any], what: str, seconds: float) -> None:
    """Every one of these ids is answered, and none of them twice.

    What counts is silence: a server that is slow has lost nothing, as long as each answer comes within `seconds`
    of the one before it.
    """
    missing_now = _countdown(talk, ids) if len(ids) > 50 else partial(_missing, talk, ids)
    left = len(ids)
    while left and await talk.wait(partial(_fewer, missing_now, left), seconds):
        left = missing_now()
    await talk.settle()
    missing = [request_id for request_id in ids if not talk.answers(request_id)]
    if missing:
        text = f"{len(missing)} of {len(ids)} {what} were not answered, such as id {brief(missing[0])}"
        raise FailedError(text if talk.ended else f"{text}; nothing came for {seconds:g} s")
    twice = [request_id for request_id in ids if len(talk.answers(request_id)) > 1]
    if twice:
        raise FailedError(f"{len(twice)} of {len(ids)} {what} were answered twice, such as id {brief(twice[0])}")


def _fewer(missing_now: Callable[[], int], left: int) -> bool | None:
    return missing_now() < left or None


def _missing(talk: Talk, ids: list[Any]) -> int:
    return sum(not talk.answers(request_id) for request_id in ids)


def _countdown(talk: Talk, ids: list[Any]) -> Callable[[], int]:
    """The same count for many ids, which looks at each message once."""
    left = set(ids)
    seen = 0

    def missing_now() -> int:
        nonlocal seen
        for message in talk.inbox[seen:]:
            if "method" not in message:
                left.discard(message.get("id"))
        seen = len(talk.inbox)
        return len(left)

    return missing_now
