"""The command line that a client is told, and how one of ours is recognised in a client's configuration.

A client starts its servers from some directory, with a search path of its own, so every path that is known to be
one is written whole. What is not known to be one, such as the words of a foreign command, stays as it is.
"""

import os
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.errors import UsageError
from holdfast.interpreter import OWN_SERVERS, module_command

__all__ = [
    "OWN_SERVERS",
    "Served",
    "absolute_options",
    "absolute_target",
    "check_words",
    "own_program",
    "run_words",
    "served_by",
]

_FLAG = re.compile(r"-[A-Za-z]+|-X[a-z0-9_=]+")
_PYTHON = re.compile(r"python[0-9.]*(\.exe)?")


class Served(NamedTuple):
    """What a command line of ours serves: a TARGET of `serve`, or the words of a foreign command."""

    verb: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join(self.words) if self.verb == "serve" else f"-- {' '.join(self.words)}"


def own_program() -> list[str]:
    """The words that start this very installation, whatever the directory or the search path."""
    called = sys.argv[0] if sys.argv else ""
    found = shutil.which(called) if os.path.basename(called) in {"holdfast", "holdfast.exe"} else None
    beside = Path(sys.executable).with_name("holdfast")  # for `python -m holdfast`
    if found is not None:
        return [os.path.abspath(found)]  # a link stays a link: that of an installer outlives upgrades
    if os.access(beside, os.X_OK) and beside.is_file():
        return [str(beside)]
    return module_command("holdfast", user_code=True)


def absolute_target(text: str) -> str:
    """A TARGET that means the same from every directory; a module stays one. UsageError where there is no file."""
    if text in OWN_SERVERS:
        return text
    place, colon, name = text.rpartition(":")
    if not colon or text.endswith(".py"):
        place, colon, name = text, "", ""
    is_file = place.endswith(".py") or os.sep in place
    if not is_file:
        if not colon:
            remedy = "search, launch, module:object, path/file.py; or -- COMMAND ARGS..."
            raise UsageError(f"{text!r} names no server", remedy=remedy)
        return text
    path = os.path.abspath(os.path.expanduser(place))
    if not os.path.isfile(path):
        raise UsageError(f"there is no file {place}", remedy="check the path; it is relative to this directory")
    return path + colon + name


def absolute_options(words: Sequence[str], flags: frozenset[str]) -> list[str]:
    """The words with the values of these flags as whole paths; what a client fills in itself stays as it is."""
    whole: list[str] = []
    is_value = False
    for word in words:
        flag, equals, value = word.partition("=")
        if is_value:
            whole.append(_whole(word))
        elif equals and flag in flags:
            whole.append(f"{flag}={_whole(value)}")
        else:
            whole.append(word)
        is_value = not is_value and word in flags
    return whole


def _whole(path: str) -> str:
    return path if "${" in path else os.path.abspath(os.path.expanduser(path))


def run_words(words: Sequence[str]) -> list[str]:
    """What stands behind `holdfast run` for a foreign command, whose first word may be options of `run` itself."""
    options: list[str] = []
    command = list(words)
    if words[0].startswith("-"):
        if "--" not in words:
            raise UsageError(
                "there are options, and no command behind them",
                remedy=f"-- {' '.join(words)} -- COMMAND ARGS...",
            )
        at = command.index("--")
        options, command = command[:at], command[at + 1 :]
    if not command:
        raise UsageError("there is no command behind `--`", remedy="-- COMMAND ARGS...")
    if os.sep in command[0]:
        command[0] = os.path.abspath(os.path.expanduser(command[0]))
    return [*options, "--", *command]


def check_words(words: Sequence[str]) -> None:
    """UsageError where a word cannot stand in a configuration, which is text."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            shown = word.encode("utf-8", "backslashreplace").decode()
            raise UsageError(f"{shown!r} is not text", remedy="rename it: a configuration holds text") from None
        if "\0" in word:
            raise UsageError(f"{word!r} holds a NUL character", remedy="leave it out")


def served_by(entry: Any) -> Served | None:
    """What an entry of a client's configuration serves through us; None where it is not ours."""
    if not isinstance(entry, dict):
        return None
    command, words = entry.get("command"), entry.get("args", [])
    if not isinstance(command, str) or not isinstance(words, list) or not all(isinstance(w, str) for w in words):
        return None
    name = os.path.basename(command.replace("\\", "/"))
    if _PYTHON.fullmatch(name) and "-m" in words:  # behind flags, of which earlier versions wrote none
        at = words.index("-m")
        if words[at + 1 : at + 2] != ["holdfast"] or not all(_FLAG.fullmatch(word) for word in words[:at]):
            return None
        words = words[at + 2 :]
    elif name not in {"holdfast", "holdfast.exe"}:
        return None
    if len(words) > 1 and words[0] == "serve":
        return Served("serve", (words[1],))
    if words[:1] == ["run"] and "--" in words:
        return Served("run", tuple(words[words.index("--") + 1 :]))
    return None
