"""A group of commands that knows what a misspelled one was meant to be."""

from collections.abc import Iterable

import click

__all__ = ["CommandGroup", "meant"]


def meant(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'X'?` where one of the known words is close to this one, else nothing."""
    import difflib

    close = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


class CommandGroup(click.Group):
    """A click group that says `did you mean` itself, on the one line that an error has."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command of the first word."""
        known = self.list_commands(ctx)
        if not ctx.resilient_parsing and args[0] not in known and not args[0].startswith("-"):
            ctx.fail(f"there is no command {args[0]!r}{meant(args[0], known)}")
        return super().resolve_command(ctx, args)
