"""Exchanges in which the server asks its client, and tells its log something, in both eras."""

from typing import Any

from tests.contract.exchange import (
    ENVELOPE,
    INVALID,
    META,
    STAMP,
    Exchange,
    Scene,
    call,
    initialize,
    note,
    poc_failed,
    request,
    structured,
    welcome,
)
from tests.contract.patterns import ANY, Has, Id, Is, PerTopology, Save, Text, Var
from tests.contract.steps import CloseInput, Error, Exits, Result, Said, Send, Silent

ABLE: dict[str, Any] = {"elicitation": {}, "sampling": {}, "roots": {}}

SCENES: dict[str, Scene] = {
    "asking": Scene(
        "poc",
        (
            Send((initialize(1, "2025-11-25", **ABLE),)),
            Result(Id(1), welcome("2025-11-25")),
            Send((note("notifications/initialized"),)),
        ),
        {"HOLDFAST_KILL_GRACE": "0.2", "HOLDFAST_DRAIN": "600"},
    ),
}

NAME_FIELD = Has({"type": "string", "minLength": 1}, without=("$ref",))
NAME_FORM = {"type": "object", "properties": {"name": NAME_FIELD}, "required": ["name"]}
ANN = {"action": "accept", "content": {"name": "Ann"}}
LINE = {"role": "assistant", "content": {"type": "text", "text": "a line"}, "model": "m"}
ROOTS = {"roots": [{"uri": "file:///work", "name": "work"}]}
MESSAGES = [{"role": "user", "content": {"type": "text", "text": "Line?"}}]
UNANSWERED = {"resultType": "input_required", "requestState": Save("state", Is((str,))), "_meta": STAMP}


def _question(method: str, params: dict[str, Any], about: int, name: str = "question") -> Said:
    """A question of the server, with the id of the call that it is asked for."""
    meta = {"io.holdfast/request": Id(about)}
    return Said({"id": Save(name, Is((str, int))), "method": method, "params": {**params, "_meta": meta}})


def _form(message: str, about: int) -> Said:
    return _question("elicitation/create", {"message": message, "requestedSchema": NAME_FORM}, about)


def _answer(result: Any, name: str = "question") -> Send:
    return Send(({"jsonrpc": "2.0", "id": Var(name), "result": result},))


def _refusal(code: int, message: str) -> Send:
    return Send(({"jsonrpc": "2.0", "id": Var("question"), "error": {"code": code, "message": message}},))


