"""The one exception tree, and every public error code of every server, declared once.

    HoldfastError                 everything this package raises on purpose
    ├── UsageError                the caller of an API or command got something wrong; carries a remedy
    │   ├── ContractError         a tool cannot be registered as declared
    │   └── TargetError           a TARGET on the command line cannot be loaded
    ├── WireError                 bytes that are not a message; says how to answer them
    ├── ToolError                 a tool ends a call with one of its declared codes
    │   └── QuestionError         what a tool asked its client has no answer; it may go on without one
    │       └── IncapableError    the client did not declare that it can be asked this
    ├── ProcessError              a process could not be started, or did not die
    └── SessionError              the peer of a client session is gone or broke the protocol
        ├── NotAskedError         it never got the question
        └── RefusedError          it has answered, and said no
            └── TryAgainError     it said: not at this moment

    StopWork (BaseException)      control flow: this call must end now; tools must not swallow it
    InputNeeded (BaseException)   control flow: this run ends with questions to the client, who calls again

A code is the string a program may rely on. Its row says what it means, what to do about it, which class of
operational fault it belongs to and whether trying again can help.
"""

import errno
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = [
    "CODES",
    "FULL_DISK",
    "RUNTIME_CODES",
    "CodeRow",
    "ContractError",
    "HoldfastError",
    "IncapableError",
    "InputNeeded",
    "NotAskedError",
    "ProcessError",
    "QuestionError",
    "RefusedError",
    "SessionError",
    "StopWork",
    "TargetError",
    "ToolError",
    "TryAgainError",
    "UsageError",
    "WireError",
]


# What the system says where a disk takes no more: it is full, a quota is used up, or a file may not grow.
FULL_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class HoldfastError(Exception):
    """Base of every error that this package raises on purpose."""


class UsageError(HoldfastError):
    """Something was asked for in a way that cannot work; `remedy` says what to do instead."""

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} ({self.remedy})" if self.remedy else self.message


class ContractError(UsageError):
    """A tool cannot be registered: its types, words or declarations do not form a contract."""


class TargetError(UsageError):
    """A TARGET such as `module:object` or `path/file.py` does not lead to a server."""


