"""Exchanges about the life of a call: cancellation, timeouts, progress, overload."""

from typing import Any

from tests.contract.exchange import (
    HOST_IDS,
    TIME,
    Exchange,
    call,
    failed,
    logged_id,
    modern,
    note,
    poc_failed,
    request,
    structured,
)
from tests.contract.patterns import ANY, File, Has, Id, Is, Json, ListOf, PerMode
from tests.contract.steps import (
    Error,
    FileHas,
    Logged,
    Notified,
    NotifiedInOrder,
    Result,
    Send,
    Silent,
)

CANCELLED = poc_failed("CANCELLED")
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
        "a running call that is cancelled with notifications/cancelled stops unanswered, and on record",
        "latest",
        (
            Send((call(Id(1), "hang", {"note": File("note")}),)),
            FileHas(File("note"), 1),
            Send((cancelled(Id(1)),)),
            FileHas(File("note"), 2),
            # Nothing more is sent before the record is there: it needs no other message to be written.
            Logged(Has({"event": "tool_call", "request_id": logged_id(1), "outcome": "cancelled"})),
            Silent((Id(1),)),
        ),
        ("OURS-11-silent",),
        differences={"hosted": HOST_IDS},
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
        ("S0-7.2-ids-as-text", "OURS-11-exact"),
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
)

TIMEOUTS = (
    Exchange(
        "a call beyond its timeout is aborted and answered",
        "latest",
        (
            Send((call(Id(1), "hang_briefly", {"note": File("note")}),)),
            Result(Id(1), poc_failed("TOOL_TIMEOUT", timeoutMs=200)),
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
        "a timeout in the dialect status has the same fields",
        "2025-06-18",
        (
            Send((call(Id(1), "hang_briefly"),)),
            Result(
                Id(1),
                failed(
                    "TOOL_TIMEOUT",
                    Json(Has({"error_type": "TOOL_TIMEOUT", "error_details": Has({"timeoutMs": 200})})),
                ),
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
            Send((call(Id(1), "report", {"seconds": 0.3}, progressToken=Id(1)),)),
            Result(Id(1), Has({"isError": False})),
            Notified(
                PerMode(
                    {"progressToken": Id(1), **NOTICE}, legacy={"id": Id(1), "progressToken": Id(1), **NOTICE}
                ),
                at_most=2,
            ),
            Silent(),
        ),
        PROGRESS_RULES,
        differences={"legacy": LEGACY_PROGRESS},
    ),
    Exchange(
        "of reports that come too fast the newest is the one that is told",
        "trees",
        (
            Send((call(Id(1), "burst", {"reports": 500, "gate_name": "burst"}, progressToken=Id(1)),)),
            NotifiedInOrder((Has({"message": "step 1"}), Has({"message": "step 500"}))),
            Send((call(Id(2), "open_gate", {"name": "burst"}),)),
            Result(Id(2), ANY),
            Result(Id(1), structured({"text": "500 before burst"})),
            Silent(),
        ),
        ("S0-9.1-coalesced",),
    ),
    Exchange(
        "a text is a progress token too",
        "pinned",
        (
            Send((call(Id(1), "report", {"seconds": 0.0}, progressToken="tk"),)),
            Result(Id(1), Has({"isError": False})),
            Send((call(Id(2), "in_thread", {"text": "x"}, progressToken="tk"),)),
            Notified(
                Has({"progressToken": "tk", "tool": "in_thread", "message": "in the thread", "progress": NUMBER})
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
            Result(Id(6), {"tools": ListOf(ANY, 22)}),
            Result(Id(7), {}),
            Result(Id(8), ANY),
            Send((cancel(Id(2)), cancelled(Id(3)))),
            Result(Id(2), CANCELLED),
            Silent((Id(3),)),
            Send((call(Id(9), "echo", {"text": "next"}), cancel(Id(1)))),
            Result(Id(1), CANCELLED),
            Result(Id(9), structured({"text": "next"})),
        ),
        (
            "S1-6.10.1-overload",
            "S1-6.10.1-overload-data",
            "S0-7.1-cancel-answers-once",
            "OURS-10-number",
            "OURS-10-reads",
        ),
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

EXCHANGES = (*CANCELLATION, *TIMEOUTS, *PROGRESS, *QUEUE)
