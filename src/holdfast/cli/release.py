"""`holdfast release`: releases of a server on disk, with the digest of every file, and the one that serves."""

import os
import sys
from typing import Any

import click

from holdfast.cli.groups import CommandGroup
from holdfast.cli.options import ServerCommand, command_behind_dashes
from holdfast.present.counted import counted

__all__ = ["command"]

EXAMPLE = "holdfast release pack /srv/releases dist/ -- python -B {release}/server.py"


@click.group(name="release", cls=CommandGroup)
def command() -> None:
    """Keep releases of a server on disk, and choose the one that serves.

    \b
    Examples:
      holdfast release pack /srv/releases dist/ -- python -B {release}/server.py
      holdfast release activate /srv/releases 3f9c
      holdfast run --release /srv/releases        follows what is activated
    """


@command.command(name="pack", cls=ServerCommand, options_metavar="[OPTIONS]")
@click.argument("root")
@click.argument("source")
@click.option("--activate", is_flag=True, help="Have it serve at once.")
@click.option("--json", "as_json", is_flag=True, help="Print the release as one JSON object.")
@click.pass_context
def pack(ctx: click.Context, /, root: str, source: str, activate: bool, as_json: bool) -> int:
    """Make a release of the files in SOURCE; behind `--` stands the command, with {release} for their place.

    \b
    Example:
      holdfast release pack /srv/releases dist/ -- python -B {release}/server.py
    """
    from holdfast.host.release_directory import PLACE, ReleaseDirectory

    words = command_behind_dashes(ctx, EXAMPLE)
    directory = ReleaseDirectory(root)
    packed = directory.pack(source, words)
    if not any(PLACE in word for word in words):
        print(f"holdfast: the command does not mention {PLACE}, so it does not run these files", file=sys.stderr)
    if activate:
        directory.activate(packed.id)
    _tell(packed._asdict(), f"{packed.id}  {counted(packed.files, 'file')}", as_json=as_json)
    return 0


@command.command(name="activate")
@click.argument("root")
@click.argument("release", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print the release as one JSON object.")
def activate(root: str, release: str, as_json: bool) -> int:
    """Have a release serve; hosts that follow ROOT take it up. An earlier one is gone back to in the same way.

    \b
    Example:
      holdfast release activate /srv/releases 3f9c
    """
    from holdfast.host.release_directory import ReleaseDirectory

    chosen = ReleaseDirectory(root).activate(release)
    if as_json:
        _tell(chosen._asdict(), "", as_json=True)
    print(f"{chosen.id} is to serve", file=sys.stderr)
    return 0


@command.command(name="list")
@click.argument("root")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def list_(root: str, as_json: bool) -> int:
    """List the releases in ROOT, the newest last, each verified; the exit code is 1 when one is refused.

    \b
    Example:
      holdfast release list /srv/releases
    """
    from holdfast.errors import UsageError
    from holdfast.host.release_directory import ReleaseDirectory
    from holdfast.wire.codec import encode

    directory = ReleaseDirectory(root)
    if not directory.root.is_dir():
        raise UsageError(f"{directory.root} is no directory", remedy="holdfast release pack --help")
    current, is_refused = "", False
    try:
        current = directory.current()
    except UsageError as error:
        is_refused = os.path.lexists(directory.root / "current.json")  # none at all: nothing is activated yet
        if is_refused:
            print(f"holdfast: {error}", file=sys.stderr)
    found = []
    for name in directory.names():
        try:
            packed, problem = directory.verified(name)._asdict(), ""
        except UsageError as error:
            packed, problem = {"id": name}, error.message
        found.append({**packed, "current": name == current, "problem": problem})
    if as_json:
        sys.stdout.write(encode(found).decode() + "\n")
    for one in [] if as_json else found:
        told = one["problem"] or f"{counted(one['files'], 'file')}, {' '.join(one['command'])}"
        sys.stdout.write(f"{'*' if one['current'] else ' '} {one['id'][:12]}  {told}\n")
    return 1 if is_refused or any(one["problem"] for one in found) else 0


def _tell(document: dict[str, Any], text: str, *, as_json: bool) -> None:
    from holdfast.wire.codec import encode

    sys.stdout.write((encode(document).decode() if as_json else text) + "\n")
