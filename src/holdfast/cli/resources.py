"""`holdfast resources`: what can be read from a server, and one read of it."""

from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.options import ServerCommand, offer_options, take_source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.client.session import ClientSession

__all__ = ["command"]


@click.command(name="resources", cls=ServerCommand)
@click.argument("words", nargs=-1, metavar="TARGET [URI] | [URI] -- COMMAND ARGS...")
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
    """List the resources and templates of a server; with URI, read one.

    The exit code is 1 when that ends in an error.

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
    from holdfast.cli.offer_list import asked, contents_lines, describe_resources, refuse_unless_offered, shown
    from holdfast.inspect.live import live_list

    wait = timeout or None

    async def ask(session: "ClientSession") -> Any:
        if rest:
            refuse_unless_offered(session.peer, "resources")
            return await session.ask("resources/read", {"uri": rest[0]}, f"the resource {rest[0]!r}", timeout=wait)
        lists = ("resources", "resourceTemplates")
        return {name: await live_list(session, name, timeout=wait) for name in lists}

    def described(found: dict[str, Any]) -> "Iterator[str]":
        return describe_resources(peer, found["resources"], found["resourceTemplates"])

    peer, answer = asked(source, options, ask, timeout=timeout, answers=answers)
    return shown(answer, contents_lines if rest else described, as_json=as_json)
