"""`holdfast contract`: what a server promises, as a document."""

import sys
from pathlib import Path

import click

from holdfast.cli.groups import CommandGroup

__all__ = ["command"]


@click.group(name="contract", cls=CommandGroup)
def command() -> None:
    """Write down what a server promises.

    \b
    Example:
      holdfast contract snapshot inventory.py -o inventory.contract.json
    """


@command.command(name="snapshot")
@click.argument("target")
@click.option("-o", "--output", metavar="FILE", help="Write to this file. [default: stdout]")
def snapshot(target: str, output: str | None) -> int:
    """Write the whole contract of a server as canonical JSON, the same bytes for the same contract.

    TARGET is module:object, path/file.py or path/file.py:object.

    \b
    Example:
      holdfast contract snapshot inventory.py -o inventory.contract.json
    """
    from holdfast.cli.streams import guarded_streams
    from holdfast.contract.snapshot import write_snapshot
    from holdfast.worker.targets import load_target

    with guarded_streams():
        document = write_snapshot(load_target(target).surface)
    if output is None or output == "-":
        sys.stdout.buffer.write(document)
        return 0
    try:
        _replace(Path(output), document)
    except OSError as error:
        from holdfast.errors import UsageError

        raise UsageError(
            f"{output} cannot be written: {error.strerror or error}", remedy="check the path; -o - is stdout"
        ) from error
    print(f"wrote {output} ({len(document)} bytes)", file=sys.stderr)
    return 0


def _replace(file: Path, document: bytes) -> None:
    """All of the new file or all of the old one, whatever happens meanwhile."""
    draft = file.with_name(f".{file.name}.draft")
    try:
        draft.write_bytes(document)
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)
