"""A worker that finds out whether another one is at work on the same run; run as a program, by the engine.

What it does is what `holdfast.launch.working` does, or the stand-ins where there are orders. It holds a lock on a
file of its run until its process is gone, however that ends; whoever does not get the lock writes that down.
"""

import fcntl
import io
import json
import os
import sys
from pathlib import Path

from tests.launch import stand_in_workers
from tests.launch.stand_in_workers import work  # where the stand-ins look for it, in the module that is run

from holdfast.launch import working

__all__ = ["ALONE", "twice", "work"]

ALONE = "LONELY_WORKER_LOCKS"


def twice(folder: Path) -> list[str]:
    """What was done while somebody else was at it."""
    path = folder / "twice"
    return path.read_text().splitlines() if path.exists() else []


def main() -> int:
    """Do the work of stdin, alone."""
    content = sys.stdin.buffer.read()
    order = json.loads(content)
    folder = Path(os.environ[ALONE])
    with (folder / order["run_id"]).open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with (folder / "twice").open("a") as told:
                told.write(f"{order['run_id']} {order['worker']} {order['attempt']}\n")
        sys.stdin = io.TextIOWrapper(io.BytesIO(content))
        return stand_in_workers.main() if stand_in_workers.ORDERS in os.environ else working.main()


if __name__ == "__main__":
    sys.exit(main())
