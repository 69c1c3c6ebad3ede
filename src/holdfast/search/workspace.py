"""Workspaces: a file that names several repositories, and the state of each of them.

The file is an input of whoever names it. It says which repositories belong together; where indexes are written it
does not say. Everything that is wrong with it is told at once, each with a code of its own. A directory that is
not there is no mistake of the file: the disk may not be mounted. It is told where the repository is used.
"""

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.errors import ToolError
from holdfast.search.configuration import load_configuration
from holdfast.search.configuration.files import FileRefused, read_text
from holdfast.search.configuration.jsonc import JsoncError, parse_jsonc
from holdfast.search.configuration.refusals import printable, refused, syntax_violation
from holdfast.search.configuration.values import Place
from holdfast.search.configuration.workspace_shape import SCHEMA_VERSION, workspace_violations
from holdfast.search.repository import Repository, absent_repository, find_repository, head
from holdfast.search.request_schema import Violation
from holdfast.search.served import aliases

if TYPE_CHECKING:
    from holdfast.search.index_writer import Stop

__all__ = ["WORKSPACE_FILE", "Workspace", "WorkspaceRepo", "find_workspace", "read_workspace", "workspace_status"]

WORKSPACE_FILE = ".pairofcleats-workspace.jsonc"

_DEFAULTS: dict[str, Any] = {"enabled": True, "priority": 0, "tags": []}
# What is told of an index; None where there is none.
_OF_INDEX = ("build", "generation", "builtAt", "commit", "changedFiles")
_HINT = "correct what details.violations lists"


@dataclass(frozen=True, slots=True)
class WorkspaceRepo:
    """One repository of a workspace."""

    repository: Repository
    alias: str | None
    enabled: bool
    priority: int
    tags: tuple[str, ...]
    missing: str | None = None  # why there is no directory, where there is none

    @property
    def root(self) -> Path:
        """The directory of the repository."""
        return self.repository.root


@dataclass(frozen=True, slots=True)
class Workspace:
    """A workspace file that was read and found to be in order; the most important repositories come first.

    `repo_set_id` stays the same for the same repositories, `manifest_hash` for the same statements about them,
    however the file is written.
    """

    path: Path
    name: str | None
    repos: tuple[WorkspaceRepo, ...]
    repo_set_id: str
    manifest_hash: str

    def names(self) -> list[str]:
        """What a search calls each repository: its alias, or its directory, with a number where that is taken."""
        given = {repo.root: repo.alias for repo in self.repos if repo.alias is not None}
        return list(aliases((repo.root for repo in self.repos), given))


def find_workspace(given: str | None, served: Path | None, root: Path) -> Workspace:
    """The workspace that a caller names, else the one that is served, else the one at the root of the repository.

    A path that is not absolute starts at that root, and a directory stands for the file of the usual name in it.
    """
    path = served or root / WORKSPACE_FILE if given is None else root / given
    return read_workspace(path / WORKSPACE_FILE if os.path.isdir(path) else path)


def read_workspace(path: Path) -> Workspace:
    """The workspace of a file; ToolError NOT_FOUND without it, INVALID_REQUEST with everything that is wrong."""
    place = Place(printable(path.name))
    document = _document(path, place)
    found = list(workspace_violations(document, place))
    repos: list[WorkspaceRepo] = []
    if not found:
        defaults = {**_DEFAULTS, **document.get("defaults", {})}
        found = list(_enter(repos, document["repos"], defaults, path, place))
    if found:
        raise refused(found, hint=_HINT)
    repos.sort(key=lambda repo: -repo.priority)
    name = document.get("name")
    return Workspace(path, name, tuple(repos), _repo_set_id(repos), _manifest_hash(name, repos))


def workspace_status(workspace: Workspace, cache_dir: Path, *, stop: "Stop | None" = None) -> dict[str, Any]:
    """The state of every repository; one that is in trouble says so in its entry and harms no other."""
    entries = []
    for repo in workspace.repos:
        if stop is not None and stop():
            raise ToolError("CANCELLED", "the look at the workspace was stopped")
        entries.append(_state(repo, cache_dir))
    return {
        "workspacePath": str(workspace.path),
        "name": workspace.name,
        "repoSetId": workspace.repo_set_id,
        "manifestHash": workspace.manifest_hash,
        "repos": entries,
        "totals": {
            "repos": len(entries),
            "enabled": sum(entry["enabled"] for entry in entries),
            "indexed": sum(entry["index"]["exists"] for entry in entries),
            "problems": sum(entry["problem"] is not None for entry in entries),
            "chunks": sum(sum(entry["index"]["chunks"].values()) for entry in entries),
            "bytes": sum(entry["index"]["bytes"] for entry in entries),
        },
    }


