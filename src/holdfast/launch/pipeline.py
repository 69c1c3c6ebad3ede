"""What happens next in a run: a pure function of its state, its artifacts and what was worked already.

    CREATED        repo_scout                                 -> CLONED_INPUTS -> INGESTED
    INGESTED       facts_builder, then snippet_curator        -> FACTS_READY
    FACTS_READY    ia_planner                                 -> PLAN_READY -> DRAFTING
    DRAFTING       section_writer, one per section            -> DRAFT_READY
    DRAFT_READY    linker_patcher                             -> LINKING
    LINKING        validator                                  -> VALIDATING, -> READY_FOR_PR where it found nothing
    FIXING         fixer for one issue, then validator        -> VALIDATING
    READY_FOR_PR   rests, until somebody asks for the pull request
    PR_OPENED                                                 -> DONE

Work counts as done when it was finished with the artifacts that there are now; so whoever comes after a crash does
what is left, and nothing twice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.launch import states
from holdfast.launch.workers import inputs_of

__all__ = ["WHOLE", "Did", "Move", "Rest", "Step", "Work", "is_done", "next_step"]

WHOLE = "run"
"""The scope of work that is about the whole run."""


@dataclass(frozen=True, slots=True)
class Did:
    """A piece of work as the store has it."""

    worker: str
    scope: str
    status: str
    inputs: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Work:
    """These pieces of work are next; they do not depend on each other."""

    worker: str
    scopes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Move:
    """The run goes to another state."""

    state: str


@dataclass(frozen=True, slots=True)
class Rest:
    """Nothing happens until somebody asks for something."""

    reason: str


Step = Work | Move | Rest

# What has to be worked in a state, in this order, and where the run goes then.
_LINE: Mapping[str, tuple[tuple[str, ...], str]] = {
    states.CREATED: (("repo_scout",), states.CLONED_INPUTS),
    states.CLONED_INPUTS: ((), states.INGESTED),
    states.INGESTED: (("facts_builder", "snippet_curator"), states.FACTS_READY),
    states.FACTS_READY: (("ia_planner",), states.PLAN_READY),
    states.PLAN_READY: ((), states.DRAFTING),
    states.DRAFTING: (("section_writer",), states.DRAFT_READY),
    states.DRAFT_READY: (("linker_patcher",), states.LINKING),
    states.LINKING: (("validator",), states.VALIDATING),
    states.PR_OPENED: ((), states.DONE),
}


def next_step(
    state: str,
    sections: Sequence[str],
    artifacts: Mapping[str, str],
    did: Sequence[Did],
    report: Mapping[str, Any] | None,
) -> Step:
    """What is next. `artifacts` maps names to digests; `report` is the last validation report."""
    if state in _LINE:
        workers, after = _LINE[state]
        for worker in workers:
            scopes = sections if worker == "section_writer" else (WHOLE,)
            left = tuple(scope for scope in scopes if not is_done(worker, scope, artifacts, did))
            if left:
                return Work(worker, left)
        return Move(after)
    if state == states.VALIDATING:
        passed = report is not None and report["ok"]
        return Move(states.READY_FOR_PR) if passed else Rest("the gates found something")
    if state == states.FIXING:
        return _fixing(artifacts, did)
    return Rest("ready for a pull request" if state == states.READY_FOR_PR else "over")


def is_done(worker: str, scope: str, artifacts: Mapping[str, str], did: Sequence[Did]) -> bool:
    """Whether this work was finished with the artifacts of now."""
    now = {name: artifacts[name] for name in inputs_of(worker, artifacts)}
    return any(
        item.status == "finished" and (item.worker, item.scope) == (worker, scope) and dict(item.inputs) == now
        for item in did
    )


def _fixing(artifacts: Mapping[str, str], did: Sequence[Did]) -> Step:
    """The fix that was begun is carried out, looked at, and then the run is where it was before."""
    fixes = [number for number, item in enumerate(did) if item.worker == "fixer"]
    if not fixes or did[fixes[-1]].status == "failed":
        return Move(states.VALIDATING)
    fix = did[fixes[-1]]
    if fix.status != "finished":
        return Work("fixer", (fix.scope,))
    # Only what came after the fix has seen it: one that restores a file changes the work tree and no artifact.
    if not is_done("validator", WHOLE, artifacts, did[fixes[-1] :]):
        return Work("validator", (WHOLE,))
    return Move(states.VALIDATING)
