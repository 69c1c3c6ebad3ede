"""`holdfast triage`: findings of scanners as records, decisions about them, and the evidence in the code."""

import os
import sys
from collections.abc import Callable, Iterable
from typing import Any

import click

from holdfast.cli.ending import INTERRUPTED
from holdfast.cli.groups import CommandGroup
from holdfast.cli.indexing import locate, repository_options, say, stop_on_interrupt, told_plainly
from holdfast.errors import UsageError
from holdfast.present.counted import counted

__all__ = ["command"]

_SOURCES = ("dependabot", "aws_inspector", "sarif", "generic", "manual")
_STATUSES = ("fix", "accept", "defer", "false_positive", "not_affected")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
_QUIET = click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
_META = click.option(
    "--meta",
    multiple=True,
    metavar="KEY=VALUE",
    help="What to add: service, env, team, owner, repo, exposure.*, or a note of your own.",
)
_MOST_TOLD = 20  # bad entries


class _TriageGroup(CommandGroup):
    """A group that lists its commands in the order in which a person needs them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.commands)


@click.group(name="triage", cls=_TriageGroup)
def command() -> None:
    """Take in findings of scanners, decide about them, gather what the code says to them.

    Records live in the cache directory, beside the index of their repository; no clean-up removes them. They are
    found by `holdfast search --mode records`.

    \b
    Examples:
      holdfast triage ingest dependabot alerts.json
      holdfast triage list --severity critical
      holdfast triage pack 26330d01b7c445d036cd8a6d07a790f0b48794b8
      holdfast triage decide 26330d01b7c445d036cd8a6d07a790f0b48794b8 accept --because "not reachable"
    """


@command.command(name="ingest")
@click.argument("source", type=click.Choice(_SOURCES))
@click.argument("file")
@_META
@click.option("--build-index", is_flag=True, help="Bring the index up to date afterwards, so that they are found.")
@_JSON
@_QUIET
@repository_options
def ingest(
    source: str,
    file: str,
    meta: tuple[str, ...],
    build_index: bool,
    repo: str | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Make records of the findings in FILE: JSON, one object per line, or either of them packed with gzip.

    The same finding is the same record, however often it is taken in. Entries that are no findings are told with
    their place, and cost only themselves.

    \b
    Examples:
      holdfast triage ingest dependabot alerts.json
      holdfast triage ingest aws_inspector findings.json --meta service=shop --meta env=prod
      holdfast triage ingest sarif results.sarif.gz --build-index
    """
    from holdfast.cli.progress_bar import ProgressBar
    from holdfast.search import building, triage

    repository, cache = _located(repo, options)
    try:
        with (
            told_plainly(cache),
            stop_on_interrupt() as stop,
            ProgressBar(is_quiet=_hushed(quiet, as_json)) as told,
        ):
            report = triage.ingest(
                repository,
                cache,
                source=source,
                input_path=os.path.abspath(file),
                meta=_pairs(meta),
                progress=told,
                stop=stop,
            )
            if build_index:
                building.refresh_index(repository, cache, full=False, progress=told, stop=stop)
    except KeyboardInterrupt:
        say("stopped; no record was changed, or all of them were written already")
        return INTERRUPTED
    return _print(report, as_json, lambda: _describe_ingest(report))


@command.command(name="list")
@click.option("--status", type=click.Choice((*_STATUSES, "undecided", "expired")), help="Only with this decision.")
@click.option("--severity", metavar="WORD", help="Only of this severity: critical, high, medium, low ...")
@_JSON
@repository_options
def list_(status: str | None, severity: str | None, repo: str | None, as_json: bool, **options: Any) -> int:
    """List the findings on record, the worst first, with what was decided about them.

    \b
    Examples:
      holdfast triage list --status undecided
      holdfast triage list --severity critical --json
    """
    from holdfast.search.triage.listing import list_findings

    repository, cache = _located(repo, options)
    with told_plainly(cache):
        wanted = None if severity is None else severity.lower()
        report = list_findings(repository, cache, status=status, severity=wanted)
    if wanted is not None and report["total"] and wanted not in report["severities"]:
        say(f"no finding is {wanted}; on record are: {', '.join(report['severities'])}")
    return _print(report, as_json, lambda: _describe_list(report))


