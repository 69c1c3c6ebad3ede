"""The gate in front of `holdfast serve --lock`: a server that is not what its lock allows is not started."""

from pathlib import Path
from typing import Any

from holdfast.cli.contract_locks import today
from holdfast.contract.gate import gate_surface
from holdfast.contract.lock import read_lock_file
from holdfast.contract.snapshot import snapshot
from holdfast.contract.surface import Surface
from holdfast.errors import ContractError

__all__ = ["refuse_unless_locked", "refuse_unless_locked_live"]


def refuse_unless_locked(surface: Surface, lock: Path, target: str) -> None:
    """Raise when the surface is not what the lock allows; the message is one line, however much is wrong."""
    _refuse(surface.name, snapshot(surface), lock, target)


def refuse_unless_locked_live(name: str, lock: Path, target: str) -> None:
    """The same for a server of another toolkit, which is asked what it offers before it is served."""
    from holdfast.cli.contract_sources import load_source

    _refuse(name, load_source(target).document, lock, target)


def _refuse(name: str, document: dict[str, Any], lock: Path, target: str) -> None:
    problems = gate_surface(document, read_lock_file(lock), today())
    if problems:
        worst = next((problem for problem in problems if problem.least is None), problems[0])
        rest = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise ContractError(
            f"{name} is not what {lock} allows: {worst.text}{rest}",
            remedy=f"holdfast contract check --lock {lock} {target}",
        )
