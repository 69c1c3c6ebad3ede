"""Exchanges about processes: whatever ends a call or its server, nothing of the call's process tree lives on.

The tree has four members: one, its child, and below that one that ignores TERM and one that does so in a session
of its own. They leave beats in a file, and the first two print; what these print after a TERM is "late".
"""

import signal
from typing import Any

from tests.contract.exchange import Exchange, call, poc_failed
from tests.contract.exchanges_lifetime import CANCELLED, cancel, cancelled
from tests.contract.patterns import File, Has, Id, Text
from tests.contract.steps import (
    Disconnect,
    Exits,
    FileHas,
    Gone,
    Grows,
    Logged,
    Notified,
    NotLogged,
    Result,
    Send,
    Signal,
    Silent,
    Step,
    Still,
    Tell,
)

MEMBERS = 4
TREE_RULES = (
    "S0-8.2-subprocesses-end",
    "S0-8.2-tree-aware",
    "S0-P2-1-all-descendants",
    "S0-P2-1-no-orphans",
    "S0-P2-5-tree-test",
)
MUTE_RULES = (
    "S0-7.3-no-progress-after-cancel",
    "S1-6.9-progress-stops",
    "S0-P2-5-no-output-after-abort",
)
BEAT = Has({"message": "beat", "stream": "stdout"})
SURVIVORS = Has({"event": "kill_failed"})


def _started(number: int, tool: str = "tree") -> tuple[Step, ...]:
    """A tree is at work: all its members are there, and what they print is told."""
    files = {"pids": File(f"pids {number}"), "beats": File(f"beats {number}")}
    return (
        Send((call(Id(number), tool, files, progressToken=Id(number)),)),
        FileHas(File(f"pids {number}"), MEMBERS),
        Grows(File(f"beats {number}")),
        Notified(BEAT),
    )


def _ended(number: int) -> tuple[Step, ...]:
    """Every member has ended."""
    return (Gone(File(f"pids {number}"), MEMBERS), Still(File(f"beats {number}")))


def _record(outcome: Any) -> Logged:
    return Logged(Has({"event": "tool_call", "tool": "tree", "outcome": outcome}))


def _alone(name: str, *steps: Step, **more: Any) -> Exchange:
    return Exchange(name, "trees", (*_started(1), *steps, *_ended(1)), TREE_RULES, alone=True, **more)


EXCHANGES = (
    Exchange(
        "a cancelled call takes its processes with it and says no more",
        "trees",
        (
            *_started(1),
            Tell(cancel(Id(1)), before=BEAT),
            Result(Id(1), CANCELLED),
            *_ended(1),
            Silent((Id(1),)),
            NotLogged(SURVIVORS),
        ),
        (*TREE_RULES, *MUTE_RULES),
    ),
    Exchange(
        "a call that is cancelled in silence takes its processes with it and says no more",
        "trees",
        (
            *_started(1),
            Tell(cancelled(Id(1)), before=BEAT),
            *_ended(1),
            Silent((Id(1),)),
            Logged(Has({"event": "tool_call", "request_id": Id(1), "outcome": "cancelled"})),
            NotLogged(SURVIVORS),
        ),
        (*TREE_RULES, *MUTE_RULES),
    ),
    Exchange(
        "a timeout leaves no process behind, and nothing is said after it",
        "trees",
        (
            *_started(1, "tree_briefly"),
            Result(Id(1), poc_failed("TOOL_TIMEOUT", timeoutMs=1000)),
            # Nothing of it is "late": what was printed after the abort is told to nobody.
            Notified(BEAT, at_least=0),
            *_ended(1),
            Silent((Id(1),)),
            NotLogged(SURVIVORS),
        ),
        (*TREE_RULES, "S0-10-timeout-tested", "S0-P2-5-no-output-after-abort"),
    ),
    _alone(
        "a client that vanishes takes the processes of its calls with it",
        Disconnect(),
        Exits(0),
        _record(Text("^(cancelled|disconnected)$")),  # the end of input may be seen first, or that nobody reads
        NotLogged(SURVIVORS),
    ),
    _alone(
        "a server that is asked to end cancels its calls, ends their processes and says so",
        Signal(signal.SIGTERM),
        Result(Id(1), CANCELLED),
        Notified(BEAT, at_least=0),
        Exits(143),
        _record("cancelled"),
        Logged(Has({"event": "server_stopped", "reason": "signal"})),
        NotLogged(SURVIVORS),
    ),
    _alone("a server that is killed leaves no process behind", Signal(signal.SIGKILL), Exits(-9, progress=BEAT)),
)
