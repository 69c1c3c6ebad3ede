"""Both sides of the host in memory: the same messages in any split of the bytes, whatever stands between them."""

import json
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.host.public_side import PublicSide
from holdfast.host.stderr_relay import StderrRelay
from holdfast.host.unreadable import UnreadableAnswer
from holdfast.host.worker_input import WorkerInput
from holdfast.host.worker_process import WorkerOptions, WorkerProcess
from holdfast.kernel.commands import ToClient
from holdfast.kernel.inputs import FromClient
from holdfast.observe.event_log import NullEventLog
from holdfast.stdio.outbox import Outbox
from holdfast.wire.envelope import Message, Request

LIMIT = 2048
CLIENT = (
    b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"name":"\xc3\xa9\xf0\x9f\x98\x80"}}\r\n'
    b"\n   \n"
    b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
    b"not JSON at all\n"
    b'{"jsonrpc":"2.0","id":"a\\u00e9","method":"tools/call","params":{"n":123456789012345678901234567890}}\n'
    b'{"jsonrpc":"2.0","id":2,"method":"x","params":{"x":"' + b"x" * 3000 + b'"}}\n'
    b'[{"jsonrpc":"2.0","id":3,"method":"ping"},{"jsonrpc":"2.0","id":4,"method":"ping"},5]\n'
    b'{"jsonrpc":"2.0","id":5,"result":{}}\n'
    b'{"jsonrpc":"2.0","id":6,"method":"last"}'
)
WORKER = (
    b"Listening on stdio\n"
    b'{"jsonrpc":"2.0","id":1,"result":{"text":"\xc3\xa9\xf0\x9f\x98\x80"}}\r\n'
    b'{"jsonrpc":"2.0","id":2,"result":"' + b"x" * 3000 + b'"}\n'
    b'{"result":"' + b"x" * 3000 + b'","jsonrpc":"2.0","id":3}\n'
    b'{"jsonrpc":"2.0","id":4,"result":NaN}\n'
    b"\x00\x01\xff\xfe\n\n"
    b'{"jsonrpc":"2.0","method":"notifications/message","params":{}}\n'
    b'{"jsonrpc":"2.0","id":"ask","method":"roots/list"}\n'
)
CUTS = st.lists(st.integers(1, len(CLIENT) - 1), max_size=30)


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(cut % len(data) for cut in cuts)})
    return [data[start:end] for start, end in pairwise(edges)]


def options() -> WorkerOptions:
    return WorkerOptions(
        ("worker",), is_ours=False, legacy=False, grace=1.0, noise_max=100, max_bytes=LIMIT,
        max_header_bytes=LIMIT,
    )  # fmt: skip


class Sent:
    """What would leave for the client."""

    def __init__(self) -> None:
        self.messages: list[Any] = []

    def send(self, message: Any) -> None:
        self.messages.append(message)

    send_bytes = send


def from_client(chunks: list[bytes]) -> tuple[list[FromClient], list[Any]]:
    """What the kernel is told of these bytes, and what is answered without it."""
    sent, inputs = Sent(), list[FromClient]()
    public = PublicSide(cast("Outbox", sent), NullEventLog(), max_bytes=LIMIT)
    public.take = inputs.append
    public.revision = lambda: "2025-03-26"
    framer = options().framer()
    for frame in [*(frame for chunk in chunks for frame in framer.feed(chunk)), *framer.finish()]:
        public.receive(frame)
    return inputs, sent.messages


class Heard:
    """What a worker says, in order."""

    def __init__(self) -> None:
        self.story: list[Any] = []

    def worker_said(self, generation: int, message: Message, frame: bytes) -> None:
        self.story.append((message, frame))

    def worker_garbled(self, generation: int, answer: UnreadableAnswer) -> None:
        self.story.append((answer.id, answer.problem.code))

    def worker_noise(self, generation: int, line: bytes, count: int) -> None:
        self.story.append(count)

    def worker_unheard(self, generation: int) -> None:
        self.story.append("unheard")

    def worker_ended(self, generation: int, cause: Mapping[str, Any], unsent: frozenset[int]) -> None:
        self.story.append(cause)


def from_worker(chunks: list[bytes]) -> list[Any]:
    heard = Heard()
    worker = WorkerProcess(1, options(), heard, StderrRelay())
    for chunk in chunks:
        worker._on_stdout(chunk)
    return heard.story


@given(CUTS)
def test_what_a_client_says_is_the_same_in_any_split(cuts: list[int]) -> None:
    assert from_client(pieces(CLIENT, cuts)) == from_client([CLIENT])


def test_what_a_client_says_is_the_same_byte_by_byte() -> None:
    inputs, answered = from_client([bytes([byte]) for byte in CLIENT])

    assert (inputs, answered) == from_client([CLIENT])
    ids = [given.message.id for given in inputs if isinstance(given.message, Request)]
    assert ids == [1, "aé", 3, 4, 6]
    assert [message["error"]["code"] for message in answered] == [-32700, -32600]


