"""`holdfast index embed`: give the chunks of an index vectors, so that searches find what is meant, too."""

import sys
from typing import Any

import click

from holdfast.cli.ending import INTERRUPTED
from holdfast.cli.indexing import locate, repository_options, say, stop_on_interrupt, told_plainly

__all__ = ["command"]


@click.command(name="embed")
@click.option("--model", metavar="MODEL", help="A directory or URL with model.onnx and tokenizer.json.")
@click.option("--sha256", metavar="HEX", help="What a model from a URL has to be, and then is.")
@click.option(
    "--threads", type=click.IntRange(1, 256), metavar="N", help="Processors to use. [default: half of them]"
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
@repository_options
def command(
    repo: str | None,
    model: str | None,
    sha256: str | None,
    threads: int | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Give every chunk of the index a vector; from then on searches rank by meaning as well as by words.

    The first time, the model all-MiniLM-L6-v2 is fetched (83 MB, verified by its SHA-256) and converted. Ctrl-C
    keeps what is done, and the next call goes on. What did not change is never embedded again. Afterwards, run it
    again now and then, or let `holdfast index watch` do it.

    \b
    Examples:
      holdfast index embed
      holdfast index embed --model ~/models/e5-small
      nice holdfast index embed --threads 1 --repo ~/src/project
    """
    from holdfast.cli.progress_bar import ProgressBar
    from holdfast.search.library import ensure_index
    from holdfast.search.vectors.available import require_libraries
    from holdfast.search.vectors.making import embed_index

    is_quiet = quiet or (as_json and not sys.stderr.isatty())
    with told_plainly():
        require_libraries()
        repository, cache = locate(repo, options)
    try:
        with told_plainly(cache), stop_on_interrupt() as stop, ProgressBar(is_quiet=is_quiet) as progress:
            ensure_index(repository, cache, progress=progress, stop=stop).close()
            report = embed_index(
                repository, cache, model=model, sha256=sha256, threads=threads, progress=progress, stop=stop
            )
    except KeyboardInterrupt:
        say("stopped; what was embedded so far is kept, and `holdfast index embed` goes on")
        return INTERRUPTED
    if as_json:
        from holdfast.wire.codec import encode

        sys.stdout.write(encode(report).decode() + "\n")
    else:
        sys.stdout.write(_described(report) + "\n")
    return 0


def _described(report: dict[str, Any]) -> str:
    """One line of figures."""
    from holdfast.cli.progress_bar import length_of_time

    cost = report["cpuSecondsPerThousand"]
    facts = [f"{report['embedded']:,} embedded, {report['adopted']:,} known already"]
    facts += [f"in {length_of_time(report['seconds'])}"]
    facts += [] if cost is None else [f"{cost:.1f} CPU seconds per 1,000 chunks"]
    return f"{report['vectors']:,} of {report['chunks']:,} chunks have vectors: {', '.join(facts)}"
