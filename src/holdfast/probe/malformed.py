"""Checks of input that is no message: it is answered with an error, or served, and never ends the server."""

from holdfast.probe.bench import Bench
from holdfast.probe.expect import answered_once, must_be_refused, refused_or_served
from holdfast.probe.model import check
from holdfast.wire.codec import encode
from holdfast.wire.envelope import INVALID_REQUEST, PARSE_ERROR

__all__ = ["CHECKS"]

STUCK = "A client that gets no answer waits until its own time is up, and never learns what was wrong."
PARSE = (PARSE_ERROR,)
EITHER = (PARSE_ERROR, INVALID_REQUEST)
DEPTH = 100_000
HUGE = 10 * 2**20
SOME_BYTES = bytes(byte for byte in range(256) if byte not in b"\n\r")


@check(
    "malformed.not-json",
    "Text that is not JSON is answered with a parse error",
    weight=3,
    why=STUCK,
    how="Sends `{bad json`; wants error -32700 (HTTP: or a status 4xx), and an answer to the next request.",
)
async def not_json(bench: Bench) -> None:
    """Sends text."""
    await must_be_refused(await bench.session(), b"{bad json", "text that is not JSON", codes=PARSE)


@check(
    "malformed.half-message",
    "A message that is cut off is answered with a parse error",
    weight=3,
    why=STUCK,
    how='Sends `{"jsonrpc":"2.0","id":1,"method":"ping"` and the end of the line; wants error -32700.',
)
async def half_message(bench: Bench) -> None:
    """Sends half of a message."""
    data = b'{"jsonrpc":"2.0","id":1,"method":"ping"'
    await must_be_refused(await bench.session(), data, "half a message", codes=EITHER, request_id=1)


@check(
    "malformed.binary",
    "Binary bytes are answered with a parse error",
    weight=2,
    why="Something that prints to the wrong pipe, or a wrong port, must not end the session of everybody else.",
    how="Sends every byte but the line ends on one line; wants error -32700.",
)
async def binary(bench: Bench) -> None:
    """Sends bytes of all kinds."""
    await must_be_refused(await bench.session(), SOME_BYTES, "a line of binary bytes", codes=EITHER)


@check(
    "malformed.invalid-utf8",
    "Bytes that are not UTF-8 are answered with a parse error",
    weight=2,
    why="A reader that dies of one bad byte takes every call in flight along.",
    how="Sends a ping whose parameters hold the bytes C3 28; wants error -32700.",
)
async def invalid_utf8(bench: Bench) -> None:
    """Sends a broken character."""
    data = b'{"jsonrpc":"2.0","id":"bytes","method":"ping","params":{"x":"\xc3\x28"}}'
    await must_be_refused(
        await bench.session(), data, "a message that is not UTF-8", codes=EITHER, request_id="bytes"
    )


@check(
    "malformed.deep-nesting",
    "A message that is nested without measure is answered",
    weight=3,
    why="Recursive parsers overflow their stack; at worst one message ends the process.",
    how=f"Sends a ping with {DEPTH:,} brackets in each other; wants an answer, good or bad.",
)
async def deep_nesting(bench: Bench) -> None:
    """Sends a tower of brackets."""
    talk = await bench.session()
    data = b'{"jsonrpc":"2.0","id":"deep","method":"ping","params":{"x":' + b"[" * DEPTH + b"]" * DEPTH + b"}}"
    await refused_or_served(talk, data, "a message nested a hundred thousand deep", "deep")


@check(
    "malformed.huge-line",
    "A message of 10 MiB is served or refused",
    weight=2,
    why="A reader with a silent limit loses the message, or the session, and nobody is told.",
    how="Sends a ping with 10 MiB of text; wants an answer, good or bad, and one to the next request.",
)
async def huge_line(bench: Bench) -> None:
    """Sends a very long line."""
    talk = await bench.session()
    data = b'{"jsonrpc":"2.0","id":"huge","method":"ping","params":{"x":"' + b"x" * HUGE + b'"}}'
    await refused_or_served(talk, data, "a message of 10 MiB", "huge")


@check(
    "malformed.duplicate-keys",
    "A message that says a thing twice is refused",
    weight=1,
    why="Two readers of the same bytes can disagree about what was asked, a gateway and its server above all.",
    how='Sends a request with two members "method"; wants error -32600 or -32700.',
)
async def duplicate_keys(bench: Bench) -> None:
    """Sends two methods in one request."""
    talk = await bench.session()
    data = b'{"jsonrpc":"2.0","id":"twice","method":"tools/list","method":"ping"}'
    await must_be_refused(talk, data, "a message with two methods", codes=EITHER, request_id="twice")


@check(
    "malformed.nan",
    "NaN is refused, because it is not JSON",
    weight=1,
    why="What one reader takes for a number, the next one cannot parse.",
    how="Sends a ping with the parameter NaN; wants error -32700.",
)
async def nan(bench: Bench) -> None:
    """Sends a number that is none."""
    talk = await bench.session()
    data = b'{"jsonrpc":"2.0","id":"nan","method":"ping","params":{"x":NaN}}'
    await must_be_refused(talk, data, "a message with NaN in it", codes=EITHER, request_id="nan")


@check(
    "malformed.pieces",
    "A message may arrive in pieces, and two may arrive at once",
    weight=3,
    why="A pipe keeps no boundaries; whoever reads it as if it did loses messages under load.",
    how="Writes one request in three pieces with pauses, then two in one write; wants one answer to each.",
    transports=("stdio",),
)
async def pieces(bench: Bench) -> None:
    """Splits and joins."""
    talk = await bench.stdio_session()
    lines = [encode(talk.request(talk.lightest, request_id=f"piece-{number}")) for number in range(3)]
    for piece in (lines[0][:9], lines[0][9:30], lines[0][30:] + b"\n"):
        await talk.write_bytes(piece)
        await talk.wait(lambda: None, 0.05)
    await talk.write_bytes(b"".join(line + b"\n" for line in lines[1:]))
    ids = [f"piece-{number}" for number in range(3)]
    await answered_once(talk, ids, "requests in pieces", bench.options.timeout)


@check(
    "malformed.line-ends",
    "Blank lines and line ends of other systems do no harm",
    weight=1,
    why="A client on another system, or a person at a terminal, sends them without knowing.",
    how="Sends two blank lines and a request that ends in CR LF; wants exactly one answer to it.",
    transports=("stdio",),
)
async def line_ends(bench: Bench) -> None:
    """Sends blank lines."""
    talk = await bench.stdio_session()
    line = encode(talk.request(talk.lightest, request_id="crlf"))
    await talk.write_bytes(b"\n\r\n" + line + b"\r\n")
    await answered_once(talk, ["crlf"], "requests", bench.options.timeout)


CHECKS = (
    not_json, half_message, binary, invalid_utf8, deep_nesting, huge_line, duplicate_keys, nan, pieces, line_ends,
)  # fmt: skip
