"""Exchanges about the life of a call (cancellation, timeouts, progress, overload) and the life of a server."""

import signal
from typing import Any

from tests.contract.exchange import (
    INVALID,
    TIME,
    Exchange,
    call,
    failed,
    modern,
    note,
    poc_failure,
    request,
    structured,
)
from tests.contract.patterns import ANY, File, Has, Id, Is, ListOf, PerMode
from tests.contract.steps import (
    CloseInput,
    Disconnect,
    Error,
    Exits,
    FileHas,
    Gone,
    Logged,
    Notified,
    Result,
    Send,
    Signal,
    Silent,
)

CANCELLED = failed(poc_failure("CANCELLED"))
NUMBER = Is((int, float))
CANCEL_RULES = (
    "S0-7.1-cancel-stops",
    "S0-7.1-cancel-answers-once",
    "S0-7.1-cancel-code",
    "S1-6.9-cancel-request",
    "S1-6.9-abort",
    "S1-6.9-answer",
    "S0-7.3-no-success-after-cancel",
    "S0-10-cancel-tested",
)
TREE_RULES = (
    "S0-8.2-subprocesses-end",
    "S0-8.2-tree-aware",
    "S0-P2-1-all-descendants",
    "S0-P2-1-no-orphans",
    "S0-P2-5-tree-test",
)
LEGACY_PROGRESS = (
    "In legacy framing progress carries the id of its request, and is sent whether or not there is a token."
)


def cancel(request_id: Any) -> dict[str, Any]:
    """The cancellation that is answered."""
    return note("$/cancelRequest", {"id": request_id})


def cancelled(request_id: Any) -> dict[str, Any]:
    """The cancellation that is not."""
    return note("notifications/cancelled", {"requestId": request_id, "reason": "no longer wanted"})


CANCELLATION = (
    Exchange(
        "a running call that is cancelled with $/cancelRequest is answered once",
        "latest",
        (
            Send((call(Id(1), "hang", {"note": File("note")}),)),
            FileHas(File("note"), 1),
            Send((cancel(Id(1)), cancel(Id(1)))),
            Result(Id(1), CANCELLED),
            FileHas(File("note"), 2),
            Send((cancel(Id(1)),)),
            Silent((Id(1),)),
        ),
        CANCEL_RULES,
    ),
    Exchange(
        "a running call that is cancelled with notifications/cancelled stops without an answer",
        "latest",
        (
            Send((call(Id(1), "hang", {"note": File("note")}),)),
            FileHas(File("note"), 1),
            Send((cancelled(Id(1)),)),
            FileHas(File("note"), 2),
            Silent((Id(1),)),
            Logged(Has({"event": "tool_call", "request_id": Id(1), "outcome": "cancelled"})),
        ),
    ),
    Exchange(
        "a cancellation finds its call by the text of the id",
        "latest",
        (
            Send((call(Id(1), "hang"), call("4711", "hang"), call("text", "hang"))),
            Send((note("$/cancelRequest", {"id": 4711}), cancel("text"))),
            Result("4711", CANCELLED),
            Result("text", CANCELLED),
            Send((b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"777"}}', call(777, "hang"))),
            Silent((777,)),
            Send((note("$/cancelRequest", {"id": "777"}), cancel(Id(1)))),
            Result(777, CANCELLED),
            Result(Id(1), CANCELLED),
        ),
        ("S0-7.2-ids-as-text",),
    ),
    Exchange(
        "of 1 and its text in flight the one of the right type is cancelled",
        "latest",
        (
            Send((call(88, "hang"), call("88", "hang"), cancel("88"))),
            Result("88", CANCELLED),
            Send((cancel(True), cancel(88.5), cancel([88]))),
            Silent((88,)),
            Send((cancelled("88"), request(Id(1), "ping"))),
            Result(Id(1), {}),
            Silent((88,)),
        ),
        ("S0-7.2-ids-as-text",),
    ),
    Exchange(
        "the first reason for which a call ends is the one that is told",
        "latest",
        (
            Send((call(Id(1), "hang"), cancel(Id(1)), cancelled(Id(1)))),
            Result(Id(1), CANCELLED),
            Send((call(Id(2), "hang"), cancelled(Id(2)), cancel(Id(2)))),
            Silent((Id(2),)),
        ),
        ("S0-7.1-cancel-answers-once",),
    ),
    Exchange(
        "a cancelled call takes its processes with it and reports no more",
        "latest",
        (
            Send((call(Id(1), "tree", {"pids": File("pids")}, progressToken=Id(1)),)),
            FileHas(File("pids"), 3),
            Send((cancel(Id(1)),)),
            Result(Id(1), CANCELLED),
            Gone(File("pids"), 3),
            Silent((Id(1),)),
        ),
        (*TREE_RULES, "S0-7.3-no-progress-after-cancel", "S1-6.9-progress-stops", "S0-P2-5-no-output-after-abort"),
    ),
    Exchange(
        "a call that is cancelled in silence takes its processes with it too",
        "2025-03-26",
        (
            Send((call(Id(1), "tree", {"pids": File("pids")}),)),
            FileHas(File("pids"), 3),
            Send((cancelled(Id(1)),)),
            Gone(File("pids"), 3),
            Silent((Id(1),)),
        ),
        TREE_RULES,
    ),
)

