"""`holdfast prompts`: the prompts of a server, and the messages of one."""

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.options import ServerCommand, offer_options, take_source

if TYPE_CHECKING:
    from holdfast.client.session import ClientSession

__all__ = ["command"]


@click.command(name="prompts", cls=ServerCommand)
@click.argument("words", nargs=-1, metavar="TARGET [NAME [KEY=VALUE...]] | [NAME...] -- COMMAND ARGS...")
@offer_options
@click.pass_context
def command(
    ctx: click.Context,
    /,
    words: tuple[str, ...],
    as_json: bool,
    timeout: float,
    answers: tuple[str, ...],
    **options: Any,
) -> int:
    """List the prompts of a server with their arguments; with NAME, show the messages of one.

    The exit code is 1 when that ends in an error.

    TARGET is module:object, path/file.py or path/file.py:object. Behind `--` stands the command line of any MCP
    server on stdio, in any language.

    \b
    Examples:
      holdfast prompts library.py
      holdfast prompts library.py review book=1 tone=strict
      holdfast prompts review book=1 -- npx some-server
    """
    source, rest = take_source(ctx, words, "holdfast prompts -- python server.py")
    from holdfast.cli.offer_list import (
        asked,
        describe_prompts,
        message_lines,
        refuse_unless_offered,
        shown,
        text_arguments,
    )
    from holdfast.inspect.live import live_list

    arguments = text_arguments(rest[1:])
    wait = timeout or None

    async def ask(session: "ClientSession") -> Any:
        if rest:
            refuse_unless_offered(session.peer, "prompts")
            params = {"name": rest[0], "arguments": arguments}
            return await session.ask("prompts/get", params, f"the prompt {rest[0]!r}", timeout=wait)
        return await live_list(session, "prompts", timeout=wait)

    peer, answer = asked(source, options, ask, timeout=timeout, answers=answers)
    return shown(answer, message_lines if rest else partial(describe_prompts, peer), as_json=as_json)
