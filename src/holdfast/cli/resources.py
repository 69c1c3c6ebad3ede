"""`holdfast resources`: what can be read from a server, and one read of it."""

import sys
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.options import SECONDS, ServerCommand, setting_options, take_source

if TYPE_CHECKING:
    from holdfast.client.session import ClientSession

__all__ = ["command"]


@click.command(name="resources", cls=ServerCommand)
@click.argument("words", nargs=-1, metavar="TARGET [URI] | [URI] -- COMMAND ARGS...")
@click.option("--json", "as_json", is_flag=True, help="Print the definitions, or the whole result, as JSON.")
@click.option("--timeout", type=SECONDS, default=0.0, metavar="SECONDS",
              help="How long to wait for each answer. [default: 30]")  # fmt: skip
@setting_options("state_dir")
@click.pass_context
def command(ctx: click.Context, /, words: tuple[str, ...], as_json: bool, timeout: float, **options: Any) -> int:
    """List the resources and templates of a server; with URI, read one.

    TARGET is module:object, path/file.py or path/file.py:object. Behind `--` stands the command line of any MCP
    server on stdio, in any language.

    \b
    Examples:
      holdfast resources library.py
      holdfast resources library.py library://books/1
      holdfast resources library://books/1 --json -- npx some-server
    """
    from holdfast.errors import UsageError

    source, rest = take_source(ctx, words, "holdfast resources -- python server.py")
    if len(rest) > 1:
        raise UsageError(f"unexpected argument {rest[1]!r}", remedy="holdfast resources TARGET [URI]")
    from holdfast.cli.connect import load_server, run
    from holdfast.cli.offer_list import asked, contents_lines, describe_resources
    from holdfast.cli.streams import guarded_streams
    from holdfast.inspect.live import live_list
    from holdfast.settings import load_configuration
    from holdfast.wire.codec import encode

    wait = timeout or None

    async def ask(session: "ClientSession") -> Any:
        if rest:
            return await session.request("resources/read", {"uri": rest[0]}, timeout=wait)
        lists = ("resources", "resourceTemplates")
        return {name: await live_list(session, name, timeout=wait) for name in lists}

    options["event_log"] = False
    with guarded_streams():
        server = load_server(source)
        settings = load_configuration(options, server=server.name if server else None).settings
        peer, answer = run(asked(source, server, settings, timeout, ask))
    if as_json:
        lines = [encode(answer).decode()]
    elif rest:
        lines = list(contents_lines(answer))
    else:
        lines = list(describe_resources(peer, answer["resources"], answer["resourceTemplates"]))
    sys.stdout.write("\n".join(lines).rstrip("\n") + "\n")
    return 0
