"""`holdfast new`: a small server project that runs at once."""

from pathlib import Path

import click

__all__ = ["command"]


@click.command(name="new")
@click.argument("name")
@click.option("--dir", "directory", metavar="DIR", help="Where to write it. [default: ./NAME]")
def command(name: str, directory: str | None) -> int:
    """Write a small server project that runs at once: two tools, their tests, a README.

    \b
    Examples:
      holdfast new inventory
      holdfast new stock-room --dir ~/servers/stock-room
    """
    from holdfast.cli.project import write_project

    project = write_project(name, Path(directory).expanduser() if directory else Path(name))
    click.echo(f"wrote {project.directory}/: {', '.join(project.files)}", err=True)
    click.echo("next:", err=True)
    for line in project.next_steps:
        click.echo(f"  {line}", err=True)
    return 0
