"""Whether a successor with other tools may take over, and how clients are told before it does.

Tools that clients cannot tell apart from those that they know need no word. Others are judged first, outside of
the kernel; then they are announced, and the client has a short time to ask for the new list, which is the moment
when the successor takes over.
"""

from holdfast.kernel.commands import JudgeCatalog
from holdfast.kernel.inputs import CatalogJudged
from holdfast.kernel.state import Verdict, Worker
from holdfast.kernel.turn import Turn, due_time
from holdfast.kernel.workers import announce_tools, is_candidate, stop_worker
from holdfast.wire.codec import encode

__all__ = ["catalog_judged", "is_agreed"]


def is_agreed(turn: Turn, successor: Worker) -> bool:
    """Whether a successor that is prepared may take over now; brings about what that still needs."""
    state = turn.state
    known = state.catalog
    if not is_candidate(turn, successor) or known is None or known.witness == successor.catalog.witness:
        return True
    if successor.verdict is Verdict.NOT_ASKED:
        turn.put_worker(successor._replace(verdict=Verdict.ASKED))
        before = _document(turn.active or successor, known.definitions)
        after = _document(successor, successor.catalog.definitions)
        turn.commands.append(JudgeCatalog(successor.generation, before, after))
        return False
    return successor.verdict is Verdict.FINE and _is_announced(turn, successor)


def _document(worker: Worker, definitions: bytes) -> bytes:
    return b'{"server":' + encode(dict(worker.server)) + b',"tools":' + definitions + b"}"


def _is_announced(turn: Turn, successor: Worker) -> bool:
    """Whether the client knows of the new tools, or has had the time to find out."""
    if not successor.announced_until:
        until = due_time(turn.now + turn.state.policy.rollout_grace, turn.now)
        successor = turn.put_worker(successor._replace(announced_until=until))
        turn.wake(until)
        announce_tools(turn)
    asked = any(turn.state.pending[one].method == "tools/list" for one in turn.state.waiting)
    return asked or turn.now >= successor.announced_until


def catalog_judged(turn: Turn, judged: CatalogJudged) -> None:
    """The tools of a successor were compared with those that clients know."""
    worker = turn.state.workers.get(judged.generation)
    if worker is None or worker.verdict is not Verdict.ASKED:
        return
    if judged.problem:
        fault = {"class": "rollout", "code": "CATALOG_REFUSED", "message": judged.problem}
        stop_worker(turn, worker, fault)
    else:
        turn.put_worker(worker._replace(verdict=Verdict.FINE))
