"""`holdfast probe`: how robust is a server? Raw bytes in, a scored table out."""

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.options import SECONDS, ServerCommand, take_source
from holdfast.errors import UsageError

if TYPE_CHECKING:
    from holdfast.probe.model import Check, Finding, Options, Report, ToolUse
    from holdfast.probe.target import Target

__all__ = ["command"]

EXAMPLE = "holdfast probe -- python server.py"


@click.command(name="probe", cls=ServerCommand)
@click.argument("words", nargs=-1, metavar="TARGET | URL | -- COMMAND ARGS...")
@click.option("--list", "as_list", is_flag=True, help="List the checks, and probe nothing.")
@click.option("--only", metavar="ID,...", default="", help="Make these checks or groups of checks only.")
@click.option(
    "--tool", metavar="NAME", help="A tool that may be called. [default: one that is marked as read-only]"
)
@click.option("--arguments", metavar="JSON", help="Its arguments.")
@click.option(
    "--slow-tool", metavar="NAME", help="A tool that takes a second or more, for checks of what is in flight."
)
@click.option("--slow-arguments", metavar="JSON", help="Its arguments.")
@click.option("--hang-tool", metavar="NAME", help="A tool that never ends by itself.")
@click.option("--hang-arguments", metavar="JSON", help="Its arguments.")
@click.option(
    "--deadline",
    type=SECONDS,
    default=15.0,
    metavar="SECONDS",
    help="How long slow work may take, and how soon a call that hangs must be ended. [default: 15]",
)
@click.option(
    "--timeout",
    type=SECONDS,
    default=5.0,
    metavar="SECONDS",
    help="How long to wait for each answer but the first. [default: 5]",
)
@click.option(
    "--start-timeout",
    type=SECONDS,
    metavar="SECONDS",
    help="How long to wait for the first answer, since a server has to start. [default: 30, or --timeout]",
)
@click.option("--standalone", is_flag=True, help="For a TARGET: with no host in front of the server.")
@click.option(
    "--supervised",
    is_flag=True,
    help="The session must outlive the server's own workers. A TARGET behind the host is held to that anyway.",
)
@click.option(
    "--header",
    "headers",
    metavar="'NAME: VALUE'",
    multiple=True,
    help="For a URL: a header of every request, such as Authorization.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document for programs.")
@click.option("--sarif", "as_sarif", is_flag=True, help="Print a SARIF 2.1.0 log for code scanning.")
@click.pass_context
def command(ctx: click.Context, /, words: tuple[str, ...], **options: Any) -> int:
    """Judge how robust an MCP server is, over its own wire.

    Malformed input, ids, cancellation, overload, the end of the input, orphans, crashes: each check starts the
    server anew, says what it did and what came back, and has a weight. TARGET is module:object, path/file.py or
    path/file.py:object, or `search` or `launch`; URL an endpoint of Streamable HTTP; behind `--` stands the
    command line of any MCP server on stdio.

    Only tools that are marked as read-only are called, and those that you name. The exit code is 0 if nothing
    failed, 1 if something did.

    \b
    Examples:
      holdfast probe inventory.py
      holdfast probe --slow-tool audit --slow-arguments '{"seconds": 2}' inventory.py
      holdfast probe --sarif -- npx -y some-server > probe.sarif
      holdfast probe --only malformed,ids http://127.0.0.1:8000/mcp
    """
    from holdfast.probe.table import chosen

    if options["as_json"] and options["as_sarif"]:
        raise UsageError("--json and --sarif are two forms of one report", remedy="give one of them")
    checks = chosen([word.strip() for word in options["only"].split(",") if word.strip()])
    if options["as_list"]:
        return _list(checks, as_json=options["as_json"])
    source, rest = take_source(ctx, words, EXAMPLE)
    if rest or (source.command and words):
        raise UsageError(f"unexpected argument {(rest or words)[0]!r}", remedy=f"one server at a time: {EXAMPLE}")
    limits = _limits(options, is_hosted=bool(source.target) and not _is_url(source.target))
    with _target(source.target, source.command, options) as target:
        report = _run(target, checks, limits)
    _print(report, source.target, options)
    return 0 if report.ok else 1


def _list(checks: tuple["Check", ...], *, as_json: bool) -> int:
    if as_json:
        from holdfast.probe.report import check_document
        from holdfast.wire.codec import encode

        sys.stdout.write(encode([check_document(check) for check in checks]).decode() + "\n")
    else:
        from holdfast.probe.text import checks_as_text

        sys.stdout.write("\n".join(checks_as_text(checks)) + "\n")
    return 0


