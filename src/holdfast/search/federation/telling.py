"""The answer of a search over several repositories: the same form as that of one, and what each of them said.

What is told of one index is told of all together: the oldest time, the sum of the changes. Every repository has an
entry of its own beside that, with its problem where it has one.
"""

import hashlib
import time
from collections.abc import Iterable, Iterator
from typing import Any

from holdfast.errors import ToolError
from holdfast.search.federation.asking import Asked, Federated
from holdfast.search.federation.fusing import RRF_K
from holdfast.search.federation.members import Members
from holdfast.search.request import SearchRequest
from holdfast.search.shape import KEYS, bundles

__all__ = ["told"]

_SCORED_BY = "rrf"


def told(found: Federated, members: Members, request: SearchRequest, started: float) -> dict[str, Any]:
    """The payload; `started` is a time of `time.perf_counter`."""
    answered = [one for one in found.asked if one.answer is not None]
    lists = {key: list(_hits(found, mode, request)) for mode, key in KEYS.items()}
    totals = {key: sum(_answer(one)["total"][key] for one in answered) for key in KEYS.values()}
    backends = list(dict.fromkeys(_answer(one)["backend"] for one in answered))
    payload = {
        "backend": backends[0] if len(backends) == 1 else "mixed",
        "query": request.query,
        **lists,
        "bundles": bundles(lists),
        "total": totals,
        "truncated": any(len(lists[key]) < totals[key] for key in lists),
        "warnings": [*_problems(found.asked), *_warnings(answered)],
        **_about([_answer(one) for one in answered]),
        "repos": [_entry(one) for one in found.asked],
    }
    if members.workspace is not None:
        payload["workspace"] = {
            "path": str(members.workspace.path),
            "name": members.workspace.name,
            "repoSetId": members.workspace.repo_set_id,
        }
    payload["elapsedMs"] = elapsed = round((time.perf_counter() - started) * 1000, 3)
    if request.explain:
        payload["stats"] = {"elapsedMs": elapsed, "rrfK": RRF_K, "repos": len(found.asked)}
    return payload


def _answer(asked: Asked) -> dict[str, Any]:
    assert asked.answer is not None
    return asked.answer


def _hits(found: Federated, mode: str, request: SearchRequest) -> Iterator[dict[str, Any]]:
    for placed in found.order.get(mode, ()):
        one = found.asked[placed.member]
        own = [] if one.answer is None else one.answer[KEYS[mode]]
        if placed.position >= len(own):  # its index failed, or changed, between the order and the text
            continue
        hit = {"repo": one.member.name, **own[placed.position]}
        hit |= {"score": round(placed.score, 6), "scoreType": _SCORED_BY}
        if request.explain:
            ranks = {"placeAtHome": float(placed.at_home), "placeAmongAll": float(placed.among_all)}
            hit["scoreBreakdown"] = {**hit.get("scoreBreakdown", {}), **ranks}
        yield hit


def _entry(asked: Asked) -> dict[str, Any]:
    answer = asked.answer
    return {
        "repo": asked.member.name,
        "root": str(asked.member.repository.root),
        "index": None if answer is None else answer["index"],
        "total": dict.fromkeys(KEYS.values(), 0) if answer is None else answer["total"],
        "problem": None if asked.problem is None else _problem(asked.problem, asked),
        "elapsedMs": round(asked.seconds * 1000, 3),
    }


def _problem(error: ToolError, asked: Asked) -> dict[str, str]:
    """An error as it stands in an entry, where a repository is called by its name."""
    message = error.message.replace(str(asked.member.repository.root), asked.member.name)
    return {"code": error.code, "message": message}


def _problems(asked: Iterable[Asked]) -> Iterator[dict[str, str]]:
    for one in asked:
        if one.problem is not None:
            problem = _problem(one.problem, one)
            said = problem["message"].removeprefix(f"{one.member.name}: ")
            yield {"code": "repo", "message": f"{one.member.name} was not searched: {said} ({problem['code']})"}


def _warnings(answered: list[Asked]) -> Iterator[dict[str, str]]:
    """What the repositories warn of; what all of them say, once."""
    said: dict[tuple[str, str], list[str]] = {}
    for one in answered:
        for warning in _answer(one)["warnings"]:
            said.setdefault((warning["code"], warning["message"]), []).append(one.member.name)
    for (code, message), names in said.items():
        is_common = len(names) == len(answered) > 1
        yield {"code": code, "message": message if is_common else f"{', '.join(names)}: {message}"}


def _about(answers: list[dict[str, Any]]) -> dict[str, Any]:
    """The indexes as one: named by all of their builds, as old as the oldest."""
    indexes = [answer["index"] for answer in answers]
    state = "|".join(f"{index['build']}:{index['generation']}" for index in indexes)
    name = f"federated-{hashlib.blake2b(state.encode(), digest_size=8).hexdigest()}"
    changed = [index["changedFiles"] for index in indexes]
    about = {
        "build": name,
        "generation": sum(index["generation"] for index in indexes),
        "commit": None,
        "branch": None,
        "builtAt": min(index["builtAt"] for index in indexes),
        "changedFiles": None if None in changed else sum(changed),
        "headMoved": any(index["headMoved"] for index in indexes),
    }
    resolved = {"type": "latest", "commit": None, "buildIdByMode": dict.fromkeys(KEYS, name)}
    return {"index": about, "asOf": {"ref": "latest", "identityHash": name, "resolved": resolved}}
