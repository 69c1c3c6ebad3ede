"""`holdfast skill`: the bootstrap skill for coding agents: where it is, what it says, how it is installed."""

import sys
from pathlib import Path

import click

from holdfast.cli.groups import CommandGroup
from holdfast.errors import UsageError

__all__ = ["command"]

_PAGES = {
    "skill": "SKILL.md",
    "bootstrap-fresh": "references/bootstrap-fresh.md",
    "bootstrap-retrofit": "references/bootstrap-retrofit.md",
    "checklist": "references/checklist.md",
}


@click.group(name="skill", cls=CommandGroup)
def command() -> None:
    """Teach a coding agent to write servers on Holdfast, or to put existing ones behind it.

    The skill mcp-bootstrap comes with this package. An agent reads it once it is in its directory of skills.

    \b
    Examples:
      holdfast skill install
      holdfast skill show checklist
    """


@command.command(name="install")
@click.option("--dir", "directory", metavar="DIR", help="Put it into DIR. [default: ~/.claude/skills and "
              "~/.codex/skills, where there is ~/.claude or ~/.codex]")  # fmt: skip
@click.option("--copy", is_flag=True, help="Copy it, where no link can be made. A copy stays as old as it is.")
@click.option("--force", is_flag=True, help="Replace another link of this name, or a copy that was edited.")
@click.option("--undo", is_flag=True, help="Take it out again.")
@click.option("--json", "as_json", is_flag=True, help="Print what was done as one JSON document.")
def install(directory: str | None, copy: bool, force: bool, undo: bool, as_json: bool) -> int:
    """Link the skill into the directory of skills of the coding agents on this machine.

    Doing it again changes nothing. What holdfast did not put there is left as it is.

    \b
    Examples:
      holdfast skill install
      holdfast skill install --dir .claude/skills
      holdfast skill install --undo
    """
    from holdfast.contract.atomic import refuse_link_out
    from holdfast.setup.skill import NAME, default_directories, install_skill, remove_skill, skill_source

    if undo and copy:
        raise UsageError("--undo takes out links and copies alike", remedy="leave out --copy")
    if directory is not None and not directory.strip():
        raise UsageError("--dir names no directory", remedy="--dir .claude/skills")
    directories = default_directories() if directory is None else [_expanded(directory)]
    if directory is not None:  # one in a repository, say; those at home may be links of the person
        refuse_link_out(directories[0])
    done = remove_skill(directories, force=force) if undo else install_skill(directories, copy=copy, force=force)
    if as_json:
        from holdfast.wire.codec import encode

        places = [placed.to_json() for placed in done]
        document = {"skill": NAME, "source": str(skill_source()), "places": places}
        sys.stdout.write(encode(document).decode() + "\n")
        return 0
    from holdfast.present.bounds import clean_line

    for placed in done:
        print(clean_line(f"{placed.change}: {placed.path}") + (" (a copy)" if placed.how == "copy" else ""))
    return 0


@command.command(name="path")
def show_path() -> int:
    """Print the directory that the skill is in.

    \b
    Example:
      ls "$(holdfast skill path)"
    """
    from holdfast.setup.skill import skill_source

    print(skill_source())
    return 0


@command.command(name="show")
@click.argument("page", type=click.Choice(list(_PAGES)), default="skill")
def show(page: str) -> int:
    """Print the skill, or one of its pages.

    \b
    Examples:
      holdfast skill show
      holdfast skill show bootstrap-retrofit
    """
    from holdfast.setup.skill import skill_source

    sys.stdout.write((skill_source() / _PAGES[page]).read_text(encoding="utf-8"))
    return 0


def _expanded(directory: str) -> Path:
    try:
        return Path(directory).expanduser().absolute()
    except RuntimeError as error:
        raise UsageError(f"{directory}: {error}", remedy="write the path out") from error
