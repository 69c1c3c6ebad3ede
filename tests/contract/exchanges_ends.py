"""Exchanges about the end of a server: its client leaves, a signal comes, it is killed. Each ends its scene.

Calls in flight are answered where somebody may still read it, are on record, and leave no process behind.
"""

import signal
from typing import Any

from tests.contract.exchange import HOST_IDS, INVALID, Exchange, call, failed, logged_id, structured
from tests.contract.exchanges_lifetime import CANCELLED, LEGACY_PROGRESS
from tests.contract.exchanges_trees import BEAT, SURVIVORS, TREE_RULES, ended, started
from tests.contract.patterns import File, Has, Id, Json, PerMode, PerTopology, Text
from tests.contract.steps import (
    CloseInput,
    Disconnect,
    Error,
    Exits,
    FileHas,
    InputEnded,
    Logged,
    Notified,
    NotLogged,
    Raw,
    Result,
    Send,
    Signal,
)

LAST = b'{"jsonrpc":"2.0","id":"last","method":"ping"}'
EVERY_ANSWER = Has({"event": "server_stopped", "reason": "eof"})


def _stopped(outcome: Any) -> Has:
    return Has({"event": "tool_call", "request_id": logged_id(1), "outcome": outcome})


INPUT = (
    Exchange(
        "calls in flight are finished when the client closes its end",
        "latest",
        (
            Send((call(Id(1), "report", {"seconds": 0.1}), call(Id(2), "echo", {"text": "last"}))),
            CloseInput(),
            Result(Id(1), Has({"isError": False})),
            Result(Id(2), structured({"text": "last"})),
            Notified(Has({"tool": "report"}), at_least=PerMode(0, legacy=1)),
            Exits(0),
            Logged(EVERY_ANSWER),
        ),
        ends=True,
        differences={"legacy": LEGACY_PROGRESS},
    ),
    Exchange(
        "the last message counts even without its line end",
        "2024-11-05",
        (
            Raw(PerMode(LAST, legacy=b"Content-Length: %d\r\n\r\n%b" % (len(LAST), LAST[:-1]))),
            CloseInput(),
            PerMode(Result("last", {}), legacy=Error(None, -32600, INVALID, Text("ended inside a message"))),
            Exits(0),
        ),
        ends=True,
        differences={"legacy": "A message of declared length has no line end; one that is cut off is refused."},
    ),
    Exchange(
        "calls that take too long after the end of input are cancelled and answered",
        "2025-03-26",
        (
            Send((call(Id(1), "hang", {"note": File("note")}),)),
            FileHas(File("note"), 1),
            CloseInput(),
            Result(Id(1), CANCELLED),
            Exits(0),
            FileHas(File("note"), 2),
            Logged(_stopped("cancelled")),
        ),
        ends=True,
        differences={"hosted": HOST_IDS},
    ),
    Exchange(
        "a signal while the last calls are given time ends them at once, in order",
        "2025-06-18",
        (
            Send((call(Id(1), "hang", {"note": File("note")}),)),
            FileHas(File("note"), 1),
            CloseInput(),
            InputEnded(),
            Signal(signal.SIGTERM),
            Result(Id(1), failed("CANCELLED", Json(Has({"status": "failure", "error_type": "CANCELLED"})))),
            Exits(0),
            FileHas(File("note"), 2),
            Logged(_stopped("cancelled")),
            Logged(EVERY_ANSWER),
        ),
        ends=True,
        differences={"hosted": HOST_IDS},
    ),
)

TREES = (
    Exchange(
        "a client that vanishes takes the processes of its calls with it",
        "trees",
        (
            *started(1),
            Disconnect(),
            Exits(0),
            *ended(1),
            Logged(_stopped(Text("^(cancelled|disconnected)$"))),  # as the end of either pipe is seen first
            NotLogged(SURVIVORS),
        ),
        TREE_RULES,
        ends=True,
        differences={"hosted": HOST_IDS},
    ),
    Exchange(
        "a server that is asked to end cancels its calls, ends their processes and says so",
        "pinned",
        (
            *started(1),
            Signal(signal.SIGTERM),
            Result(Id(1), CANCELLED),
            Notified(BEAT, at_least=0),
            Exits(143),
            *ended(1),
            Logged(_stopped("cancelled")),
            Logged(Has({"event": PerTopology("server_stopped", hosted="host_stopped"), "reason": "signal"})),
            NotLogged(SURVIVORS),
        ),
        TREE_RULES,
        ends=True,
        differences={"hosted": f"The signal is the host's; the server sees its input end. {HOST_IDS}"},
    ),
    Exchange(
        "a server that is killed leaves no process behind",
        "narrow",
        (*started(1), Signal(signal.SIGKILL), Exits(-9, progress=BEAT), *ended(1)),
        TREE_RULES,
        ends=True,
    ),
)

EXCHANGES = (*INPUT, *TREES)
