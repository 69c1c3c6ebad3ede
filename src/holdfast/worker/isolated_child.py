"""The program inside an isolated call: load the tool's module, run the tool once, tell the outcome, exit.

Started by `worker.isolate`; not meant to be run by hand.
"""

import asyncio
import importlib
import importlib.util
import os
import sys
import traceback
from functools import reduce
from types import ModuleType
from typing import Any, BinaryIO

from holdfast.contract.binding import OutputRejected
from holdfast.contract.content_type import split_content
from holdfast.contract.derive import DerivedTool
from holdfast.errors import InputNeeded, QuestionError, ToolError
from holdfast.present.compact import json_ready
from holdfast.stdio.streams import claim_standard_streams
from holdfast.vocabulary.events import Event, KillFailed
from holdfast.wire.codec import decode, encode
from holdfast.worker.context import Context
from holdfast.worker.faults import MAX_TRACE
from holdfast.worker.invoke import run_here
from holdfast.worker.isolated_asking import RemoteAsking
from holdfast.worker.progress import ProgressMeter

__all__ = ["SERVER_IS_GONE", "main"]

SERVER_IS_GONE = 3  # the exit code of a child that had nobody to tell its outcome


def main() -> None:
    """Read one request from stdin, run it, write its outcome to stdout.

    Where the server died meanwhile nobody is left to be told anything: the end is a quiet one.
    """
    streams = claim_standard_streams()
    reader = os.fdopen(streams.reader, "rb")  # answers to questions come later
    line = reader.readline()
    if not line.endswith(b"\n"):
        os._exit(SERVER_IS_GONE)
    request = decode(line)

    def tell(message: dict[str, Any]) -> None:
        data = encode(message) + b"\n"
        while data:
            data = data[os.write(streams.writer, data) :]

    # Not asyncio.run: it would wait for what the tool left in its loop before the outcome could be told.
    outcome = asyncio.new_event_loop().run_until_complete(_run(request, tell, reader))
    code = 0
    try:
        tell(outcome)
    except BrokenPipeError:
        code = SERVER_IS_GONE
    # Threads that the tool left behind must not keep the process, and its parent, waiting.
    sys.stderr.flush()
    os._exit(code)


class _KillRelay:
    """The event log of a child: the server writes the events, and must hear of processes that would not die."""

    def __init__(self, tell: Any) -> None:
        self._tell = tell

    def emit(self, event: Event) -> None:
        if isinstance(event, KillFailed):
            self._tell({"killFailed": event.survivors})

    def flush(self) -> None:
        return

    def close(self) -> None:
        return


async def _run(request: dict[str, Any], tell: Any, reader: BinaryIO) -> dict[str, Any]:
    asking = RemoteAsking(request["asking"], request["requestId"], tell, reader)
    try:
        derived = _load(request)
        loop = asyncio.get_running_loop()
        meter = ProgressMeter(lambda notice: tell({"progress": notice}), {}, 0.0, loop)
        context = Context(
            tool=request["tool"],
            call_id=request["callId"],
            request_id=request["requestId"],
            meter=meter,
            grace=request["grace"],
            log=_KillRelay(tell),
            asking=asking.way,
            client_log=asking.log,
        )
        value, content = split_content(await run_here(derived, derived.bind(request["arguments"]), context))
        return {"payload": derived.dump(value), "content": content}
    except (InputNeeded, BaseExceptionGroup, QuestionError) as error:
        return asking.ended_with(error) or _failure(error)
    except ToolError as error:
        return {
            "toolError": {
                "code": error.code,
                "message": error.message,
                "details": json_ready(error.details),
                "hint": error.hint,
                "retryable": error.retryable,
            }
        }
    except BaseException as error:  # noqa: BLE001 - everything is carried over to the server
        return _failure(error)


def _failure(error: BaseException) -> dict[str, Any]:
    trace = "".join(traceback.format_exception(error))[-2 * MAX_TRACE :]  # the server cuts it, secrets taken out
    name = "OutputContractViolation" if isinstance(error, OutputRejected) else type(error).__name__
    told: dict[str, Any] = json_ready({"failure": {"class": name, "message": str(error), "trace": trace}})
    return told


def _load(request: dict[str, Any]) -> DerivedTool:
    sys.path[:] = request["path"]
    module = _module(request["module"], request["file"])
    function = reduce(getattr, request["function"].split("."), module)
    derived: DerivedTool = function.__holdfast_tool__
    return derived


def _module(name: str, file: str | None) -> ModuleType:
    found = None if name == "__main__" else importlib.util.find_spec(name)
    if found is not None and (file is None or found.origin is None or os.path.realpath(found.origin) == file):
        return importlib.import_module(name)
    # A script, or a file that was loaded by its path: import it by path, under a name that is not __main__.
    assert file is not None
    spec = importlib.util.spec_from_file_location("holdfast_isolated_target", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
