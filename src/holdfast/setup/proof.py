"""Proves an entry of a client's configuration: starts it and asks for its tools, as the client will."""

import asyncio
import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError

__all__ = ["PATIENCE", "Proof", "prove"]

PATIENCE = 60.0  # seconds; a command that fetches its server first needs some
_LAST_LINES = 5
# A client waits for a server that comes up at the tenth attempt; a person who looks on is told after the second.
_HASTE = {"HOLDFAST_RESTART_BUDGET": "2"}


@dataclass(frozen=True, slots=True)
class Proof:
    """How it went. `problem` is empty where the server was spoken to, and then it has `tools` tools.

    `last_lines` are what it wrote to stderr at the end, where there is a problem.
    """

    problem: str = ""
    tools: int = 0
    server: str = ""
    version: str = ""
    revision: str = ""
    last_lines: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the server answered."""
        return not self.problem

    def as_json(self) -> dict[str, Any]:
        """The proof for a program."""
        return {"ok": self.ok, **asdict(self)}


def prove(command: Sequence[str], env: Mapping[str, str], cwd: Path, *, patience: float = PATIENCE) -> Proof:
    """Start a command in a directory, shake hands, list its tools, and end it; only Ctrl-C is raised."""
    said: deque[str] = deque(maxlen=_LAST_LINES)
    environment = {**_HASTE, **os.environ, **env}
    try:
        return asyncio.run(_prove(list(command), environment, str(cwd), patience, said.append))
    except (HoldfastError, OSError) as error:
        return Proof(problem=str(error) or type(error).__name__, last_lines=tuple(said))


async def _prove(
    command: list[str], env: dict[str, str], cwd: str, patience: float, on_stderr: Callable[[str], None]
) -> Proof:
    from holdfast.client.session import ClientSession
    from holdfast.client.transports import ProcessTransport

    async with ClientSession(ProcessTransport(command, cwd=cwd, env=env, on_stderr=on_stderr)) as session:
        peer = await session.connect(timeout=patience)
        tools = await session.list_tools(timeout=patience)
    return Proof("", len(tools), peer.name, peer.version, peer.revision)