TIMEOUTS = (
    Exchange(
        "a call beyond its timeout is aborted and answered",
        "latest",
        (
            Send((call(Id(1), "hang_briefly", {"note": File("note")}),)),
            Result(Id(1), failed(poc_failure("TOOL_TIMEOUT", timeoutMs=300))),
            FileHas(File("note"), 2),
            Send((call(Id(2), "hang_briefly"), cancel(Id(2)))),
            Result(Id(2), CANCELLED),
        ),
        (
            "S0-8.1-timeout-aborts",
            "S0-8.1-timeout-code",
            "S0-8.1-timeout-ms",
            "S0-5.2-timeout-finite",
            "S1-6.10.2-abort",
            "S1-6.10.2-tool-error",
            "S0-10-timeout-tested",
        ),
    ),
    Exchange(
        "a timeout leaves no process behind",
        "latest",
        (
            Send((call(Id(1), "tree_briefly", {"pids": File("pids")}),)),
            FileHas(File("pids"), 3),
            Result(Id(1), failed(poc_failure("TOOL_TIMEOUT", timeoutMs=1500))),
            Gone(File("pids"), 3),
        ),
        (*TREE_RULES, "S0-10-timeout-tested"),
    ),
    Exchange(
        "a timeout in the dialect status has the same fields",
        "2025-06-18",
        (
            Send((call(Id(1), "hang_briefly"),)),
            Result(
                Id(1),
                failed(Has({"error_type": "TOOL_TIMEOUT", "error_details": Has({"timeoutMs": 300})})),
            ),
        ),
    ),
)

NOTICE = {
    "message": Is((str,)),
    "progress": NUMBER,
    "total": 1_000_000,
    "tool": "report",
    "stream": "info",
    "phase": "search",
    "ts": TIME,
}
PROGRESS_RULES = (
    "S0-9-progress-fields",
    "S0-9.1-throttled",
    "S0-9.1-coalesced",
    "S0-9.2-no-progress-after-answer",
    "S1-6.8-method",
    "S1-6.8-legacy-fields",
    "S1-6.8-token-fields",
    "S1-6.8-no-extras",
)

PROGRESS = (
    Exchange(
        "progress is throttled, rises, has its fields, and ends with the answer",
        "latest",
        (
            Send((call(Id(1), "report", {"seconds": 0.6}, progressToken=Id(1)),)),
            Result(Id(1), Has({"isError": False})),
            Notified(
                PerMode(
                    {"progressToken": Id(1), **NOTICE}, legacy={"id": Id(1), "progressToken": Id(1), **NOTICE}
                ),
                at_most=3,
            ),
            Silent(),
        ),
        PROGRESS_RULES,
        differences={"legacy": LEGACY_PROGRESS},
    ),
    Exchange(
        "a text is a progress token too",
        "pinned",
        (
            Send((call(Id(1), "report", {"seconds": 0.0}, progressToken="tk"),)),
            Result(Id(1), Has({"isError": False})),
            Send((call(Id(2), "in_thread", {"text": "x"}, progressToken="tk"),)),
            Notified(
                Has({"progressToken": "tk", "tool": "in_thread", "message": "in the thread", "progress": 1.0})
            ),
            Result(Id(2), ANY),
        ),
        ("S1-6.8-token-fields",),
    ),
    Exchange(
        "without a token there is no progress",
        "pinned",
        (
            Send((call(Id(1), "report", {"seconds": 0.01}),)),
            Result(Id(1), Has({"isError": False})),
            PerMode(Silent(), legacy=Notified(Has({"id": Id(1), "tool": "report"}, ("progressToken",)))),
            Send((call(Id(2), "report", {"seconds": 0.01}, progressToken=True),)),
            Result(Id(2), Has({"isError": False})),
            PerMode(Silent(), legacy=Notified(Has({"id": Id(2), "tool": "report"}, ("progressToken",)))),
        ),
        ("S1-6.8-legacy-fields",),
        differences={"legacy": LEGACY_PROGRESS},
    ),
)

OVERLOAD = {
    "code": "QUEUE_OVERLOADED",
    "message": Is((str,)),
    "retryable": True,
    "details": {"queue": {"max": 2, "size": 2}},
}

