"""Command lines of our own Python programs, and the import path of this process: one place builds both.

A command runs in a directory that a stranger may have filled: an `orjson.py` there must not be imported in place
of the installed one. So no program of this package has the working directory on its path (`-P`), and one that runs
no code of the user reads no `PYTHON*` variable either (`-I`). A server of the user finds the user's modules behind
the standard library and the installed packages: `add_user_paths`.
"""

import os
import sys
from collections.abc import Sequence
from functools import cache
from importlib.machinery import PathFinder

__all__ = [
    "OWN_SERVERS",
    "add_user_paths",
    "module_command",
    "remove_user_paths",
    "same_command",
    "script_command",
    "serve_command",
]

OWN_SERVERS = ("search", "launch")
_REQUIRED = ("click", "httptools", "orjson", "psutil", "pydantic", "tantivy", "uvicorn")
# What `remove_user_paths` has taken off: entries of PYTHONPATH, the relative ones as they were meant.
_absolute: list[str] = []
_relative: list[str] = []


def module_command(module: str, *words: str, user_code: bool = False) -> list[str]:
    """Return the command line that runs a module of this package.

    `user_code`: the program loads modules of the user, so PYTHONPATH and its kin go on working in it.
    """
    if user_code or not _is_complete_in_isolation():
        return [sys.executable, "-P", "-m", module, *words]
    kept = [flag for flag, is_set in (("-B", sys.dont_write_bytecode), ("-Xutf8", sys.flags.utf8_mode)) if is_set]
    return [sys.executable, "-I", *kept, "-m", module, *words]


def serve_command(*options: str, target: str) -> list[str]:
    """Return the command line of `holdfast serve OPTIONS -- TARGET`."""
    return module_command("holdfast", "serve", *options, "--", target, user_code=target not in OWN_SERVERS)


def script_command(file: str, *words: str) -> list[str]:
    """Return the command line that runs a file of this package which needs the standard library alone."""
    return [sys.executable, "-I", "-S", file, *words]


def same_command() -> list[str]:
    """Return the command line that this process was started with; `python -m` gets `-P`."""
    words = sys.orig_argv[1:]
    is_module = bool(words) and words[0] == "-m"
    return [sys.executable, *(["-P"] if is_module else []), *words]


def remove_user_paths() -> None:
    """Take the working directory and PYTHONPATH off `sys.path`, before an installed package is imported.

    An entry stays where this package, or what it requires, is found only through it.
    """
    here = sys.path[:1] if not sys.flags.safe_path and sys.path[:1] in ([""], [_working_directory()]) else []
    if here and not _is_package_in(here):
        del sys.path[0]
    for kept, entries in ((_absolute, _python_path(absolute=True)), (_relative, _python_path(absolute=False))):
        kept[:] = entries if entries and _are_found_without(entries) else []
        sys.path[:] = [place for place in sys.path if place not in kept]


def add_user_paths(directory: str) -> None:
    """Let modules of the user be imported, those in this directory behind everything that is installed.

    What is absolute in PYTHONPATH comes first, as it does in Python; what is relative comes last.
    """
    sys.path[:0] = [place for place in _absolute if place not in sys.path]
    sys.path += [place for place in dict.fromkeys((directory, *_relative)) if place not in sys.path]


def _python_path(*, absolute: bool) -> list[str]:
    """The entries of PYTHONPATH that are absolute, or those that are not, as `sys.path` has them."""
    if sys.flags.ignore_environment:
        return []
    text = os.environ.get("PYTHONPATH", "")
    entries = text.split(os.pathsep) if text else []
    here = _working_directory()
    return [os.path.normpath(os.path.join(here, entry)) for entry in entries if os.path.isabs(entry) == absolute]


def _working_directory() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""


@cache
def _is_complete_in_isolation() -> bool:
    """Whether `python -I` finds this package and what it requires: not so when they are in the user's own site."""
    if "PYTHONHOME" in os.environ and not sys.flags.ignore_environment:
        return False
    import site

    own = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    return _are_found_without([*_python_path(absolute=True), *_python_path(absolute=False), *own])


def _are_found_without(places: Sequence[str]) -> bool:
    if _is_package_in(places):
        return False
    outer = {os.path.realpath(place) for place in places}
    rest = [place for place in sys.path if place and os.path.realpath(place) not in outer]
    return len(rest) == len(sys.path) or all(PathFinder.find_spec(name, rest) is not None for name in _REQUIRED)


def _is_package_in(places: Sequence[str]) -> bool:
    package = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    return any(os.path.realpath(place) == package for place in places)
