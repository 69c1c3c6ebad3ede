"""The steps of an exchange, as data with one verb: each is taken by a run against a server process."""

import json
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
from tests.contract.patterns import ANY, Run, mismatch, resolve
from tests.contract.peer import BOUND, Peer

POLL = 0.01  # seconds between two looks at what cannot be waited for
# What is asked to know that the server itself has come so far: the host answers a ping in its place, and passes on
# what it does not know.
QUESTIONS = {"standalone": "ping", "hosted": "suite/question"}


class Step:
    """One thing that a client does or expects."""

    def take(self, peer: Peer, run: Run) -> None:
        """Do it, or fail."""
        raise NotImplementedError


@dataclass(frozen=True)
class Send(Step):
    """Send messages in one write: JSON values, or bytes as the content of a message."""

    messages: tuple[Any, ...]

    def take(self, peer: Peer, run: Run) -> None:
        """Frame them as the mode does."""
        contents = (resolve(message, run) for message in self.messages)
        peer.write(b"".join(peer.frame(item if isinstance(item, bytes) else _encoded(item)) for item in contents))


@dataclass(frozen=True)
class Raw(Step):
    """Send bytes without any framing."""

    data: Any

    def take(self, peer: Peer, run: Run) -> None:
        """Send them as they are."""
        peer.write(resolve(self.data, run))


@dataclass(frozen=True)
class Result(Step):
    """Wait for the successful answer to a request."""

    id: Any
    result: Any

    def take(self, peer: Peer, run: Run) -> None:
        """The next answer with this id must be it."""
        _expect_answer(peer, run, self.id, {"jsonrpc": "2.0", "id": self.id, "result": self.result})


@dataclass(frozen=True)
class Error(Step):
    """Wait for the failed answer to a request."""

    id: Any
    code: Any
    data: Any
    message: Any = ANY

    def take(self, peer: Peer, run: Run) -> None:
        """The next answer with this id must be it."""
        error = {"code": self.code, "message": self.message, "data": self.data}
        _expect_answer(peer, run, self.id, {"jsonrpc": "2.0", "id": self.id, "error": error})


@dataclass(frozen=True)
class Together(Step):
    """Wait for the answers to a batch: one array, in any order."""

    answers: tuple[Any, ...]

    def take(self, peer: Peer, run: Run) -> None:
        """Every expected answer is there, and no other."""
        array = peer.take(lambda message: isinstance(message, list), "the answers to a batch")
        left = list(array)
        for expected in self.answers:
            found = next((item for item in left if mismatch(expected, item, run) is None), None)
            assert found is not None, f"{expected} is not in {array}"
            left.remove(found)
        assert not left, left


@dataclass(frozen=True)
class Flood(Step):
    """Send so many requests at once; each must be answered."""

    count: Any

    def take(self, peer: Peer, run: Run) -> None:
        """Ids are strings here, so that no number of another exchange is met."""
        ids = [f"flood-{number}" for number in range(resolve(self.count, run))]
        ping = {"jsonrpc": "2.0", "method": "ping"}
        peer.write(b"".join(peer.frame(_encoded({**ping, "id": item})) for item in ids))
        for _ in ids:
            peer.take(_is_flood_answer, "an answer to every message of the flood")
        assert not peer.take_all(_is_flood_answer)


def _is_flood_answer(message: Any) -> bool:
    return str(_id_of(message)).startswith("flood-") and message.get("result") == {}


@dataclass(frozen=True)
class Notified(Step):
    """Progress of one call: wait for the first notice, if there must be one; all that have come must match."""

    params: Any
    at_most: int = 1_000_000
    at_least: Any = 1

    def take(self, peer: Peer, run: Run) -> None:
        """Numbers must rise from notice to notice."""
        first = [peer.take(_is_progress, "a progress notification") for _ in range(resolve(self.at_least, run))]
        notices = [*first, *peer.take_all(_is_progress)]
        for notice in notices:
            _assert_matches(_progress(self.params), notice, run)
        numbers = [notice["params"]["progress"] for notice in notices]
        assert numbers == sorted(set(numbers)), numbers
        assert len(notices) <= self.at_most, notices


@dataclass(frozen=True)
class NotifiedInOrder(Step):
    """Wait for one notice of progress after the other, each as it is given here."""

    params: tuple[Any, ...]

    def take(self, peer: Peer, run: Run) -> None:
        """None may come in between."""
        for params in self.params:
            _assert_matches(_progress(params), peer.take(_is_progress, f"progress like {params}"), run)


