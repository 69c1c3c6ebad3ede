"""From what was typed behind `holdfast install` to the command line that a client is told, and its name."""

import os
import re
from typing import TYPE_CHECKING

from holdfast.errors import ToolError, UsageError

if TYPE_CHECKING:
    from holdfast.setup.client_places import Client, Scope
    from holdfast.setup.our_command import Served

__all__ = ["command_line", "environment", "name_of", "served"]


def command_line(client: "Client", scope: "Scope", target: str | None, words: list[str]) -> list[str]:
    """The words that the client is to start; UsageError, or click's own, where they make no sense."""
    from holdfast.setup.our_command import absolute_options, absolute_target, own_program, run_words

    if target is None:
        from holdfast.cli.run import command as run

        line = run_words(words)
        with run.make_context("holdfast run", list(line)):  # what `run` would refuse is told now
            return [*own_program(), "run", *line]
    from holdfast.cli.serve import command as serve

    whole = absolute_target(target)
    with serve.make_context("holdfast serve", [whole, *words]) as parsed:
        given = parsed.params
    line = absolute_options(words, _path_flags())
    if target == "search" and not given["repos"] and not given["workspace"]:
        line += _repository_here(client, scope)
    return [*own_program(), "serve", whole, *line]


def _path_flags() -> frozenset[str]:
    from holdfast.settings import SETTINGS
    from holdfast.settings.kinds import DIRECTORY, FILE

    known = {setting.flag for setting in SETTINGS if setting.flag and setting.parse in (DIRECTORY, FILE)}
    return frozenset({*known, "--repo", "--workspace", "--lock"})


def _repository_here(client: "Client", scope: "Scope") -> list[str]:
    """The repository of this directory, unless the client will say by itself in which one it works."""
    if scope == "user" and client.knows_project:
        return []
    from holdfast.search.repository import find_repository

    try:
        return [f"--repo={find_repository(None).root}"]
    except ToolError as error:
        raise UsageError(error.message, remedy=error.hint or "-- --repo DIR") from error


def name_of(target: str | None, words: list[str]) -> str:
    """What a server is called where nothing else is said."""
    from holdfast.host.naming import server_name

    command = [target] if target else words[words.index("--") + 1 :] if "--" in words else words
    return re.sub(r"[^A-Za-z0-9_-]+", "-", server_name(command or ["server"])).strip("-") or "server"


def environment(variables: tuple[str, ...]) -> dict[str, str]:
    """The variables of NAME=VALUE words."""
    env: dict[str, str] = {}
    for variable in variables:
        name, equals, value = variable.partition("=")
        if not equals or not name or not name.replace("_", "a").isalnum():
            raise UsageError(
                f"--env {variable.partition('=')[0]}: a variable is NAME=VALUE", remedy="--env NAME=VALUE"
            )
        env[name] = value
    return env


def served(target: str | None, words: list[str]) -> "Served | None":
    """What the entry should serve; a file need not exist any more to be taken out."""
    from holdfast.setup.our_command import OWN_SERVERS, Served, run_words, served_by

    if target is None:
        return served_by({"command": "holdfast", "args": ["run", *run_words(words)]}) if words else None
    if target in OWN_SERVERS or not (os.sep in target or ".py" in target):
        return Served("serve", (target,))
    return Served("serve", (os.path.abspath(os.path.expanduser(target)),))