@command.command(name="pack")
@click.argument("record")
@click.option("-o", "--out", metavar="FILE", help="Where it is written, a name in .json. [default: in the cache]")
@click.option("--no-build", is_flag=True, help="Search the index as it is: do not bring it up to date first.")
@click.option("--ann/--no-ann", default=None, help="Whether vectors may add results.")
@_JSON
@_QUIET
@repository_options
def pack(
    record: str,
    out: str | None,
    no_build: bool,
    ann: bool | None,
    repo: str | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Write the context pack of a finding: the finding, its last decisions, and where the code is concerned.

    \b
    Examples:
      holdfast triage pack 26330d01b7c445d036cd8a6d07a790f0b48794b8
      holdfast triage pack 26330d01b7c445d036cd8a6d07a790f0b48794b8 -o pack.json
    """
    from holdfast.cli.progress_bar import ProgressBar
    from holdfast.search import triage
    from holdfast.search.answering import answer
    from holdfast.search.library import ensure_index
    from holdfast.search.served import Served

    repository, cache = _located(repo, options)
    served, more = Served({}, cache), {} if ann is None else {"ann": ann}
    try:
        with (
            told_plainly(cache),
            stop_on_interrupt() as stop,
            ProgressBar(is_quiet=_hushed(quiet, as_json)) as told,
        ):
            if not no_build:
                ensure_index(repository, cache, progress=told, stop=stop).close()
            report = triage.context_pack(
                repository,
                cache,
                record_id=record,
                out_path=None if out is None else os.path.abspath(out),
                search=lambda arguments: answer(served, {**arguments, **more}, stop),
                progress=told,
                stop=stop,
            )
    except KeyboardInterrupt:
        say("stopped; no context pack was written")
        return INTERRUPTED
    finally:
        served.release()
    return _print(report, as_json, lambda: _describe_pack(report))


@command.command(name="decide")
@click.argument("finding", metavar="RECORD")
@click.argument("status", type=click.Choice(_STATUSES))
@click.option("--because", metavar="TEXT", help="Why.")
@click.option("--reviewer", metavar="NAME", help="Who decided.")
@click.option("--expires", metavar="DATE", help="Until when it holds: an ISO date or time.")
@click.option(
    "--code", "codes", multiple=True, metavar="CODE", help="A code of the justification; may be repeated."
)
@click.option("--evidence", multiple=True, metavar="TEXT", help="What it rests on; may be repeated.")
@_META
@_JSON
@repository_options
def decide(
    finding: str,
    status: str,
    because: str | None,
    meta: tuple[str, ...],
    repo: str | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Write down what was decided about a finding; the same decision again is the same record.

    \b
    Examples:
      holdfast triage decide 26330d01b7c445d036cd8a6d07a790f0b48794b8 fix --reviewer jane
      holdfast triage decide 26330d01b7c445d036cd8a6d07a790f0b48794b8 accept --because "not reachable" \\
        --expires 2027-01-31
    """
    from holdfast.search import triage

    repository, cache = _located(repo, options)
    with told_plainly(cache):
        report = triage.decide(
            repository,
            cache,
            finding=finding,
            status=status,
            justification=because,
            reviewer=options["reviewer"],
            expires=options["expires"],
            meta=_pairs(meta),
            codes=options["codes"],
            evidence=options["evidence"],
        )
    return _print(report, as_json, lambda: _describe_decision(report))


def _describe_ingest(report: dict[str, Any]) -> Iterable[str]:
    counts = f"{report['written']:,} written, {report['unchanged']:,} unchanged, {report['errors']:,} bad"
    yield f"{counted(report['total'], 'finding')} of {report['source']}: {counts}"
    for bad in report["errorDetails"][:_MOST_TOLD]:
        yield f"  entry {bad['index']}: {bad['message']}"
    if report["errors"] > _MOST_TOLD:
        yield f"  and {report['errors'] - _MOST_TOLD:,} more; --json lists them"
    yield from _warned(report, but="list-cut")  # of the lists that only --json prints


def _describe_list(report: dict[str, Any]) -> Iterable[str]:
    from holdfast.present.bounds import clean_line

    for one in report["findings"]:
        place = f"{one['path']}:{one['line']}" if one["line"] else one["path"]
        about = " ".join(filter(None, (one["vulnId"], one["package"], place))) or one["title"] or ""
        yield clean_line(f"{one['recordId']}  {one['severity']:<13} {one['decision']:<14} {about}")
    decided = ", ".join(f"{count:,} {name}" for name, count in report["decisions"].items())
    yield f"{len(report['findings']):,} of {counted(report['total'], 'finding')}" + (
        f": {decided}" if decided else ""
    )


def _describe_pack(report: dict[str, Any]) -> Iterable[str]:
    yield report["outPath"]
    found = f"{counted(report['hits'], 'hit')} for {report['evidenceQueries']:,} queries"
    yield f"{found}, {report['historyCount']:,} decisions"
    yield from _warned(report)


def _describe_decision(report: dict[str, Any]) -> Iterable[str]:
    done = "was on record already" if report["unchanged"] else "written"
    yield f"{report['status']}: {report['recordId']} {done}"
    yield from _warned(report)


def _warned(report: dict[str, Any], but: str = "") -> Iterable[str]:
    return (f"note: {warning['message']}" for warning in report["warnings"] if warning["code"] != but)


def _pairs(meta: tuple[str, ...]) -> dict[str, str] | None:
    pairs = {}
    for text in meta:
        key, found, value = text.partition("=")
        if not found or not key.strip():
            raise UsageError(f"--meta {text!r} is not KEY=VALUE", remedy="write it as --meta service=shop")
        if key.strip() in pairs:
            raise UsageError(f"--meta {key.strip()} is given twice", remedy="give it once")
        pairs[key.strip()] = value
    return pairs or None


def _hushed(quiet: bool, as_json: bool) -> bool:
    return quiet or (as_json and not sys.stderr.isatty())


def _located(repo: str | None, options: dict[str, Any]) -> Any:
    with told_plainly():
        return locate(repo, options)


def _print(report: dict[str, Any], as_json: bool, describe: Callable[[], Iterable[str]]) -> int:
    from holdfast.present.bounds import clean_line
    from holdfast.wire.codec import encode

    for line in [encode(report).decode()] if as_json else map(clean_line, describe()):
        sys.stdout.write(line + "\n")
    return 0
