"""Lists that the host can tell by itself: what the worker last answered, for as long as it has not said otherwise.

A worker that serves is asked, so that clients get its own words of now. Only what would have to wait, for a worker
that is blocked, lost or on its way, is answered from here, with the bytes of the last answer.
"""

from holdfast.kernel.rules import LIST_METHODS
from holdfast.kernel.state import Pending, State
from holdfast.kernel.turn import Turn
from holdfast.wire.codec import encode
from holdfast.wire.splice import raw_member

__all__ = ["forget_lists", "keep_list", "list_known"]

_MOST = 64  # answers, of all methods and pages
_LARGEST = 4 * 1024 * 1024  # bytes of one
_KNOWN_PARAMS = frozenset({"cursor", "_meta"})


def _key(entry: Pending) -> tuple[str, ...] | None:
    """What tells one list from another; None for a request that is none, or has more to it."""
    if entry.method not in LIST_METHODS or not entry.params.keys() <= _KNOWN_PARAMS:
        return None
    return (entry.method, "modern" if entry.is_modern else "", encode(entry.params.get("cursor")).decode())


def keep_list(turn: Turn, entry: Pending, frame: bytes) -> None:
    """The worker that serves has answered: remember what."""
    key = _key(entry)
    result = raw_member(frame, "result") if key is not None else None
    if key is None or result is None or len(result) > _LARGEST or entry.generation != turn.state.active:
        return
    if turn.state.lists.get(key) == result:
        return
    kept = {known: told for known, told in turn.state.lists.items() if known != key}
    while len(kept) >= _MOST:
        del kept[next(iter(kept))]
    turn.state.lists = {**kept, key: result}


def forget_lists(turn: Turn, kind: str = "") -> None:
    """What was remembered is not true any more: of a kind, such as `tools`, or all of it."""
    state = turn.state
    if state.lists:
        state.lists = {key: told for key, told in state.lists.items() if kind and not key[0].startswith(kind)}


def list_known(state: State, entry: Pending) -> bytes | None:
    """The result that a request for a list can be answered with; None where it is not known."""
    key = _key(entry)
    if key is None:
        return None
    told = state.lists.get(key)
    if (
        told is not None
        or entry.method != "tools/list"
        or entry.is_modern
        or entry.params.get("cursor") is not None
    ):
        return told
    # Clients were never told, but the host was: it has listed the tools itself.
    catalog = state.catalog
    return b'{"tools":' + catalog.definitions + b"}" if catalog is not None and catalog.witness else None
