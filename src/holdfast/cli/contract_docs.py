"""`holdfast contract docs`: reference pages of a server."""

import sys
from pathlib import Path

import click

from holdfast.cli.contract_sources import Loaded, SourceCommand, one_server, source_options, unreadable_is_3
from holdfast.present.counted import counted

__all__ = ["command"]


@click.command(name="docs", cls=SourceCommand)
@click.argument("words", nargs=-1, metavar="TARGET | -- COMMAND ARGS...")
@click.option("-o", "--output", metavar="DIR", default="tool-pages", show_default=True, help="Write into here.")
@source_options
@click.pass_context
@unreadable_is_3
def command(ctx: click.Context, words: tuple[str, ...], output: str, timeout: float, as_json: bool) -> int:
    """Write a reference page per tool, in Markdown and in HTML that needs nothing else, with runnable examples.

    TARGET may also be a snapshot or a lock.

    \b
    Examples:
      holdfast contract docs inventory.py -o build/tools
      holdfast contract docs -o build/tools -- npx some-server
    """
    from holdfast.cli.contract_pages import pages_of
    from holdfast.cli.contract_snapshot import write_file
    from holdfast.contract.atomic import refuse_link_out
    from holdfast.contract.compare.view import read_surface
    from holdfast.errors import UsageError

    loaded = one_server(ctx, words, "holdfast contract docs inventory.py", timeout)
    pages = pages_of(read_surface(loaded.document, loaded.label), _call(loaded))
    directory = Path(output)
    refuse_link_out(directory)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{output} cannot be made: {error.strerror or error}", remedy="choose another -o"
        ) from error
    for name, text in pages.items():
        write_file(directory / name, text.encode("utf-8", "backslashreplace"), remedy="choose another -o")
    if as_json:
        from holdfast.contract.canonical import canonical_json

        sys.stdout.buffer.write(canonical_json({"directory": output, "files": sorted(pages)}))
    else:
        print(
            f"wrote {counted(len(pages), 'page')} into {output}; begin at {directory / 'index.html'}",
            file=sys.stderr,
        )
    return 0


def _call(loaded: Loaded) -> str:
    """How a person calls a tool of this server; the word TOOL stands for its name."""
    return f"holdfast call {loaded.label} TOOL" if loaded.server is not None else "holdfast call SERVER TOOL"
