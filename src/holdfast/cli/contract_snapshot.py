"""`holdfast contract snapshot`: the whole contract of a server as one document."""

import sys
from pathlib import Path

import click

from holdfast.cli.contract_sources import SourceCommand, one_server, source_options, unreadable_is_3

__all__ = ["command", "write_file"]


@click.command(name="snapshot", cls=SourceCommand)
@click.argument("words", nargs=-1, metavar="TARGET | -- COMMAND ARGS...")
@click.option("-o", "--output", metavar="FILE", help="Write to this file. [default: stdout]")
@source_options
@click.pass_context
@unreadable_is_3
def command(ctx: click.Context, words: tuple[str, ...], output: str | None, timeout: float, as_json: bool) -> int:  # noqa: ARG001
    """Write the whole contract of a server as canonical JSON, the same bytes for the same contract.

    TARGET is module:object, path/file.py or path/file.py:object. Behind `--` stands the command line of any MCP
    server on stdio; its contract is what it says on the wire.

    \b
    Examples:
      holdfast contract snapshot inventory.py -o inventory.contract.json
      holdfast contract snapshot -- npx some-server
    """
    from holdfast.contract.canonical import canonical_json

    loaded = one_server(ctx, words, "holdfast contract snapshot inventory.py", timeout)
    document = canonical_json(loaded.document)
    if output is None or output == "-":
        sys.stdout.buffer.write(document)
        return 0
    write_file(Path(output), document)
    print(f"wrote {output} ({len(document)} bytes)", file=sys.stderr)
    return 0


def write_file(file: Path, document: bytes, *, remedy: str = "check the path; -o - is stdout") -> None:
    """All of the new file or all of the old one, whatever happens meanwhile."""
    from holdfast.contract.atomic import write_atomically

    try:
        write_atomically(file, document)
    except OSError as error:
        from holdfast.errors import UsageError

        raise UsageError(f"{file} cannot be written: {error.strerror or error}", remedy=remedy) from error
