"""Exchanges with tools that misbehave: the call is answered, the server goes on, and the event log has a record.

What a tool may do wrong is to raise, to break its own contract, to say too much, or to die.
"""

from typing import Any

from tests.contract.exchange import HOST_IDS, Exchange, call, failed, logged_id, poc_failed, request, structured
from tests.contract.patterns import ANY, Has, Id, Save, Text, Var
from tests.contract.steps import Logged, NotLogged, Result, Send

FAULT_ID = Save("fault", Text(r"^[\w-]{8,40}$"))
MIB = 1024 * 1024
TOO_LARGE = poc_failed("RESULT_TOO_LARGE", limitBytes=8 * MIB)
PORCELAIN = {"io.holdfast/render": "porcelain"}


def _internal(cause: str) -> dict[str, Any]:
    return poc_failed("INTERNAL", cause_class=cause, faultId=FAULT_ID)


def _on_record(number: int, cause: str, trace: Any = ANY, code: str = "INTERNAL") -> tuple[Logged, ...]:
    """The fault whose id was told last is in the event log, and so is its call."""
    fault = {"event": "fault", "fault_id": Var("fault"), "cause_class": cause, "traceback": trace}
    ended = {"event": "tool_call", "request_id": logged_id(number), "fault_id": Var("fault"), "code": code}
    return Logged(Has(fault)), Logged(Has({**ended, "outcome": "error"}))


RAISING = (
    Exchange(
        "an internal error shows its class and an id, and the event log has the rest",
        "latest",
        (
            Send((call(Id(1), "crash"),)),
            Result(Id(1), _internal("RuntimeError")),
            *_on_record(1, "RuntimeError", Text("in crash")),
            Send((call(Id(2), "crash"),)),
            Result(Id(2), failed("INTERNAL", Text(r"^(?!.*(Traceback|/server_under_test|secret)).*$"))),
        ),
        ("S0-6-internal", "OURS-16-internal"),
        differences={"hosted": HOST_IDS},
    ),
    *(
        Exchange(
            f"{cause} in a tool ends the call and not the server",
            "latest",
            (
                Send((call(Id(1), "leave", {"how": how}),)),
                Result(Id(1), _internal(cause)),
                *_on_record(1, cause),
                Send((call(Id(2), "leave_thread", {"how": how}), call(Id(3), "echo", {"text": "on"}))),
                Result(Id(2), _internal(cause)),
                *_on_record(2, cause),
                Result(Id(3), structured({"text": "on"})),
                NotLogged(Has({"event": "tool_call", "tool": Text("^leave"), "outcome": "ok"})),
            ),
            ("S0-6-internal",),
            differences={"hosted": HOST_IDS},
        )
        for how, cause in {
            "exit": "SystemExit",
            "interrupt": "KeyboardInterrupt",
            "generator": "GeneratorExit",
            "cancelled": "CancelledError",
            "own": "Quit",
        }.items()
    ),
)

CONTRACT = (
    *(
        Exchange(
            f"the undeclared code {code} never reaches the caller",
            "latest",
            (
                Send((call(Id(1), "refuse", {"code": code}),)),
                Result(Id(1), _internal("UndeclaredErrorCode")),
                *_on_record(1, "UndeclaredErrorCode"),
            ),
            ("S1-5.1-registry",),
            differences={"hosted": HOST_IDS},
        )
        for code in ("FORBIDDEN", "TOOL_TIMEOUT")
    ),
    Exchange(
        "a result that breaks its own schema is an internal error",
        "latest",
        (
            Send((call(Id(1), "wrong_output"),)),
            Result(Id(1), _internal("OutputContractViolation")),
            *_on_record(1, "OutputContractViolation"),
        ),
        differences={"hosted": HOST_IDS},
    ),
    Exchange(
        "a result that no JSON can carry is an internal error",
        "latest",
        (
            Send((call(Id(1), "undecodable"),)),
            Result(Id(1), _internal("OutputContractViolation")),
            *_on_record(1, "OutputContractViolation"),
            Send((call(Id(2), "undecodable", **PORCELAIN), request(Id(3), "ping"))),
            Result(Id(2), failed("INTERNAL", Text(r"\Aerror INTERNAL: [^\n]*OutputContractViolation"))),
            Result(Id(3), {}),
        ),
        differences={"hosted": HOST_IDS},
    ),
)

LARGE = (
    Exchange(
        "an answer that is too large is a typed failure in every form",
        "latest",
        (
            Send((call(Id(1), "large", {"size": 100_000}),)),
            Result(Id(1), Has({"isError": False})),
            Send((call(Id(2), "large", {"size": 9_000_000}),)),
            Result(Id(2), TOO_LARGE),
            Send((call(Id(3), "large", {"size": 9_000_000}, **PORCELAIN),)),
            Result(Id(3), failed("RESULT_TOO_LARGE", Text(r"\Aerror RESULT_TOO_LARGE: "))),
            # The text alone would fit: it is sent a second time as structured content.
            Send((call(Id(4), "large", {"size": 5_000_000}),)),
            Result(Id(4), TOO_LARGE),
            Logged(Has({"event": "tool_call", "request_id": logged_id(4), "code": "RESULT_TOO_LARGE"})),
        ),
        ("OURS-14c-json",),
        differences={"hosted": HOST_IDS},
    ),
)

ISOLATED = (
    Exchange(
        "a tool in a process of its own works, and its death is only its own",
        "latest",
        (
            Send((call(Id(1), "isolated", {"number": 21}), call(Id(2), "isolated", {"number": -1}))),
            Result(Id(1), structured({"total": 42})),
            Result(Id(2), poc_failed("AMBIGUOUS_OUTCOME", cause_class="ProcessDied", faultId=FAULT_ID)),
            *_on_record(2, "ProcessDied", code="AMBIGUOUS_OUTCOME"),
        ),
        ("S3-topologies-private-worker",),
        differences={"hosted": HOST_IDS},
    ),
)

EXCHANGES = (*RAISING, *CONTRACT, *LARGE, *ISOLATED)
