"""What the tools share: the one service of this process, the telemetry of every call, and following a run."""

import functools
import logging
import queue
import secrets
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast.errors import StopWork, ToolError, UsageError
from holdfast.launch.engine.refusals import store_unusable
from holdfast.launch.identifiers import is_run_id
from holdfast.launch.promises import PROMISES
from holdfast.launch.store.refusals import StoreError
from holdfast.settings import Settings, load_settings
from holdfast.worker.context import SyncContext
from holdfast.worker.validate import SchemaValidator, Violation

if TYPE_CHECKING:
    from holdfast.launch.service import RunService

__all__ = ["MOST_RECORDS", "ArgumentCheck", "close", "configure", "followed", "recorded", "service"]

Function = TypeVar("Function", bound=Callable[..., Any])

MOST_RECORDS = 1000  # that wait to be written; a store that hangs costs records, and never memory without end

_guard = threading.Lock()
_records: "queue.Queue[Callable[[], None]]" = queue.Queue(MOST_RECORDS)
_writer: threading.Thread | None = None
_settings: Settings | None = None
_service: "RunService | None" = None

_PATIENCE = 5.0  # seconds that records have to be written before we close

# What a person who waits is told; everything else is detail.
_TOLD = {
    "RUN_STATE_CHANGED": "{to}",
    "WORK_ITEM_STARTED": "{worker} {scope_key}",
    "GATE_RUN_STARTED": "gate {gate}",
}


def configure(settings: Settings) -> None:
    """Say which workspace is served, before the first call; UsageError where no call could ever succeed."""
    from holdfast.launch.store.opening import require_library

    require_library()
    global _settings  # noqa: PLW0603 - a process serves one workspace
    _settings = settings
    if settings.auto_resume:
        _opened().engine.adopt()


def service() -> "RunService":
    """The service of this process; ToolError as long as the run store cannot be opened."""
    try:
        return _opened()
    except (StoreError, UsageError) as trouble:
        raise store_unusable(trouble) from trouble


def _opened() -> "RunService":
    """The same, opened by whoever needs it first; what is raised is for the person who has started us."""
    global _service  # noqa: PLW0603
    with _guard:
        if _service is None:
            from holdfast.launch.service import RunService
            from holdfast.launch.workspace import workspace_of
            from holdfast.process.privacy import hide_process

            hide_process()
            settings = _settings or load_settings()
            _service = RunService(workspace_of(settings), workers=settings.launch_workers)
        return _service


def close() -> None:
    """Let go of the service; whoever needs one after this opens another."""
    global _service  # noqa: PLW0603
    written = threading.Event()
    if _aside(written.set, patience=_PATIENCE):
        written.wait(_PATIENCE)  # what was asked for so far is recorded
    with _guard:
        if _service is not None:
            _service.close()
        _service = None


def recorded(function: Function) -> Function:
    """The tool, with one telemetry record for each of its calls, whichever way it ends."""

    # Whoever only reads need not wait until somebody else has written.
    record = _record_aside if PROMISES[function.__name__].read_only else _record

    @functools.wraps(function)
    def call(*args: Any, **arguments: Any) -> Any:
        begun = datetime.now(UTC)
        try:
            result = _with_store(function, *args, **arguments)
        except BaseException as error:
            record(function.__name__, arguments, begun, error=_told(error))
            raise
        record(function.__name__, arguments, begun, result=result)
        return result

    return call  # type: ignore[return-value]  # functools.wraps keeps the signature


def _with_store(function: Callable[..., Any], *args: Any, **arguments: Any) -> Any:
    """Call it; a store that cannot be used is told as such, with what to do, and whether waiting may help."""
    try:
        return function(*args, **arguments)
    except StoreError as trouble:
        raise store_unusable(trouble) from trouble


