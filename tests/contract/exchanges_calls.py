"""Exchanges about calls: results and failures in each dialect, arguments, presentation, and kinds of tools."""

from tests.contract.exchange import (
    HOST_IDS,
    INVALID,
    STAMP,
    Exchange,
    call,
    failed,
    logged_id,
    modern,
    plain,
    poc_failed,
    poc_failure,
    request,
    structured,
    text,
    violation,
)
from tests.contract.patterns import ANY, Has, Id, Is, Json, ListOf, Text
from tests.contract.steps import Error, Logged, Notified, Result, Send, StderrHas

SUCCESS = ("S0-5.1-success-is-json", "S0-5.1-success-is-no-error", "S1-4.2-success", "S1-6.7-not-error",
           "S1-6.7-one-text", "S1-6.7-compact")  # fmt: skip
FAILURE = ("S0-5.2-error-result", "S0-5.2-message", "S0-5.2-code", "S0-5.2-hint", "S1-4.2-error", "S1-6.7-failure")

BAD_ARGUMENTS = {"a": -1, "b": "two", "c": 3}
VIOLATIONS = ListOf(
    Has({"instancePath": Is((str,)), "schemaPath": Is((str,)), "keyword": Is((str,)), "message": Is((str,))}), 3
)

REJECTED = {"event": "tool_call", "outcome": "rejected"}

RESULTS = (
    Exchange(
        "a result is one text item of compact JSON",
        "pinned",
        (Send((call(Id(1), "add", {"a": 1, "b": 2}),)), Result(Id(1), structured({"total": 3}))),
        (*SUCCESS, "S0-1-all-transports"),
    ),
    Exchange(
        "a revision without structured content gets none",
        "2025-03-26",
        (Send((call(Id(1), "add", {"a": 1, "b": 2}),)), Result(Id(1), plain({"total": 3}))),
        (*SUCCESS, "OURS-14-structured"),
    ),
    Exchange(
        "a result in the dialect status says so",
        "2025-06-18",
        (
            Send((call(Id(1), "add", {"a": 1, "b": 2}),)),
            Result(Id(1), structured({"status": "success", "total": 3})),
        ),
        ("OURS-15-status",),
    ),
    Exchange(
        "a result in the dialect launch says so",
        "2024-11-05",
        (Send((call(Id(1), "add", {"a": 1, "b": 2}),)), Result(Id(1), plain({"ok": True, "total": 3}))),
        ("OURS-15-launch",),
    ),
    Exchange(
        "a result that is no object stands under a name",
        "latest",
        (Send((call(Id(1), "count", {"numbers": [5, 6]}),)), Result(Id(1), structured({"result": 2}))),
    ),
    Exchange(
        "text survives as it is",
        "latest",
        (
            Send((call(Id(1), "echo", {"text": 'ä€😀\u2028\n\t"\\\u0000'}),)),
            Result(Id(1), structured({"text": 'ä€😀\u2028\n\t"\\\u0000'})),
        ),
        ("S1-6.2-one-line", "S1-6.2-no-raw-newline"),
    ),
)

FAILURES = (
    Exchange(
        "a declared code ends a call in the dialect poc",
        "latest",
        (
            Send((call(Id(1), "refuse", {"code": "NOT_FOUND"}),)),
            Result(
                Id(1),
                failed(
                    "NOT_FOUND",
                    Json(
                        {
                            "ok": False,
                            "code": "NOT_FOUND",
                            "message": "no such thing",
                            "wanted": "thing",
                            "hint": "Ask for another.",
                            "error": {
                                "code": "NOT_FOUND",
                                "message": "no such thing",
                                "details": {"wanted": "thing", "code": "shadow"},
                            },
                            "_meta": Has({"schemaVersion": "2.1.0", "toolVersion": "1.2.3"}),
                        }
                    ),
                ),
            ),
        ),
        (*FAILURE, "S1-5.2-tool-error-envelope", "OURS-15-poc"),
    ),
    Exchange(
        "a declared code ends a call in the dialect status",
        "2025-06-18",
        (
            Send((call(Id(1), "refuse", {"code": "NOT_FOUND"}),)),
            Result(
                Id(1),
                failed(
                    "NOT_FOUND",
                    Json(
                        {
                            "status": "failure",
                            "error_type": "NOT_FOUND",
                            "error_message": "no such thing",
                            "error_details": Has(
                                {"wanted": "thing", "retryable": False, "hint": "Ask for another."}
                            ),
                        }
                    ),
                ),
            ),
        ),
        ("OURS-15-status",),
    ),
    Exchange(
        "a declared code ends a call in the dialect launch",
        "2024-11-05",
        (
            Send((call(Id(1), "refuse", {"code": "NOT_FOUND"}),)),
            Result(
                Id(1),
                failed(
                    "NOT_FOUND",
                    Json(
                        {
                            "ok": False,
                            "error": {
                                "code": "NOT_FOUND",
                                "message": "no such thing",
                                "retryable": False,
                                "details": {"wanted": "thing", "code": "shadow", "hint": "Ask for another."},
                            },
                        }
                    ),
                ),
            ),
        ),
        ("OURS-15-launch",),
    ),
)

