"""Which repository a request means: one of those that the operator serves, by alias or by path, and no other.

A path counts by where it really leads, so no link leads out. What is not served is refused with the same words,
whether it exists or not: nobody can feel their way through the file system.
"""

import asyncio
import os
from collections.abc import Sequence
from typing import Any

from holdfast.api.envelope import refusal
from holdfast.api.options import FrontOptions, MountedRepository

__all__ = ["DEFAULT", "chosen_repositories", "chosen_repository", "chosen_workspace", "settle_search"]

DEFAULT = object()  # what stands for a repository that is not named; null is no name
_EVERY = "*"
_NAME_ONE = "Name one of the served repositories."
_MOST = 256  # names in one request
_PATIENCE = 2.0  # seconds that the file system has to tell where a path leads


def _take_repository(arguments: dict[str, Any]) -> object:
    """Take the repository out of the arguments, under either of its names; DEFAULT where it is not named."""
    if "repo" in arguments and "repoPath" in arguments:
        raise refusal("INVALID_REQUEST", "repo and repoPath mean the same; give one of them")
    return arguments.pop("repo", arguments.pop("repoPath", DEFAULT))


async def settle_search(options: FrontOptions, arguments: dict[str, Any]) -> str:
    """Put what is meant into the arguments of a search; the name that the answer says: one, or all with commas."""
    given = _take_repository(arguments)
    if "workspacePath" in arguments:
        path = await chosen_workspace(options.workspace, arguments["workspacePath"])
        listed = [one for one in options.repositories if one.root in options.workspace_roots]
        chosen = await chosen_repositories(listed, "*" if given is DEFAULT else given)
        arguments |= {"workspacePath": path, "repoPath": [one.root for one in chosen]}
        return path if options.show_paths else os.path.basename(path)
    chosen = await chosen_repositories(options.repositories, given)
    roots = [one.root for one in chosen]
    arguments["repoPath"] = roots[0] if len(roots) == 1 else roots
    return ",".join(one.root if options.show_paths else one.alias for one in chosen)


async def chosen_repository(served: Sequence[MountedRepository], given: object) -> MountedRepository:
    """The repository that is meant, by default the first."""
    if given is DEFAULT:
        return served[0]
    if not isinstance(given, str) or not given:
        raise refusal("INVALID_REQUEST", "repo must be the alias or the path of a repository")
    for one in served:
        if given in {one.alias, one.root}:
            return one
    if given == _EVERY:
        raise refusal("INVALID_REQUEST", "only one repository at a time can be asked for here", hint=_NAME_ONE)
    if os.path.isabs(given):
        real = await _real_path(given)
        around = [one for one in served if real == one.root or real.startswith(one.root.rstrip("/") + "/")]
        if around:
            return max(around, key=lambda one: len(one.root))
    raise refusal("FORBIDDEN", "this repository is not served here", hint=_NAME_ONE)


async def chosen_repositories(served: Sequence[MountedRepository], given: object) -> list[MountedRepository]:
    """Those that are meant: one, a list of them, or `*` for all; each once, in the order of their names."""
    if not isinstance(given, list):
        return list(served) if given == _EVERY else [await chosen_repository(served, given)]
    if not 0 < len(given) <= _MOST:
        raise refusal("INVALID_REQUEST", f"repo must name 1 to {_MOST} repositories")
    chosen = [one for name in given for one in await chosen_repositories(served, _only_text(name))]
    return list(dict.fromkeys(chosen))


def _only_text(name: object) -> object:
    return None if isinstance(name, list) else name  # a list inside of a list names nothing


async def chosen_workspace(served: str | None, given: object) -> str:
    """The workspace that is served, by its path or its name, and no other."""
    if not isinstance(given, str) or not given:
        raise refusal("INVALID_REQUEST", "workspacePath must be the path or the name of a workspace file")
    if served is not None and (given in {served, os.path.basename(served)} or await _real_path(given) == served):
        return served
    raise refusal(
        "FORBIDDEN", "this workspace is not served here", hint="Name repositories in repo, or * for all."
    )


async def _real_path(path: str) -> str:
    try:
        # In a thread: a path on a network mount that hangs must not hold up everybody else.
        async with asyncio.timeout(_PATIENCE):
            return await asyncio.to_thread(os.path.realpath, path)
    except (OSError, ValueError, TimeoutError):  # ValueError: a path with a NUL
        return ""
