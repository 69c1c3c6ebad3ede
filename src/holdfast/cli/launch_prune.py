"""`holdfast launch prune`: shows what runs have left behind, and removes it when asked."""

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.launching import AS_JSON, open_service, print_json, told, workspace_options

if TYPE_CHECKING:
    from holdfast.launch.pruning import Leftover

__all__ = ["prune"]

_TITLES = {
    "run": "clones and work tree of a run",
    "unknown_run": "a directory of no run",
    "mirror": "a mirror of a site",
    "object": "content that no run refers to",
}
_MOST_ROWS = 40
_STEP = 1024


@click.command(name="prune")
@click.option("--older-than", metavar="AGE", default="30d", show_default=True,
              help="Only runs that ended so long ago: a number and w, d, h or m, such as 2w or 45m.")  # fmt: skip
@click.option("--state", "states", metavar="STATE", multiple=True,
              help="Runs in this state; may be repeated. Without it: DONE, FAILED and CANCELLED.")  # fmt: skip
@click.option("--yes", is_flag=True, help="Remove it; without this it is only shown.")
@AS_JSON
@workspace_options
def prune(older_than: str, states: tuple[str, ...], yes: bool, as_json: bool, **options: Any) -> int:
    """Show what runs have left behind that can go: clones, work trees, mirrors, content of no artifact.

    Runs, their events and their artifacts stay readable. A run that is executed is never touched, one that waits
    for somebody only where its state is named.

    \b
    Examples:
      holdfast launch prune
      holdfast launch prune --older-than 7d --yes
      holdfast launch prune --state VALIDATING --older-than 90d
    """
    with told(as_json=as_json), open_service(options) as service:
        from holdfast.launch.pruning import leftovers, parsed_age, removed
        from holdfast.launch.states import TERMINAL

        found = leftovers(service, parsed_age(older_than), states or TERMINAL)
        freed = removed(service, found) if yes and found else 0
    total = sum(one.bytes for one in found)
    if as_json:
        print_json({"ok": True, "removed": yes, "bytes": freed if yes else total,
                    "leftovers": [one.told() for one in found]})  # fmt: skip
        return 0
    print("\n".join(_described(found)))
    if found:
        print(f"removed {_size(freed)}" if yes else f"{_size(total)} can go")
        if not yes:
            print("holdfast: nothing was removed; add --yes to remove it", file=sys.stderr)
    return 0


def _described(found: Sequence["Leftover"]) -> Iterator[str]:
    if not found:
        yield "nothing to prune"
        return
    for one in found[:_MOST_ROWS]:
        about = f" {one.run_id} {one.state} {one.since[:10]}" if one.run_id else f" {one.path}"
        yield f"{_size(one.bytes):>10}  {_TITLES[one.kind]}:{about}"
    if len(found) > _MOST_ROWS:
        yield f"{_size(sum(one.bytes for one in found[_MOST_ROWS:])):>10}  {len(found) - _MOST_ROWS} more"


def _size(count: int) -> str:
    size, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if size < _STEP:
            break
        size, unit = size / _STEP, larger
    return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
