"""The gate in front of `holdfast serve --lock`: a server that is not what its lock allows is not started."""

from pathlib import Path

from holdfast.cli.contract_locks import today
from holdfast.contract.gate import gate_surface
from holdfast.contract.lock import read_lock_file
from holdfast.contract.model import Surface
from holdfast.contract.snapshot import snapshot
from holdfast.errors import ContractError

__all__ = ["refuse_unless_locked"]


def refuse_unless_locked(surface: Surface, lock: Path, target: str) -> None:
    """Raise when the surface is not what the lock allows; the message is one line, however much is wrong."""
    problems = gate_surface(snapshot(surface), read_lock_file(lock), today())
    if problems:
        worst = next((problem for problem in problems if problem.least is None), problems[0])
        rest = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise ContractError(
            f"{surface.name} is not what {lock} allows: {worst.text}{rest}",
            remedy=f"holdfast contract check --lock {lock} {target}",
        )
