"""`holdfast search`: find code, prose and records by words and by what the code means.

The options come from the table of arguments, so that a command can ask exactly what a program can.
"""

import contextlib
import os
import re
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.ending import INTERRUPTED
from holdfast.cli.indexing import (
    locate,
    published,
    say,
    say_stopped,
    stop_on_interrupt,
    told_plainly,
)
from holdfast.cli.options import setting_options
from holdfast.errors import ToolError, UsageError
from holdfast.search.request_fields import FIELDS, GROUPS, OUTPUT, WHERE, Field, split_list

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.search.backends import StandIn
    from holdfast.search.library import SearchIndex
    from holdfast.search.repository import Repository
    from holdfast.search.request import SearchRequest

__all__ = ["command"]

FORMATS = ("text", "vimgrep", "json")
_EXAMPLE = 'holdfast search -- "-draft retry"'
_ENOUGH = ("definition", "references", "callers")  # a question by themselves: no QUERY is needed


class _SearchCommand(click.Command):
    """A command whose help is in groups, and that explains words which look like options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if error.possibilities:
                raise
            message = f"there is no option {error.option_name}"
            raise UsageError(message, remedy=f"{_EXAMPLE} (behind --, words may begin with -)") from error

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {group: [] for group in GROUPS}
        for parameter in self.get_params(ctx):
            record = None if isinstance(parameter, click.Argument) else parameter.get_help_record(ctx)
            if record is not None:
                groups[_GROUP_OF.get(parameter.name or "", OUTPUT)].append(record)
        for group, records in groups.items():
            with formatter.section(group):
                formatter.write_dl(records)


_FLAGS = {field.name: field.flags[0] for field in FIELDS if field.flags}
_OTHER_FIELDS = re.compile(
    rf"\b({'|'.join(name for name in _FLAGS if not name.islower())})\b"
)  # camelCase: no word
_GROUP_OF = {field.attribute: field.group for field in FIELDS} | {"cache_dir": WHERE, "no_build": WHERE}


class _Choice(click.Choice[str]):
    """One of some words. Whatever else is written is passed on, to be refused with all that is wrong."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ARG002
        return value


def _options() -> Iterator[click.Parameter]:
    """An option per argument; `output` is chosen by the form of what is printed."""
    yield click.Argument(["words"], nargs=-1, metavar="QUERY...")
    for field in FIELDS:
        if field.flags and field.name != "output":
            yield _option(field)


def _typed(text: str) -> str:
    """What a field means, in the words of whoever types: other fields by their flags, and no null."""
    return _OTHER_FIELDS.sub(lambda name: _FLAGS[name[0]], text.replace("; null means the default.", "."))


def _option(field: Field) -> click.Option:
    if field.kind == "flag":
        return click.Option(["/".join(field.flags), field.attribute], default=None, help=_typed(field.help))
    kind = _Choice(field.choices) if field.choices else click.STRING
    notes = "" if field.default is None else f" [default: {field.default}]"
    return click.Option(
        [*field.flags, field.attribute],
        type=kind,
        multiple=True,  # one that is no list and is given twice is refused, not forgotten
        metavar=field.placeholder or None,
        help=_typed(field.help) + notes,
    )


@click.command(name="search", cls=_SearchCommand, params=list(_options()))
@click.option("--compact", is_flag=True, help="One line per result; with --json, only the most important fields.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole answer as one line of JSON.")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), help="Of the output; vimgrep: file:line:column:text."
)
@click.option("--no-color", is_flag=True, help="No colours on a terminal. [env: NO_COLOR]")
@click.option("-q", "--quiet", is_flag=True, help="No progress and no notes on stderr.")
@click.option(
    "--no-build", is_flag=True, help="Search the index as it is: do not build it or bring it up to date."
)
@setting_options("cache_dir")
def command(words: tuple[str, ...], form: str | None, as_json: bool, compact: bool, **options: Any) -> int:
    """Find code, prose and records by words and by what the code means.

    QUERY is words, a "phrase", AND, OR, NOT, parentheses, field:value or /regex/. The first search of a
    repository builds its index; later ones bring it up to date first. All conditions must hold at once. A list is
    written a,b or by giving the option again.

    The exit code is 0 when something was found, 1 when nothing was, 2 for an error. With --json an error is
    printed as JSON as well: its code, its message, and everything that is wrong.

    \b
    Examples:
      holdfast search "where is the retry budget enforced"
      holdfast search -n 20 --lang python --calls subprocess.run --path src/ shell
      holdfast search --callers build_index
      holdfast search --workspace shop.jsonc "where is the retry budget enforced"
      holdfast search --repo ~/src/api --repo ~/src/web timeout
      holdfast search --json --compact timeout | jq -r '.code[].file'
      vim -q <(holdfast search --format vimgrep deadline)
    """
    from holdfast.search.request import SearchRequest

    form = _form(form, as_json=as_json)
    with told_plainly(), _told_as_json(form):
        output = "full" if form == "json" and not compact else "compact"
        arguments = {**_arguments(words, options), "output": output}
        asked = SearchRequest.from_arguments(arguments)  # what is wrong with the question is told first
    search = _search_several if asked.is_federated else _search_one
    found = search(arguments, asked, options, form)
    if found is None:
        return INTERRUPTED
    payload, request, root = found
    _print(payload, form, root, options, compact=compact)
    from holdfast.cli.search_text import count_hits, remarks

    if not options["quiet"] and form != "json":
        for line in remarks(payload, request.top):
            say(line)
    return 0 if count_hits(payload) else 1