class ArgumentCheck(SchemaValidator):
    """The check of a tool's arguments, with a telemetry record for each call that it keeps from beginning."""

    __slots__ = ("_tool",)

    def __init__(self, tool: str, schema: Mapping[str, Any]) -> None:
        super().__init__(schema)
        self._tool = tool

    def violations(self, document: Any) -> list[Violation]:
        """Everything that is wrong with the arguments."""
        found = super().violations(document)
        if found:
            told = {"code": "INVALID_INPUT", "message": found[0]["message"]}
            begun = datetime.now(UTC)
            # In a thread, as the tool itself would be: whoever serves the others does not wait for the store.
            _record_aside(self._tool, document, begun, error=told)
        return found


def _told(error: BaseException) -> dict[str, str]:
    if isinstance(error, ToolError):
        return {"code": error.code, "message": error.message}
    code = "CANCELLED" if isinstance(error, StopWork) else "INTERNAL"
    return {"code": code, "message": type(error).__name__}


def _record(tool: str, arguments: Any, begun: datetime, **ended: Any) -> None:
    """Owe telemetry the record of a call; what becomes of the call does not depend on it."""
    try:
        _owe_record(tool, arguments if isinstance(arguments, Mapping) else {}, begun, **ended)
    except (StoreError, ToolError) as trouble:
        logging.getLogger(__name__).warning("a call of %s could not be recorded: %s", tool, trouble)
    except Exception:  # the call has its outcome, and that is what is told
        logging.getLogger(__name__).warning("a call of %s could not be recorded", tool, exc_info=True)


def _record_aside(tool: str, arguments: Any, begun: datetime, **ended: Any) -> None:
    if not _aside(functools.partial(_record, tool, arguments, begun, **ended)):
        logging.getLogger(__name__).warning("a call could not be recorded: too many wait for the store already")


def _aside(work: Callable[[], None], *, patience: float = 0.0) -> bool:
    """Do it in a thread that nobody waits for, not even the end of the process; False where no place came free."""
    global _writer  # noqa: PLW0603
    with _guard:
        if _writer is None:
            _writer = threading.Thread(target=_write, name="launch-records", daemon=True)
            _writer.start()
    try:
        _records.put(work, timeout=patience)
    except queue.Full:
        return False
    return True


def _write() -> None:
    while True:
        _records.get()()


def _owe_record(
    tool: str,
    arguments: Mapping[str, Any],
    begun: datetime,
    *,
    result: Any = None,
    error: Mapping[str, str] | None = None,
) -> None:
    from holdfast.launch.telemetry.records import RUNS, tool_call

    context = arguments.get("ctx")
    given = {name: value for name, value in arguments.items() if name != "ctx"}
    run_id = given.get("run_id") or getattr(result, "run_id", None)
    run_id = run_id if is_run_id(run_id) else None
    record = tool_call(
        tool=tool,
        run_id=run_id,
        call_id=secrets.token_hex(8),
        request_id=None if context is None else str(context.request_id),
        arguments=given,
        begun=begun,
        ended=datetime.now(UTC),
        error=error,
        result=None if result is None else type(result).__name__,
    )
    service().owe("POST", RUNS, record, run_id=run_id)


def followed(ctx: SyncContext, run_id: str) -> Callable[[], bool]:
    """The stop function of one call, which also tells the caller what happens in the run."""
    store = service().store
    seen = max((event.seq for event in store.events(run_id)), default=0) if ctx.is_followed else 0
    count = 0

    def tell() -> None:
        nonlocal seen, count
        for event in store.events(run_id, after=seen):
            seen = event.seq
            text = _TOLD.get(event.type)
            if text is not None:
                count += 1
                ctx.progress(text.format_map(event.payload), progress=count, phase=event.type.lower())

    def stop() -> bool:
        try:
            if ctx.is_followed and not ctx.stopped:
                tell()
        except StopWork:  # it ended this very moment; whoever asked is told by our answer
            return True
        return ctx.stopped

    return stop
