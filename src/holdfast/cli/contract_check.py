"""`holdfast contract check`: a server held against its lock."""

import sys

import click

from holdfast.cli.contract_sources import SourceCommand, one_server, source_options, unreadable_is_3
from holdfast.present.counted import counted

__all__ = ["command"]


@click.command(name="check", cls=SourceCommand)
@click.argument("words", nargs=-1, metavar="TARGET | -- COMMAND ARGS...")
@click.option("--lock", "lock_file", metavar="FILE", help="The lock. [default: contracts/NAME.lock.json]")
@click.option("--strict", is_flag=True, help="Count what may change behaviour as breaking.")
@source_options
@click.pass_context
@unreadable_is_3
def command(
    ctx: click.Context, words: tuple[str, ...], lock_file: str | None, strict: bool, timeout: float, as_json: bool
) -> int:
    """Fail when a server is not what its lock says, or when a version did not move as far as a change asks for.

    It prints the exact edit that would make it pass. Nothing is written.

    \b
    Examples:
      holdfast contract check inventory.py
      holdfast contract check --lock contracts/inventory.lock.json --json inventory.py
      holdfast contract check --lock everything.lock.json -- npx some-server
    """
    loaded = one_server(ctx, words, "holdfast contract check inventory.py", timeout)
    from holdfast.cli.contract_locks import lock_command, lock_path, report, today
    from holdfast.contract.compare.view import read_surface
    from holdfast.contract.gate import gate_surface
    from holdfast.contract.lock import read_lock_file

    view = read_surface(loaded.document, loaded.label)
    path = lock_path(lock_file, view)
    problems = gate_surface(view, read_lock_file(path), today(), strict=strict)
    facts = {"ok": not problems, "name": view.name, "lock": str(path)}
    if not problems and not as_json:
        count = counted(len(view.tools), "tool")
        sys.stdout.write(f"{view.name} is what {path} says ({count})\n")
        return 0
    count = counted(len(problems), "problem")
    headline = f"{view.name} is not what {path} says: {count}"
    final = [lock_command(loaded, lock_file, problems)] if problems else []
    report(loaded, view, problems, final, headline, as_json=as_json, facts=facts)
    return 1 if problems else 0
