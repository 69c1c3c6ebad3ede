"""`holdfast index`: make the index that searches use, look at it, keep it small."""

import sys
from collections.abc import Callable, Iterable
from typing import Any

import click

from holdfast.cli.ending import INTERRUPTED
from holdfast.cli.groups import CommandGroup
from holdfast.cli.index_embed import command as embed
from holdfast.cli.index_lint import command as lint
from holdfast.cli.index_verify_extension import command as verify_extension
from holdfast.cli.indexing import (
    locate,
    published,
    repository_options,
    say,
    say_stopped,
    stop_on_interrupt,
    told_plainly,
)
from holdfast.errors import UsageError
from holdfast.search.request_fields import PORTABLE_BACKENDS

__all__ = ["command"]

_JSON = click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
_BACKENDS = ("tantivy", *PORTABLE_BACKENDS)
_YES = click.option("-y", "--yes", "--force", "yes", is_flag=True, help="Do it; without it, it is only told.")
_DRY_RUN = click.option("-n", "--dry-run", is_flag=True, help="Only tell what would be removed: the default.")
_QUIET = click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")


class _IndexGroup(CommandGroup):
    """A group that lists its commands in the order in which a person needs them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.commands)


@click.group(name="index", cls=_IndexGroup)
def command() -> None:
    """Build and look after the index of a repository; `holdfast search` also does it by itself.

    An index lives in the cache directory, never inside of the repository. A build that fails or is stopped
    leaves the index from before in use.

    \b
    Examples:
      holdfast index build
      holdfast index status --skipped
      holdfast index watch --repo ~/src/project
      holdfast index gc
    """


@command.command(name="build")
@click.option("--full", is_flag=True, help="Build it anew, even where only some files changed.")
@click.option("--backend", type=click.Choice(_BACKENDS), default="tantivy", help="Build it for this engine too.")
@_JSON
@_QUIET
@repository_options
def build(repo: str | None, full: bool, backend: str, as_json: bool, quiet: bool, **options: Any) -> int:
    """Build the index, or bring it up to date.

    With --backend sqlite or sqlite-fts the same is written into one SQLite file, which answers to both names and
    works wherever it is copied; sqlite needs no FTS5 there. The engine memory needs nothing built but the index.

    \b
    Examples:
      holdfast index build
      holdfast index build --full --repo ~/src/project
      holdfast index build --backend sqlite
    """
    from holdfast.cli.index_text import describe_build, describe_portable
    from holdfast.cli.progress_bar import ProgressBar
    from holdfast.search.library import build_for

    repository, cache = _located(repo, options)
    is_quiet = quiet or (as_json and not sys.stderr.isatty())
    before = published(repository, cache)
    try:
        with told_plainly(cache), stop_on_interrupt() as stop, ProgressBar(is_quiet=is_quiet) as progress:
            report = build_for(backend, repository, cache, full=full, progress=progress, stop=stop)
    except KeyboardInterrupt:
        say_stopped(repository, cache, before)
        return INTERRUPTED
    return _print(report, as_json, lambda: [describe_build(report), *describe_portable(report)])


@command.command(name="status")
@click.option("--skipped", is_flag=True, help="List every file that is left out, and why.")
@_JSON
@repository_options
def status(repo: str | None, skipped: bool, as_json: bool, **options: Any) -> int:
    """Show how fresh the index is, what is in it and what is left out.

    \b
    Examples:
      holdfast index status
      holdfast index status --skipped
      holdfast index status --json
    """
    from holdfast.cli.index_text import describe_status
    from holdfast.search.library import open_index

    repository, cache = _located(repo, options)
    with told_plainly(cache), open_index(repository, cache) as index:
        report = index.status()
    if not skipped:
        report = {key: value for key, value in report.items() if key != "skippedFiles"}  # may be thousands
    return _print(report, as_json, lambda: describe_status(report, skipped=skipped))


@command.command(name="watch")
@_JSON
@repository_options
def watch(repo: str | None, as_json: bool, **options: Any) -> int:
    """Keep the index up to date as files change, until interrupted.

    \b
    Examples:
      holdfast index watch
      holdfast index watch --json
    """
    from holdfast.cli.index_text import describe_build
    from holdfast.search.library import watch_index

    def tell(report: dict[str, Any]) -> None:
        _print(report, as_json, lambda: [describe_build(report)])
        sys.stdout.flush()

    repository, cache = _located(repo, options)
    say(f"watching {repository.root}; Ctrl-C ends it")
    try:
        with told_plainly(cache), stop_on_interrupt() as stop:
            watch_index(repository, cache, on_report=tell, stop=stop)
    except KeyboardInterrupt:
        pass  # that is how it ends
    return INTERRUPTED


@command.command(name="compact")
@_JSON
@repository_options
def compact(repo: str | None, as_json: bool, **options: Any) -> int:
    """Rewrite the index without what updates left behind.

    \b
    Example:
      holdfast index compact
    """
    from holdfast.cli.index_text import describe_compaction
    from holdfast.search.library import compact_index

    repository, cache = _located(repo, options)
    with told_plainly(cache):
        report = compact_index(repository, cache)
    return _print(report, as_json, lambda: [describe_compaction(report)])


@command.command(name="gc")
@_YES
@_DRY_RUN
@click.option("--max-bytes", type=click.IntRange(0), metavar="N", help="Keep no more, the latest used first.")
@click.option("--max-age-days", type=click.FloatRange(0), metavar="N", help="Remove what was unused for so long.")
@_JSON
@repository_options
def gc(
    repo: str | None,
    yes: bool,
    dry_run: bool,
    max_bytes: int | None,
    max_age_days: float | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Show what no search can use any more; with --yes, remove it.

    That is builds that were replaced or never finished, unless somebody still reads them, and indexes of
    repositories that are gone. With a limit also whole indexes, the one that was used longest ago first.

    It cleans the whole cache directory; with --repo, only the index of that repository. Records of triage stay.

    \b
    Examples:
      holdfast index gc
      holdfast index gc --yes --repo ~/src/project
      holdfast index gc --yes --max-age-days 30
    """
    from holdfast.cli.index_text import describe_collected
    from holdfast.search.cleaning import cache_gc
    from holdfast.settings import load_configuration

    is_preview = _is_preview(yes=yes, dry_run=dry_run)
    with told_plainly():
        if repo is None:
            repository, cache = None, load_configuration(options).settings.cache_path()
        else:
            repository, cache = locate(repo, options)
    with told_plainly(cache):
        report = cache_gc(cache, repository, dry_run=is_preview, max_bytes=max_bytes, max_age_days=max_age_days)
    return _previewed(report, as_json, lambda: describe_collected(report))