ARGUMENTS = (
    Exchange(
        "invalid arguments are a protocol error that lists every violation",
        "pinned",
        (
            Send((call(Id(1), "add", BAD_ARGUMENTS),)),
            Error(
                Id(1),
                -32602,
                {
                    "code": "INVALID_REQUEST",
                    "details": ListOf(ANY, 3),
                },
                Text("^invalid arguments for add: "),
            ),
            Send((call(Id(2), "add", {"a": 1}),)),
            Error(Id(2), -32602, {**INVALID, "details": [violation("", "required", missingProperty="b")]}),
            Send((call(Id(3), "add", {"a": -1, "b": 2}),)),
            Error(Id(3), -32602, {**INVALID, "details": [violation("/a", "minimum", comparison=">=", limit=0)]}),
            Send((call(Id(4), "add", {"a": 1, "b": "2"}),)),
            Error(Id(4), -32602, {**INVALID, "details": [violation("/b", "type", type="integer")]}),
        ),
        (
            "S1-6.6-validated",
            "S1-6.6-invalid-params",
            "S1-6.6-data-code",
            "S1-6.6-details",
            "S0-6-invalid-request",
        ),
    ),
    Exchange(
        "invalid arguments are a protocol error in the dialect status too",
        "2025-06-18",
        (
            Send((call(Id(1), "add", BAD_ARGUMENTS),)),
            Error(Id(1), -32602, {"code": "INVALID_REQUEST", "details": VIOLATIONS}),
        ),
        ("S1-6.6-invalid-params",),
    ),
    Exchange(
        "from 2025-11-25 on invalid arguments are a tool error",
        "latest",
        (
            Send((call(Id(1), "add", BAD_ARGUMENTS),)),
            Result(Id(1), poc_failed("INVALID_REQUEST", violations=VIOLATIONS)),
            Send((modern(2, "tools/call", {"name": "add", "arguments": {}}),)),
            Result(
                Id(2),
                {
                    **failed(
                        "INVALID_REQUEST",
                        Json(poc_failure("INVALID_REQUEST", violations=ListOf(ANY, 2))),
                        **STAMP,
                    ),
                    "resultType": "complete",
                },
            ),
        ),
        ("OURS-9-later-revisions",),
    ),
    Exchange(
        "in the dialect launch invalid arguments are a tool error at every revision",
        "2024-11-05",
        (
            Send((call(Id(1), "add", BAD_ARGUMENTS),)),
            Result(
                Id(1),
                failed(
                    "INVALID_INPUT",
                    Json(
                        {
                            "ok": False,
                            "error": {
                                "code": "INVALID_INPUT",
                                "message": Is((str,)),
                                "retryable": False,
                                "details": Has({"violations": VIOLATIONS}),
                            },
                        }
                    ),
                ),
            ),
        ),
        ("OURS-9-launch",),
    ),
    Exchange(
        "unknown arguments are rejected",
        "pinned",
        (
            Send((call(Id(1), "echo", {"text": "x", "loud": True}),)),
            Error(
                Id(1),
                -32602,
                {**INVALID, "details": [violation("", "additionalProperties", additionalProperty="loud")]},
            ),
        ),
        ("S0-4.1-unknown-arguments",),
    ),
    Exchange(
        "reserved arguments are rejected when they are set",
        "pinned",
        (
            Send((call(Id(1), "echo", {"text": "x", "future": None}),)),
            Error(Id(1), -32602, {**INVALID, "details": [Has({"instancePath": "/future", "keyword": "not"})]}),
        ),
        ("S0-4.1-reserved-arguments",),
    ),
    Exchange(
        "an unknown tool is a protocol error, and on record",
        "latest",
        (
            Send((call(Id(1), "no_such_tool"), modern(2, "tools/call", {"name": "no_such_tool"}))),
            Error(Id(1), -32602, {"code": "NOT_FOUND"}, Text("no_such_tool")),
            Error(Id(2), -32602, {"code": "NOT_FOUND"}),
            Logged(Has({**REJECTED, "request_id": logged_id(1), "code": "NOT_FOUND"})),
            Logged(Has({**REJECTED, "request_id": logged_id(2), "code": "NOT_FOUND"})),
        ),
        ("S1-5.1-unknown-tool", "S1-5.2-protocol-error-code"),
        differences={"hosted": HOST_IDS},
    ),
    Exchange(
        "malformed parameters of a call are a protocol error, and on record",
        "2024-11-05",
        (
            Send(
                (
                    request(Id(1), "tools/call", {}),
                    request(Id(2), "tools/call", {"name": 5}),
                    request(Id(3), "tools/call", {"name": "echo", "arguments": [1]}),
                    request(Id(4), "tools/call", {"name": "echo", "_meta": "x"}),
                    request(Id(5), "tools/call"),
                    request(Id(6), "tools/call", {"name": "echo", "arguments": None}),
                )
            ),
            *(Error(Id(number), -32602, INVALID) for number in range(1, 7)),
            *(
                Logged(Has({**REJECTED, "request_id": logged_id(number), "code": "INVALID_REQUEST"}))
                for number in range(1, 7)
            ),
        ),
        ("S0-6-invalid-request", "S1-5.2-protocol-error-code"),
        differences={"hosted": HOST_IDS},
    ),
    Exchange(
        "a tool answers under its older name",
        "latest",
        (Send((call(Id(1), "say", {"text": "x"}),)), Result(Id(1), structured({"text": "x"}))),
        ("S0-3.1-alias",),
    ),
)

