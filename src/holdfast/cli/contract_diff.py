"""`holdfast contract diff`: what changed between two contracts, and a call that proves it."""

import sys

import click

from holdfast.cli.contract_sources import (
    Loaded,
    SourceCommand,
    is_server,
    load_source,
    source_options,
    take_sources,
    unreadable_is_3,
)

__all__ = ["command"]

_EXAMPLE = "holdfast contract diff inventory.contract.json inventory.py"


@click.command(name="diff", cls=SourceCommand)
@click.argument("words", nargs=-1, metavar="OLD NEW | OLD -- COMMAND ARGS...")
@click.option("--strict", is_flag=True, help="Count what may change behaviour as breaking.")
@source_options
@click.pass_context
@unreadable_is_3
def command(ctx: click.Context, words: tuple[str, ...], strict: bool, timeout: float, as_json: bool) -> int:
    """Show every change between two contracts: its rule, its place, the version it asks for, and a witness.

    OLD and NEW are each a snapshot, a lock or a saved tools/list result (- is stdin), git:REV:PATH, or a TARGET.
    NEW may be the command line of any MCP server on stdio, behind `--`. The exit code is 1 when a change is
    breaking.

    \b
    Examples:
      holdfast contract diff inventory.contract.json inventory.py
      holdfast contract diff git:v1.0.0:contracts/inventory.lock.json inventory.py --json
      holdfast contract diff old.json -- npx some-server
    """
    from holdfast.contract.compare.diff import diff_surfaces
    from holdfast.contract.compare.view import read_surface

    sources = take_sources(ctx, words, 2, _EXAMPLE)
    old, new = _load_both(sources, timeout)
    diff = diff_surfaces(
        read_surface(old.document, old.label), read_surface(new.document, new.label), strict=strict
    )
    if as_json:
        from holdfast.contract.canonical import canonical_json

        sys.stdout.buffer.write(canonical_json(diff.to_json()))
    else:
        from holdfast.cli.contract_text import describe_diff, paint_for

        sys.stdout.write("\n".join(describe_diff(diff, paint_for(sys.stdout))) + "\n")
    return 1 if diff.breaking else 0


def _load_both(sources: list[str | tuple[str, ...]], timeout: float) -> tuple[Loaded, Loaded]:
    first, second = sources
    if isinstance(first, str) and isinstance(second, str) and is_server(first) and is_server(second):
        # Two files of the same name would be one module in one process.
        return _in_process_of_its_own(first), load_source(second, timeout)
    return load_source(first, timeout), load_source(second, timeout)


def _in_process_of_its_own(target: str) -> Loaded:
    import subprocess

    from holdfast.contract.compare.reading import read_json
    from holdfast.errors import TargetError
    from holdfast.interpreter import OWN_SERVERS, module_command

    if target.startswith(("git:", "-")):
        return load_source(target)
    done = subprocess.run(
        module_command("holdfast", "contract", "snapshot", target, user_code=target not in OWN_SERVERS),
        stdin=subprocess.DEVNULL, capture_output=True, check=False,
    )  # fmt: skip
    if done.returncode:
        lines = [line for line in done.stderr.decode(errors="replace").splitlines() if line.strip()]
        told = next((line for line in lines if line.startswith("holdfast: ")), f"holdfast: {target} failed")
        remedy = next((line for line in lines if line.startswith("  try: ")), "")
        raise TargetError(told.removeprefix("holdfast: "), remedy=remedy.removeprefix("  try: "))
    return Loaded(read_json(done.stdout, target), target)
