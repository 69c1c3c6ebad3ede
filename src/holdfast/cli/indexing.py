"""What `search` and `index` share: which repository, how an interrupt stops the work, how a refusal is told."""

import contextlib
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from holdfast.cli.options import setting_options
from holdfast.errors import ToolError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.search.repository import Repository

__all__ = [
    "locate",
    "published",
    "repository_options",
    "say",
    "say_stopped",
    "stop_on_interrupt",
    "told_plainly",
]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_PLACES = {
    "recordId": "RECORD",
    "inputPath": "FILE",
    "outPath": "--out",
}  # what has a place of its own on the command line
_SOON = 0.8  # seconds that the work has to notice an interrupt before it is torn out of whatever it does


def repository_options(function: Decorated) -> Decorated:
    """The options `--repo` and `--cache-dir`."""
    words = "A directory of the repository. [default: the one around the working directory]"
    return click.option("--repo", metavar="DIR", help=words)(setting_options("cache_dir")(function))


def locate(repo: str | None, options: Mapping[str, Any]) -> "tuple[Repository, Path]":
    """The repository that is meant, and the directory that indexes are kept in."""
    from holdfast.search.repository import find_repository
    from holdfast.settings import load_configuration

    cache = load_configuration({"cache_dir": options.get("cache_dir")}).settings.cache_path()
    return find_repository(repo), cache


def published(repository: "Repository", cache: "Path") -> tuple[str, int] | None:
    """Which build of an index is current and how often it was brought up to date; None where none can be read."""
    from holdfast.search.engine.tantivy_writer import committed_generation
    from holdfast.search.home import IndexHome
    from holdfast.search.repository import index_home

    build = IndexHome(index_home(repository, cache)).current()
    try:
        return (build.name, committed_generation(build.terms)) if build else None
    except ValueError:  # it is damaged; whoever opens it to read tells
        return None


def say_stopped(repository: "Repository", cache: "Path", before: tuple[str, int] | None) -> None:
    """Tell what an interrupt has left; it may come after the last step, when there is nothing to stop any more."""
    is_same = published(repository, cache) == before
    say("stopped; the index is unchanged" if is_same else "stopped; the index was complete already")


@contextlib.contextmanager
def stop_on_interrupt() -> Iterator[Callable[[], bool]]:
    """Inside, Ctrl-C makes the given function true; work that does not notice is interrupted, as is a second one.

    Work that asks between two steps ends tidily. A step that takes long (a huge directory, a slow disk) must not
    make a person wait: nothing that was there before depends on a tidy end. SIGTERM comes here too, by `ending`.
    """
    asked = False
    alarm: Any = signal.SIG_DFL

    def ask(number: int, frame: object) -> None:  # noqa: ARG001
        nonlocal asked, alarm
        if asked:
            raise KeyboardInterrupt
        asked = True
        alarm = signal.signal(signal.SIGALRM, ask) or signal.SIG_DFL  # None: it was not set from Python
        signal.setitimer(signal.ITIMER_REAL, _SOON)

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield lambda: asked
    finally:
        if asked:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, alarm)
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def told_plainly(cache: "Path | None" = None, *, pointing: bool = False) -> Iterator[None]:
    """Turn what a search or an index refuses into the words of the command line.

    `cache` is the directory that is worked in, so that its troubles can be told; with `pointing`, a mistake in a
    query is shown in its place.
    """
    try:
        yield
    except ToolError as error:
        if error.code == "CANCELLED":
            raise KeyboardInterrupt from error
        if pointing:
            _point(error.details)
        from holdfast.search.configuration import is_refused

        if is_refused(error):
            raise UsageError(_words_about_files(error), remedy="correct the file") from error
        if "violations" not in error.details or error.code == "NOT_FOUND":
            raise UsageError(error.message, remedy=error.hint or "") from error
        raise UsageError(_words(error), remedy=f"{_command_path()} --help") from error
    except BaseException as error:
        from holdfast.search.trouble import trouble_with

        trouble = None if cache is None else trouble_with(error, cache)
        if trouble is None:
            raise
        raise trouble from error


def _command_path() -> str:
    """The command that was typed, as its help is asked for."""
    context = click.get_current_context(silent=True)
    return "holdfast search" if context is None else context.command_path


def _point(details: Mapping[str, Any]) -> None:
    query, column = details.get("query"), details.get("column")
    if isinstance(query, str) and isinstance(column, int):
        from holdfast.cli.search_text import point_at

        for line in point_at(query, column):
            say(line)


def _words(error: ToolError) -> str:
    from holdfast.search.request_fields import FIELD_OF

    told = []
    for item in error.details.get("violations") or ():
        name = str(item["instancePath"]).strip("/").split("/")[0]
        field = FIELD_OF.get(name)
        flag = field.flags[-1 if field.name == "top" else 0] if field and field.flags else _typed(name)
        told.append(f"{flag}: {item['message']}" if name else str(item["message"]))
    return "; ".join(told) or error.message


def _typed(name: str) -> str:
    """What a person types for an argument of a tool: an option of the same name, or something in its place."""
    context = click.get_current_context(silent=True)
    options = [flag for given in context.command.params for flag in given.opts] if context else []
    return f"--{name}" if f"--{name}" in options else _PLACES.get(name, name.upper())


def _words_about_files(error: ToolError) -> str:
    """What is wrong with the configuration of a repository: its violations are of files, and not of flags."""
    return "; ".join(
        ": ".join(filter(None, (item["params"]["file"], item["instancePath"], item["message"])))
        for item in error.details["violations"]
    )


def say(text: str) -> None:
    """One line to the person, in order with what is on stdout."""
    from holdfast.present.bounds import clean_line

    sys.stdout.flush()
    print(clean_line(text), file=sys.stderr)