@dataclass(frozen=True)
class Heard(Step):
    """Wait for a notification of this method, with these parameters."""

    method: str
    params: Any

    def take(self, peer: Peer, run: Run) -> None:
        """The first of its method must be it."""
        found = peer.take(lambda message: _method_of(message) == self.method, self.method)
        _assert_matches({"jsonrpc": "2.0", "method": self.method, "params": self.params}, found, run)


@dataclass(frozen=True)
class Said(Step):
    """Wait for a request or a notification of the server, of this method; it must match."""

    message: Any

    def take(self, peer: Peer, run: Run) -> None:
        """The next one of its method must be it."""
        method = self.message["method"]

        def is_meant(message: Any) -> bool:
            return isinstance(message, dict) and message.get("method") == method

        _assert_matches({"jsonrpc": "2.0", **self.message}, peer.take(is_meant, f"a {method}"), run)


@dataclass(frozen=True)
class Tell(Step):
    """Send a notification and wait until it has been heard; progress from before that must match, and is done."""

    message: Any
    before: Any = ANY

    def take(self, peer: Peer, run: Run) -> None:
        """A question that is sent along is answered when the notification has taken effect."""
        question = {"jsonrpc": "2.0", "id": "heard", "method": QUESTIONS[peer.topology]}
        peer.write(b"".join(peer.frame(_encoded(item)) for item in (resolve(self.message, run), question)))
        earlier = peer.take_until(lambda message: _id_of(message) == "heard", "the answer to a question")
        for notice in filter(_is_progress, earlier):
            _assert_matches(_progress(self.before), notice, run)
        peer.messages[:0] = [message for message in earlier if not _is_progress(message)]


@dataclass(frozen=True)
class Silent(Step):
    """Nothing is said about these ids, and no progress is reported, before later requests are answered."""

    ids: tuple[Any, ...] = ()

    def take(self, peer: Peer, run: Run) -> None:
        """Two rounds of questions and answers are the proof."""
        for _ in range(2):
            barrier(peer)
        said = [resolve(item, run) for item in self.ids]
        found = [item for item in peer.messages if _is_progress(item) or _id_of(item) in said]
        assert not found, found


@dataclass(frozen=True)
class FileHas(Step):
    """Wait until a file has so many lines."""

    file: Any
    lines: int

    def take(self, peer: Peer, run: Run) -> None:
        """A tool writes it."""
        path = Path(resolve(self.file, run))
        wait_until(lambda: path.exists() and len(path.read_text().splitlines()) >= self.lines, f"{path} is short")


@dataclass(frozen=True)
class Grows(Step):
    """Wait until a file grows: whoever writes it is at work."""

    file: Any

    def take(self, peer: Peer, run: Run) -> None:
        """By at least one byte."""
        path = Path(resolve(self.file, run))
        size = _size(path)
        wait_until(lambda: _size(path) > size, f"{path} does not grow")


@dataclass(frozen=True)
class Still(Step):
    """A file that grew does not grow any more."""

    file: Any

    def take(self, peer: Peer, run: Run) -> None:
        """Watched for as long as several beats take."""
        path = Path(resolve(self.file, run))
        size = _size(path)
        until = time.monotonic() + 4 * POLL
        while time.monotonic() < until:
            threading.Event().wait(POLL)
            assert _size(path) == size > 0, f"{path} still grows"


@dataclass(frozen=True)
class Gone(Step):
    """Wait until every process that a file lists has ended."""

    file: Any
    processes: int

    def take(self, peer: Peer, run: Run) -> None:
        """A zombie has ended too."""
        ids = [int(line) for line in Path(resolve(self.file, run)).read_text().split()]
        assert len(ids) == self.processes, ids
        wait_until(lambda: not any(map(_is_alive, ids)), f"still alive: {[pid for pid in ids if _is_alive(pid)]}")


@dataclass(frozen=True)
class Logged(Step):
    """A record of the event log matches."""

    record: Any

    def take(self, peer: Peer, run: Run) -> None:
        """Wait for it: records are written before the answer, but this step may follow no answer."""
        wait_until(
            lambda: any(mismatch(self.record, record, run) is None for record in _records(peer, run)),
            f"no record matches {self.record}",
        )