def _limits(options: dict[str, Any], *, is_hosted: bool) -> "Options":
    from holdfast.probe.model import Options

    for name, usual in (("timeout", 5), ("deadline", 15), ("start_timeout", 30)):
        if options[name] is not None and options[name] < 0.1:
            flag = f"--{name.replace('_', '-')}"
            raise UsageError(f"{flag} is too short to tell silence from work", remedy=f"{flag} {usual}")
    start_timeout = options["start_timeout"]
    return Options(
        timeout=options["timeout"],
        start_timeout=max(30.0, options["timeout"]) if start_timeout is None else start_timeout,
        deadline=options["deadline"],
        tool=_use(options["tool"], options["arguments"], "--tool", "--arguments"),
        slow=_use(options["slow_tool"], options["slow_arguments"], "--slow-tool", "--slow-arguments"),
        hang=_use(options["hang_tool"], options["hang_arguments"], "--hang-tool", "--hang-arguments"),
        supervised=options["supervised"] or (is_hosted and not options["standalone"]),
    )


def _use(name: str | None, text: str | None, tool: str, arguments: str) -> "ToolUse | None":
    from holdfast.errors import WireError
    from holdfast.probe.model import ToolUse
    from holdfast.wire.codec import decode

    if name is None:
        if text is not None:
            raise UsageError(f"{arguments} is for {tool}", remedy=f"{tool} NAME {arguments} '{{}}'")
        return None
    try:
        value = decode((text or "{}").encode("utf-8", "replace"))
    except WireError as error:
        raise UsageError(f"{arguments} is not JSON: {error}", remedy=f"{arguments} '{{\"key\": 1}}'") from error
    if not isinstance(value, dict):
        raise UsageError(f"{arguments} is not a JSON object", remedy=f"{arguments} '{{\"key\": 1}}'")
    return ToolUse(name, value)


def _is_url(word: str) -> bool:
    return word.startswith(("http://", "https://"))


@contextlib.contextmanager
def _target(word: str, argv: tuple[str, ...], options: dict[str, Any]) -> Iterator["Target"]:
    """What to probe. A TARGET keeps its records in a place of its own, which goes when the probe does."""
    from holdfast.interpreter import serve_command
    from holdfast.probe.target import StdioTarget, http_target

    if argv and _is_url(argv[0]):
        raise UsageError(f"{argv[0]} is an address", remedy=f"leave out the dashes: holdfast probe {argv[0]}")
    for name in ("standalone", "supervised"):
        if options[name] and _is_url(word):
            raise UsageError(f"--{name} is for servers that are started here", remedy=EXAMPLE)
    if options["standalone"] and argv:
        raise UsageError("--standalone is for a TARGET", remedy="put it into the command behind `--`")
    if options["headers"] and not _is_url(word):
        raise UsageError("--header is for a URL", remedy="holdfast probe --header 'Name: value' URL")
    if argv:
        yield StdioTarget(argv, " ".join(argv))
    elif _is_url(word):
        yield http_target(word, _headers(options["headers"]))
    else:
        alone = ("--standalone",) if options["standalone"] else ()
        with tempfile.TemporaryDirectory(prefix="holdfast-probe-", ignore_cleanup_errors=True) as place:
            environment = {**os.environ, "HOLDFAST_STATE_DIR": place}
            yield StdioTarget(tuple(serve_command(*alone, target=word)), word, environment)


def _headers(words: tuple[str, ...]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for word in words:
        name, colon, value = word.partition(":")
        if not colon or not name.strip() or not word.isprintable() or " " in name.strip():
            raise UsageError("a header is written as NAME: VALUE", remedy="--header 'Authorization: Bearer TOKEN'")
        headers[name.strip()] = value.strip()
    return headers


def _run(target: "Target", checks: tuple["Check", ...], limits: "Options") -> "Report":
    from holdfast.cli.connect import run
    from holdfast.probe.run import run_probe
    from holdfast.stdio.terminal import CLEAR_LINE, control

    total = sum(target.transport in check.transports for check in checks)
    if not total:
        raise UsageError(f"none of these checks is one for {target.transport}", remedy="holdfast probe --list")
    is_shown = sys.stderr.isatty()
    done = 0

    def on_finding(finding: "Finding") -> None:
        nonlocal done
        done += 1
        print(f"{control(CLEAR_LINE)}{done}/{total} {finding.check.id}", end="", file=sys.stderr, flush=True)

    if is_shown:
        print(f"0/{total} looking around", end="", file=sys.stderr, flush=True)
    try:
        return run(run_probe(target, checks, limits, on_finding if is_shown else None))
    finally:
        if is_shown:
            print(control(CLEAR_LINE), end="", file=sys.stderr, flush=True)


def _print(report: "Report", word: str, options: dict[str, Any]) -> None:
    from holdfast.wire.codec import encode

    if options["as_json"]:
        from holdfast.probe.report import report_document

        text = encode(report_document(report)).decode()
    elif options["as_sarif"]:
        from holdfast.probe.sarif import sarif_document

        text = encode(sarif_document(report, _file_of(word))).decode()
    else:
        from holdfast.probe.text import report_as_text

        text = "\n".join(report_as_text(report))
    sys.stdout.write(text + "\n")


def _file_of(word: str) -> str:
    """The file of a TARGET, as a relative address; empty where it has none here."""
    path = Path(word.partition(":")[0])
    if path.suffix == ".py" and path.is_file() and not path.is_absolute() and ".." not in path.parts:
        from urllib.parse import quote

        return quote(path.as_posix())
    return ""
