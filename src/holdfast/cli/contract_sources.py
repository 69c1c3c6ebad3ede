"""Where the commands under `contract` get a surface from: a file, a revision in git, a TARGET, or a program."""

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import click

from holdfast.cli.options import SECONDS, Source
from holdfast.errors import HoldfastError, ProcessError, SessionError, TargetError, UsageError

__all__ = [
    "Loaded",
    "SourceCommand",
    "is_server",
    "load_source",
    "one_server",
    "source_options",
    "take_sources",
    "unreadable_is_3",
]

_COMMAND = "holdfast.contract.command"
COULD_NOT_READ = 3
_GIT_TIMEOUT = 60


class Loaded(NamedTuple):
    """A surface as a document; `label` is how the person named it, `place` the file of its code, if any."""

    document: dict[str, Any]
    label: str
    place: str = ""
    server: Any = None
    command: tuple[str, ...] = ()


class SourceCommand(click.Command):
    """A command about one or two surfaces, the last of which may be a program behind `--`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take what stands behind the first `--` out of the way, before options are read."""
        if "--" in args:
            at = args.index("--")
            ctx.meta[_COMMAND] = tuple(args[at + 1 :])
            args = args[:at]
        return super().parse_args(ctx, list(args))


def source_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that every command about a live server has."""
    timeout = click.option(
        "--timeout", type=SECONDS, default=0.0, metavar="SECONDS",
        help="How long to wait for each answer of a program. [default: 30]",
    )  # fmt: skip
    as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
    return as_json(timeout(function))


def unreadable_is_3(function: Callable[..., int]) -> Callable[..., int]:
    """A server or file that cannot be read ends the command with its own exit code."""

    @functools.wraps(function)
    def run(*args: Any, **options: Any) -> int:
        from holdfast.contract.compare.reading import UnreadableError

        try:
            return function(*args, **options)
        except (UnreadableError, TargetError, SessionError, ProcessError) as error:
            _tell(error)
            return COULD_NOT_READ

    return run


def _tell(error: HoldfastError) -> None:
    context = click.get_current_context(silent=True)
    debug = bool(context and context.obj and context.obj.get("debug"))
    if debug:
        import traceback

        traceback.print_exception(error)
    message, remedy = (error.message, error.remedy) if isinstance(error, UsageError) else (str(error), "")
    is_foreign = isinstance(error.__cause__, Exception) and not isinstance(error.__cause__, HoldfastError)
    if isinstance(error, TargetError) and is_foreign and not debug:
        remedy += "; --debug shows the whole traceback"
    from holdfast.present.bounds import clean_line

    print(f"holdfast: {clean_line(' '.join(message.split()))}", file=sys.stderr)
    if remedy:
        print(f"  try: {clean_line(' '.join(remedy.split()))}", file=sys.stderr)


def take_sources(
    ctx: click.Context, words: tuple[str, ...], count: int | None, example: str
) -> list[str | tuple[str, ...]]:
    """The surfaces that the command is about, in order: words, and the program behind `--` as the last of them.

    `count` None takes any number of them but none.
    """
    found: list[str | tuple[str, ...]] = [*words]
    command: tuple[str, ...] | None = ctx.meta.get(_COMMAND)
    if command is not None:
        if not command:
            raise UsageError("there is no command behind `--`", remedy=example)
        found.append(command)
    wanted = {1: "one server", 2: "two surfaces, the old one and the new one", None: "at least one file or server"}
    if len(found) != count and (count is not None or not found):
        raise UsageError(f"{ctx.command_path} takes {wanted[count]}, not {len(found)}", remedy=example)
    return found


def load_source(source: str | tuple[str, ...], timeout: float = 0.0) -> Loaded:
    """The surface that somebody named."""
    if isinstance(source, tuple):
        return _load_program(source, timeout)
    if source.startswith("git:"):
        return _load_json(_from_git(source), source)
    if is_server(source):
        return _load_target(source, timeout)
    return _load_json(_from_file(source), source)


def one_server(ctx: click.Context, words: tuple[str, ...], example: str, timeout: float) -> Loaded:
    """The surface of the one server that the command is about."""
    return load_source(take_sources(ctx, words, 1, example)[0], timeout)


def is_server(word: str) -> bool:
    """Whether a word names code, as opposed to a document."""
    if word == "-" or word.endswith((".json", ".jsonc")):
        return False
    path = Path(word)  # a pipe of the shell, such as <(git show REV:FILE), is a document as well
    return word.endswith(".py") or not path.exists() or path.is_dir()


def _load_json(data: bytes, label: str) -> Loaded:
    from holdfast.contract.compare.reading import read_json
    from holdfast.contract.compare.view import read_surface

    return Loaded(read_surface(read_json(data, label), label).document, label)


def _from_file(word: str) -> bytes:
    from holdfast.contract.compare.reading import MAX_BYTES, UnreadableError

    try:
        if word == "-":
            return sys.stdin.buffer.read(MAX_BYTES + 1)
        with Path(word).open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UnreadableError(
            f"{word} cannot be read: {error.strerror or error}", remedy="holdfast contract snapshot TARGET -o FILE"
        ) from error


def _from_git(word: str) -> bytes:
    from holdfast.contract.compare.reading import UnreadableError

    revision, _, path = word.removeprefix("git:").partition(":")
    if not revision or not path or revision.startswith("-"):
        raise UsageError(f"{word!r} is not git:REV:PATH", remedy="such as git:main:contracts/inventory.lock.json")
    if path.endswith(".py"):
        remedy = "name a snapshot or a lock in that revision; code is not run from git"
        raise UsageError(f"{path} in {revision} is code", remedy=remedy)
    from holdfast.git.asking import Git, GitError

    try:
        # `./` makes the path one from here, not from the top of the repository; `HEAD:path` is from the top.
        return Git(Path.cwd()).whole(
            "show", "--no-textconv", "--no-ext-diff", f"{revision}:{path}", seconds=_GIT_TIMEOUT
        )
    except GitError as error:
        remedy = (
            "install git, or name a file" if "cannot be started" in str(error) else f"git show {revision}:{path}"
        )
        raise UnreadableError(f"{word}: {error}", remedy=remedy) from error


def _load_target(target: str, timeout: float) -> Loaded:
    from holdfast.cli.streams import guarded_streams
    from holdfast.contract.snapshot import snapshot
    from holdfast.worker.foreign import ForeignServer
    from holdfast.worker.targets import load_any

    place = target if target.endswith(".py") else target.rpartition(":")[0]  # path/file.py, or the module
    with guarded_streams():
        server = load_any(target)
    if isinstance(server, ForeignServer):
        from holdfast.cli.connect import as_program

        return _load_program(as_program(target), timeout)._replace(label=target, place=place)
    return Loaded(snapshot(server.surface), target, place, server)


def _load_program(command: tuple[str, ...], timeout: float) -> Loaded:
    from holdfast.cli.connect import connected, run, say
    from holdfast.contract.compare.reading import UnreadableError
    from holdfast.inspect.live import live_snapshot
    from holdfast.settings import load_configuration

    settings = load_configuration({"event_log": False}, server=None).settings
    label = " ".join(command)
    if sys.stderr.isatty():
        say(f"holdfast: asking {label} for its surface...")

    async def look() -> dict[str, Any]:
        async with connected(Source("", command), None, settings, timeout=timeout) as session:
            return await live_snapshot(session, timeout=timeout or None)

    try:
        return Loaded(run(look()), label, command=command)
    except UsageError as error:
        raise UnreadableError(error.message, remedy=error.remedy) from error
