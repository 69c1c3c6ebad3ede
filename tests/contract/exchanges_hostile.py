"""Exchanges with clients that are broken or hostile: whatever they send is answered, and the server goes on."""

from typing import Any

from tests.contract.exchange import INVALID, Exchange, call, note, plain, poc_failed, request, structured
from tests.contract.patterns import ANY, Has, Id, Long, PerMode, Text
from tests.contract.steps import Error, Flood, Raw, Result, Send, Silent, Together

LEGACY_LINES = "Lines mean nothing inside a message of declared length; there the case is a broken header instead."
CRLF = b'{"jsonrpc":"2.0","id":"crlf","method":"ping"}'
FEW_WORDS = Text(r"\A.{10,500}\Z")
PROTOCOL = ("S1-5.2-protocol-error-code", "OURS-7-malformed")


def _refused(name: str, content: Any, code: int, message: str = "", request_id: Any = None) -> Exchange:
    """A message that is refused, after which the server still answers."""
    steps = (Send((content,)), Error(request_id, code, INVALID, Text(message)), Silent())
    return Exchange(name, "latest", steps, PROTOCOL)


def _envelope(**members: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": Id(1), "method": "ping", **members}


BYTES = (
    _refused("text that is not JSON is a parse error", b"{bad json", -32700, "not JSON"),
    _refused("half a message is a parse error", b'{"jsonrpc":"2.0","id":1,"method":"ping"', -32700, "not JSON"),
    _refused("two messages in one are a parse error", b'{"jsonrpc":"2.0"}{"jsonrpc":"2.0"}', -32700, "not JSON"),
    _refused(
        "bytes that are not UTF-8 are a parse error", b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', -32700, "UTF-8"
    ),
    _refused(
        "NaN is a parse error", b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}', -32700, "NaN"
    ),
    _refused(
        "a number out of range is a parse error", b'{"jsonrpc":"2.0","id":1e999,"method":"ping"}', -32700, "range"
    ),
    _refused(
        "a lone surrogate is a parse error",
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\\ud800"}}',
        -32700,
        "surrogate",
        1,
    ),
    _refused(
        "a key that occurs twice is an invalid request",
        b'{"jsonrpc":"2.0","id":"twice","method":"ping","method":"tools/list"}',
        -32600,
        "twice",
        "twice",
    ),
    _refused(
        "an id that occurs twice is nobody's", b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32600, "twice"
    ),
    _refused("a hundred thousand brackets are too deep", Long(b"", b"[", 100_000), -32600, "nested"),
    _refused(
        "a valid message can be too deep",
        Long(b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":', b'{"x":', 130, b"1" + b"}" * 132),
        -32600,
        "nested",
        1,
    ),
    Exchange(
        "a message of 20 MB is refused and the next is answered",
        "latest",
        (
            Send((Long(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"', b"x" * 1000, 20_000, b'"}}'),)),
            Error(1, -32600, INVALID, Text("longer than 8388608 bytes")),
            Silent(),
        ),
        (*PROTOCOL, "S1-6.10.1-buffer"),
    ),
    Exchange(
        "a message just below the limit is served",
        "latest",
        (
            Send(
                (
                    Long(
                        b'{"jsonrpc":"2.0","id":"wide","method":"ping","params":{"x":"', b"x" * 1000, 8_388, b'"}}'
                    ),
                )
            ),
            Result("wide", {}),
        ),
        ("S1-6.10.1-buffer",),
    ),
    Exchange(
        "thousands of messages at once are all answered",
        "latest",
        (Flood(PerMode(10_000, sdk=2_000)),),
        differences={"sdk": "The SDK takes many times as long for each message, and fewer prove the same."},
    ),
    Exchange(
        "line ends of other systems, blank lines and white space are taken as they come",
        "latest",
        (
            Raw(
                PerMode(
                    b"\r\n\n \t\n" + CRLF + b"\r\n",
                    legacy=b"Content-Type: x\r\ncontent-length:  %d \r\n\r\n%b" % (len(CRLF), CRLF),
                )
            ),
            Result("crlf", {}),
            Send((b' { "jsonrpc" : "2.0" , "id" : "white" , "method" : "ping" } ',)),
            Result("white", {}),
        ),
        ("S1-6.2-line-feed",),
        differences={"legacy": LEGACY_LINES},
    ),
    Exchange(
        "garbage between messages does not hide the next one",
        "latest",
        (
            Raw(PerMode(b"GET / HTTP/1.1\n", legacy=b"GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n")),
            Error(None, PerMode(-32700, legacy=-32600), INVALID),
            Silent(),
        ),
        (*PROTOCOL, "OURS-7-broken-header"),
        differences={"legacy": LEGACY_LINES},
    ),
)

HEADED = b"Content-Length: %d\r\n\r\n%b" % (len(CRLF), CRLF)

FRAMINGS = (
    Exchange(
        "a client that speaks the other framing does not change the server's",
        "latest",
        (
            # Two messages in the other framing. Of headers only the body is a line that is a message; of lines
            # none is a header, and all is skipped up to the next one.
            Raw(PerMode(HEADED + b"\n" + HEADED + b"\n", legacy=CRLF + b"\n" + CRLF + b"\n")),
            *(
                PerMode(step, legacy=other)
                for step, other in (
                    (Error(None, -32700, INVALID), Error(None, -32600, INVALID)),
                    (Result("crlf", {}), Silent()),
                    (Error(None, -32700, INVALID), Silent()),
                    (Result("crlf", {}), Silent()),
                )
            ),
            Send((call(Id(1), "echo", {"text": "as before"}),)),
            Result(Id(1), structured({"text": "as before"})),
        ),
        ("S1-6.3-legacy-selected",),
        differences={"legacy": "The other framing is the one of lines there."},
    ),
)

WRONG_IDS: dict[str, Any] = {"null": None, "a fraction": 1.5, "true": True, "an array": [1], "an object": {"a": 1}}

ENVELOPES = (
    *(
        _refused(f"an id that is {words} is an invalid request", _envelope(id=value), -32600, "id")
        for words, value in WRONG_IDS.items()
    ),
    _refused(
        "a message without its version is an invalid request", {"id": "v", "method": "ping"}, -32600, "2.0", "v"
    ),
    _refused("another version is an invalid request", {**_envelope(), "jsonrpc": "1.0"}, -32600, "2.0", Id(1)),
    _refused("a method that is no text is an invalid request", _envelope(method=5), -32600, "method", Id(1)),
    _refused("parameters must be an object", _envelope(params=[1]), -32600, "params", Id(1)),
    _refused("a message that is a number is an invalid request", b"5", -32600, "object"),
    _refused("a request that is also an answer is refused", _envelope(result={}), -32600, "not both", Id(1)),
    _refused("an unknown method is not found", _envelope(method="tools/shout"), -32601, "tools/shout", Id(1)),
    _refused("a method of another capability is not found", _envelope(method="tasks/list"), -32601, "", Id(1)),
    _refused("a batch is refused where the revision has none", [_envelope()], -32600, "batches"),
    Exchange(
        "answers and unknown notifications from a client are ignored",
        "latest",
        (
            Send(
                (
                    {"jsonrpc": "2.0", "id": 7, "result": {}},
                    {"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "x"}},
                    note("notifications/unheard_of", {"x": 1}),
                    note("notifications/cancelled"),
                    note("notifications/cancelled", {"requestId": "nobody"}),
                    note("$/cancelRequest", {"id": None}),
                    note("notifications/roots/list_changed"),
                )
            ),
            Silent(),
        ),
    ),
    Exchange(
        "ids come back exactly as they were sent",
        "latest",
        (
            Send(
                tuple(
                    call(request_id, "echo", {"text": "x"})
                    for request_id in (0, -1, "", "0", 2**70, "ключ", "a" * 5000, 9007199254740993)
                )
            ),
            *(
                Result(request_id, structured({"text": "x"}))
                for request_id in (0, -1, "", "0", 2**70, "ключ", "a" * 5000, 9007199254740993)
            ),
        ),
        ("S1-6.1-json-rpc", "OURS-11-ids"),
    ),
    Exchange(
        "names of a million characters are answered in a few words",
        "latest",
        (
            Send((Long(b'{"jsonrpc":"2.0","id":"method","method":"', b"m" * 1000, 1_300, b'"}'),)),
            Error("method", -32601, INVALID, FEW_WORDS),
            Send(
                (
                    Long(
                        b'{"jsonrpc":"2.0","id":"tool","method":"tools/call","params":{"name":"',
                        b"t" * 1000,
                        1_300,
                        b'"}}',
                    ),
                )
            ),
            Error("tool", -32602, {"code": "NOT_FOUND"}, FEW_WORDS),
        ),
        PROTOCOL,
    ),
    Exchange(
        "an id in flight is refused and the first call is untouched",
        "latest",
        (
            Send((call(Id(1), "wait_for_gate", {"name": "twin"}),)),
            Send((call(Id(1), "echo", {"text": "second"}), request(Id(1), "tools/list"))),
            Error(Id(1), -32600, INVALID, Text("in flight")),
            Error(Id(1), -32600, INVALID, Text("in flight")),
            Send((b'{"id":1,"method":"ping"}', call(Id(2), "open_gate", {"name": "twin"}))),
            Error(1, -32600, INVALID),
            Result(Id(2), structured({"text": "twin"})),
            Result(Id(1), structured({"text": "twin"})),
        ),
        (*PROTOCOL, "OURS-7-id-in-flight"),
    ),
    Exchange(
        "1 and the text of 1 are two ids",
        "latest",
        (
            Send((call(1, "wait_for_gate", {"name": "one"}), call("1", "echo", {"text": "text"}))),
            Result("1", structured({"text": "text"})),
            Send((call(Id(1), "open_gate", {"name": "one"}),)),
            Result(Id(1), ANY),
            Result(1, structured({"text": "one"})),
        ),
        ("OURS-11-ids",),
    ),
)

ADDED = {"jsonrpc": "2.0", "id": Id(1), "result": plain({"total": 3})}

BATCHES = (
    Exchange(
        "a batch is answered with one array where the revision has batches",
        "2025-03-26",
        (
            Send(
                (
                    [
                        call(Id(1), "add", {"a": 1, "b": 2}),
                        note("notifications/unheard_of"),
                        request(Id(2), "ping"),
                        request(Id(3), "no/such/method"),
                        {"nonsense": True},
                    ],
                )
            ),
            Together(
                (
                    ADDED,
                    {"jsonrpc": "2.0", "id": Id(2), "result": {}},
                    {"jsonrpc": "2.0", "id": Id(3), "error": Has({"code": -32601, "data": INVALID})},
                    {"jsonrpc": "2.0", "id": None, "error": Has({"code": -32600, "data": INVALID})},
                )
            ),
        ),
        ("OURS-7-batch",),
    ),
    Exchange(
        "an empty batch is an invalid request and a batch of notifications is not answered",
        "2025-03-26",
        (
            Send(([], [note("notifications/unheard_of")])),
            Error(None, -32600, INVALID),
            Silent(),
        ),
        PROTOCOL,
    ),
    Exchange(
        "a cancelled call of a batch is answered inside its array",
        "2025-03-26",
        (
            Send(([call(Id(1), "hang"), request(Id(2), "ping")],)),
            Send((note("$/cancelRequest", {"id": Id(1)}),)),
            Together(
                (
                    {"jsonrpc": "2.0", "id": Id(1), "result": poc_failed("CANCELLED")},
                    {"jsonrpc": "2.0", "id": Id(2), "result": {}},
                )
            ),
        ),
    ),
)

EXCHANGES = (*BYTES, *FRAMINGS, *ENVELOPES, *BATCHES)