@given(CUTS)
def test_what_a_worker_says_is_the_same_in_any_split(cuts: list[int]) -> None:
    assert from_worker(pieces(WORKER, cuts)) == from_worker([WORKER])


def test_what_a_worker_says_is_the_same_byte_by_byte() -> None:
    story = from_worker([bytes([byte]) for byte in WORKER])

    assert story == from_worker([WORKER])
    garbled = [told for told in story if isinstance(told, tuple) and isinstance(told[0], int)]
    assert garbled == [(2, "RESULT_TOO_LARGE"), (3, "RESULT_TOO_LARGE"), (4, "INTERNAL")]


# --- batches -----------------------------------------------------------------------------------------------------


BATCH = b'[{"jsonrpc":"2.0","id":1,"method":"x"},{"jsonrpc":"2.0","id":2,"method":"x"}]'


def batch_of(public: PublicSide, sent: Sent) -> None:
    public.revision = lambda: "2025-03-26"
    public.receive(BATCH)
    assert sent.messages == []


def test_the_answers_of_a_batch_leave_together() -> None:
    sent = Sent()
    public = PublicSide(cast("Outbox", sent), NullEventLog(), max_bytes=LIMIT)
    public.take = lambda given: None
    batch_of(public, sent)
    public.send(ToClient(b'{"id":2}', answers=2))
    public.send(ToClient(b'{"other":1}'))
    public.send(ToClient(b'{"id":1}', answers=1))

    assert sent.messages == [b'{"other":1}', b'[{"id":2},{"id":1}]']


def test_a_request_of_a_batch_whose_id_is_in_flight_is_refused_in_the_batch() -> None:
    sent, taken = Sent(), list[FromClient]()
    public = PublicSide(cast("Outbox", sent), NullEventLog(), max_bytes=LIMIT)
    public.take = taken.append
    public.is_pending = lambda request_id: request_id == 1
    public.revision = lambda: "2025-03-26"
    public.receive(BATCH)
    public.send(ToClient(b'{"the":"first"}', answers=1))  # of the request that is in flight
    public.send(ToClient(b'{"id":2}', answers=2))

    assert [cast("Request", given.message).id for given in taken] == [2]
    assert sent.messages[0] == b'{"the":"first"}'
    refused, answered = json.loads(sent.messages[1])
    assert (refused["id"], refused["error"]["code"], answered) == (1, -32600, {"id": 2})
    assert "still in flight" in refused["error"]["message"]


def test_answers_that_wait_for_the_rest_of_their_batch_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.host.public_side.HELD_BYTES", 1000)
    sent, told = Sent(), list[int]()
    public = PublicSide(cast("Outbox", sent), NullEventLog(), max_bytes=LIMIT)
    public.take = lambda given: None
    public.on_backlog = lambda: told.append(1)
    public.is_full = True
    batch_of(public, sent)
    public.send(ToClient(b'"' + b"x" * 1200 + b'"', answers=2))
    assert [len(message) for message in sent.messages] == [1204]  # an array of one: it does not wait
    public.send(ToClient(b"1", answers=1))

    assert sent.messages[1:] == [b"[1]"]
    assert (told, public._held) == ([1, 1], 0)


def test_a_message_to_a_worker_that_does_not_read_is_dropped_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        waiting = 10
        sent = 0

        def send(self, data: bytes, attempt: int) -> None:
            self.sent += attempt

    monkeypatch.setattr("holdfast.host.worker_process.MAX_WAITING", 10)
    heard, full = Heard(), Full()
    worker = WorkerProcess(1, options(), heard, StderrRelay())
    worker._input = cast("WorkerInput", full)
    worker.send(b"an answer of the client", 0)
    worker.send(b"a request", 5)

    assert (heard.story, full.sent) == (["unheard"], 5)


def test_a_request_of_a_batch_that_is_over_without_an_answer_is_not_waited_for() -> None:
    sent = Sent()
    public = PublicSide(cast("Outbox", sent), NullEventLog(), max_bytes=LIMIT)
    public.take = lambda given: None
    batch_of(public, sent)
    public.send(ToClient(b'{"id":2}', answers=2))
    public.settle({1})
    assert sent.messages == []
    public.settle(set())

    assert sent.messages == [b'[{"id":2}]']


def test_progress_is_dropped_while_the_client_does_not_read_and_the_rest_is_told_of() -> None:
    sent, told = Sent(), list[int]()
    public = PublicSide(cast("Outbox", sent), NullEventLog(), max_bytes=LIMIT)
    public.on_backlog = lambda: told.append(1)
    public.send(ToClient(b"1", is_droppable=True))
    public.is_full = True
    public.send(ToClient(b"2", is_droppable=True))
    public.send(ToClient(b"3"))

    assert (sent.messages, told) == ([b"1", b"3"], [1])
