"""Other processes that ask the engine of a stage for something; light, since a test starts eight of them."""

import json
import os
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.launch import stand_in_workers

from holdfast.errors import ToolError
from holdfast.launch.engine import asking, labour, local
from holdfast.launch.store.objects import ObjectStore
from holdfast.launch.store.run_store import RunStore
from holdfast.launch.workspace import Workspace

__all__ = ["ask", "quicken"]

_COMMAND = (sys.executable, stand_in_workers.__file__)


def quicken(set_one: Callable[[Any, str, Any], None]) -> None:
    """Use the stand-ins, and look more often than a real engine does."""
    set_one(labour, "_COMMAND", _COMMAND)
    for module, name, seconds in (
        (labour, "_PAUSE", 0.0), (labour, "_LOOK", 0.05), (labour, "_GRACE", 0.2), (local, "_LOOK", 0.02),
        (asking, "_LOOK", 0.02), (local, "_LINGER", 0.1),
    ):  # fmt: skip
        set_one(module, name, seconds)


def ask() -> None:
    """Ask as `root store_url kind run_id...` says, print the answers, and live until stdin ends."""
    root, url, kind, *run_ids = sys.argv[1:]
    workspace = Workspace(Path(root), url)
    quicken(setattr)
    with closing(RunStore(url)) as store:
        engine = local.LocalEngine(workspace, store, ObjectStore(workspace.objects))
        print("begin", os.getpid(), flush=True)
        answers: list[Any] = []
        for run_id in run_ids:
            try:
                answers.append(engine.perform(kind, run_id))
            except ToolError as error:
                answers.append({"code": error.code, "details": error.details})
        print(json.dumps(answers), flush=True)
        sys.stdin.read()
        engine.close()