class WireError(HoldfastError):
    """Bytes from the peer that are not a usable message.

    `jsonrpc_code` and `request_id` say how to answer; a request id is present only when it could be read
    beyond doubt.
    """

    def __init__(
        self,
        jsonrpc_code: int,
        message: str,
        *,
        request_id: int | str | None = None,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.jsonrpc_code = jsonrpc_code
        self.message = message
        self.request_id = request_id
        self.data = {"code": "INVALID_REQUEST", **(data or {})}


class ToolError(HoldfastError):
    """Raised by a tool to end its call with one of the error codes that it declares."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        details: Mapping[str, Any] | None = None,
        hint: str | None = None,
        retryable: bool | None = None,
    ) -> None:
        # Whatever an author passes, these are text from here on: a failure must be told.
        self.code = str(code)
        self.message = str(message)
        super().__init__(f"{self.code}: {self.message}")
        self.details = dict(details or {})
        self.hint = None if hint is None else str(hint)
        self.retryable = retryable


class QuestionError(ToolError):
    """What a tool asked its client has no answer. A tool may catch it and go on, or let it end the call."""

    def __init__(self, message: str, *, code: str = "NO_ANSWER", details: Mapping[str, Any] | None = None) -> None:
        super().__init__(code, message, details=details)


class IncapableError(QuestionError):
    """The client cannot be asked this: it did not declare the capabilities in `required`."""

    def __init__(self, message: str, required: Mapping[str, Any]) -> None:
        super().__init__(message, code="CAPABILITY_MISSING", details={"requiredCapabilities": dict(required)})
        self.required = dict(required)


class ProcessError(HoldfastError):
    """A program could not be started, or its tree could not be brought to an end."""

    def __init__(self, message: str, *, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details = dict(details or {})


class SessionError(HoldfastError):
    """The other end of a client session is gone, silent, or does not speak the protocol."""


class RefusedError(SessionError):
    """The other end has answered, and refuses what it was asked."""


class NotAskedError(SessionError):
    """The other end never got what it was to be asked, so nothing of it was begun."""


class TryAgainError(RefusedError):
    """What was asked cannot be done at this moment, and can soon."""


class StopWork(BaseException):
    """Raised inside a tool that runs in a thread when its call is over; not an `Exception` on purpose."""


class InputNeeded(BaseException):
    """Raised inside a tool whose client must answer first; the client calls again, and the tool runs again.

    `requests` is what is asked, by key: `{"method": ..., "params": ...}`. Not an `Exception` on purpose.
    """

    def __init__(self, requests: Mapping[str, Any]) -> None:
        super().__init__(", ".join(requests))
        self.requests = dict(requests)


@dataclass(frozen=True, slots=True)
class CodeRow:
    """One public error code: what it means, what to do, and how operators and programs should treat it."""

    code: str
    meaning: str
    remedy: str
    fault_class: str
    retryable: bool = False
    http_status: int = 500


def _table(*rows: CodeRow) -> dict[str, CodeRow]:
    table = {row.code: row for row in rows}
    if len(table) != len(rows):
        raise AssertionError("an error code is declared twice")
    return table


CODES: dict[str, CodeRow] = _table(
    # Shared by every server (stability contract, section 6).
    CodeRow("INVALID_REQUEST", "The request is malformed or does not fit the schema.",
            "Correct the request; compare it with the tool's input schema.", "protocol", http_status=400),
    CodeRow("NOT_FOUND", "The tool, file, index or other resource does not exist.",
            "Check the name or path, or create it first.", "downstream", http_status=404),
    CodeRow("NO_INDEX", "An index is required and there is none.",
            "Build the index of the repository, then call again.", "downstream", http_status=409),
    CodeRow("CAPABILITY_MISSING", "An optional dependency or a capability of the platform is missing.",
            "Install the dependency or change the configuration.", "resource", http_status=501),
    CodeRow("QUEUE_OVERLOADED", "The server's queue is full.",
            "Retry later, or send fewer calls at once.", "resource", retryable=True, http_status=503),
    CodeRow("TOOL_TIMEOUT", "The tool did not finish within its timeout and was aborted.",
            "Narrow the request or raise the timeout.", "timeout", retryable=True, http_status=504),
    CodeRow("CANCELLED", "The call was cancelled before it finished.",
            "None; the cancellation was asked for.", "protocol", http_status=503),
    CodeRow("INTERNAL", "An unexpected error inside the server.",
            "Report it with the fault id, which finds the full record in the event log.", "invariant"),
    CodeRow("NO_ANSWER", "What the tool asked the client was not answered, or not in a form that can be used.",
            "Call again, and answer what the tool asks.", "downstream", retryable=True, http_status=502),
    CodeRow("RESULT_TOO_LARGE", "The answer is larger than a message may be.",
            "Ask for less: narrow the request or page through it.", "resource", http_status=422),
    # Told by the host in front of a server.
    CodeRow("WORKER_LOST", "The worker process was lost before it answered.",
            "Retry where retry.safe is true.", "process", retryable=True, http_status=503),
    CodeRow("AMBIGUOUS_OUTCOME", "The worker was lost in the middle of a call that may have taken effect.",
            "Find out whether it did before calling again; it is never repeated automatically.",
            "ambiguous_outcome", http_status=503),
    CodeRow("REPLAY_EXHAUSTED", "The worker was lost under this call as often as the call may be repeated.",
            "Retry later; if it keeps failing, the call itself may be what ends the worker.", "replay",
            http_status=503),
    CodeRow("QUARANTINED", "This tool has ended its worker each time it was called with these arguments.",
            "Call it with other arguments; or correct the tool, then `holdfast restart`, which lifts the refusal.",
            "replay", http_status=503),
    CodeRow("ROLLOUT_DISRUPTED", "The call was still running when its worker had to make way for another.",
            "Find out whether it took effect where retry.safe is false.", "rollout", http_status=503),
    CodeRow("NOT_READY", "No worker is ready to take the call.",
            "Retry after retry.afterMs; `holdfast status` tells why.", "process", retryable=True,
            http_status=503),
    CodeRow("STATE_LOST", "The server was restarted and has lost what it kept in memory; the call was not run.",
            "Build up the state again, then repeat the call; it is refused only once.", "process", retryable=True,
            http_status=409),
    CodeRow("KEY_CONFLICT", "The key was used before, with other arguments.",
            "Use a new key for a new request, or repeat the first one exactly.", "protocol", http_status=409),
    CodeRow("UNAUTHORIZED", "The caller is not known.", "Send valid credentials.", "protocol", http_status=401),
    CodeRow("FORBIDDEN", "The caller may not do this.", "Use permitted paths or credentials.", "protocol",
            http_status=403),
    CodeRow("RATE_LIMITED", "The caller asks for more at once, or more often, than one caller may.",
            "Wait as long as Retry-After says, and send fewer requests.", "resource", retryable=True,
            http_status=429),
    CodeRow("DOWNLOAD_VERIFY_FAILED", "A download failed its integrity check.",
            "Retry; check the network and any proxy.", "downstream", retryable=True, http_status=502),
    CodeRow("ARCHIVE_UNSAFE", "An archive contains paths or links that leave its directory.",
            "Use a safe archive.", "downstream", http_status=422),
    CodeRow("ARCHIVE_TOO_LARGE", "An archive is larger than allowed.",
            "Use a smaller archive or raise the limit.", "resource", http_status=422),
    # Run-scoped servers (launch).
    CodeRow("INVALID_INPUT", "Fields are missing, unknown or of the wrong type.",
            "Correct the fields listed in details.violations.", "protocol", http_status=400),
    CodeRow("SCHEMA_VALIDATION_FAILED", "A given configuration or artifact does not fit its schema.",
            "Correct the document.", "protocol", http_status=400),
    CodeRow("RUN_NOT_FOUND", "There is no run with this id.", "List the runs and use one of their ids.",
            "downstream", http_status=404),
    CodeRow("ILLEGAL_STATE", "The run is in a state in which this tool cannot work.",
            "Read the run's status and follow the state machine.", "downstream", http_status=409),
    CodeRow("TOOLCHAIN_MISSING", "A required validator is not installed.", "Install the named toolchain.",
            "resource", http_status=501),
    CodeRow("GATE_FAILED", "Validation finished and found blocking issues.", "Fix the listed issues.",
            "downstream", http_status=422),
    CodeRow("FIX_EXHAUSTED", "The allowed number of fix attempts is used up.",
            "Edit by hand and validate again, or raise the limit.", "downstream", http_status=409),
    CodeRow("ALLOWED_PATHS_VIOLATION", "A write outside the allowed paths was attempted.",
            "Keep writes inside the allowed paths.", "invariant", http_status=403),
    CodeRow("COMMIT_SERVICE_ERROR", "The commit service refused or failed.", "Read details; retry if transient.",
            "downstream", retryable=True, http_status=502),
)  # fmt: skip

# Codes that the runtime itself may end any call with; a tool need not declare them.
RUNTIME_CODES = frozenset(
    {
        "INVALID_REQUEST",
        "INVALID_INPUT",
        "QUEUE_OVERLOADED",
        "TOOL_TIMEOUT",
        "CANCELLED",
        "INTERNAL",
        "NO_ANSWER",
        "CAPABILITY_MISSING",
        "RESULT_TOO_LARGE",
    }
)
