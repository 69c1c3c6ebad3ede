"""Bytes between client and worker: forwarded as they are, in any size and split, in both directions at once."""

import json
import select
from typing import Any

from tests.host.answers import payload_of
from tests.host.conftest import Start

from holdfast.testing import Fault, HostUnderTest

MIB = 1024 * 1024

# Everything that a reader and writer of JSON would have changed: spacing, escapes, big and odd numbers, order.
ODD = (
    b'{ "z" : 1e2,\t"a":123456789012345678901234567890 , "n":-0.0, "s":"\\u00e9\\/\\ud83d\\ude00 \xc3\xa9", '
    b'"e":{} , "f":1.10, "m":[ 1 ,2,  [ ] ] }'
)


def echo(client: HostUnderTest, request: bytes) -> str:
    """Send these bytes with the id 77 and return the line that the worker has read."""
    client.log.sent({"id": 77, "method": "tools/call", "params": {"name": "echo"}})
    client.send_raw(request + b"\n")
    return str(payload_of(client.answer_of(77))["line"])


def test_a_request_reaches_the_worker_byte_for_byte_but_for_its_id(host: Start) -> None:
    client = host()
    forms = [
        b'{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"echo","arguments":%b}}',
        b'{"method":"tools/call","params":{"name":"echo","arguments":%b},"jsonrpc":"2.0","id":77}',
        b' { "params" : {"arguments":%b, "name":"echo"} , "id" :  77 , "method":"tools/call","jsonrpc":"2.0" } ',
    ]
    for form in forms:
        sent = form % ODD
        line = echo(client, sent)

        before, after = sent.decode().split("77")
        assert line == f"{before}{json.loads(line)['id']}{after}"


def test_an_answer_reaches_the_client_byte_for_byte_but_for_its_id(host: Start) -> None:
    client = host()
    value = ['é\u2028 "quoted" \\ \x7f 😀', 10**30, 1.5e300, -0.0, None, {"": []}]
    payload = {"value": value, "generation": 1}
    result = {"content": [{"type": "text", "text": json.dumps(payload)}], "structuredContent": payload}
    lines: list[bytes] = []
    client._receive = lines.append  # type: ignore[method-assign, assignment]  # as it came

    number = client.start_call("read", {"value": value})
    client.until(lambda: lines)

    told = {"jsonrpc": "2.0", "id": number, "result": result}
    assert lines == [json.dumps(told, separators=(",", ":")).encode()]


def test_every_kind_of_id_comes_back_as_it_was(host: Start) -> None:
    client = host()
    numbers: list[Any] = [0, -5, 2**53, 10**25, "", "1", 'a b\u00e9\u2028\\"', "x" * 500]
    for number in numbers:
        client.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": "read"}})

        answer = client.answer_of(number)

        assert answer["id"] == number
        assert type(answer["id"]) is type(number)
    assert client.log.broken_laws() == []


def test_ids_that_only_look_alike_are_kept_apart(host: Start) -> None:
    client = host()
    for number in (1000, "1000"):
        params = {"name": "read", "arguments": {"value": repr(number)}}
        client.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})

    assert payload_of(client.answer_of("1000"))["value"] == "'1000'"
    assert payload_of(client.answer_of(1000))["value"] == "1000"


def test_a_client_that_writes_one_byte_at_a_time_is_understood(host: Start) -> None:
    client = host(Fault.on_start("split_writes", size=1))
    params = {"name": "read", "arguments": {"value": "é😀"}}
    client.log.sent({"id": 5, "method": "tools/call", "params": params})
    message = json.dumps({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params}, ensure_ascii=False)
    for byte in message.encode() + b"\r\n":
        client.send_raw(bytes([byte]))
        client.until(lambda: client.unsent == 0)

    assert payload_of(client.answer_of(5))["value"] == "é😀"


def test_a_worker_that_writes_in_pieces_while_others_ask_loses_nothing(host: Start) -> None:
    client = host(Fault.on_start("split_writes", size=0), seed=7)
    big = [client.start_call("big", {"bytes": 20_000 + n}) for n in range(5)]
    small = [client.start_call("read", {"value": n}) for n in range(50)]

    assert [payload_of(client.answer_of(number))["value"] for number in small] == list(range(50))
    texts = [client.answer_of(number)["result"]["content"][0]["text"] for number in big]
    assert [len(text) for text in texts] == [20_000 + n for n in range(5)]


def test_large_requests_and_large_answers_at_the_same_time_do_not_block_each_other(host: Start) -> None:
    client = host()
    filler = "x" * (4 * MIB)
    numbers = [client.start_call("big", {"bytes": 4 * MIB, "filler": filler}) for _ in range(3)]

    sizes = [len(client.answer_of(number)["result"]["content"][0]["text"]) for number in numbers]

    assert sizes == [4 * MIB] * 3
    assert payload_of(client.call("read"))["generation"] == 1


def test_a_client_that_reads_late_gets_everything_in_the_end(host: Start) -> None:
    client = host()
    numbers = [client.start_call("big", {"bytes": 2 * MIB}) for _ in range(6)]
    while client.unsent:
        client._write()
    select.select([], [], [], 0.2)  # by now every pipe and buffer on the way is full; it is right either way

    assert all("result" in client.answer_of(number) for number in numbers)
    assert payload_of(client.call("read"))["generation"] == 1
