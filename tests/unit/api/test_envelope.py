"""Envelopes, statuses and when to come back."""

import json

import pytest

from holdfast.api.envelope import HttpError, Stamp, failure_reply, refusal, status_of, success_reply
from holdfast.errors import CODES
from holdfast.vocabulary.faults import fault

STAMP = Stamp("1.0.0", "0.1.0")


def test_a_success_names_the_repository_only_where_there_is_one() -> None:
    with_repo = json.loads(success_reply(STAMP, {"a": 1}, repo="r").body)
    without = json.loads(success_reply(STAMP, {}).body)

    assert list(with_repo) == ["ok", "repo", "result", "_meta"]
    assert list(without) == ["ok", "result", "_meta"]
    assert with_repo["_meta"]["schemaVersion"] == "1.0.0"


# What the contracts say: the table of the tooling contract, and what was decided where it is silent.
STATUSES = {
    400: {"INVALID_REQUEST", "INVALID_INPUT", "SCHEMA_VALIDATION_FAILED"},
    401: {"UNAUTHORIZED"},
    403: {"FORBIDDEN", "ALLOWED_PATHS_VIOLATION"},
    404: {"NOT_FOUND", "RUN_NOT_FOUND"},
    409: {"NO_INDEX", "KEY_CONFLICT", "STATE_LOST", "ILLEGAL_STATE", "FIX_EXHAUSTED"},
    422: {"ARCHIVE_UNSAFE", "ARCHIVE_TOO_LARGE", "RESULT_TOO_LARGE", "GATE_FAILED"},
    429: {"RATE_LIMITED"},
    500: {"INTERNAL"},
    501: {"CAPABILITY_MISSING", "TOOLCHAIN_MISSING"},
    502: {"DOWNLOAD_VERIFY_FAILED", "NO_ANSWER", "COMMIT_SERVICE_ERROR"},
    503: {
        "QUEUE_OVERLOADED", "CANCELLED", "NOT_READY", "WORKER_LOST", "AMBIGUOUS_OUTCOME", "REPLAY_EXHAUSTED",
        "ROLLOUT_DISRUPTED", "QUARANTINED",
    },
    504: {"TOOL_TIMEOUT"},
}  # fmt: skip


@pytest.mark.requirement("OURS-15-http")
def test_every_code_has_the_status_that_the_contract_says() -> None:
    replies = {code: failure_reply(STAMP, HttpError(fault(code, "m"))) for code in CODES}
    statuses = {code: status for status, codes in STATUSES.items() for code in codes}

    assert {code: reply.status for code, reply in replies.items()} == statuses
    assert {code: json.loads(reply.body)["error"]["code"] for code, reply in replies.items()} == dict(
        zip(CODES, CODES, strict=True)
    )


def test_who_reads_that_its_request_was_cancelled_did_not_ask_for_it_and_may_come_back() -> None:
    reply = failure_reply(STAMP, HttpError(fault("CANCELLED", "m")))

    assert (reply.status, dict(reply.headers)[b"retry-after"]) == (503, b"1")


def test_a_code_that_nobody_declared_is_a_fault_of_the_server() -> None:
    assert status_of(fault("WHO_KNOWS", "m")) == 500


@pytest.mark.parametrize(
    ("details", "seconds"),
    [
        ({}, b"1"),
        ({"retry": {"afterMs": 1}}, b"1"),
        ({"retry": {"afterMs": 2001}}, b"3"),
        ({"retry": {"afterMs": 1e12}}, b"3600"),
        ({"retry": {"afterMs": -5}}, b"1"),
        ({"retry": {"afterMs": "soon"}}, b"1"),
        ({"retry": 7}, b"1"),
    ],
)
def test_busy_servers_say_when_to_come_back(details: dict[str, object], seconds: bytes) -> None:
    reply = failure_reply(STAMP, HttpError(fault("NOT_READY", "m", details=details)))

    assert dict(reply.headers)[b"retry-after"] == seconds


def test_a_refusal_may_bring_its_own_status_and_headers() -> None:
    reply = failure_reply(STAMP, refusal("INVALID_REQUEST", "m", status=405, headers=[(b"allow", b"GET")]))

    assert (reply.status, reply.headers) == (405, ((b"allow", b"GET"),))