QUEUE = (
    Exchange(
        "a full queue is told with its sizes, and reads pass it by",
        "narrow",
        (
            Send(tuple(call(Id(number), "hang") for number in (1, 2, 3))),
            Send((call(Id(4), "echo", {"text": "x"}),)),
            Error(Id(4), -32001, OVERLOAD),
            Send((modern(5, "tools/call", {"name": "echo", "arguments": {"text": "x"}}),)),
            Error(Id(5), 1001, OVERLOAD),
            Send((request(Id(6), "tools/list"), request(Id(7), "ping"), modern(8, "server/discover"))),
            Result(Id(6), {"tools": ListOf(ANY, 18)}),
            Result(Id(7), {}),
            Result(Id(8), ANY),
            Send((cancel(Id(2)), cancelled(Id(3)))),
            Result(Id(2), CANCELLED),
            Silent((Id(3),)),
            Send((call(Id(9), "echo", {"text": "next"}), cancel(Id(1)))),
            Result(Id(1), CANCELLED),
            Result(Id(9), structured({"text": "next"})),
        ),
        ("S1-6.10.1-overload", "S1-6.10.1-overload-data", "S0-7.1-cancel-answers-once"),
    ),
    Exchange(
        "a call that is cancelled before it could begin gives its slot back",
        "narrow",
        (
            Send((call(Id(1), "hang"), cancel(Id(1)), call(Id(2), "echo", {"text": "next"}))),
            Result(Id(1), CANCELLED),
            Result(Id(2), structured({"text": "next"})),
            Send((call(Id(3), "hang"), cancelled(Id(3)), call(Id(4), "echo", {"text": "last"}))),
            Result(Id(4), structured({"text": "last"})),
            Silent((Id(3),)),
        ),
        ("S0-7.1-cancel-stops", "S0-7.1-cancel-answers-once"),
    ),
    Exchange(
        "calls that wait are served in their order",
        "narrow",
        (
            Send(tuple(call(Id(number), "add", {"a": number, "b": 1}) for number in (1, 2, 3))),
            Result(Id(1), structured({"total": 2})),
            Result(Id(2), structured({"total": 3})),
            Result(Id(3), structured({"total": 4})),
        ),
    ),
)

ENDS = (
    Exchange(
        "calls in flight are finished when the client closes its end",
        "latest",
        (
            Send((call(Id(1), "report", {"seconds": 0.3}), call(Id(2), "echo", {"text": "last"}))),
            CloseInput(),
            Result(Id(1), PerMode(Has({"isError": False}))),
            Result(Id(2), structured({"text": "last"})),
            PerMode(Logged(ANY), legacy=Notified(Has({"tool": "report"}))),
            Exits(0),
            Logged(Has({"event": "server_stopped", "reason": "eof", "calls": 2})),
        ),
        alone=True,
        differences={"legacy": LEGACY_PROGRESS},
    ),
    Exchange(
        "calls that take too long after the end of input are cancelled and answered",
        "latest",
        (
            Send((call(Id(1), "hang", {"note": File("note")}),)),
            CloseInput(),
            Result(Id(1), CANCELLED),
            Exits(0),
            FileHas(File("note"), 2),
        ),
        alone=True,
        settings={"HOLDFAST_DRAIN": "0.2"},
    ),
    Exchange(
        "the last message counts even without its line end",
        "latest",
        (
            Send((PerMode(request(Id(1), "ping")),)),
            Result(Id(1), {}),
            Send((b'{"jsonrpc":"2.0","id":"x","method":"no/end"}',)),
            Error("x", -32601, INVALID),
            CloseInput(),
            Exits(0),
        ),
        alone=True,
    ),
    Exchange(
        "a client that vanishes takes the processes of its calls with it",
        "latest",
        (
            Send((call(Id(1), "tree", {"pids": File("pids")}),)),
            FileHas(File("pids"), 3),
            Disconnect(),
            Exits(0),
            Gone(File("pids"), 3),
        ),
        TREE_RULES,
        alone=True,
        settings={"HOLDFAST_DRAIN": "0.2"},
    ),
    Exchange(
        "a server that is asked to end cancels its calls and says so",
        "latest",
        (
            Send((call(Id(1), "hang", {"note": File("note")}),)),
            FileHas(File("note"), 1),
            Signal(signal.SIGTERM),
            Result(Id(1), CANCELLED),
            Exits(143),
            FileHas(File("note"), 2),
            Logged(Has({"event": "server_stopped", "reason": "signal"})),
        ),
        alone=True,
    ),
    Exchange(
        "a server that is killed leaves no process behind",
        "latest",
        (
            Send((call(Id(1), "tree", {"pids": File("pids")}),)),
            FileHas(File("pids"), 3),
            Signal(signal.SIGKILL),
            Exits(-9),
            Gone(File("pids"), 3),
        ),
        TREE_RULES,
        alone=True,
    ),
)

EXCHANGES = (*CANCELLATION, *TIMEOUTS, *PROGRESS, *QUEUE, *ENDS)