def _search_one(
    arguments: dict[str, Any], asked: "SearchRequest", options: dict[str, Any], form: str
) -> "tuple[dict[str, Any], SearchRequest, str] | None":
    """The answer of one repository, the request with its defaults, and its root; None when it was stopped."""
    from holdfast.search.configuration import load_configuration
    from holdfast.search.request import SearchRequest

    with told_plainly(), _told_as_json(form):
        repository, cache = locate(asked.repo_path[0] if asked.repo_path else None, options)
        request = SearchRequest.from_arguments(load_configuration(repository).search.completed(arguments))
    with told_plainly(cache, pointing=form != "json"), _told_as_json(form):
        index = _open(repository, cache, options, form, request.backend)
        if index is None:
            return None
        with index:
            return index.search(request), request, str(repository.root)


def _search_several(
    _: dict[str, Any], asked: "SearchRequest", options: dict[str, Any], form: str
) -> "tuple[dict[str, Any], SearchRequest, str] | None":
    """The same of several repositories; what one of them lacks is told beside the hits of the others."""
    from holdfast.cli.searching_several import search_several
    from holdfast.settings import load_configuration

    quiet, cache_dir = _is_quiet(options, form), options.get("cache_dir")
    cache = load_configuration({"cache_dir": cache_dir}).settings.cache_path()
    with told_plainly(cache, pointing=form != "json"), _told_as_json(form):
        found = search_several(asked, cache, build=not options["no_build"], quiet=quiet)
    return None if found is None else (found, asked, os.curdir)


def _is_quiet(options: dict[str, Any], form: str) -> bool:
    return bool(options["quiet"]) or (form == "json" and not sys.stderr.isatty())


@contextlib.contextmanager
def _told_as_json(form: str) -> Iterator[None]:
    """Where JSON is asked for, print a refusal as the error that any other surface answers; a program reads it."""
    try:
        yield
    except ToolError as error:
        if form == "json" and error.code != "CANCELLED":
            from holdfast.present.dialects import Dialect, failure
            from holdfast.vocabulary.faults import fault
            from holdfast.wire.codec import encode

            told = fault(error.code, error.message, details=error.details, hint=error.hint)
            sys.stdout.write(encode(failure(Dialect.POC, told)).decode() + "\n")
        raise


def _form(form: str | None, *, as_json: bool) -> str:
    if as_json and form not in {None, "json"}:
        raise UsageError(f"--json and --format {form} exclude each other", remedy="give one of them")
    return "json" if as_json else form or "text"


def _arguments(words: tuple[str, ...], options: dict[str, Any]) -> dict[str, Any]:
    """The JSON arguments that say what the command line says."""
    if not words and not any(options.get(name) for name in _ENOUGH):
        raise UsageError("what to search for? QUERY is missing", remedy='holdfast search "retry budget"')
    arguments: dict[str, Any] = {"query": " ".join(words) if words else "*"}
    for field in FIELDS:
        value = options.get(field.attribute)
        if value not in (None, ()):
            arguments[field.name] = value if field.kind == "flag" else _value(field, value)
    return arguments


def _value(field: Field, values: tuple[Any, ...]) -> Any:
    """What an option says: a list, or the one value that it can have."""
    if field.kind == "texts" and len(values) > 1:
        return _entries(values)
    if field.kind in {"conditions", "places"} and len(values) > 1:
        return list(values)
    if len(values) > 1:
        remedy = f"give it once; the query takes more: '{field.flags[0][2:]}:ONE {field.flags[0][2:]}:OTHER'"
        raise UsageError(f"{field.flags[0]} is given {len(values)} times", remedy=remedy)
    return _number(values[0]) if field.kind in {"integer", "number"} else values[0]


def _number(text: str) -> int | float | str:
    """A number as JSON has it; what is none stays as it is, to be refused with everything else that is wrong."""
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text


def _entries(values: Iterable[str]) -> list[str]:
    """The entries of an option that may be given often; an empty one stays, to be refused."""
    return [entry for value in values for entry in split_list(value) or [value.strip(",")]]


def _open(
    repository: "Repository", cache: "Path", options: dict[str, Any], form: str, backend: str
) -> "SearchIndex | StandIn | None":
    """The index, built or brought up to date where that is wanted; None when a person has stopped it."""
    from holdfast.search.library import ensure_index, open_to_search

    if options["no_build"]:
        return open_to_search(repository, cache)
    from holdfast.cli.progress_bar import ProgressBar

    quiet = _is_quiet(options, form)
    before = published(repository, cache)
    try:
        with (
            stop_on_interrupt() as stop,
            ProgressBar(is_quiet=quiet) as progress,
            told_plainly(cache),
            _told_as_json(form),
        ):
            return ensure_index(repository, cache, progress=progress, stop=stop, backend=backend)
    except KeyboardInterrupt:
        say_stopped(repository, cache, before)
        return None


def _print(payload: dict[str, Any], form: str, root: str, options: dict[str, Any], *, compact: bool) -> None:
    from holdfast.cli.search_text import describe_hits, look_for, one_line_each, vimgrep

    if form == "json":
        from holdfast.wire.codec import encode

        sys.stdout.write(encode(payload).decode() + "\n")
        return
    roots = {one["repo"]: one["root"] for one in payload.get("repos", ())}
    look = look_for(sys.stdout, root, colour=not options["no_color"], roots=roots)
    describe = vimgrep if form == "vimgrep" else one_line_each if compact else describe_hits
    for line in describe(payload, look):
        sys.stdout.write(line + "\n")
