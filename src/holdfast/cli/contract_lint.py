"""`holdfast contract lint`: what a specification must have, asked of files and of servers."""

import sys
from pathlib import Path
from typing import Any

import click

from holdfast.cli.contract_sources import (
    SourceCommand,
    load_source,
    source_options,
    take_sources,
    unreadable_is_3,
)

__all__ = ["FORMATS", "command", "print_findings", "read_text"]

FORMATS = ("text", "json", "sarif", "junit")
_EXAMPLE = "holdfast contract lint MCP_TOOL_SPECIFICATION.md"


@click.command(name="lint", cls=SourceCommand)
@click.argument("words", nargs=-1, metavar="FILE...|TARGET | -- COMMAND ARGS...")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="Of the output."
)
@source_options
@click.pass_context
@unreadable_is_3
def command(ctx: click.Context, words: tuple[str, ...], form: str, timeout: float, as_json: bool) -> int:
    """Check specification files, or a server, for everything that a specification must have.

    Files end in .md; anything else is a server or a snapshot. The exit code is 1 when there is an error or a
    warning.

    \b
    Examples:
      holdfast contract lint MCP_TOOL_SPECIFICATION.md
      holdfast contract lint --format sarif docs/*.md
      holdfast contract lint inventory.py
    """
    sources = take_sources(ctx, words, None, _EXAMPLE)
    findings = [found for source in sources for found in _linted(source, timeout)]
    print_findings(findings, "json" if as_json else form)
    return 1 if any(found.severity != "note" for found in findings) else 0


def _linted(source: str | tuple[str, ...], timeout: float) -> list[Any]:
    from holdfast.contract.documents.lint import lint_document
    from holdfast.contract.documents.lint_surface import lint_surface
    from holdfast.contract.documents.parse import parse_document

    if isinstance(source, str) and source.endswith((".md", ".markdown")):
        return lint_document(parse_document(read_text(source), name=source))
    return lint_surface(load_source(source, timeout).document)


def read_text(path: str) -> str:
    """The text of a specification file."""
    from holdfast.contract.compare.reading import MAX_BYTES, UnreadableError

    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise UnreadableError(
                f"{path} is larger than {MAX_BYTES // 1024 // 1024} MiB",
                remedy="name the file of one specification",
            )
        return data.decode("utf-8")
    except OSError as error:
        raise UnreadableError(
            f"{path} cannot be read: {error.strerror or error}", remedy="holdfast contract spec --template"
        ) from error
    except UnicodeDecodeError as error:
        raise UnreadableError(f"{path} is not UTF-8 text", remedy="save it as UTF-8") from error


def print_findings(findings: list[Any], form: str) -> None:
    """The findings in one of the forms, on stdout."""
    from holdfast.contract.documents.reports import to_json, to_junit, to_sarif, to_text

    writers = {"text": to_text, "json": to_json, "sarif": to_sarif, "junit": to_junit}
    sys.stdout.write(writers[form](findings))