PRESENTATION = (
    Exchange(
        "the caller chooses the form of the text",
        "latest",
        (
            Send((call(Id(1), "add", {"a": 1, "b": 2}, **{"io.holdfast/render": "porcelain"}),)),
            Result(
                Id(1), {"content": text(Text("total.*3")), "isError": False, "structuredContent": {"total": 3}}
            ),
            Send((call(Id(2), "refuse", {"code": "NOT_FOUND"}, **{"io.holdfast/render": "porcelain"}),)),
            Result(Id(2), failed("NOT_FOUND", Text(r"\Aerror NOT_FOUND: no such thing\n"))),
            Send((call(Id(3), "add", {"a": 1, "b": 2}, **{"io.holdfast/render": "crayon"}),)),
            Result(Id(3), poc_failed("INVALID_REQUEST", violations=ListOf(ANY, 1))),
        ),
        ("OURS-14-structured", "OURS-14-choice"),
    ),
)

KINDS = (
    Exchange(
        "a function that is not async works like any other",
        "latest",
        (
            Send((call(Id(1), "in_thread", {"text": "x"}, progressToken=Id(1)),)),
            Notified(Has({"progressToken": Id(1), "tool": "in_thread", "message": "in the thread"})),
            Result(Id(1), structured({"text": "X"})),
        ),
    ),
    Exchange(
        "what a tool prints stays out of the protocol",
        "latest",
        (
            Send((call(Id(1), "noise"),)),
            Result(Id(1), structured({"text": "quiet"})),
            StderrHas("written"),
            StderrHas("from a child"),
        ),
        ("S1-6.2-stdout-reserved", "S1-6.2-logs-to-stderr"),
    ),
)

EXCHANGES = (*RESULTS, *FAILURES, *ARGUMENTS, *PRESENTATION, *KINDS)
