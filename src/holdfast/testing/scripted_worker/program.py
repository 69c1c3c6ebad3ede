"""Puts the scripted worker together: its script, the state of earlier generations, tools and faults."""

import json
import os
import signal
from typing import Any

from .faults import ACTIONS, Fault
from .state import State
from .tools import METHODS, TOOLS
from .worker import LIFETIME, Worker

__all__ = ["main"]


def main(argument: str) -> None:
    """Run the script: a JSON object, or the path of a file with one."""
    text = argument
    if not argument.lstrip().startswith("{"):
        with open(argument, encoding="utf-8") as file:
            text = file.read()
    script: dict[str, Any] = json.loads(text)
    signal.alarm(LIFETIME)
    state = State(script["state"])
    seed = script.get("seed", 0)
    worker = Worker(script, state, METHODS, TOOLS)
    for number, data in enumerate(script.get("faults", [])):
        worker.faults.append((Fault(data, seed, state.generation, number), ACTIONS[data["do"]]))
    try:
        worker.run()
    except BrokenPipeError:
        os._exit(0)  # nobody reads any more; a plain exit would complain about what it cannot flush
