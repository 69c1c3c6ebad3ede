"""`holdfast index verify-extension`: load the SQLite extension for vectors and try it, also from a path."""

import json
import sys
from pathlib import Path
from typing import Any

import click

from holdfast.cli.indexing import told_plainly
from holdfast.cli.options import setting_options

__all__ = ["command"]


@click.command(name="verify-extension")
@click.option("--path", metavar="FILE", type=click.Path(path_type=Path), help="The library itself.")
@click.option(
    "--dir", "directory", metavar="DIR", type=click.Path(path_type=Path), help="The directory of downloads."
)
@click.option("--sha256", metavar="HEX", help="Load a file that was not downloaded, if this is its SHA-256.")
@click.option("--no-load", is_flag=True, help="Only look whether it is there.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
@setting_options("cache_dir")
def command(
    path: Path | None, directory: Path | None, sha256: str | None, no_load: bool, as_json: bool, **options: Any
) -> int:
    """Load the SQLite extension for vectors, and ask it for the nearest of two vectors.

    Native code is loaded only if its SHA-256 is known: from the manifest of downloads, or given with --sha256. The
    tool verify_extensions does the same for a client, which can name no path.

    \b
    Examples:
      holdfast index verify-extension
      holdfast index verify-extension --path ./vec0.so --sha256 "$(sha256sum < ./vec0.so | cut -c1-64)"
    """
    from holdfast.search.downloads import verify_extensions
    from holdfast.settings import load_configuration

    cache = load_configuration({"cache_dir": options.get("cache_dir")}).settings.cache_path()
    with told_plainly(cache):
        report = verify_extensions(cache, target=directory, path=path, sha256=sha256, load=not no_load)
    works = report["smoke"]["ok"]
    if as_json:
        sys.stdout.write(json.dumps(report) + "\n")
    else:
        verdict = "works" if works else report["load"]["reason"] or report["smoke"]["reason"]
        click.echo(f"{report['path']}: {verdict}")
    return 0 if works or (no_load and report["exists"]) else 1
