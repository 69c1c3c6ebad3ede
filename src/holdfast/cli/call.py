"""`holdfast call`: one call of one tool, in this process or of any MCP server."""

import sys
from typing import Any

import click

from holdfast.cli.options import SECONDS, ServerCommand, setting_options, take_source

__all__ = ["command"]


@click.command(name="call", cls=ServerCommand)
@click.argument("words", nargs=-1, metavar="TARGET TOOL [ARGS...] | TOOL [ARGS...] -- COMMAND...")
@click.option(
    "--json", "as_json", is_flag=True, help="Print the whole result, or the protocol error, as one JSON line."
)
@click.option("--timeout", type=SECONDS, default=0.0, metavar="SECONDS",
              help="Give up and cancel the call after so long. [default: what the tool takes]")  # fmt: skip
@click.option("--progress/--no-progress", default=None, help="Show progress on stderr. [default: on a terminal]")
@click.option(
    "--render",
    type=click.Choice(["json", "porcelain"]),
    metavar="json|porcelain",
    help="Form of the text of the result.",
)
@click.option(
    "--detail",
    type=click.Choice(["concise", "full"]),
    metavar="concise|full",
    help="How much of the text is shown: full is more and longer lines, still bounded. --json gives everything.",
)
@click.option(
    "--answer", "answers", multiple=True, metavar="JSON",
    help="Fill in a form that the tool asks for; may be repeated. [default: on a terminal you are asked]",
)  # fmt: skip
@setting_options("tool_timeout", "answer_timeout", "kill_grace", "event_log", "state_dir")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    words: tuple[str, ...],
    as_json: bool,
    timeout: float,
    progress: bool | None,
    render: str | None,
    detail: str | None,
    answers: tuple[str, ...],
    **options: Any,
) -> int:
    """Call one tool and print its result; the exit code is 1 when the call ends in an error.

    TARGET is module:object, path/file.py or path/file.py:object. For any other MCP server on stdio, leave TARGET
    out and write its command line behind `--`. ARGS are key=value, typed by the tool's schema; key:=JSON; or one
    JSON object: '{...}', @file, or - for stdin.

    \b
    Examples:
      holdfast call inventory.py lookup sku=A-1
      holdfast call inventory.py lookup '{"sku": "A-1"}' --json
      holdfast call lookup sku=A-1 -- npx some-server
      holdfast call orders.py cancel id=7 --answer '{"sure": true}'
    """
    from holdfast.errors import UsageError

    example = "holdfast call TOOL key=value -- python server.py"
    source, rest = take_source(ctx, words, example)
    if not rest:
        listing = f"holdfast tools {source.target}" if source.target else example
        raise UsageError("which tool? its name is missing", remedy=listing)
    from holdfast.cli.answering import TypedAnswers, read_answers
    from holdfast.cli.calling import Request, explain, perform, present
    from holdfast.cli.connect import load_server, run
    from holdfast.cli.streams import guarded_streams
    from holdfast.settings import load_configuration
    from holdfast.vocabulary.events import FaultRecorded

    request = Request.read(
        rest[0], rest[1:], timeout=timeout, render=render, detail=detail,
        progress=sys.stderr.isatty() if progress is None else progress,
    )  # fmt: skip
    answerer = TypedAnswers(read_answers(answers))
    with guarded_streams():
        server = load_server(source)
        settings = load_configuration(options, server=server.name if server else None).settings
        faults: list[FaultRecorded] = []
        outcome = run(perform(source, server, settings, request, faults, answerer))
    code = present(outcome, as_json=as_json)
    explain(faults, whole=ctx.find_root().obj["debug"])
    return code
