"""`holdfast contract lock`: somebody agrees to the contract of a server as it is now."""

import sys
from pathlib import Path
from typing import Any

import click

from holdfast.cli.contract_sources import Loaded, SourceCommand, one_server, source_options, unreadable_is_3
from holdfast.present.bounds import clean_line
from holdfast.present.counted import counted

__all__ = ["command"]

_SHOWN = 20


@click.command(name="lock", cls=SourceCommand)
@click.argument("words", nargs=-1, metavar="TARGET | -- COMMAND ARGS...")
@click.option("--lock", "lock_file", metavar="FILE", help="The lock. [default: contracts/NAME.lock.json]")
@click.option(
    "--accept", metavar="RULE@PATH", multiple=True, help="Accept this change as it is now; * is allowed."
)
@click.option("--reason", metavar="TEXT", default="", help="Why it is accepted.")
@click.option("--until", metavar="DATE", default="", help="The last day on which it counts, within a year.")
@source_options
@click.pass_context
@unreadable_is_3
def command(
    ctx: click.Context,
    words: tuple[str, ...],
    lock_file: str | None,
    timeout: float,
    as_json: bool,
    **acceptance: Any,
) -> int:
    """Write the lock of a server: the contract that you agree to, for `check` and `serve --lock`.

    A lock is not written when a version did not move as far as the changes ask for, nor when a tool that was
    approved as read-only, harmless or staying inside is not so any more. With --accept such a change is accepted
    as it is now, for a reason and until a date; the lock keeps both.

    \b
    Examples:
      holdfast contract lock inventory.py
      holdfast contract lock inventory.py --accept tool.removed@audit --reason "never used" --until DATE
      holdfast contract lock --lock contracts/everything.lock.json -- npx some-server
    """
    from holdfast.cli.contract_locks import lock_path, today
    from holdfast.contract.compare.diff import diff_surfaces
    from holdfast.contract.compare.view import read_surface
    from holdfast.contract.gate import first_problems, gate_surface
    from holdfast.contract.lock import next_lock, read_lock_file, write_lock_file

    acceptances = _acceptances(**acceptance)
    loaded = one_server(ctx, words, "holdfast contract lock inventory.py", timeout)
    view = read_surface(loaded.document, loaded.label)
    path = lock_path(lock_file, view)
    previous = read_lock_file(path) if path.exists() else None
    waivers = _waivers(acceptances, view, previous)
    problems = gate_surface(view, previous, today(), waivers) if previous else first_problems(view)
    if any(problem.blocks for problem in problems):
        return _refuse(loaded, path, problems, is_first=previous is None, as_json=as_json)
    lock = next_lock(previous, loaded.document, waivers, today())
    size = write_lock_file(path, lock, replaces=previous)
    changes = diff_surfaces(previous.view, view).changes if previous else None
    return _tell(path, lock.name, size, changes, as_json=as_json)


def _acceptances(accept: tuple[str, ...], reason: str, until: str) -> list[Any]:
    from holdfast.cli.contract_locks import today
    from holdfast.contract.inclusion.rules import RULES
    from holdfast.contract.waivers import accepted
    from holdfast.errors import UsageError

    if (reason or until) and not accept:
        raise UsageError("--reason and --until belong to --accept", remedy="--accept RULE@PATH")
    return [accepted(address, reason, until, today(), RULES) for address in accept]


def _waivers(acceptances: list[Any], view: Any, previous: Any) -> list[Any]:
    from holdfast.cli.contract_locks import today
    from holdfast.contract.gate import acceptable_changes
    from holdfast.contract.waivers import waivers_for

    if not acceptances:
        return []
    changes = acceptable_changes(view, previous, today()) if previous else []
    return waivers_for(acceptances, changes, view)


def _refuse(loaded: Loaded, path: Path, problems: list[Any], *, is_first: bool, as_json: bool) -> int:
    from holdfast.cli.contract_locks import acceptance_of, report
    from holdfast.contract.compare.view import read_surface

    view = read_surface(loaded.document, loaded.label)
    facts = {"ok": False, "written": False, "name": view.name, "lock": str(path)}
    if any(problem.least is not None for problem in problems):
        why = "the versions are not what the contract asks for"
        final = [] if is_first else [f"or accept it: {acceptance_of(problems)}"]
    else:
        why = "somebody has to say yes by name"
        final = [f"accept it: {acceptance_of([problem for problem in problems if problem.blocks])}"]
    report(loaded, view, problems, final, f"{path} was not written: {why}", as_json=as_json, facts=facts)
    return 1


def _tell(path: Path, name: str, size: int, changes: tuple[Any, ...] | None, *, as_json: bool) -> int:
    agreed = [item.address for item in changes or ()]
    if as_json:
        from holdfast.contract.canonical import canonical_json

        facts = {"ok": True, "written": True, "name": name, "lock": str(path), "bytes": size, "agreed": agreed}
        sys.stdout.buffer.write(canonical_json(facts))
        return 0
    for address in agreed[:_SHOWN]:
        print(f"agreed: {clean_line(address)}", file=sys.stderr)
    if len(agreed) > _SHOWN:
        print(f"agreed: {len(agreed) - _SHOWN} more", file=sys.stderr)
    count = counted(len(agreed), "change")
    what = "the first lock" if changes is None else count
    print(f"wrote {path} ({what})", file=sys.stderr)
    return 0
