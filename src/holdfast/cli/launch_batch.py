"""`holdfast launch batch`: hundreds of runs from one file, each at most once, followed until they rest."""

import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.launching import AS_JSON, open_service, permission_options, print_json, told, workspace_options
from holdfast.cli.progress_bar import ProgressBar
from holdfast.errors import UsageError

if TYPE_CHECKING:
    from holdfast.launch.batch import Batch, Entry
    from holdfast.launch.service import RunService

__all__ = ["batch"]

_LOOK = 0.5  # seconds between two looks at the runs
_ALONE = 4  # looks before a person is told that nobody is there to execute anything
_MOST_TOLD = 20
_AT_WORK = ("executing", "waiting")


@click.command(name="batch")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--open-pr", is_flag=True, help="Also open the pull request of every run that is ready.")
@click.option("--keep-going", is_flag=True, help="Start the others where entries are wrong.")
@click.option("--label", metavar="TEXT", default="", help="Another label means other runs of the same entries.")
@click.option("--detach", is_flag=True, help="Start them and leave; needs a pool that goes on.")
@AS_JSON
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
@workspace_options
@permission_options
def batch(
    file: Path,
    open_pr: bool,
    keep_going: bool,
    label: str,
    detach: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Start many runs and follow them until all of them rest; exit code 1 where one needs attention.

    FILE is a list (YAML or JSON) or has an entry per line (.jsonl). An entry is a run configuration, the path of a
    file with one, or {"file": PATH, "key": KEY}. The same FILE always means the same runs: repeat the command as
    often as you like. Everything that is wrong is told before anything is started.

    \b
    Examples:
      holdfast launch batch runs.yaml
      holdfast launch batch runs.jsonl --open-pr --launch-engine dbos
      holdfast launch batch runs.jsonl --keep-going --json
    """
    from holdfast.cli.indexing import stop_on_interrupt
    from holdfast.launch.batch import Batch, read_entries

    if detach and open_pr:
        raise UsageError("whoever leaves opens no pull requests", remedy="leave one of --detach and --open-pr out")
    with told(as_json=as_json):
        entries = read_entries(file, label=label)
        wrong = [entry for entry in entries if entry.problems]
        if wrong and not (keep_going and len(wrong) < len(entries)):
            return _refuse(entries, wrong, as_json=as_json)
        if wrong and not as_json:
            _tell_wrong(wrong)
        with open_service(options) as service, stop_on_interrupt() as stop:
            if detach and service.members() is None:
                raise UsageError("nobody goes on with them without a pool", remedy="--launch-engine dbos")
            runs = Batch(service, entries, open_pr=open_pr)
            try:
                counts = _followed(service, runs, stop, is_quiet=quiet or as_json, detach=detach)
                if stop():
                    raise KeyboardInterrupt
            except KeyboardInterrupt:
                again = _typed_again(file, label, open_pr=open_pr, keep_going=keep_going)
                _say_stopped(runs.unfinished(), len(runs.entries), again, is_pool=service.members() is not None)
                raise
    refused = [entry for entry in runs.entries if entry.problems]
    if not as_json:
        _tell_wrong(refused)
    return _tell(entries, counts, as_json=as_json, is_over=not detach) or int(bool(refused))


def _followed(
    service: "RunService", runs: "Batch", stop: Callable[[], bool], *, is_quiet: bool, detach: bool
) -> Counter[str]:
    total, pause, looks = len(runs.entries), threading.Event(), 0
    with ProgressBar(is_quiet=is_quiet) as bar:
        looked = _Looking(runs, bar)
        runs.start(lambda count: bar("Starting runs", count, total), stop)
        counts = runs.look()
        while not detach and not stop() and any(counts[name] for name in _AT_WORK):
            looks += 1
            if looks == _ALONE and service.members() == []:
                bar("note", 0, None, "no machine works in the pool; on one of them: holdfast launch work")
            if runs.limit:
                bar("note", 0, None, runs.limit)
                runs.limit = ""
            bar("Runs at rest", total - counts["executing"] - counts["waiting"], total, _words(counts))
            pause.wait(_LOOK)
            counts = looked.again(counts)
    return counts


class _Looking:
    """Looks where the runs are; trouble with the store is told when it begins and when it ends."""

    def __init__(self, runs: "Batch", bar: ProgressBar) -> None:
        self._runs, self._bar = runs, bar
        self._is_troubled = False

    def again(self, before: Counter[str]) -> Counter[str]:
        """Where the runs are; as before where the store cannot be asked at this moment."""
        from holdfast.launch.store.refusals import StoreError

        try:
            counts = self._runs.look()
        except StoreError as trouble:
            if not trouble.retryable:
                raise
            if not self._is_troubled:
                self._bar("note", 0, None, " ".join(trouble.message.split()))
            self._is_troubled = True
            return before
        if self._is_troubled:
            self._bar("note", 0, None, "the run store can be reached again")
            self._is_troubled = False
        return counts


def _words(counts: Counter[str]) -> str:
    """`3 executing, 12 waiting; 5 READY_FOR_PR`."""
    work = ", ".join(f"{counts[name]} {name}" for name in _AT_WORK if counts[name])
    rest = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()) if name not in _AT_WORK and count)
    return "; ".join(part for part in (work, rest) if part)


def _refuse(entries: Sequence["Entry"], wrong: Sequence["Entry"], *, as_json: bool) -> int:
    if as_json:
        print_json({"ok": False, "started": 0, "runs": [entry.document() for entry in entries]})
    else:
        _tell_wrong(wrong)
        print(f"holdfast: {len(wrong)} of {len(entries)} entries are wrong; nothing was started", file=sys.stderr)
        if len(wrong) < len(entries):
            print("  try: correct them, or --keep-going to start the others", file=sys.stderr)
    return 2


def _tell_wrong(wrong: Sequence["Entry"]) -> None:
    from holdfast.present.bounds import clean_line

    for entry in wrong[:_MOST_TOLD]:
        name = "" if entry.name == f"entry {entry.number}" else f" ({clean_line(entry.name)})"
        print(f"entry {entry.number}{name}:", file=sys.stderr)
        for problem in entry.problems[:_MOST_TOLD]:
            print(f"  {clean_line(problem)}", file=sys.stderr)
    if len(wrong) > _MOST_TOLD:
        print(f"… and {len(wrong) - _MOST_TOLD} more", file=sys.stderr)


def _typed_again(file: Path, label: str, *, open_pr: bool, keep_going: bool) -> str:
    """The command that means the same runs, and wants the same of them."""
    import shlex

    words = ["holdfast", "launch", "batch", str(file)]
    words += ["--label", label] if label else []
    words += ["--open-pr"] if open_pr else []
    words += ["--keep-going"] if keep_going else []
    return shlex.join(words)


def _say_stopped(left: int, total: int, again: str, *, is_pool: bool) -> None:
    goes_on = "the pool goes on with them" if is_pool else "they are kept"
    print(f"holdfast: stopped; {left} of {total} runs do not rest yet, and {goes_on}", file=sys.stderr)
    print(f"  look again: {again} (starts nothing twice), or holdfast launch list", file=sys.stderr)


def _tell(entries: Sequence["Entry"], counts: Counter[str], *, as_json: bool, is_over: bool) -> int:
    from holdfast.present.bounds import clean_line

    bad = [entry for entry in entries if not entry.is_good]
    states = {name: count for name, count in sorted(counts.items()) if name not in _AT_WORK and count}
    if as_json:
        document = {"ok": not bad, "counts": states, "runs": [entry.document() for entry in entries]}
        print_json({**document, "started": sum(entry.is_new for entry in entries)})
    else:
        print(f"{len(entries)} entries, {sum(entry.is_new for entry in entries)} new runs: {_words(counts)}")
        for entry in bad[:_MOST_TOLD] if is_over else ():
            if entry.run_id:
                why = f"  {clean_line(entry.trouble)}" if entry.trouble else ""
                print(f"  {entry.run_id}  {entry.name}  {entry.state}{why}")
        if is_over and len(bad) > _MOST_TOLD:
            print(f"  … and {len(bad) - _MOST_TOLD} more; --json lists all")
    return 1 if bad and is_over else 0
