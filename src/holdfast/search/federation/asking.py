"""One request asked of several repositories at once: each says how well its hits do, and shows those that count.

What goes wrong in one of them is told beside the hits of the others. Only where none can be searched, or the
question itself is wrong, the whole is an error.
"""

import contextlib
import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from holdfast.errors import ToolError
from holdfast.search.configuration import load_configuration
from holdfast.search.federation.fusing import COMPARED, Placed, fused
from holdfast.search.federation.members import Member
from holdfast.search.opened import Standing
from holdfast.search.query.parser import parse
from holdfast.search.request import SHORTCUTS, SearchRequest, modes
from holdfast.search.served import Served
from holdfast.search.shape import KEYS

__all__ = ["Asked", "Federated", "ask_all"]

Stop = Callable[[], bool]
Report = Callable[[str, int, int, list[dict[str, Any]]], None]

_EARLY = 3  # hits of each mode that are reported before the answer
_EARLY_FIELDS = ("file", "startLine", "endLine", "name", "score")


@dataclass(slots=True)
class Asked:
    """One repository in a search: what it said, or why it could not."""

    member: Member
    problem: ToolError | None = None
    standing: Standing | None = None
    answer: dict[str, Any] | None = None
    seconds: float = 0.0
    held: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)  # its open index


@dataclass(slots=True)
class Federated:
    """What all of them said, and the common order by mode, as places in `asked`."""

    asked: list[Asked]
    order: dict[str, list[Placed]]


def ask_all(
    served: Served, members: Sequence[Member], request: SearchRequest, stop: Stop, report: Report | None = None
) -> Federated:
    """The answers of all members to one request; ToolError where none of them can be searched.

    `report` gets each repository as soon as it is searched, with the first hits of all so far: notices that come
    soon after another are not sent. For the same reason the first one is that of the first repository.
    """
    parse(request.query, fields=SHORTCUTS)  # a mistake in it is nobody else's
    own = replace(request, repo_path=(), workspace_path=None, top=max(request.top, COMPARED))
    with served.turn(stop), contextlib.ExitStack() as held:
        asked = [Asked(member, member.problem) for member in members]
        for one in asked:
            held.callback(one.held.close)
        # Where an index has to be opened, a disk is waited for: that goes side by side.
        closed = [one for one in asked if not (one.problem or served.is_open(one.member.repository))]
        served.in_parallel(lambda one: _stand(served, one, own, stop), closed)
        early: list[dict[str, Any]] = []
        for done, one in enumerate(asked, 1):
            _stand(served, one, own, stop)
            if report is not None:
                early += _early_hits(one)
                report(f"searched {one.member.name}", done, len(asked), list(early))
        order = {mode: _fused(asked, mode, request.top) for mode in modes(request)}
        for at, one in enumerate(asked):
            _show(one, _counts(order, at))
    if not any(one.answer for one in asked):
        raise _all_failed(asked)
    return Federated(asked, order)


def _stand(served: Served, asked: Asked, request: SearchRequest, stop: Stop) -> None:
    """Ask one; an index that was replaced at that moment, and its build removed, is asked once more."""
    if asked.problem is not None or asked.standing is not None:
        return
    started = time.perf_counter()
    with _told(asked):
        repository = asked.member.repository
        # What a repository says about its engine counts; how many hits there are, and of what, the caller says.
        said = load_configuration(repository).search.backend
        if request.backend == "auto" != said:
            request = replace(request, backend=said)
        for attempt in (1, 2):
            try:
                with contextlib.ExitStack() as opened:
                    index = opened.enter_context(served.reader(repository))
                    asked.standing = index.stand(request, stop=stop)
                    asked.held.push(opened.pop_all())
                break
            except (OSError, sqlite3.Error):
                if attempt == 2:
                    raise
    asked.seconds = time.perf_counter() - started


def _early_hits(asked: Asked) -> list[dict[str, Any]]:
    """The first hits of one repository, before those of the others are known."""
    if asked.standing is None:
        return []
    counts = {mode: min(len(scores), _EARLY) for mode, scores in asked.standing.scores.items()}
    with _told(asked):
        shown = asked.standing.show(counts)
        return [
            {"repo": asked.member.name, "mode": mode, **{name: hit.get(name) for name in _EARLY_FIELDS}}
            for mode, count in counts.items()
            for hit in shown[KEYS[mode]][:count]
        ]
    return []


def _show(asked: Asked, counts: dict[str, int]) -> None:
    if asked.standing is None:
        return
    started = time.perf_counter()
    with _told(asked), asked.held:
        asked.answer = asked.standing.show(counts)
    asked.seconds += time.perf_counter() - started


@contextlib.contextmanager
def _told(asked: Asked) -> Any:
    """Keep what one repository refuses, or cannot do, as its own problem."""
    try:
        yield
    except ToolError as error:
        if error.code == "CANCELLED":
            raise
        asked.problem = error
    except (OSError, sqlite3.Error) as error:  # no right to read it, a disk that fails
        reason = getattr(error, "strerror", None) or str(error)
        asked.problem = ToolError("NO_INDEX", f"{asked.member.name}: its index cannot be read: {reason}")


def _fused(asked: Sequence[Asked], mode: str, top: int) -> list[Placed]:
    scores = [[] if one.standing is None else one.standing.scores.get(mode, []) for one in asked]
    return fused(scores, [one.member.priority for one in asked], top)


def _counts(order: dict[str, list[Placed]], member: int) -> dict[str, int]:
    """How many hits of each mode a repository has to show: in the common order its own stay in theirs."""
    return {mode: sum(placed.member == member for placed in listed) for mode, listed in order.items()}


def _all_failed(asked: Sequence[Asked]) -> ToolError:
    if not asked:
        return ToolError("INVALID_REQUEST", "there is no repository to search", hint="enable one of the workspace")
    problems = [(one.member.name, one.problem) for one in asked if one.problem is not None]
    name, first = problems[0]
    told = [{"repo": repo, "code": error.code, "message": error.message} for repo, error in problems]
    subject = "the one repository cannot" if len(asked) == 1 else f"none of {len(asked)} repositories can"
    message = f"{subject} be searched; {name}: {first.message.removeprefix(f'{name}: ')}"
    return ToolError(first.code, message, details={**first.details, "repos": told}, hint=first.hint)