@command.command(name="clean")
@click.option("--all", "every", is_flag=True, help="Of every repository in the cache directory.")
@_YES
@_DRY_RUN
@_JSON
@repository_options
def clean(repo: str | None, every: bool, yes: bool, dry_run: bool, as_json: bool, **options: Any) -> int:
    """Show what the index of a repository takes up; with --yes, remove it.

    The next search builds it anew. Records of triage stay, and so does an index that is being read or written.

    \b
    Examples:
      holdfast index clean
      holdfast index clean --yes --repo ~/src/project
    """
    from holdfast.search.cleaning import clean_artifacts

    is_preview = _is_preview(yes=yes, dry_run=dry_run)
    repository, cache = _located(repo, options)
    with told_plainly(cache):
        report = clean_artifacts(cache, repository, all_repositories=every, dry_run=is_preview)
    return _previewed(report, as_json, report["output"].splitlines)


command.add_command(verify_extension)
command.add_command(lint)
command.add_command(embed)


@command.command(name="export")
@click.argument("directory", metavar="DIR")
@_JSON
@repository_options
def export(directory: str, repo: str | None, as_json: bool, **options: Any) -> int:
    """Write the index into a directory that can be carried to another machine.

    There, the tool build_index takes it up (useArtifacts) and brings it up to date, instead of building it. DIR is
    new, empty, or holds an earlier export; useArtifacts looks for ci-artifacts in the repository.

    \b
    Example:
      holdfast index export ci-artifacts
    """
    from pathlib import Path

    from holdfast.cli.index_text import size_of
    from holdfast.contract.atomic import refuse_link_out
    from holdfast.search.exported import export_index

    if not directory:
        raise UsageError("the name of the directory is empty", remedy="holdfast index export ci-artifacts")
    refuse_link_out(Path(directory))
    repository, cache = _located(repo, options)
    with told_plainly(cache):
        report = export_index(repository, cache, Path(directory))
    return _print(report, as_json, lambda: [f"exported to {directory}: {size_of(report['bytes'])}"])


@command.command(name="path")
@_JSON
@repository_options
def path(repo: str | None, as_json: bool, **options: Any) -> int:
    """Print the directory of the index, whether or not it is there yet.

    \b
    Example:
      du -sh "$(holdfast index path)"
    """
    from holdfast.search.library import index_path

    repository, cache = _located(repo, options)
    place = index_path(repository, cache)
    report = {"path": str(place), "exists": place.exists()}
    return _print(report, as_json, lambda: [str(place)])


@command.command(name="languages")
@click.argument("name", required=False)
@_JSON
def languages(name: str | None, as_json: bool) -> int:
    """Show which languages are known, which of them can be parsed here, and what is known of their code.

    With a NAME, every field of that language, as filters of a search can ask for it.

    \b
    Examples:
      holdfast index languages
      holdfast index languages rust
    """
    from holdfast.cli.language_table import describe_language, describe_languages, languages_report
    from holdfast.search.language_report import language_fields, language_named

    if name is None:
        rows = language_fields()
        return _print(languages_report(rows), as_json, lambda: describe_languages(rows))
    row = language_named(name)
    if row is None:
        raise UsageError(f"no language is called {name!r}", remedy="holdfast index languages")
    return _print(languages_report([row]), as_json, lambda: describe_language(row))


def _is_preview(*, yes: bool, dry_run: bool) -> bool:
    if yes and dry_run:
        raise UsageError("--yes and --dry-run exclude each other", remedy="give one of them")
    return not yes


def _previewed(report: dict[str, Any], as_json: bool, describe: Callable[[], Iterable[str]]) -> int:
    """Print a report; where something would be removed, say how."""
    code = _print(report, as_json, describe)
    if report["dryRun"] and report["removals"]:
        say("nothing was removed; --yes does it")
    return code


def _located(repo: str | None, options: dict[str, Any]) -> Any:
    with told_plainly():
        return locate(repo, options)


def _print(report: dict[str, Any], as_json: bool, describe: Callable[[], Iterable[str]]) -> int:
    from holdfast.wire.codec import encode

    for line in [encode(report).decode()] if as_json else describe():
        sys.stdout.write(line + "\n")
    return 0
