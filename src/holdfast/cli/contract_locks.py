"""What `check`, `lock` and `serve --lock` share: where a lock lies, and how its refusal is told."""

import datetime as dt
import re
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from holdfast.cli.contract_sources import Loaded
from holdfast.contract.compare.rules import APPROVALS
from holdfast.contract.compare.view import SurfaceView
from holdfast.contract.gate import Problem, edits
from holdfast.errors import UsageError

__all__ = ["acceptance_of", "lock_command", "lock_path", "report", "today"]

_MANY = 4  # changes that are named in one command line
_STRANGE = re.compile(r"[^A-Za-z0-9._-]+")


def today() -> dt.date:
    """The day by which waivers run out, the same everywhere."""
    return dt.datetime.now(dt.UTC).date()


def lock_path(given: str | None, view: SurfaceView) -> Path:
    """The file of the lock: the one that was named, else contracts/NAME.lock.json."""
    if given:
        return Path(given)
    name = _STRANGE.sub("-", view.name).strip("-.")
    if not name:  # two of them would share one lock
        raise UsageError("the document does not name its server", remedy="--lock contracts/NAME.lock.json")
    return Path("contracts") / f"{name}.lock.json"


def lock_command(loaded: Loaded, given: str | None, problems: Iterable[Problem] = ()) -> str:
    """The command that agrees to the surface as it is now, once the versions are right."""
    lock = f" --lock {shlex.quote(given)}" if given else ""
    approvals = [problem for problem in problems if problem.change.rule in APPROVALS]
    accept = f" {acceptance_of(approvals)}" if approvals else ""
    words = f"-- {shlex.join(loaded.command)}" if loaded.command else loaded.label
    return f"holdfast contract lock{lock}{accept} {words}"


def acceptance_of(problems: list[Problem]) -> str:
    """The options that accept every change; a version need not be accepted beside what it would move for."""
    wanted = [
        problem.change.address
        for problem in problems
        if problem.least is None and problem.change.bump.value != "none"
    ]
    wanted = wanted or [problem.change.address for problem in problems]
    named = " ".join(f"--accept {shlex.quote(address)}" for address in dict.fromkeys(wanted))
    # Each of many is looked at on its own: the addresses stand above.
    each = named if len(wanted) <= _MANY else f"--accept RULE@PATH for each of the {len(wanted)} addresses above,"
    return f"{each} --reason TEXT --until DATE"


def report(
    loaded: Loaded, view: SurfaceView, problems: list[Problem], final: Iterable[str], headline: str, *,
    as_json: bool, facts: dict[str, Any],
) -> None:  # fmt: skip
    """Print what the lock does not allow, and the exact edits that would make it right."""
    wanted = [*edits(problems, view.name, loaded.place), *final]
    if as_json:
        from holdfast.contract.canonical import canonical_json

        told = {**facts, "problems": [problem.to_json() for problem in problems], "edits": wanted}
        sys.stdout.buffer.write(canonical_json(told))
        return
    from holdfast.cli.contract_text import describe_problems, paint_for

    lines = [headline, *describe_problems(problems, paint_for(sys.stdout))]
    lines += ["", "to make it pass:", *(f"  {line}" for line in wanted)] if wanted else []
    sys.stdout.write("\n".join(lines) + "\n")
