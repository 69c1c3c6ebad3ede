"""The process of one piece of work: `python -m holdfast.launch.working`, started by the engine, not by hand.

The order comes as JSON on stdin; events and progress leave as JSON lines on stdout; what was made, or why nothing
was, is written to `done.json` beside the artifacts, as the last step.
"""

import errno
import json
import os
import sys
import traceback
from collections.abc import Mapping
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from holdfast.errors import ToolError
from holdfast.launch.private_files import MASK
from holdfast.launch.work import Given, Workplace
from holdfast.launch.workers import WORKERS
from holdfast.process.privacy import hide_process

__all__ = ["CANNOT_TELL", "DONE", "main"]

DONE = "done.json"
CANNOT_TELL = 75
"""How the process ends when it cannot even write why it has failed, as on a full disk; later it may."""

# What passes: no space, no memory, too many open files.
_PASSING = frozenset(
    {errno.EAGAIN, errno.EDQUOT, errno.EFBIG, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC}
)
_LONGEST_MESSAGE = 2000
_LONGEST_DETAILS = 64 * 1024


def main() -> int:
    """Do the work that stdin describes; 0 when `done.json` tells the outcome, whichever it is."""
    hide_process()  # what a site starts must find no token in the environment of whoever has started it
    os.umask(MASK)
    place = _workplace(json.loads(sys.stdin.buffer.read()))
    os.chdir(place.out)  # the folder of whoever started the run may be anybody's, and libraries look around
    for stream in (sys.stdout, sys.stderr):
        assert isinstance(stream, TextIOWrapper)
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # whatever the machine's locale is
    outcome = _worked(place)
    try:
        _finish(place.out, outcome)
    except OSError:
        traceback.print_exc()
        return CANNOT_TELL
    return 0


def _worked(place: Workplace) -> dict[str, Any]:
    try:
        import_module(WORKERS[place.worker].module).work(place)
    except ToolError as error:
        return {"failed": _told(error)}
    except Exception as error:  # noqa: BLE001 - whatever it is, the engine has to know that this work failed
        traceback.print_exc()
        return {"failed": _unexpected(error)}
    made = [
        {"name": one.name, "file": one.path.name, "sha256": one.sha256, "schema_id": one.schema_id}
        for one in place.made.values()
    ]
    return {"made": made}


def _workplace(order: Mapping[str, Any]) -> Workplace:
    given = {
        name: Given(Path(one["path"]), one["sha256"], one["schema_id"]) for name, one in order["given"].items()
    }
    return Workplace(
        run_id=order["run_id"],
        worker=order["worker"],
        scope=order["scope"],
        attempt=order["attempt"],
        config=order["config"],
        root=Path(order["root"]),
        out=Path(order["out"]),
        given=given,
        about=order["about"],
    )


def _told(error: ToolError) -> dict[str, Any]:
    return {
        "code": error.code,
        "message": error.message[:_LONGEST_MESSAGE],
        "details": _plain(error.details) | ({"hint": error.hint} if error.hint else {}),
        "retryable": bool(error.retryable),
    }


def _plain(details: Mapping[str, Any]) -> dict[str, Any]:
    """The details as JSON has them; what is none, or is endless, must not hide the failure itself."""
    try:
        text = json.dumps(details, allow_nan=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return {"details": "not told: they are no JSON"}
    if len(text) > _LONGEST_DETAILS:
        return {"details": f"not told: they have {len(text)} characters"}
    plain: dict[str, Any] = json.loads(text)
    return plain


def _unexpected(error: Exception) -> dict[str, Any]:
    if isinstance(error, OSError) and error.errno is not None:
        text = os.strerror(error.errno)  # without the path, which is nobody's business
    else:
        text = type(error).__name__
    details = {"cause_class": type(error).__name__}
    is_passing = isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno in _PASSING)
    return {
        "code": "INTERNAL",
        "message": f"the worker failed: {text}",
        "details": details,
        "retryable": is_passing,
    }


def _finish(out: Path, outcome: Mapping[str, Any]) -> None:
    unfinished = out / f".{DONE}"
    # Half of a character, as the name of a file can have it, is nothing that an event could tell.
    unfinished.write_bytes(json.dumps(outcome, ensure_ascii=False).encode("utf-8", "replace"))
    unfinished.replace(out / DONE)


if __name__ == "__main__":
    sys.exit(main())
