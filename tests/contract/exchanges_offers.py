"""Exchanges about resources, prompts, completions and content, and about what a client hears of unasked."""

from collections.abc import Callable
from typing import Any

from tests.contract.exchange import (
    HOST_IDS,
    META,
    STAMP,
    Exchange,
    call,
    logged_id,
    modern,
    note,
    plain,
    request,
)
from tests.contract.patterns import ANY, Has, Id, Is, Save, Text, Var
from tests.contract.steps import Error, Heard, Logged, Result, Send, Silent, Tell

COMPLETE = {"resultType": "complete", "_meta": STAMP}
SUBSCRIPTION = META + "subscriptionId"
NOTICE = {"uri": "contract://notice", "mimeType": "text/plain", "text": "read me"}
PIXEL = {"uri": "contract://pixel", "mimeType": "image/x-pixel", "blob": "AP8="}
LISTED = [
    {"uri": "contract://notice", "name": "notice", "title": "Notice", "description": "A text."},
    {"uri": "contract://pixel", "name": "pixel", "description": "Two bytes.", "mimeType": "image/x-pixel"},
    {"uri": "contract://never", "name": "never", "description": "Never there."},
]
TEMPLATE = {
    "uriTemplate": "contract://numbers/{value}",
    "name": "number",
    "description": "A number under its own address.",
    "mimeType": "application/json",
}
GREET = {
    "name": "greet",
    "title": "Greet",
    "description": "Greet somebody.",
    "arguments": [
        {"name": "name", "description": "Whom.", "required": True},
        {"name": "mood", "description": "How.", "required": False},
    ],
}
GREETING = {
    "description": "Greet somebody.",
    "messages": [
        {"role": "user", "content": {"type": "text", "text": "Greet Ada, grave."}},
        {
            "role": "user",
            "content": {
                "type": "resource",
                "resource": {"uri": "contract://notice", "mimeType": "text/plain", "text": "read me"},
            },
        },
    ],
}
PICTURE = {
    "content": [
        {"type": "text", "text": "a picture:"},
        {"type": "image", "data": "AP8=", "mimeType": "image/png"},
    ],
    "isError": False,
}
COMPLETION = {"completion": {"values": ["Ada", "Alan"], "total": 2, "hasMore": False}}


def _read(number: int, uri: Any) -> dict[str, Any]:
    return request(Id(number), "resources/read", {"uri": uri})


def _complete(argument: str, value: str) -> dict[str, Any]:
    return {"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": argument, "value": value}}


def _data(code: str, **more: Any) -> Has:
    return Has({"code": code, "message": Is((str,)), "retryable": Is((bool,)), "details": ANY, **more})


def _untitled(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key != "title"}


SHOWN: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "latest": dict,
    "2025-06-18": dict,
    "2024-11-05": _untitled,
    "2025-03-26": _untitled,
    "pinned": dict,
}
READING = (
    *(
        Exchange(
            f"resources, prompts and completions answer in scene {scene}",
            scene,
            (
                Send(
                    (
                        request(Id(1), "resources/list"),
                        request(Id(2), "resources/templates/list", {}),
                        request(Id(3), "prompts/list"),
                        _read(4, "contract://notice"),
                        _read(5, "contract://pixel"),
                        _read(6, "contract://numbers/7"),
                        request(
                            Id(7), "prompts/get", {"name": "greet", "arguments": {"name": "Ada", "mood": "grave"}}
                        ),
                        request(Id(8), "completion/complete", _complete("name", "A")),
                        request(Id(9), "completion/complete", _complete("mood", "")),
                        call(Id(10), "picture"),
                    )
                ),
                Result(Id(1), {"resources": [entry(item) for item in LISTED]}),
                Result(Id(2), {"resourceTemplates": [TEMPLATE]}),
                Result(Id(3), {"prompts": [entry(GREET)]}),
                Result(Id(4), {"contents": [NOTICE]}),
                Result(Id(5), {"contents": [PIXEL]}),
                Result(Id(6), {"contents": [Has({"text": '{"total":7}', "mimeType": "application/json"})]}),
                Result(Id(7), GREETING),
                Result(Id(8), COMPLETION),
                Result(Id(9), {"completion": Has({"values": ["merry", "grave"]})}),
                Result(Id(10), PICTURE),
            ),
            ("MCP-features-resources", "MCP-features-prompts", "MCP-features-completion", "MCP-features-content"),
        )
        for scene, entry in SHOWN.items()
    ),
    Exchange(
        "a request that describes itself gets results that say so, and for how long they hold",
        "latest",
        (
            Send(
                (
                    modern(1, "resources/list"),
                    modern(2, "resources/read", {"uri": "contract://notice"}),
                    modern(3, "resources/read", {"uri": "contract://pixel"}),
                    modern(4, "prompts/get", {"name": "greet", "arguments": {"name": "Ada", "mood": "grave"}}),
                    modern(5, "completion/complete", _complete("name", "A")),
                )
            ),
            Result(Id(1), {**COMPLETE, "resources": LISTED, "ttlMs": 60000, "cacheScope": "public"}),
            Result(Id(2), {**COMPLETE, "contents": [NOTICE], "ttlMs": 1000, "cacheScope": "public"}),
            Result(Id(3), {**COMPLETE, "contents": [PIXEL], "ttlMs": 0, "cacheScope": "private"}),
            Result(Id(4), {**COMPLETE, **GREETING}),
            Result(Id(5), {**COMPLETE, **COMPLETION}),
        ),
        ("MCP-features-cache-hints",),
    ),
)