def _modern(number: int, tool: str, can: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A call that describes itself and the client; in `more` stand its answers."""
    meta = {**ENVELOPE, META + "clientCapabilities": ABLE if can is None else can, **more.pop("meta", {})}
    return request(Id(number), "tools/call", {"name": tool, "arguments": {}, **more, "_meta": meta})


def _done(text: str) -> dict[str, Any]:
    return {**structured({"text": text}), "resultType": "complete", "_meta": STAMP}


def _asks(*keys: str) -> dict[str, Any]:
    asked = {
        key: {"method": "elicitation/create", "params": {"message": ANY, "requestedSchema": NAME_FORM}}
        for key in keys
    }
    return {**UNANSWERED, "inputRequests": asked}


def _log(level: str, data: Any, about: int, **more: Any) -> Said:
    return Said(
        {
            "method": "notifications/message",
            "params": {"level": level, "data": data, "_meta": {"io.holdfast/request": Id(about)}, **more},
        }
    )


HANDSHAKE = (
    Exchange(
        "a question is a request to the client and the call goes on with its answer",
        "asking",
        (
            Send((call(Id(1), "ask_name"),)),
            _form("What is your name?", 1),
            _answer(ANN),
            Result(Id(1), structured({"text": "Hello, Ann!"})),
        ),
    ),
    Exchange(
        "a person may say no",
        "asking",
        (
            Send((call(Id(1), "ask_name"),)),
            _form("What is your name?", 1),
            _answer({"action": "decline"}),
            Result(Id(1), structured({"text": "decline"})),
        ),
    ),
    Exchange(
        "several questions are asked at once and their answers come in any order",
        "asking",
        (
            Send((call(Id(1), "ask_all"),)),
            _question("elicitation/create", {"message": "Name?", "requestedSchema": NAME_FORM}, 1, "name"),
            _question("sampling/createMessage", {"messages": MESSAGES, "maxTokens": 9}, 1, "line"),
            _question("roots/list", {}, 1, "where"),
            _answer(ROOTS, "where"),
            _answer(LINE, "line"),
            _answer(ANN, "name"),
            Result(Id(1), structured({"text": "Ann a line file:///work"})),
        ),
    ),
    Exchange(
        "a tool in a process of its own asks and logs as well",
        "asking",
        (
            Send((call(Id(1), "ask_isolated"),)),
            _form("What is your name?", 1),
            _answer(ANN),
            Result(Id(1), structured({"text": "Ann"})),
        ),
    ),
    Exchange(
        "an answer that does not fit ends the call in a typed fault",
        "asking",
        (
            Send((call(Id(1), "ask_name"),)),
            _form("What is your name?", 1),
            _answer({"action": "accept", "content": {"name": 5}}),
            Result(Id(1), poc_failed("NO_ANSWER", reason="invalid")),
            Send((call(Id(2), "ask_name"),)),
            _form("What is your name?", 2),
            _answer(12345),
            Result(Id(2), poc_failed("NO_ANSWER", reason="invalid")),
        ),
    ),
    Exchange(
        "a tool may go on when its client refuses to answer",
        "asking",
        (
            Send((call(Id(1), "ask_anyway"),)),
            _question("sampling/createMessage", {"messages": MESSAGES, "maxTokens": 9}, 1),
            _refusal(-1, "the person said no"),
            Result(Id(1), structured({"text": "NO_ANSWER refused"})),
        ),
    ),
    Exchange(
        "a call that is cancelled withdraws its question and a late answer harms nobody",
        "asking",
        (
            Send((call(Id(1), "ask_name"),)),
            _form("What is your name?", 1),
            Send((note("notifications/cancelled", {"requestId": Id(1)}),)),
            Said({"method": "notifications/cancelled", "params": {"requestId": Var("question")}}),
            _answer(ANN),
            Silent((Id(1),)),
        ),
    ),
    Exchange(
        "waiting for an answer does not count against the time of the tool",
        "asking",
        (
            Send((call(Id(1), "ask_briefly"),)),
            _form("What is your name?", 1),
            *(
                step
                for number in range(2, 7)  # longer together than the other may take
                for step in (
                    Send((call(Id(number), "hang_briefly"),)),
                    Result(Id(number), poc_failed("TOOL_TIMEOUT", timeoutMs=200)),
                )
            ),
            _answer(ANN),
            Result(Id(1), structured({"text": "Hello, Ann!"})),
        ),
    ),
    Exchange(
        "a log level that there is not is refused",
        "asking",
        (
            Send((request(Id(1), "logging/setLevel", {"level": "loud"}), request(Id(2), "logging/setLevel"))),
            Error(Id(1), -32602, INVALID, Text("emergency")),
            Error(Id(2), -32602, INVALID),
        ),
    ),
    Exchange(
        "nothing is told to a log that nobody asked for, and what was asked for is",
        "asking",
        (
            Send((call(Id(1), "log_lines", {"lines": 2}),)),
            Result(Id(1), structured({"text": "2"})),
            Send((request(Id(2), "logging/setLevel", {"level": "info"}),)),
            Result(Id(2), {}),
            Send((call(Id(3), "log_lines", {"lines": 3}),)),
            *(_log("info", f"line {number}", 3, logger="suite") for number in (1, 2, 3)),
            Result(Id(3), structured({"text": "3"})),
        ),
    ),
)

SELF_DESCRIBING = (
    Exchange(
        "a call that needs input ends with what it asks and is repeated with the answers",
        "asking",
        (
            Send((_modern(1, "ask_name"),)),
            Result(Id(1), _asks("user_name")),
            Send((_modern(2, "ask_name", inputResponses={"user_name": ANN}, requestState=Var("state")),)),
            Result(Id(2), _done("Hello again, Ann!")),
        ),
    ),
    Exchange(
        "answers are taken by their keys alone, and those that nobody asked for are ignored",
        "asking",
        (
            Send((_modern(1, "ask_name", inputResponses={"user_name": ANN, "other": 5, "more": None}),)),
            Result(Id(1), _done("Hello again, Ann!")),
            Send((_modern(2, "ask_name", inputResponses={"wrong_key": ANN}),)),
            Result(Id(2), _asks("user_name")),
            Send((_modern(3, "echo", inputResponses={"user_name": ANN}),)),
            Result(Id(3), ANY),
        ),
    ),
    Exchange(
        "what cannot be an answer is asked for again",
        "asking",
        (
            Send((_modern(1, "ask_name", inputResponses={"user_name": 12345}),)),
            Result(Id(1), _asks("user_name")),
            Send((_modern(2, "ask_name", inputResponses=None),)),
            Result(Id(2), _asks("user_name")),
            Send((_modern(3, "ask_name", inputResponses={"user_name": {"action": "accept", "content": {}}}),)),
            Result(Id(3), _asks("user_name")),
            Send((_modern(4, "ask_name", inputResponses=[ANN]), _modern(5, "ask_name", requestState=5))),
            Error(Id(4), -32602, INVALID, Text("inputResponses")),
            Error(Id(5), -32602, INVALID, Text("requestState")),
        ),
    ),
    Exchange(
        "earlier answers are in the state, so each round brings only the newest",
        "asking",
        (
            Send((_modern(1, "ask_twice"),)),
            Result(Id(1), _asks("step1")),
            Send((_modern(2, "ask_twice", inputResponses={"step1": ANN}, requestState=Var("state")),)),
            Result(Id(2), _asks("step2")),
            Send((_modern(3, "ask_twice", inputResponses={"step2": ANN}, requestState=Var("state")),)),
            Result(Id(3), _done("Ann Ann")),
        ),
    ),
    Exchange(
        "a state that was changed or belongs to another call is refused",
        "asking",
        (
            Send((_modern(1, "ask_name"),)),
            Result(Id(1), _asks("user_name")),
            Send((_modern(2, "ask_twice", inputResponses={"step1": ANN}, requestState=Var("state")),)),
            Error(Id(2), -32602, INVALID, Text("another call")),
            Send(
                (_modern(3, "ask_name", requestState="e30.e30"), _modern(4, "ask_name", requestState="nonsense"))
            ),
            Error(Id(3), -32602, INVALID, Text("was changed")),
            Error(Id(4), -32602, INVALID, Text("was changed")),
        ),
    ),
    Exchange(
        "three kinds of questions are one result",
        "asking",
        (
            Send((_modern(1, "ask_all"),)),
            Result(
                Id(1),
                {
                    **UNANSWERED,
                    "inputRequests": {
                        "name": {
                            "method": "elicitation/create",
                            "params": {"message": "Name?", "requestedSchema": NAME_FORM},
                        },
                        "line": {
                            "method": "sampling/createMessage",
                            "params": {"messages": MESSAGES, "maxTokens": 9},
                        },
                        "where": {"method": "roots/list", "params": {}},
                    },
                },
            ),
            Send(
                (
                    _modern(
                        2,
                        "ask_all",
                        inputResponses={"name": ANN, "line": LINE, "where": ROOTS},
                        requestState=Var("state"),
                    ),
                )
            ),
            Result(Id(2), _done("Ann a line file:///work")),
        ),
    ),
    Exchange(
        "a client that did not declare what a tool needs is told so by the protocol",
        "asking",
        (
            Send((_modern(1, "ask_name", {}), _modern(2, "ask_all", {"elicitation": {}, "roots": {}}))),
            Error(Id(1), -32021, {"code": "CAPABILITY_MISSING", "requiredCapabilities": {"elicitation": {}}}),
            Error(Id(2), -32021, {"code": "CAPABILITY_MISSING", "requiredCapabilities": {"sampling": {}}}),
            Send((_modern(3, "ask_anyway", {}),)),
            Result(Id(3), _done("CAPABILITY_MISSING ")),
        ),
    ),
    Exchange(
        "a tool in a process of its own asks in both eras",
        "asking",
        (
            Send((_modern(1, "ask_isolated", meta={META + "logLevel": "info"}),)),
            _log("info", "before", 1),
            Result(Id(1), _asks("user_name")),
            Send((_modern(2, "ask_isolated", inputResponses={"user_name": ANN}, requestState=Var("state")),)),
            Result(Id(2), _done("Ann")),
            Send((_modern(3, "ask_isolated", {}),)),
            Error(Id(3), -32021, {"code": "CAPABILITY_MISSING", "requiredCapabilities": {"elicitation": {}}}),
        ),
    ),
    Exchange(
        "a log is told only to a request that asks for it",
        "asking",
        (
            Send((request(Id(1), "logging/setLevel", {"level": "debug"}),)),
            Result(Id(1), {}),
            Send((_modern(2, "log_lines", arguments={"lines": 1}),)),
            Result(Id(2), _done("1")),
            Send((_modern(3, "log_lines", arguments={"lines": 1}, meta={META + "logLevel": "debug"}),)),
            _log("info", "line 1", 3, logger="suite"),
            _log("debug", {"number": 1}, 3),
            Result(Id(3), _done("1")),
            Send((_modern(4, "log_lines", arguments={"lines": 1}, meta={META + "logLevel": "loud"}),)),
            Result(Id(4), _done("1")),
            Send((request(Id(5), "logging/setLevel", {"_meta": ENVELOPE, "level": "info"}),)),
            Error(Id(5), -32601, INVALID),
        ),
    ),
)

ENDING = (
    Exchange(
        "a client that closes its end while it is asked ends the call at once",
        "asking",
        (
            Send((call(Id(1), "ask_anyway"),)),
            _question("sampling/createMessage", {"messages": MESSAGES, "maxTokens": 9}, 1),
            CloseInput(),
            Result(Id(1), structured({"text": PerTopology("NO_ANSWER closed", hosted="NO_ANSWER refused")})),
            Exits(0),
        ),
        ends=True,
        differences={"hosted": "The host answers in the place of a client that is gone."},
    ),
)

EXCHANGES = (*HANDSHAKE, *SELF_DESCRIBING, *ENDING)
