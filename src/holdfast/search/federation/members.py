"""The repositories that a search over several means: those that are named, those that are served, those of a file.

One that is not there, or that cannot be one, stays in the list with the reason: it harms no other.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from holdfast.errors import ToolError
from holdfast.search.repository import Repository, absent_repository
from holdfast.search.request import EVERY_REPOSITORY, SearchRequest
from holdfast.search.served import Served
from holdfast.search.workspace import Workspace, find_workspace

__all__ = ["Member", "Members", "members_of"]


_NO_DIRECTORY = "correct its root in the workspace file, or bring the directory back"


@dataclass(frozen=True, slots=True)
class Member:
    """One repository by the name that its hits say; `problem` is why it cannot be searched."""

    name: str
    repository: Repository
    priority: int = 0
    problem: ToolError | None = None


@dataclass(frozen=True, slots=True)
class Members:
    """The repositories of a search, the most important first, and the workspace that lists them, if one does."""

    listed: tuple[Member, ...]
    workspace: Workspace | None = None


def members_of(served: Served, request: SearchRequest, base: Path) -> Members:
    """Whom a request asks; the path of a workspace file begins at `base` unless it is absolute."""
    if request.workspace_path is not None:
        workspace = find_workspace(request.workspace_path, None, base)
        return Members(tuple(_of_workspace(workspace, request.repo_path)), workspace)
    names = {root: name for name, root in served.aliases.items()}
    listed = [one for path in request.repo_path for one in _named(served, path, names)]
    distinct = {member.repository.repo_id: member for member in reversed(listed)}
    return Members(tuple(_with_own_names(reversed(distinct.values()))))


def _named(served: Served, path: str, names: Mapping[Path, str]) -> Iterator[Member]:
    if path == EVERY_REPOSITORY:
        for alias in served.aliases or (None,):
            yield _found(served, alias, alias, names)
        return
    yield _found(served, path, path if path in served.aliases else None, names)


def _found(served: Served, path: str | None, alias: str | None, names: Mapping[Path, str]) -> Member:
    try:
        repository = served.find(path)
    except ToolError as error:
        root = served.aliases.get(alias or "", Path(path or "."))
        missing = ToolError("NOT_FOUND", error.message, hint=error.hint)
        return Member(alias or root.name or str(root), absent_repository(root), problem=missing)
    return Member(alias or names.get(repository.root) or repository.root.name or "/", repository)


def _of_workspace(workspace: Workspace, chosen: tuple[str, ...]) -> Iterator[Member]:
    """Its repositories that are enabled; of those that a caller chooses by name, all."""
    known = [
        (
            Member(
                name,
                repo.repository,
                repo.priority,
                None if repo.missing is None else ToolError("NOT_FOUND", repo.missing, hint=_NO_DIRECTORY),
            ),
            repo,
        )
        for name, repo in zip(workspace.names(), workspace.repos, strict=True)
    ]
    names = {name for member, repo in known for name in (member.name, str(repo.root))} | {EVERY_REPOSITORY}
    strange = [name for name in chosen if name not in names]
    if strange:
        raise ToolError(
            "INVALID_REQUEST",
            f"the workspace has no repository {strange[0][:200]}",
            details={"repositories": sorted(member.name for member, _ in known)},
            hint="name repositories of the workspace by their aliases",
        )
    is_open = not chosen or EVERY_REPOSITORY in chosen
    for member, repo in known:
        if (is_open and repo.enabled) or member.name in chosen or str(repo.root) in chosen:
            yield member


def _with_own_names(members: Iterable[Member]) -> Iterator[Member]:
    """Each under a name of its own: with a number where two have the same."""
    taken: set[str] = set()
    for member in members:
        name, count = member.name, 1
        while name in taken:
            count += 1
            name = f"{member.name}-{count}"
        taken.add(name)
        yield Member(name, member.repository, member.priority, member.problem)