@dataclass(frozen=True)
class NotLogged(Step):
    """No record of the event log matches."""

    record: Any

    def take(self, peer: Peer, run: Run) -> None:
        """As far as it has been written."""
        found = [record for record in _records(peer, run) if mismatch(self.record, record, run) is None]
        assert not found, found


@dataclass(frozen=True)
class StderrHas(Step):
    """The server wrote this to stderr."""

    text: str

    def take(self, peer: Peer, run: Run) -> None:
        """Wait for it."""
        wait_until(lambda: self.text in peer.stderr(), f"{self.text!r} is not in stderr")


@dataclass(frozen=True)
class CloseInput(Step):
    """Close the server's stdin."""

    def take(self, peer: Peer, run: Run) -> None:
        """Answers can still be read."""
        peer.close_input()


@dataclass(frozen=True)
class InputEnded(Step):
    """Wait until the server has seen that its stdin is closed."""

    def take(self, peer: Peer, run: Run) -> None:
        """It lets go of its end of the pipe then."""
        wait_until(lambda: not peer.is_read(), "the server still holds its input")


@dataclass(frozen=True)
class Disconnect(Step):
    """Close both pipes, as a client that died."""

    def take(self, peer: Peer, run: Run) -> None:
        """Nothing can be read any more."""
        peer.disconnect()


@dataclass(frozen=True)
class Signal(Step):
    """Send a signal to the server."""

    number: signal.Signals

    def take(self, peer: Peer, run: Run) -> None:
        """To the server alone, not to its group."""
        peer.process.send_signal(self.number)


@dataclass(frozen=True)
class Exits(Step):
    """The server ends with this exit code, having said nothing else; progress like `progress` may be left."""

    code: int
    progress: Any = None

    def take(self, peer: Peer, run: Run) -> None:
        """All else that it said must have been claimed."""
        assert peer.exit_code() == self.code, peer.stderr()[-2000:]
        if self.progress is not None:
            Notified(self.progress, at_least=0).take(peer, run)
        assert not peer.messages, peer.messages


def wait_until(reached: Callable[[], bool], problem: str) -> None:
    """Wait for what nobody tells, with a bound."""
    until = time.monotonic() + BOUND
    while not reached():
        assert time.monotonic() < until, problem
        threading.Event().wait(POLL)


def barrier(peer: Peer) -> None:
    """A question and its answer: what was sent before has been taken up by the server."""
    peer.write(peer.frame(_encoded({"jsonrpc": "2.0", "id": "barrier", "method": QUESTIONS[peer.topology]})))
    peer.take(lambda message: _id_of(message) == "barrier", "the answer to a question")


def nothing_left(peer: Peer) -> None:
    """Everything that the server said has been claimed by an expectation."""
    barrier(peer)
    assert not peer.messages, peer.messages


def _expect_answer(peer: Peer, run: Run, request_id: Any, expected: Any) -> None:
    wanted = resolve(request_id, run)
    answer = peer.take(lambda message: _has_id(message, wanted), f"an answer to {wanted!r}")
    _assert_matches(expected, answer, run)


def _assert_matches(expected: Any, actual: Any, run: Run) -> None:
    problem = mismatch(expected, actual, run)
    assert problem is None, f"{problem}\nin {actual!r:.3000}"


def _has_id(message: Any, wanted: Any) -> bool:
    if isinstance(message, list):  # the answers to a batch are found by the first of them
        return bool(message) and _has_id(message[0], wanted)
    if not isinstance(message, dict) or "id" not in message:
        return False
    return type(message["id"]) is type(wanted) and message["id"] == wanted


def _progress(params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}


def _id_of(message: Any) -> Any:
    return message.get("id") if isinstance(message, dict) else None


def _method_of(message: Any) -> Any:
    return message.get("method") if isinstance(message, dict) else None


def _is_progress(message: Any) -> bool:
    return isinstance(message, dict) and message.get("method") == "notifications/progress"


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _is_alive(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def now() -> str:
    """The time, as the event log writes it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _records(peer: Peer, run: Run) -> Iterator[Any]:
    """The records of this run; a host and its server each write a log of their own."""
    for file in peer.state.rglob("*.jsonl*"):
        for line in file.read_text().splitlines():
            record = json.loads(line)
            if record["ts"] >= run.since:
                yield record


def _encoded(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
