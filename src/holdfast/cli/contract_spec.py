"""`holdfast contract spec`: the specification of a server, written from its code and kept in step with it."""

import sys
from pathlib import Path
from typing import Any

import click

from holdfast.cli.contract_sources import Loaded, SourceCommand, one_server, source_options, unreadable_is_3
from holdfast.cli.options import Source
from holdfast.present.counted import counted

__all__ = ["command"]

DEFAULT_FILE = "MCP_TOOL_SPECIFICATION.md"


@click.command(name="spec", cls=SourceCommand)
@click.argument("words", nargs=-1, metavar="TARGET | -- COMMAND ARGS...")
@click.option("-o", "--output", metavar="FILE", default=DEFAULT_FILE, show_default=True, help="The specification.")
@click.option("--check", is_flag=True, help="Write nothing; fail where file, code and wire do not agree.")
@click.option("--no-examples", is_flag=True, help="Do not run the examples of tools that are safe to run.")
@click.option("--template", is_flag=True, help="Print the canonical template and end.")
@source_options
@click.pass_context
@unreadable_is_3
def command(
    ctx: click.Context,
    words: tuple[str, ...],
    output: str,
    timeout: float,
    as_json: bool,
    **switches: bool,
) -> int:
    """Write the specification of a server from its code; what you wrote between the marked parts stays.

    With --check nothing is written: the file, the code and the wire are compared, and every example of a tool that
    changes nothing is run and its answer held against the output schema.

    \b
    Examples:
      holdfast contract spec inventory.py
      holdfast contract spec inventory.py --check
      holdfast contract spec --template > MCP_TOOL_SPECIFICATION.md
    """
    if switches["template"]:
        from holdfast.contract.documents.template import TEMPLATE

        sys.stdout.write(TEMPLATE)
        return 0
    loaded = one_server(ctx, words, "holdfast contract spec inventory.py", timeout)
    if switches["check"]:
        from holdfast.cli.contract_lint import print_findings

        findings = _check(loaded, output, timeout, run=not switches["no_examples"])
        print_findings(findings, "json" if as_json else "text")
        return 1 if any(found.severity != "note" for found in findings) else 0
    return _write(loaded, output, as_json=as_json)


def _write(loaded: Loaded, output: str, *, as_json: bool) -> int:
    from holdfast.cli.contract_lint import read_text
    from holdfast.cli.contract_snapshot import write_file
    from holdfast.contract.documents.generate import generate_document

    path = Path(output)
    existing = read_text(output) if output != "-" and path.is_file() else None
    text = generate_document(loaded.document, existing=existing, name=output)
    if output == "-":
        sys.stdout.write(text)
        return 0
    if text != existing:
        write_file(path, text.encode())
    what = "wrote" if text != existing else "unchanged:"
    if as_json:
        from holdfast.contract.canonical import canonical_json

        told = {"file": output, "written": text != existing, "tools": len(loaded.document["tools"])}
        sys.stdout.buffer.write(canonical_json(told))
    else:
        print(f"{what} {output} ({counted(len(loaded.document['tools']), 'tool')})", file=sys.stderr)
    return 0


def _check(loaded: Loaded, output: str, timeout: float, *, run: bool) -> list[Any]:
    from holdfast.cli.connect import connected
    from holdfast.cli.connect import run as run_to_the_end
    from holdfast.cli.contract_lint import read_text
    from holdfast.cli.streams import guarded_streams
    from holdfast.inspect.verify import verify
    from holdfast.settings import load_configuration

    text = read_text(output)
    settings = load_configuration({"event_log": False}, server=getattr(loaded.server, "name", None)).settings
    source = Source(loaded.label, ()) if loaded.server is not None else Source("", loaded.command)

    async def look() -> list[Any]:
        async with connected(source, loaded.server, settings, timeout=timeout) as session:
            return await verify(session, loaded.document, text, name=output, run=run, timeout=timeout or None)

    with guarded_streams():
        return run_to_the_end(look())
