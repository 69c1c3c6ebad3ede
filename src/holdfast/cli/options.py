"""Options that commands share: one per setting, made from its declaration, and the form of TARGET.

No default is written here; a setting that was not given on the command line is left to the other
sources of settings.
"""

import shlex
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import click

from holdfast.errors import UsageError
from holdfast.settings import SETTINGS, Setting

__all__ = [
    "SECONDS",
    "ServerCommand",
    "Source",
    "command_behind_dashes",
    "has_command",
    "offer_options",
    "setting_options",
    "take_source",
    "words_of_settings",
]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_COMMAND = "holdfast.command"  # where a context keeps what stood behind `--`


def setting_options(*names: str) -> Callable[[Decorated], Decorated]:
    """The options of these settings, in the order of their declaration; without names, of all that have a flag."""

    def decorate(function: Decorated) -> Decorated:
        for setting in reversed(SETTINGS):
            if setting.flag is not None and (not names or setting.name in names):
                function = _option(setting, setting.flag)(function)
        return function

    return decorate


def offer_options(function: Decorated) -> Decorated:
    """The options of the commands that list what a server offers beside its tools, and show one of it."""
    for decorate in (
        setting_options("answer_timeout", "state_dir"),
        click.option("--answer", "answers", multiple=True, metavar="JSON",
                     help="Fill in a form that is asked for; may be repeated. "
                          "[default: on a terminal you are asked]"),
        click.option("--timeout", type=SECONDS, default=0.0, metavar="SECONDS",
                     help="How long to wait for each answer. [default: 30]"),
        click.option("--json", "as_json", is_flag=True,
                     help="Print the definitions, the whole result, or the protocol error, as JSON."),
    ):  # fmt: skip
        function = decorate(function)
    return function


def _option(setting: Setting, flag: str) -> Callable[[Decorated], Decorated]:
    notes = [f"env: {setting.env}"]
    if isinstance(setting.default, bool):
        flag = f"{flag}/--no-{flag.removeprefix('--')}"
        notes.append(f"default: {'on' if setting.default else 'off'}")
    elif setting.default not in {None, ""}:
        shown = f"{setting.default:g}" if isinstance(setting.default, float) else setting.default
        notes.append(f"default: {shown}")
    kind: Any = None
    if setting.parse.choices:
        kind = click.Choice(setting.parse.choices)
    elif not isinstance(setting.default, bool):
        kind = click.STRING  # parsed where the environment variable is parsed too
    text = f"{setting.help} [{'; '.join(notes)}]"
    return click.option(flag, setting.name, type=kind, default=None, metavar=setting.parse.metavar, help=text)


def words_of_settings(options: Mapping[str, Any]) -> list[str]:
    """The command-line words that say the same settings again."""
    words: list[str] = []
    for setting in SETTINGS:
        value = options.get(setting.name)
        if value is None or setting.flag is None:
            continue
        if isinstance(setting.default, bool):
            words.append(setting.flag if value else f"--no-{setting.flag.removeprefix('--')}")
        else:
            words.append(f"{setting.flag}={value}")
    return words


class _Seconds(click.ParamType[float]):
    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            number = float(value)
        except ValueError:
            number = -1.0
        if not 0 <= number < 1e9:  # NaN is neither
            self.fail(f"{value!r} is not a number of seconds, 0 or more", param, ctx)
        return number


SECONDS = _Seconds()


class Source(NamedTuple):
    """Which server a command is about: a TARGET, or the command line of a program."""

    target: str
    command: tuple[str, ...]


class ServerCommand(click.Command):
    """A command whose server is a TARGET, or a program that is given behind `--`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take what stands behind the first `--` out of the way, before options are read."""
        if "--" in args:
            at = args.index("--")
            ctx.meta[_COMMAND] = tuple(args[at + 1 :])
            args = args[:at]
        try:
            return super().parse_args(ctx, list(args))  # a list that the parser consumes
        except click.UsageError as error:
            if self.name == "run" and not has_command(ctx):
                self._refuse_without_dashes(ctx, args)
            if not isinstance(error, click.NoSuchOption):
                raise
            words = _as_argument(error.option_name, args)
            if error.possibilities or not words or self.name != "call":
                raise
            raise UsageError(f"there is no option {error.option_name}", remedy=words) from error

    def _refuse_without_dashes(self, ctx: click.Context, args: list[str]) -> None:
        """Say where the dashes belong, if somebody has given a command without them."""
        parser = self.make_parser(ctx)
        parser.allow_interspersed_args = False
        try:
            _, command, _ = parser.parse_args(list(args))
        except click.UsageError:
            return  # an option of ours is wrong: that is told
        if command:
            words = [*args[: len(args) - len(command)], "--", *command]
            raise UsageError(
                "the command of the server stands behind `--`", remedy=f"{ctx.command_path} {shlex.join(words)}"
            )


def _as_argument(option: str, args: list[str]) -> str:
    """`key=value` for what was written as `--key value` or `--key=value`."""
    key = option.removeprefix("--")
    for at, word in enumerate(args):
        if word.startswith(f"{option}="):
            return shlex.quote(f"{key}={word[len(option) + 1 :]}")
        if word == option:
            follows = args[at + 1] if at + 1 < len(args) else "-"
            return shlex.quote(f"{key}={'true' if follows.startswith('-') else follows}")
    return ""


def command_behind_dashes(ctx: click.Context, example: str) -> tuple[str, ...]:
    """The command line that was given behind `--`."""
    command: tuple[str, ...] = ctx.meta.get(_COMMAND, ())
    if not command:
        raise UsageError("which server? give its command behind `--`", remedy=example)
    return command


def has_command(ctx: click.Context) -> bool:
    """Whether something was given behind `--`."""
    return bool(ctx.meta.get(_COMMAND))


def take_source(ctx: click.Context, words: tuple[str, ...], example: str) -> tuple[Source, tuple[str, ...]]:
    """The server of the command, and the words that are left for it."""
    command: tuple[str, ...] | None = ctx.meta.get(_COMMAND)
    if command is not None:
        if not command:
            raise UsageError("there is no command behind `--`", remedy=example)
        if words and (ctx.command.name == "tools" or _is_target(words)):
            raise UsageError("give TARGET or -- COMMAND, not both", remedy=example)
        return Source("", command), words
    if not words:
        raise UsageError("which server? TARGET is missing", remedy=f"{ctx.command_path} --help")
    return Source(words[0], ()), words[1:]


def _is_target(words: tuple[str, ...]) -> bool:
    """Whether the first word can only be a TARGET; a foreign tool may have almost any other name."""
    return words[0].endswith(".py") or ".py:" in words[0]