FAILING = (
    Exchange(
        "a resource that is not there is told with its address, under the code of the era",
        "latest",
        (
            Send((_read(1, "contract://nothing"), _read(2, "contract://numbers/404"))),
            Error(Id(1), -32002, _data("NOT_FOUND", uri="contract://nothing")),
            Error(Id(2), -32002, _data("NOT_FOUND", uri="contract://numbers/404"), "no such number"),
            Send((modern(3, "resources/read", {"uri": "contract://nothing"}),)),
            Error(Id(3), -32602, _data("NOT_FOUND", uri="contract://nothing")),
        ),
        ("MCP-features-resource-not-found",),
    ),
    Exchange(
        "an address that leads elsewhere, or is none, is refused",
        "latest",
        (
            Send(
                (
                    _read(1, "contract://numbers/.."),
                    _read(2, "contract://numbers/1%2F2"),
                    _read(3, "contract://numbers/many"),
                    _read(4, 7),
                    request(Id(5), "prompts/get", {"name": "greet", "arguments": {"mood": "glum", "x": "y"}}),
                    request(Id(6), "prompts/get", {"name": "nobody"}),
                    request(Id(7), "completion/complete", _complete("colour", "")),
                )
            ),
            *(Error(Id(number), -32602, _data("INVALID_REQUEST")) for number in (1, 2, 3, 4, 5)),
            Error(Id(6), -32602, _data("NOT_FOUND")),
            Error(Id(7), -32602, _data("NOT_FOUND")),
        ),
        ("MCP-features-resource-traversal",),
    ),
    Exchange(
        "a defect in a resource shows its class and an id, and the event log has the rest",
        "latest",
        (
            Send((_read(1, "contract://numbers/500"),)),
            Error(
                Id(1),
                -32603,
                _data("INTERNAL", faultId=Save("fault", Text(r"^[\w-]{8,40}$"))),
                Text(r"^(?!.*(Traceback|/server_under_test|secret)).*$"),
            ),
            Logged(Has({"event": "fault", "fault_id": Var("fault"), "traceback": Text("in number")})),
            Logged(Has({"event": "tool_call", "request_id": logged_id(1), "method": "resources/read"})),
        ),
        ("S0-6-internal",),
        differences={"hosted": HOST_IDS},
    ),
    Exchange(
        "a read that takes too long, or is cancelled, is ended",
        "latest",
        (
            Send((_read(1, "contract://never"),)),
            Error(Id(1), -32603, _data("TOOL_TIMEOUT", timeoutMs=200)),
            Send((_read(2, "contract://never"),)),
            Tell(note("notifications/cancelled", {"requestId": Id(2)})),
            Silent((Id(2),)),
        ),
    ),
)

HEARING = (
    Exchange(
        "a client that subscribed to a resource hears of it until it wants no more",
        "latest",
        (
            Send((request(Id(1), "resources/subscribe", {"uri": "contract://notice"}),)),
            Result(Id(1), {}),
            Send((call(Id(2), "renew"),)),
            Heard("notifications/resources/updated", {"uri": "contract://notice"}),
            Result(Id(2), plain({}) | {"structuredContent": {}}),
            Send((request(Id(3), "resources/unsubscribe", {"uri": "contract://notice"}), call(Id(4), "renew"))),
            Result(Id(3), {}),
            Result(Id(4), plain({}) | {"structuredContent": {}}),
            Silent(),
        ),
        ("MCP-features-subscriptions",),
    ),
    Exchange(
        "a client hears that prompts came and went: unasked, and on a stream that carries its id",
        "latest",
        (
            Send((modern(1, "subscriptions/listen", {"notifications": {"promptsListChanged": True}}),)),
            Heard(
                "notifications/subscriptions/acknowledged",
                {"notifications": {"promptsListChanged": True}, "_meta": {SUBSCRIPTION: Id(1)}},
            ),
            Send((call(Id(2), "add_prompt"),)),
            Result(Id(2), ANY),
            Heard("notifications/prompts/list_changed", {}),
            Heard("notifications/prompts/list_changed", {"_meta": {SUBSCRIPTION: Id(1)}}),
            Send((request(Id(3), "prompts/list"), call(Id(4), "remove_prompt"))),
            Result(Id(3), {"prompts": [GREET, {"name": "extra", "description": "A text."}]}),
            Result(Id(4), ANY),
            Heard("notifications/prompts/list_changed", {}),
            Heard("notifications/prompts/list_changed", {"_meta": {SUBSCRIPTION: Id(1)}}),
            Tell(note("notifications/cancelled", {"requestId": Id(1)})),
            Silent((Id(1),)),
        ),
        ("MCP-features-list-changed", "MCP-features-listen"),
    ),
)

EXCHANGES = (*READING, *FAILING, *HEARING)
