"""Exchanges about processes: whatever ends a call, nothing of its process tree lives on or is heard.

The tree has four members: one, its child, and below that one that ignores TERM and one that does so in a session
of its own. They leave beats in a file, and the first two print; what these print after a TERM is "late".
"""

from tests.contract.exchange import HOST_IDS, Exchange, call, logged_id, poc_failed
from tests.contract.exchanges_lifetime import CANCELLED, cancel, cancelled
from tests.contract.patterns import File, Has, Id
from tests.contract.steps import (
    FileHas,
    Gone,
    Grows,
    Logged,
    Notified,
    NotLogged,
    Result,
    Send,
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


def started(number: int, tool: str = "tree") -> tuple[Step, ...]:
    """A tree is at work: all its members are there, and what they print is told."""
    files = {"pids": File(f"pids {number}"), "beats": File(f"beats {number}")}
    return (
        Send((call(Id(number), tool, files, progressToken=Id(number)),)),
        FileHas(File(f"pids {number}"), MEMBERS),
        Grows(File(f"beats {number}")),
        Notified(BEAT),
    )


def ended(number: int) -> tuple[Step, ...]:
    """Every member has ended."""
    return (Gone(File(f"pids {number}"), MEMBERS), Still(File(f"beats {number}")))


EXCHANGES = (
    Exchange(
        "a cancelled call takes its processes with it and says no more",
        "trees",
        (
            *started(1),
            Tell(cancel(Id(1)), before=BEAT),
            Result(Id(1), CANCELLED),
            *ended(1),
            Silent((Id(1),)),
            NotLogged(SURVIVORS),
        ),
        (*TREE_RULES, *MUTE_RULES),
    ),
    Exchange(
        "a call that is cancelled in silence takes its processes with it and says no more",
        "trees",
        (
            *started(1),
            Tell(cancelled(Id(1)), before=BEAT),
            *ended(1),
            Silent((Id(1),)),
            Logged(Has({"event": "tool_call", "request_id": logged_id(1), "outcome": "cancelled"})),
            NotLogged(SURVIVORS),
        ),
        (*TREE_RULES, *MUTE_RULES),
        differences={"hosted": HOST_IDS},
    ),
    Exchange(
        "a timeout leaves no process behind, and nothing is said after it",
        "trees",
        (
            *started(1, "tree_briefly"),
            Result(Id(1), poc_failed("TOOL_TIMEOUT", timeoutMs=1000)),
            # Nothing of it is "late": what was printed after the abort is told to nobody.
            Notified(BEAT, at_least=0),
            *ended(1),
            Silent((Id(1),)),
            NotLogged(SURVIVORS),
        ),
        (*TREE_RULES, "S0-10-timeout-tested", "S0-P2-5-no-output-after-abort"),
    ),
)