def _document(path: Path, place: Place) -> Any:
    if not os.path.lexists(path):
        wrong = place.violation("file", "does not exist", code="ERR_WORKSPACE_FILE_NOT_FOUND")
        raise ToolError(
            "NOT_FOUND",
            f"there is no workspace file {place.file}",
            details={"path": str(path), "violations": [wrong]},
            hint=f"name a workspace file; by default it is called {WORKSPACE_FILE}",
        )
    try:
        return parse_jsonc(read_text(path))
    except FileRefused as refusal:
        wrong = place.violation("file", refusal.reason, code="ERR_WORKSPACE_PARSE_FAILED", **refusal.params)
    except JsoncError as error:
        wrong = syntax_violation(error, {"file": place.file, "code": "ERR_WORKSPACE_PARSE_FAILED"})
    raise refused([wrong], hint=_HINT)


def _enter(
    repos: list[WorkspaceRepo], entries: list[Any], defaults: Mapping[str, Any], file: Path, top: Place
) -> Iterator[Violation]:
    """Find every repository; what is wrong with them, and with them together."""
    roots: set[str] = set()
    ids: set[str] = set()
    aliases: set[str] = set()
    for index, entry in enumerate(entries):
        place = top.inner("repos", "/properties/repos").inner(index, "/items")
        where = place.inner("root", "/properties/root")
        real = os.path.realpath(file.absolute().parent / entry["root"])
        missing = _directory_fault(real)
        repository = absent_repository(Path(real)) if missing else find_repository(real)
        if real in roots:
            yield where.violation("unique", "is named twice", code="ERR_WORKSPACE_DUPLICATE_REPO_ROOT")
        elif repository.repo_id in ids:
            message = f"belongs to the repository {repository.root.name}, which is named already"
            yield where.violation("unique", message, code="ERR_WORKSPACE_DUPLICATE_REPO_ID")
        alias = entry.get("alias")
        if alias is not None and alias.lower() in aliases:
            message = f"{alias!r} is the alias of another repository"
            alias_place = place.inner("alias", "/properties/alias")
            yield alias_place.violation("unique", message, code="ERR_WORKSPACE_DUPLICATE_ALIAS")
        roots.add(real)
        ids.add(repository.repo_id)
        aliases.update([alias.lower()] if alias is not None else [])
        said = {**defaults, **entry}
        tags = tuple(dict.fromkeys(said["tags"]))
        repos.append(WorkspaceRepo(repository, alias, said["enabled"], said["priority"], tags, missing))


def _directory_fault(path: str) -> str | None:
    name = printable(os.path.basename(path) or path)
    if not os.path.exists(path):
        return f"the directory {name} does not exist"
    return None if os.path.isdir(path) else f"{name} is not a directory"


def _repo_set_id(repos: list[WorkspaceRepo]) -> str:
    return "set-" + _digest(sorted(repo.repository.repo_id for repo in repos))[:16]


def _manifest_hash(name: str | None, repos: list[WorkspaceRepo]) -> str:
    listed = [[repo.repository.repo_id, repo.alias, repo.enabled, repo.priority, repo.tags] for repo in repos]
    return _digest([SCHEMA_VERSION, name, listed])


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, separators=(",", ":")).encode()).hexdigest()


# --- the state of one -----------------------------------------------------------------------------------------


def _state(repo: WorkspaceRepo, cache_dir: Path) -> dict[str, Any]:
    index, problem = _index_state(repo, cache_dir)
    return {
        "repoId": repo.repository.repo_id,
        "alias": repo.alias,
        "root": str(repo.root),
        "enabled": repo.enabled,
        "priority": repo.priority,
        "tags": list(repo.tags),
        "index": index,
        "problem": problem,
    }


def _index_state(repo: WorkspaceRepo, cache_dir: Path) -> tuple[dict[str, Any], dict[str, str] | None]:
    repository = repo.repository
    none: dict[str, Any] = {
        "exists": False,
        **dict.fromkeys(_OF_INDEX),
        "headCommit": head(repository)[0],
        "chunks": {},
        "bytes": 0,
    }
    missing = repo.missing or _directory_fault(str(repository.root))  # it may be gone since the file was read
    if missing:
        return none, {"code": "NOT_FOUND", "message": missing}
    problem: dict[str, str] | None = None
    try:
        load_configuration(repository)
    except ToolError as error:  # the index is there all the same
        problem = _told(error, repository)
    try:
        state = _open_state(repository, cache_dir)
    except ToolError as error:
        return none, problem or _told(error, repository)
    except (OSError, sqlite3.Error) as error:  # no right to read it, a disk that fails
        reason = getattr(error, "strerror", None) or str(error)
        message = f"the index of {repository.root.name} cannot be read: {reason}"
        return none, problem or {"code": "NO_INDEX", "message": message}
    return {key: state[key] if key != "exists" else True for key in none}, problem


def _open_state(repository: Repository, cache_dir: Path) -> dict[str, Any]:
    from holdfast.search.library import open_index

    with open_index(repository, cache_dir) as index:
        return index.status()


def _told(error: ToolError, repository: Repository) -> dict[str, str]:
    """An error as it stands in an entry, where a repository is named as in every message."""
    return {"code": error.code, "message": error.message.replace(str(repository.root), repository.root.name)}
