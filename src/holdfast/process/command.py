"""What to run, checked before anything is started: arguments, directory, environment, grace.

Every refusal is a `ProcessError` that says what is wrong and what to do. Nothing is run or looked up on PATH here;
whether the program exists is found out by executing it.
"""

import math
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast.errors import ProcessError

__all__ = ["MARKER", "TEST_MARK", "Command", "checked_command", "checked_seconds"]

# Everything below a command inherits this variable, so that a tree can be found again after its keeper was killed.
# A tree inside a tree appends its own token: the outer one then still finds all of it.
MARKER = "HOLDFAST_CUSTODY"
TEST_MARK = "HOLDFAST_TEST_MARK"  # the same for the processes of a test


@dataclass(frozen=True, slots=True)
class Command:
    """A command that may be started. `env` is complete and carries the marker with `token` in it."""

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str] = field(repr=False)  # it may hold secrets
    token: str


def checked_command(
    argv: Sequence[str], cwd: str | os.PathLike[str] | None, env: Mapping[str, str] | None
) -> Command:
    """The command, or a ProcessError with the reason why it cannot be run. `env` None means our own."""
    token = secrets.token_hex(8)
    outer = os.environ.get(MARKER)
    marker = f"{outer}:{token}" if outer else token
    environment = {**(os.environ if env is None else _checked_env(env)), MARKER: marker}
    return Command(_checked_argv(argv), _checked_cwd(cwd), environment, token)


def checked_seconds(name: str, value: object) -> float:
    """A number of seconds that one can wait for; ProcessError otherwise."""
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0:
        return float(value)
    raise ProcessError(f"{name} is {value!r}; give a number of seconds, 0 or more")


def _checked_argv(argv: object) -> tuple[str, ...]:
    # Checked at run time, since a string is itself a sequence of strings, and tools are often written untyped.
    if isinstance(argv, str | bytes) or not isinstance(argv, Sequence):
        raise ProcessError(f'a command is a list of arguments, not {argv!r}; write ["git", "log"], one item each')
    if not argv:
        raise ProcessError("a command needs at least the name of a program; the list of arguments is empty")
    for position, item in enumerate(argv):
        if not isinstance(item, str):
            raise ProcessError(
                f"argument {position} is {item!r}; every argument is a string: convert it with str()"
            )
        if "\0" in item:
            raise ProcessError(f"argument {position} contains a NUL character; no program can be given one")
    if not argv[0]:
        raise ProcessError("the name of the program is empty; give a name or a path")
    return tuple(argv)


def _checked_cwd(cwd: str | os.PathLike[str] | None) -> str:
    try:
        path = Path(os.getcwd() if cwd is None else cwd).absolute()
        usable = path.is_dir()
    except (TypeError, ValueError, OSError) as error:
        raise ProcessError(
            f"the directory to run in cannot be used: {error}; give an existing directory"
        ) from error
    if not usable:
        raise ProcessError(f"there is no directory {str(path)!r} to run in; create it or give another cwd")
    return str(path)


def _checked_env(env: Mapping[Any, Any]) -> Mapping[str, str]:
    for name, value in env.items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise ProcessError(f"environment variable {name!r} is not text; names and values are strings")
        if not name or "=" in name or "\0" in name + value:
            raise ProcessError(
                f"environment variable {name!r} has an empty name, or a '=' or NUL where none may be"
            )
    return env
