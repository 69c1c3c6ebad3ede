"""`holdfast prompts`: the prompts of a server, and the messages of one."""

import sys
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.options import SECONDS, ServerCommand, setting_options, take_source

if TYPE_CHECKING:
    from holdfast.client.session import ClientSession

__all__ = ["command"]


@click.command(name="prompts", cls=ServerCommand)
@click.argument("words", nargs=-1, metavar="TARGET [NAME [KEY=VALUE...]] | [NAME...] -- COMMAND ARGS...")
@click.option("--json", "as_json", is_flag=True, help="Print the definitions, or the whole result, as JSON.")
@click.option("--timeout", type=SECONDS, default=0.0, metavar="SECONDS",
              help="How long to wait for each answer. [default: 30]")  # fmt: skip
@setting_options("state_dir")
@click.pass_context
def command(ctx: click.Context, /, words: tuple[str, ...], as_json: bool, timeout: float, **options: Any) -> int:
    """List the prompts of a server with their arguments; with NAME, show the messages of one.

    TARGET is module:object, path/file.py or path/file.py:object. Behind `--` stands the command line of any MCP
    server on stdio, in any language.

    \b
    Examples:
      holdfast prompts library.py
      holdfast prompts library.py review book=1 tone=strict
      holdfast prompts review book=1 -- npx some-server
    """
    source, rest = take_source(ctx, words, "holdfast prompts -- python server.py")
    from holdfast.cli.connect import load_server, run
    from holdfast.cli.offer_list import asked, describe_prompts, message_lines, text_arguments
    from holdfast.cli.streams import guarded_streams
    from holdfast.inspect.live import live_list
    from holdfast.settings import load_configuration
    from holdfast.wire.codec import encode

    wait = timeout or None
    arguments = text_arguments(rest[1:])

    async def ask(session: "ClientSession") -> Any:
        if rest:
            return await session.request("prompts/get", {"name": rest[0], "arguments": arguments}, timeout=wait)
        return await live_list(session, "prompts", timeout=wait)

    options["event_log"] = False
    with guarded_streams():
        server = load_server(source)
        settings = load_configuration(options, server=server.name if server else None).settings
        peer, answer = run(asked(source, server, settings, timeout, ask))
    if as_json:
        lines = [encode(answer).decode()]
    else:
        lines = list(message_lines(answer) if rest else describe_prompts(peer, answer))
    sys.stdout.write("\n".join(lines).rstrip("\n") + "\n")
    return 0
