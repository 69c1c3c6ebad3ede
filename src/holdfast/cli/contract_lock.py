"""`holdfast contract lock`: somebody agrees to the contract of a server as it is now."""

import shlex
import sys
from pathlib import Path
from typing import Any

import click

from holdfast.cli.contract_sources import Loaded, SourceCommand, one_server, source_options, unreadable_is_3
from holdfast.present.bounds import clean_line

__all__ = ["command"]

_MANY = 4  # changes that are accepted one by one
_SHOWN = 20


@click.command(name="lock", cls=SourceCommand)
@click.argument("words", nargs=-1, metavar="TARGET | -- COMMAND ARGS...")
@click.option("--lock", "lock_file", metavar="FILE", help="The lock. [default: contracts/NAME.lock.json]")
@click.option("--accept", metavar="RULE@PATH", multiple=True, help="Accept this change; both may hold *.")
@click.option("--reason", metavar="TEXT", default="", help="Why it is accepted.")
@click.option("--until", metavar="DATE", default="", help="The last day on which that counts, such as 2030-01-31.")
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

    A lock is not written when a version did not move as far as the changes ask for. With --accept one of the
    changes, or such a version, is accepted all the same, for a reason and until a date; the lock keeps both.

    \b
    Examples:
      holdfast contract lock inventory.py
      holdfast contract lock inventory.py --accept tool.removed@audit --reason "never used" --until 2030-01-31
      holdfast contract lock --lock contracts/everything.lock.json -- npx some-server
    """
    from holdfast.cli.contract_locks import lock_path, today
    from holdfast.contract.compare.diff import diff_surfaces
    from holdfast.contract.compare.view import read_surface
    from holdfast.contract.gate import gate_surface
    from holdfast.contract.lock import next_lock, read_lock_file, write_lock_file

    waivers = _waivers(**acceptance)
    loaded = one_server(ctx, words, "holdfast contract lock inventory.py", timeout)
    view = read_surface(loaded.document, loaded.label)
    path = lock_path(lock_file, view)
    previous = read_lock_file(path) if path.exists() else None
    problems = gate_surface(view, previous, today(), waivers) if previous else []
    blocking = [problem for problem in problems if problem.blocks]
    if blocking:
        return _refuse(loaded, path, problems, as_json=as_json)
    lock = next_lock(previous, loaded.document, waivers, today())
    size = write_lock_file(path, lock, replaces=previous)
    changes = diff_surfaces(previous.view, view).changes if previous else None
    return _tell(path, lock.name, size, changes, as_json=as_json)


def _waivers(accept: tuple[str, ...], reason: str, until: str) -> list[Any]:
    from holdfast.cli.contract_locks import today
    from holdfast.contract.inclusion.rules import RULES
    from holdfast.contract.waivers import accepted
    from holdfast.errors import UsageError

    if (reason or until) and not accept:
        raise UsageError("--reason and --until belong to --accept", remedy="--accept RULE@PATH")
    waivers = [accepted(address, reason, until, RULES) for address in accept]
    if waivers and not waivers[0].counts(today()):
        raise UsageError(f"{until} is over", remedy="--until takes a day to come")
    return waivers


def _refuse(loaded: Loaded, path: Path, problems: list[Any], *, as_json: bool) -> int:
    from holdfast.cli.contract_locks import report
    from holdfast.contract.compare.view import read_surface

    view = read_surface(loaded.document, loaded.label)
    facts = {"ok": False, "written": False, "name": view.name, "lock": str(path)}
    headline = f"{path} was not written: the versions did not move as far as the changes ask for"
    hint = f"or accept it: {_acceptance(problems)} --reason TEXT --until DATE"
    report(loaded, view, problems, [hint], headline, as_json=as_json, facts=facts)
    return 1


def _acceptance(problems: list[Any]) -> str:
    """The options that accept every change; a version need not be accepted beside what it would move for."""
    addresses = [
        problem.change.address
        for problem in problems
        if problem.least is None and problem.change.bump.value != "none"
    ]
    addresses = addresses or [problem.change.address for problem in problems]
    if len(addresses) > _MANY:
        tools = dict.fromkeys(problem.change.tool for problem in problems)
        addresses = [f"*@{tool}*" for tool in tools if tool] or ["*@*"]
    return " ".join(f"--accept {shlex.quote(address)}" for address in addresses)


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
    count = f"{len(agreed)} change{'s' if len(agreed) != 1 else ''}"
    what = "the first lock" if changes is None else count
    print(f"wrote {path} ({what}, {size} bytes)", file=sys.stderr)
    return 0
