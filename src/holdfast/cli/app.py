"""`holdfast`: the table of commands, and how a failure of any of them is told.

A command's module is imported when the command is used, so that `holdfast --help` stays fast. Exit codes: 0 done,
1 a negative answer (the tool call ended in an error), 2 wrong usage or a failure of the system, 130 interrupted,
143 and 129 the same by SIGTERM and SIGHUP.
stdout carries data; everything said to a person goes to stderr.
"""

import codecs
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from holdfast.cli.ending import INTERRUPTED, heeding_signals
from holdfast.cli.groups import CommandGroup
from holdfast.errors import FULL_DISK, HoldfastError, TargetError, UsageError
from holdfast.stdio.terminal import guard_terminal
from holdfast.version import __version__

__all__ = ["COMMANDS", "cli", "main"]

# name: what it is for. The command is the object `command` of the module `holdfast.cli.<name>`.
COMMANDS = {
    "run": "Run any MCP server so that it survives its own crashes and hangs.",
    "serve": "Serve a server written in Python to one MCP client, on stdin and stdout.",
    "tools": "List the tools of a server, with their arguments.",
    "prompts": "List the prompts of a server, or show one.",
    "resources": "List the resources of a server, or read one.",
    "call": "Call one tool and print its result.",
    "contract": "Write down what a server promises, and notice when it changes.",
    "probe": "Judge how robust any MCP server is, over its own wire.",
    "up": "Index this repository, serve it over MCP and HTTP, and show that both answer.",
    "search": "Find code, prose and records by words and by what the code means.",
    "index": "Build and look after the index of a repository.",
    "triage": "Take in findings of scanners, decide about them, gather evidence in the code.",
    "launch": "Turn a product's repository into cited pages and a pull request on a website.",
    "ps": "List the running hosts.",
    "status": "Show the health of a running host.",
    "telemetry": "Show what was asked of a running host, how it ended and how long it took.",
    "restart": "Give a running host a new worker.",
    "rollout": "Have a new version of a server take over in a running host.",
    "release": "Keep releases of a server on disk, and choose the one that serves.",
    "stop": "End a running host, or clean up after a dead one.",
    "events": "Read the event log of a server.",
    "config": "Show every setting and where its value comes from.",
    "new": "Write a small server project that runs at once.",
    "install": "Make an MCP client start a server behind the host; undo it.",
    "doctor": "Look at everything that is needed here, and say what is wrong.",
    "skill": "Teach a coding agent to write and to harden MCP servers.",
}

_DEBUG = "HOLDFAST_DEBUG"
_ESCAPED = "holdfast-escaped"


class _LazyGroup(CommandGroup):
    """A group that imports a command's module only when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"holdfast.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="holdfast %(version)s")
@click.option("--debug", is_flag=True, expose_value=False,
              help=f"Show the whole traceback of an error. [env: {_DEBUG}=1]")  # fmt: skip
def cli() -> None:
    """MCP servers that survive crashes, with tool contracts that do not drift.

    \b
    Examples:
      holdfast new inventory              a server project that runs at once
      holdfast tools inventory.py         what its tools are
      holdfast call inventory.py lookup sku=A-1
      holdfast serve inventory.py         for an MCP client, on stdin and stdout
      holdfast run -- npx -y SERVER       any other server, kept alive the same way
    """


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    _repair_standard_streams()
    arguments = list(sys.argv[1:] if argv is None else argv)
    if "_HOLDFAST_COMPLETE" in os.environ:  # a shell asks for completions
        cli.main(arguments, prog_name="holdfast")
    # `--debug` counts wherever it stands before a `--`, also where parsing never got as far as to see it.
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    debug = "--debug" in own or os.environ.get(_DEBUG, "") not in {"", "0"}
    with heeding_signals() as ended:
        code = _ended([word for word in own if word != "--debug"] + arguments[len(own) :], debug=debug)
    return ended.exit_code(code)


def _ended(arguments: list[str], *, debug: bool) -> int:
    """Run the command; whatever it raises is told, and becomes an exit code."""
    try:
        code = _run(arguments, debug=debug)
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_stdout()
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - whatever it is, a person reads one line about it
        if debug:
            import traceback

            traceback.print_exception(error)
        return _tell(error, debug=debug)
    return code


def _run(arguments: list[str], *, debug: bool) -> int:
    try:
        with cli.make_context("holdfast", arguments, obj={"debug": debug}) as ctx:
            code: int | None = cli.invoke(ctx)
            return code or 0
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help(), err=True)
        return 2


def _tell(error: Exception, *, debug: bool) -> int:
    """One line for the cause and, where there is one, a line for the remedy."""
    message, remedy = _words(error, debug=debug)
    print(f"holdfast: {_one_line(message)}", file=sys.stderr)
    if remedy:
        print(f"  try: {_one_line(remedy)}", file=sys.stderr)
    return 2


def _words(error: Exception, *, debug: bool) -> tuple[str, str]:
    message, remedy = str(error), ""
    if isinstance(error, UsageError):
        message, remedy = error.message, error.remedy
        if isinstance(error, TargetError) and _is_foreign(error.__cause__) and not debug:
            remedy += "; --debug shows the whole traceback"
    elif isinstance(error, click.UsageError):
        message = error.format_message()
        remedy = f"{error.ctx.command_path} --help" if error.ctx else "holdfast --help"
    elif isinstance(error, click.ClickException):
        message = error.format_message()
    elif isinstance(error, OSError):
        message = f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error)
        full = error.errno in FULL_DISK
        remedy = (
            "free some space on that disk"
            if full
            else "look at that path and its permissions"
            if error.filename
            else ""
        )
    elif not isinstance(error, HoldfastError):
        message = f"unexpected {type(error).__name__}: {error}"
        where = "the traceback above" if debug else "what the same command with --debug prints"
        remedy = f"report it with {where}"
    return message, remedy


def _is_foreign(cause: BaseException | None) -> bool:
    """Whether the author's own code raised it, so that its traceback says more than our sentence."""
    return isinstance(cause, Exception) and not isinstance(cause, HoldfastError)


def _one_line(text: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in " ".join(text.split()))


def _repair_standard_streams() -> None:
    """Whoever started us may have closed some; nothing else must ever get their numbers, or be printed to."""
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one
            setattr(sys, name, os.fdopen(descriptor, "r" if descriptor == 0 else "w", closefd=False))
    if isinstance(sys.stdout, io.TextIOWrapper):
        codecs.register_error(_ESCAPED, _escaped)
        sys.stdout.reconfigure(errors=_ESCAPED)  # what a terminal cannot show is no reason to fail
    guard_terminal()


def _escaped(error: UnicodeError) -> tuple[str, int]:
    r"""What the encoding of stdout does not have, as `\uXXXX`: a string of JSON means the same by it."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2)), error.end


def _discard_stdout() -> None:
    """Whoever read our output has left; the interpreter's last flush must not complain about it."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)
