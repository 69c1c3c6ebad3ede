"""The chain of events: each carries the hash of the one before, so none can be changed, lost or put in between.

Pure. Only the end of a chain cannot speak for itself: whoever keeps it must also know its last hash.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from holdfast.contract.canonical import fingerprint
from holdfast.launch import identifiers
from holdfast.launch.store.records import Event
from holdfast.launch.store.refusals import ChainBroken

__all__ = ["BEGINNING", "event_hash", "json_text", "sealed", "verified"]

BEGINNING = "0" * 64


def json_text(value: Any) -> str:
    """A JSON value in one line, the same text for the same value; UsageError for what is no JSON value."""
    fingerprint(value)  # refuses what JSON cannot say, and keys that are not text
    return json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def event_hash(event: Event) -> str:
    """The hash of everything that an event says, and of what came before it."""
    told = [
        event.event_id, event.run_id, event.seq, event.ts, event.type, event.payload, event.trace_id,
        event.span_id, event.parent_span_id, event.prev_hash,
    ]  # fmt: skip
    return fingerprint(told).removeprefix("sha256:")


def sealed(
    run_id: str,
    seq: int,
    ts: str,
    type_: str,
    payload: Mapping[str, Any],
    *,
    span_id: str,
    parent_span_id: str | None,
    prev_hash: str,
) -> Event:
    """The next event of a chain."""
    event = Event(
        event_id=f"{run_id}:{seq}",
        run_id=run_id,
        seq=seq,
        ts=ts,
        type=type_,
        payload=json.loads(json_text(dict(payload))),  # as it will be read back, and nobody else's to change
        trace_id=identifiers.trace_id(run_id),
        span_id=span_id,
        parent_span_id=parent_span_id,
        prev_hash=prev_hash,
        event_hash="",
    )
    return replace(event, event_hash=event_hash(event))


def verified(events: Iterable[Event]) -> Iterator[Event]:
    """The same events, each looked at before it is given out; ChainBroken at the first that does not fit."""
    before, run_id, seq = BEGINNING, None, 0
    for seq, event in enumerate(events, start=1):
        run_id = run_id or event.run_id
        if event.seq != seq:
            raise ChainBroken(seq, f"event {event.seq} stands there")
        if event.run_id != run_id:
            raise ChainBroken(seq, f"it is of the run {event.run_id}")
        if event.prev_hash != before:
            raise ChainBroken(seq, "it does not follow on the event before")
        if event.event_hash != event_hash(event):
            raise ChainBroken(seq, "it is not what was written")
        before = event.event_hash
        yield event
    if not seq:
        raise ChainBroken(1, "there is no event")
