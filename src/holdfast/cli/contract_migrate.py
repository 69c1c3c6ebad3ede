"""`holdfast contract migrate`: a loosely written specification in the canonical form."""

import sys
from pathlib import Path

import click

from holdfast.cli.contract_sources import unreadable_is_3
from holdfast.present.counted import counted

__all__ = ["command"]


@click.command(name="migrate")
@click.argument("file")
@click.option("-o", "--output", metavar="FILE", help="Write to this file. [default: stdout]")
@click.option("-w", "--write", is_flag=True, help="Write over the file itself.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs: the text and what is left to do.")
@unreadable_is_3
def command(file: str, output: str | None, write: bool, as_json: bool) -> int:
    """Turn a loosely written specification into the canonical form, and list what a person must fill in.

    Nothing that the author wrote is lost. The list goes to stderr; the exit code is 1 while it is not empty.

    \b
    Examples:
      holdfast contract migrate MCP_TOOL_SPECIFICATION.md --write
      holdfast contract migrate old.md -o MCP_TOOL_SPECIFICATION.md
    """
    from holdfast.cli.contract_lint import read_text
    from holdfast.cli.contract_snapshot import write_file
    from holdfast.contract.documents.migrate import migrate_document
    from holdfast.errors import UsageError

    if write and output is not None:
        raise UsageError("--write and -o name two files", remedy="give one of them")
    migration = migrate_document(read_text(file))
    goal = file if write else output
    if goal is not None and goal != "-":
        write_file(Path(goal), migration.text.encode())
    if as_json:
        from holdfast.contract.canonical import canonical_json

        told = {"file": goal, "todo": list(migration.todo), "text": migration.text}
        sys.stdout.buffer.write(canonical_json(told))
    elif goal is None or goal == "-":
        sys.stdout.write(migration.text)
    if not as_json:
        for line in migration.todo:
            print(line, file=sys.stderr)
        count = len(migration.todo)
        print(f"{counted(count, 'thing')} left to fill in" if count else "complete", file=sys.stderr)
    return 1 if migration.todo else 0
