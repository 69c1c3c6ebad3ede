"""`holdfast launch diff` and `preview`: what a run changes, as lines, and as the site that readers would see."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.launching import (
    AS_JSON,
    RUN,
    open_service,
    permission_options,
    print_json,
    run_of,
    told,
    workspace_options,
)
from holdfast.present.counted import counted
from holdfast.stdio.terminal import coloured

if TYPE_CHECKING:
    from holdfast.launch.run_changes import RunChanges

__all__ = ["describe_stat", "diff", "preview", "print_diff"]

_COLOURS = {"+": "32", "-": "31", "@": "36"}
_NO_COLOR = click.option("--no-color", is_flag=True, help="No colours on a terminal. [env: NO_COLOR]")
_HIGHEST_PORT = 65535


@click.command(name="diff")
@RUN
@click.option("--stat", is_flag=True, help="Only how much each file changes.")
@_NO_COLOR
@AS_JSON
@workspace_options
@permission_options
def diff(run: str, stat: bool, no_color: bool, as_json: bool, **options: Any) -> int:
    """Show what a run changes in the site, as a unified diff against the commit that it began from.

    From LINKING on, in any state. What is piped can be given to `git apply`.

    \b
    Examples:
      holdfast launch diff last
      holdfast launch diff last --stat
      holdfast launch diff last | git -C ~/src/site apply --check
    """
    with told(as_json=as_json), open_service(options, run=run) as service:
        from holdfast.launch.run_changes import changes_of_run

        changes = changes_of_run(service, run_of(service, run))
    if as_json:
        lines = {} if stat else {"diff": "".join(f"{line}\n" for line in changes.diff())}
        about = {"run_id": changes.run_id, "base_ref": changes.base_ref, "files": changes.stat()}
        print_json({"ok": True, **about, **lines})
    elif stat:
        print("\n".join(describe_stat(changes.stat())))
    else:
        print_diff(changes, colour=not no_color)
        if not changes.files:
            print("holdfast: nothing changes: the site already has all of it", file=sys.stderr)
    return 0


@click.command(name="preview")
@RUN
@click.option("--port", type=click.IntRange(0, _HIGHEST_PORT), default=0, show_default=True, metavar="N",
              help="Where to listen on 127.0.0.1; 0 takes any port that is free.")  # fmt: skip
@AS_JSON
@workspace_options
@permission_options
def preview(run: str, port: int, as_json: bool, **options: Any) -> int:
    """Build the site of a run with Hugo, from its work tree as it is now, and serve it until Ctrl-C.

    Prints the address of each page that the run made or changed. Only this machine can reach it; nothing is left
    behind, and the work tree is not touched.

    \b
    Examples:
      holdfast launch preview last
      holdfast launch preview last --port 1313
    """
    import tempfile
    from pathlib import Path

    with told(as_json=as_json), open_service(options, run=run) as service:
        from holdfast.launch.previewing import built, listening
        from holdfast.launch.run_changes import changes_in, site_of_run

        found = run_of(service, run)
        with (
            site_of_run(service, found) as site,
            tempfile.TemporaryDirectory(prefix="holdfast-preview-", ignore_cleanup_errors=True) as folder,
            listening(port) as server,
        ):
            _say("building the site", as_json=as_json)
            pages = built(service, changes_in(service, found, site), site, Path(folder), server)
            _tell_pages(found, server.origin + server.base_path, pages, as_json=as_json)
            try:
                server.serve_forever(poll_interval=0.1)
            except KeyboardInterrupt:
                _say("stopped; nothing is left behind", as_json=as_json)
    return 0


def print_diff(changes: "RunChanges", *, colour: bool = True) -> None:
    """The difference on stdout: byte for byte in a pipe, with colours and without mischief on a terminal."""
    lines = changes.diff()
    if not sys.stdout.isatty():
        sys.stdout.flush()
        sys.stdout.buffer.write("".join(f"{line}\n" for line in lines).encode("utf-8"))
        sys.stdout.buffer.flush()
        return
    is_plain = not colour or bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    paint: Callable[[str], str] = _harmless if is_plain else lambda line: _painted(_harmless(line))
    for line in lines:
        print(paint(line))


def describe_stat(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """How much each file changes, in columns, and all of them together."""
    if not rows:
        yield "nothing changes"
        return
    width = max(len(row["path"]) for row in rows)
    for row in rows:
        yield f"{row['path']:<{width}}  {row['change']:<8} +{row['added']} -{row['removed']}"
    added, removed = (sum(row[name] for row in rows) for name in ("added", "removed"))
    yield f"{counted(len(rows), 'file')}, {added} lines added, {removed} removed"


def _painted(line: str) -> str:
    if line.startswith(("diff --git", "--- ", "+++ ", "new file", "deleted file")):
        return coloured(line, "1")
    colour = _COLOURS.get(line[:1])
    return coloured(line, colour) if colour else line


def _harmless(line: str) -> str:
    """The line without anything that a terminal would act upon."""
    return "".join(char if char.isprintable() or char == "\t" else ascii(char)[1:-1] for char in line)


def _tell_pages(run_id: str, url: str, pages: Sequence[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        print_json({"ok": True, "run_id": run_id, "url": url, "pages": list(pages)})
    else:
        width = max((len(page["change"]) for page in pages), default=0)
        print(url)
        for page in pages:
            print(f"  {page['change']:<{width}}  {page['url']}")
        _say("serving until Ctrl-C", as_json=as_json)
    sys.stdout.flush()


def _say(text: str, *, as_json: bool) -> None:
    if not as_json:
        print(f"holdfast: {text}", file=sys.stderr, flush=True)
