"""Scripts for the hostile worker, and what it leaves behind.

    worker = script(Fault.on_tool("read", "kill_before_answer", generations=(1, 1)))
    command = worker.command(directory)

is the command of an MCP server that dies by SIGKILL when its first process is about to answer `read`, and whose
second process behaves. All processes of one directory count as generations of one worker. `Traces(directory)`
tells what they did: above all the effects, by which a test proves that something happened once. The faults, and
the moments at which they fire, are listed in `scripted_worker.faults`.
"""

import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast.interpreter import script_command
from holdfast.testing import scripted_worker
from holdfast.testing.scripted_worker.faults import ACTIONS, MOMENTS
from holdfast.testing.scripted_worker.state import RECORD

__all__ = ["EVERY", "Fault", "Generations", "Script", "Traces", "script"]

Generations = tuple[int, int | None]

EVERY: Generations = (1, None)  # the first and the last generation in which a fault can fire
PROGRAM = Path(scripted_worker.__file__).parent


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong; made by the `on_...` functions. Occasions are counted in each process anew.

    With `nth` only that occasion counts, with `times` the fault fires so often at most. Further keyword arguments
    are those of the fault itself, such as `byte=17` for `kill_mid_answer`.
    """

    do: str
    at: str | None = None
    method: str | None = None
    tool: str | None = None
    request: int | None = None
    nth: int | None = None
    times: int | None = None
    probability: float = 1.0
    generations: Generations = EVERY
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.do not in ACTIONS:
            raise ValueError(f"there is no fault {self.do!r}; there are {', '.join(ACTIONS)}")
        if self.at is not None and self.at not in {*MOMENTS.values()}:
            raise ValueError(f"there is no moment {self.at!r}; there are {', '.join(sorted({*MOMENTS.values()}))}")
        if (self.at or MOMENTS[self.do]) in {"start", "input"} and (self.method or self.tool):
            raise ValueError(f"{self.do} happens before anything is read; it cannot depend on a method or a tool")
        inspect.signature(ACTIONS[self.do]).bind(None, None, **self.arguments)  # a TypeError for a wrong argument

    @classmethod
    def on_start(cls, do: str, *, generations: Generations = EVERY, **arguments: Any) -> "Fault":
        """As soon as the process runs, before it reads anything."""
        return cls(do, at="start", generations=generations, arguments=arguments)

    @classmethod
    def on_request(cls, number: int, do: str, *, generations: Generations = EVERY, **arguments: Any) -> "Fault":
        """On the request with this number, counted from 1 in each process: the handshake is the first."""
        return cls(do, request=number, generations=generations, arguments=arguments)

    @classmethod
    def on_method(
        cls, method: str, do: str, *, nth: int | None = None, generations: Generations = EVERY, **arguments: Any
    ) -> "Fault":
        """On requests of this method; a notification's name is good too for faults on reading."""
        return cls(do, method=method, nth=nth, generations=generations, arguments=arguments)

    @classmethod
    def on_tool(
        cls, tool: str, do: str, *, nth: int | None = None, generations: Generations = EVERY, **arguments: Any
    ) -> "Fault":
        """On calls of this tool."""
        return cls(do, tool=tool, nth=nth, generations=generations, arguments=arguments)

    @classmethod
    def sometimes(
        cls, probability: float, do: str, *, tool: str | None = None, times: int | None = None, **arguments: Any
    ) -> "Fault":
        """With this probability on every occasion; the dice follow the seed of the script and the generation."""
        return cls(do, tool=tool, times=times, probability=probability, arguments=arguments)

    def to_json(self) -> dict[str, Any]:
        """The fault as the worker reads it."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Script:
    """The behaviour of a worker. `record` keeps each line that it reads; `page_size` divides its list of tools."""

    faults: tuple[Fault, ...] = ()
    seed: int = 0
    page_size: int = 0
    record: bool = False

    def command(self, directory: Path) -> list[str]:
        """The command that starts the worker; the directory, made if need be, is where its state is kept."""
        directory.mkdir(parents=True, exist_ok=True)
        file = directory / "script.json"
        file.write_text(
            json.dumps(
                {
                    "state": str(directory),
                    "seed": self.seed,
                    "page_size": self.page_size,
                    "record": self.record,
                    "faults": [fault.to_json() for fault in self.faults],
                }
            )
        )
        return script_command(str(PROGRAM), str(file))


def script(*faults: Fault, seed: int = 0, page_size: int = 0, record: bool = False) -> Script:
    """A script with these faults."""
    return Script(faults, seed, page_size, record)


class Traces:
    """What the generations of a worker have left in their directory so far."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def pids(self) -> list[int]:
        """The process of each generation, in order."""
        file = self.directory / "generations"
        data = file.read_bytes() if file.exists() else b""
        return [int(data[start : start + RECORD]) for start in range(0, len(data), RECORD)]

    def generations(self) -> int:
        """How many processes were started."""
        return len(self.pids())

    def effects(self, tool: str | None = None) -> list[dict[str, Any]]:
        """Everything that was done, in order: `tool`, `generation`, and `token` or `key`."""
        return [note for note in self._notes("effects") if tool in {None, note["tool"]}]

    def fired(self, do: str | None = None) -> list[dict[str, Any]]:
        """The faults that happened: `do`, `at`, `generation`."""
        return [note for note in self._notes("fired") if do in {None, note["do"]}]

    def received(self, generation: int | None = None) -> list[str]:
        """The lines that were read, where the script records them."""
        notes = self._notes("received")
        return [note["line"] for note in notes if generation in {None, note["generation"]}]

    def grandchildren(self) -> list[int]:
        """The processes that workers have left to themselves."""
        return [note["pid"] for note in self._notes("grandchildren")]

    def _notes(self, file: str) -> list[dict[str, Any]]:
        path = self.directory / file
        return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []
