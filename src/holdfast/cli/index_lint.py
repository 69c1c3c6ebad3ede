"""`holdfast index lint`: ask installed linters about the indexed files, so that `search --lint` can use it."""

import sys
from typing import Any

import click

from holdfast.cli.ending import INTERRUPTED
from holdfast.cli.indexing import locate, repository_options, say, stop_on_interrupt, told_plainly
from holdfast.present.counted import counted

__all__ = ["command"]


@click.command(name="lint")
@click.option(
    "--tool",
    "tools",
    multiple=True,
    metavar="NAME",
    help="ruff, shellcheck or eslint; may be given several times.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
@repository_options
def command(repo: str | None, tools: tuple[str, ...], as_json: bool, quiet: bool, **options: Any) -> int:
    """Ask installed linters about the indexed files; `holdfast search --lint` then finds what they complain about.

    Only files that a linter has not seen in their present form are looked at, and no file is changed. By default
    ruff and shellcheck are asked, where they are installed. ESLint runs the configuration of the repository, which
    is a program: it is asked only where it is named.

    \b
    Examples:
      holdfast index lint
      holdfast index lint --tool eslint --repo ~/src/shop
      holdfast search --lint "*"
    """
    from holdfast.cli.progress_bar import ProgressBar
    from holdfast.search.library import ensure_index
    from holdfast.search.linting.running import lint_index

    is_quiet = quiet or (as_json and not sys.stderr.isatty())
    with told_plainly():
        repository, cache = locate(repo, options)
    try:
        with told_plainly(cache), stop_on_interrupt() as stop, ProgressBar(is_quiet=is_quiet) as progress:
            ensure_index(repository, cache, progress=progress, stop=stop).close()
            reports = lint_index(repository, cache, tools=tools, progress=progress, stop=stop)
    except KeyboardInterrupt:
        say("stopped; what was found so far is kept")
        return INTERRUPTED
    if as_json:
        from holdfast.wire.codec import encode

        sys.stdout.write(encode({"linters": [report.to_json() for report in reports]}).decode() + "\n")
        return 0
    for report in reports:
        click.echo(
            f"{report.linter} {report.version}: {counted(report.findings, 'finding')}; "
            f"{counted(report.looked_at, 'file')} looked at, {report.known:,} known from before"
        )
        for remark in report.remarks:
            say(f"{report.linter}: {remark}")
    if not reports:
        say("no linter is installed that could be asked; ruff and shellcheck are, where they are on the PATH")
    return 0
