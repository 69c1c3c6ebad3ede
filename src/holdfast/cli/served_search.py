"""What `serve search` and `up` share: which repositories are served, and the front that speaks HTTP."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.errors import ToolError, UsageError
from holdfast.search.configuration import load_configuration as load_repository_configuration
from holdfast.search.repository import find_repository
from holdfast.search.served import SERVED_ENV, aliases, announce, served
from holdfast.search.version import SCHEMA_VERSION
from holdfast.settings import Configuration, Settings, load_configuration
from holdfast.settings.sources import CONFIG_ENV

if TYPE_CHECKING:  # a worker comes this way too, and needs nothing of the host
    from holdfast.host.front import FrontPlan

__all__ = ["announce_served", "front_plan", "surroundings", "with_defaults_of_repository"]


def surroundings(repos: Sequence[str], workspace: str | None) -> Mapping[str, str]:
    """The environment to read settings in: without a file, where that is the repository's and cannot be read.

    Every call tells what is wrong with such a file, so it keeps neither a server from starting nor a lost worker
    from being replaced. One that can be read and says what cannot be is for the operator, and refused as ever.
    """
    try:
        load_configuration({})
    except UsageError as error:
        if CONFIG_ENV in os.environ or workspace is not None or not _calls_will_tell(repos):
            raise
        if SERVED_ENV not in os.environ:  # a worker would say it again
            print(f"holdfast: {error.message}: served without it, every call says so", file=sys.stderr)
        return {**os.environ, CONFIG_ENV: "none"}
    return os.environ


def _calls_will_tell(repos: Sequence[str]) -> bool:
    """Whether the repository around the working directory is the one by default, and its file is unreadable."""
    try:
        is_told = not repos and SERVED_ENV in os.environ
        repository = served().find() if is_told else find_repository(repos[0] if repos else None)
        if not Path.cwd().is_relative_to(repository.root):
            return False
        load_repository_configuration(repository)
    except ToolError as error:
        wrong = error.details.get("violations") or ()
        return any(one["keyword"] == "file" and str(one["params"]["file"]).endswith(".toml") for one in wrong)
    return False


def announce_served(repos: Sequence[str], workspace: str | None, settings: Settings) -> None:
    """Tell this process, and those below it, what is served; a worker of a host was told already."""
    if not repos and workspace is None and SERVED_ENV in os.environ:
        told = served()
        announce(told.aliases, told.cache_dir, told.workspace, settings)
        return
    roots = [find_repository(repo).root for repo in repos]
    place = None if workspace is None else Path(os.path.realpath(workspace))
    given: dict[Path, str] = {}
    if place is not None:
        from holdfast.search.workspace import read_workspace

        file = read_workspace(place)
        listed = [repo for repo in file.repos if repo.enabled]
        listed.sort(key=lambda repo: repo.missing is not None)  # what is meant by default has to be there
        roots += [repo.root for repo in listed]
        # As a search in the workspace calls them, whatever else is served.
        given = {repo.root: name for name, repo in zip(file.names(), file.repos, strict=True)}
    if not roots:
        roots = [find_repository(None).root]
    announce(aliases(roots, given), settings.cache_path().absolute(), place, settings)


def with_defaults_of_repository(options: Mapping[str, Any], configuration: Configuration) -> dict[str, Any]:
    """The options, with what the first repository says about its server and nobody else has said.

    A broken configuration says nothing here: it is told by every call, and must not keep the server from starting.
    """
    try:
        said = load_repository_configuration(served().find()).server_settings()
    except ToolError:
        return dict(options)
    open_ones = {name: value for name, value in said.items() if configuration.origins[name] == "default"}
    return {**options, **open_ones}


def front_plan(settings: Settings) -> "FrontPlan":
    """The front for these settings, its socket bound; UsageError where that is not possible or not safe."""
    from holdfast.cli.http_front import new_front_plan

    more: dict[str, Any] = {
        "schemaVersion": SCHEMA_VERSION,
        "showPaths": settings.http_paths,
        "pinned": settings.protocol != "negotiate",
        "repositories": [{"alias": alias, "root": str(root)} for alias, root in served().aliases.items()],
        **_workspace_options(),
    }
    return new_front_plan(settings, "holdfast.search.http", "/docs", more)


def _workspace_options() -> dict[str, Any]:
    """The workspace that is served, and which repositories are in it, for requests that name it."""
    place = served().workspace
    if place is None:
        return {}
    from holdfast.search.workspace import read_workspace

    roots = [str(repo.root) for repo in read_workspace(place).repos if repo.enabled]
    return {"workspace": str(place), "workspaceRoots": roots}
