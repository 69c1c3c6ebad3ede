"""Calls whose outcome only a probe can tell: asking the declared tool, and what its answer means.

The probe is called with those arguments of the lost call that its own schema names. It must be safe to repeat
itself, or nobody is asked. It answers with an object:

    {"outcome": "completed", "result": PAYLOAD}    the call took effect; PAYLOAD is what it would have returned
    {"outcome": "safe_to_retry"}                   it did not; the call is sent again
    {"outcome": "unknown"}                         nobody knows yet; it is asked again, within a bound
"""

from typing import Any

from holdfast.errors import WireError
from holdfast.kernel.answers import answer_found, end_with_fault
from holdfast.kernel.rules import Rule, rule_for
from holdfast.kernel.state import Errand, ErrandKind, Hold, Pending, Worker
from holdfast.kernel.turn import Turn
from holdfast.present.dialects import success
from holdfast.vocabulary.disposition import Allowance, Disposition, dispose
from holdfast.vocabulary.effects import EffectKind
from holdfast.vocabulary.execution import ProbeAnswer
from holdfast.vocabulary.faults import fault
from holdfast.wire.codec import decode, encode
from holdfast.wire.envelope import Response

__all__ = ["ask_probe", "begin_hold", "give_up_hold", "probe_answered", "probe_lost", "result_of"]

_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 5.0


def begin_hold(turn: Turn, entry: Pending) -> Pending:
    """Hold a call until its probe has answered, but not for ever."""
    until = turn.now + turn.state.policy.probe_hold
    return turn.put(entry._replace(hold=Hold(until, turn.now, _FIRST_PAUSE), due=until))


def ask_probe(turn: Turn, worker: Worker, entry: Pending, rule: Rule) -> None:
    """Ask the probe of a held call, unless it is being asked or it is too early to ask again."""
    hold = entry.hold
    if hold is None or hold.errand or turn.now < hold.ask_at:
        return
    probe = rule.effect.probe or ""
    if probe not in worker.catalog.tools:
        give_up_hold(turn, entry, f"there is no tool {probe} that could tell")
        return
    own = rule_for("tools/call", {"name": probe}, worker.catalog, turn.state.policy).effect
    if own.kind is not EffectKind.REPLAY_SAFE:  # it is asked again and again, which must not do anything
        give_up_hold(turn, entry, f"its probe {probe} is not asked, since it is not declared replay_safe itself")
        return
    arguments = entry.params.get("arguments")
    known = worker.catalog.tools[probe].arguments
    given = arguments if isinstance(arguments, dict) else {}
    params: dict[str, Any] = {"name": probe, "arguments": {name: given[name] for name in given if name in known}}
    if entry.is_modern and turn.state.session.self_description is not None:
        params["_meta"] = dict(turn.state.session.self_description)
    within = turn.state.policy.probe_timeout
    number = turn.send_errand(worker, ErrandKind.PROBE, ("tools/call", params), within=within, about=entry.id)
    turn.put(entry._replace(hold=hold._replace(errand=number)))


def probe_answered(turn: Turn, number: int, errand: Errand, response: Response) -> None:
    """Complete the call, free it for a replay, or ask again later."""
    entry = _asked_for(turn, number, errand)
    if entry is None:
        return
    found = result_of(response)
    answer = _ANSWERS.get(str(found.get("outcome")))
    if answer is None:
        probe_lost(turn, number, errand)
        return
    rule = entry.rule
    assert rule is not None  # it was dispatched once
    decided = dispose(entry.knowledge, rule.effect.replay, Allowance(entry.charged, rule.replays), answer)
    if decided is Disposition.COMPLETE_FROM_PROBE:
        _complete(turn, entry, rule, found)
    elif decided is Disposition.REPLAY:
        turn.put(entry._replace(hold=None, freed=True, due=turn.now + rule.deadline if rule.deadline else 0.0))
    else:
        text = f"{entry.tool} was repeated {entry.replays} times and took no effect; it is not repeated again"
        end_with_fault(turn, entry._replace(freed=True), fault("REPLAY_EXHAUSTED", text))


def probe_lost(turn: Turn, number: int, errand: Errand) -> None:
    """The probe could not tell; ask again after a pause."""
    entry = _asked_for(turn, number, errand)
    if entry is not None and entry.hold is not None:
        hold = entry.hold
        again = Hold(hold.until, turn.now + hold.pause, min(2 * hold.pause, _LONGEST_PAUSE))
        turn.put(entry._replace(hold=again))
        turn.wake(again.ask_at)


def _asked_for(turn: Turn, number: int, errand: Errand) -> Pending | None:
    """The held call that a question was asked for; its id may belong to another request by now."""
    entry = turn.state.pending.get(errand.about) if errand.about is not None else None
    return entry if entry is not None and entry.hold is not None and entry.hold.errand == number else None


def give_up_hold(turn: Turn, entry: Pending, why: str) -> None:
    """Nobody can tell what became of the call."""
    text = f"the worker was lost during {entry.tool}, which may have taken effect, and {why}"
    end_with_fault(turn, entry, fault("AMBIGUOUS_OUTCOME", text))


def _complete(turn: Turn, entry: Pending, rule: Rule, found: dict[str, Any]) -> None:
    if "result" not in found:
        give_up_hold(turn, entry, "its probe says that it did; what it returned is lost")
        return
    document = success(rule.dialect, found["result"]) if rule.has_envelope else found["result"]
    text = document if isinstance(document, str) else encode(document).decode()
    result: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": False}
    if isinstance(document, dict):  # the protocol knows no other structured content
        result["structuredContent"] = document
    answer_found(turn, entry, {"resultType": "complete", **result} if entry.is_modern else result)


_ANSWERS = {
    "completed": ProbeAnswer.ALREADY_COMPLETED,
    "safe_to_retry": ProbeAnswer.SAFE_TO_REPLAY,
}


def result_of(response: Response) -> dict[str, Any]:
    """The object that a tool returned: its structured content, or the JSON of its text; empty when it failed."""
    result = response.result
    if not isinstance(result, dict) or result.get("isError") is True:
        return {}
    structured = result.get("structuredContent")
    if isinstance(structured, dict):
        return structured
    content = result.get("content")
    for item in content if isinstance(content, list) else ():
        if isinstance(item, dict) and isinstance(item.get("text"), str):
            try:
                value = decode(item["text"].encode())
            except WireError:
                continue  # a text for people
            return value if isinstance(value, dict) else {}
    return {}
