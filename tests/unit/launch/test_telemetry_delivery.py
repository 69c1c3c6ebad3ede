"""Delivery of telemetry: in order, once, and never in the way of a run, whatever the service does."""

import socket
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from holdfast.launch.http_messages import Reply
from holdfast.launch.http_service import HttpFault, Request, application, running
from holdfast.launch.identifiers import stamp
from holdfast.launch.store.run_store import RunStore
from holdfast.launch.telemetry.delivery import Delivery, NotDelivered, Owed
from holdfast.launch.telemetry.records import calls_for
from holdfast.launch.telemetry.sending import EmbeddedTelemetry, Endpoint, Sender, endpoint_of, make_delivery
from holdfast.launch.telemetry.service import TelemetryService
from holdfast.launch.token_grants import TokenGrants

RUN = "r_2026-01-21T10-00-00Z_0011aabb"


@dataclass
class Row:
    id: int
    run_id: str = "run"
    method: str = "POST"
    path: str = "/x"
    document: dict[str, Any] = field(default_factory=dict)
    attempts: int = 0
    next_at: str = ""


class Outbox:
    """A store that is nothing but an outbox."""

    def __init__(self, *rows: Row) -> None:
        self.rows = list(rows)
        self.dropped: list[int] = []
        self.errors: list[str] = []
        self.lock = threading.Lock()

    def outbox(self, limit: int) -> list[Row]:
        with self.lock:
            now, due, waiting = stamp(datetime.now(UTC)), [], set()
            for row in self.rows:
                if row.next_at > now:
                    waiting.add(row.run_id)
                elif row.run_id not in waiting:
                    due.append(row)
            return due[:limit]

    def delivered(self, ids: Collection[int]) -> None:
        with self.lock:
            self.rows = [row for row in self.rows if row.id not in ids]

    def undeliverable(self, ids: Collection[int]) -> None:
        self.dropped += ids
        self.delivered(ids)

    def failed_delivery(self, row_id: int, error: str, next_at: datetime) -> None:
        with self.lock:
            row = next(row for row in self.rows if row.id == row_id)
            row.attempts, row.next_at = row.attempts + 1, stamp(next_at)
            self.errors.append(error)


@contextmanager
def delivering(outbox: Any, send: Callable[[Owed], None], **options: float) -> Iterator[Delivery]:
    delivery = Delivery(outbox, send, **options)
    try:
        yield delivery
    finally:
        delivery.stop()


def until(holds: Callable[[], bool], delivery: Delivery, seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        delivery.flush(0.1)


def test_everything_that_is_due_is_delivered_in_its_order() -> None:
    outbox, sent = Outbox(*(Row(number, f"run{number % 3}") for number in range(250))), list[int]()

    with delivering(outbox, lambda row: sent.append(row.id)) as delivery:
        assert delivery.flush(10)

    assert sent == list(range(250))
    assert outbox.rows == []


def test_what_is_new_is_noticed_when_somebody_says_so() -> None:
    outbox, arrived = Outbox(), threading.Event()

    with delivering(outbox, lambda _: arrived.set(), idle=3600) as delivery:
        assert delivery.flush(10)
        outbox.rows.append(Row(1))
        delivery.wake()
        assert arrived.wait(10)


def test_a_failure_puts_off_the_run_and_nobody_else_and_keeps_the_order() -> None:
    outbox, sent, failures = Outbox(Row(1, "a"), Row(2, "b"), Row(3, "a"), Row(4, "b")), list[int](), [3]

    def send(row: Owed) -> None:
        if row.run_id == "a" and failures[0]:
            failures[0] -= 1
            raise NotDelivered("not now", is_passing=True)
        sent.append(row.id)

    with delivering(outbox, send, pause=0.01) as delivery:
        assert delivery.flush(10)
        until(lambda: not outbox.rows, delivery)

    assert sent == [2, 4, 1, 3]
    assert outbox.errors == ["not now"] * 3


def test_the_pause_grows_up_to_minutes_and_no_further() -> None:
    outbox = Outbox(*(Row(number, str(number), attempts=number) for number in (0, 2, 8, 5000)))

    def send(_: Owed) -> None:
        raise NotDelivered("never", is_passing=True)

    before = datetime.now(UTC)
    with delivering(outbox, send) as delivery:
        assert delivery.flush(10)

    waits = [(datetime.fromisoformat(row.next_at) - before).total_seconds() for row in outbox.rows]
    assert [round(wait) for wait in waits] == pytest.approx([1, 4, 256, 300], abs=2)


def test_a_refusal_for_good_is_counted_and_lets_the_next_one_through() -> None:
    outbox, sent = Outbox(Row(1), Row(2)), list[int]()

    def send(row: Owed) -> None:
        if row.id == 1:
            raise NotDelivered("status 400", is_passing=False)
        sent.append(row.id)

    with delivering(outbox, send) as delivery:
        assert delivery.flush(10)

    assert (outbox.dropped, sent, outbox.rows) == ([1], [2], [])


def test_a_service_that_hangs_delays_neither_flush_nor_stop() -> None:
    leave = threading.Event()

    with delivering(Outbox(Row(1)), lambda _: (leave.wait(50), None)[1]) as delivery:
        assert not delivery.flush(0.1)

    assert not leave.is_set()
    assert [one for one in threading.enumerate() if one.name == "holdfast-telemetry"]
    leave.set()


def test_a_store_that_fails_is_asked_again() -> None:
    outbox, broken = Outbox(Row(1)), [True, True]
    look = outbox.outbox

    def failing(limit: int) -> list[Row]:
        if broken and broken.pop():
            raise OSError("disk full")
        return look(limit)

    outbox.outbox = failing  # type: ignore[method-assign]
    with delivering(outbox, lambda _: None) as delivery:
        until(lambda: not outbox.rows, delivery)


def test_stopping_before_it_began_is_fine_and_final() -> None:
    delivery = Delivery(Outbox(Row(1)), lambda _: None)
    delivery.stop()

    assert not delivery.flush(0.1)


# --- one attempt ---


def refused(sender: Sender, row: Row) -> NotDelivered:
    with pytest.raises(NotDelivered) as caught:
        sender(row)
    return caught.value


def no_embedded(*_: object) -> Reply:
    raise AssertionError


@pytest.mark.parametrize(
    ("status", "is_passing"),
    [(400, False), (401, False), (404, False), (409, False), (422, False), (408, True), (429, True), (500, True),
     (503, True), (302, False)],
)  # fmt: skip
def test_a_refusal_is_for_good_unless_it_is_about_the_moment(status: int, is_passing: bool) -> None:
    sender = Sender(lambda _: Endpoint("embedded:"), lambda *_: Reply(status, {}))

    assert refused(sender, Row(1)).is_passing is is_passing


def test_a_record_arrives_at_the_endpoint_of_its_run_with_the_token() -> None:
    taken: list[tuple[str, Any]] = []

    def take(request: Request) -> Reply:
        taken.append((request.parameters["x"], request.json()))
        return Reply(201, {})

    with running(application([("PATCH", "/below/api/{x}", take)], token="t")) as url:
        sender = Sender(lambda _: Endpoint(f"{url}/below/", "t"), no_embedded)
        sender(Row(1, method="PATCH", path="/api/here", document={"a": 1}))
        assert refused(Sender(lambda _: Endpoint(url), no_embedded), Row(1)).is_passing is False

    assert taken == [("here", {"a": 1})]


def test_a_dead_service_is_asked_once_and_then_left_alone_for_a_while() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(10)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        sender = Sender(lambda _: Endpoint(url), no_embedded, timeout=0.1, rest=60)
        assert all(refused(sender, Row(number, f"run{number}")).is_passing for number in range(20))
        listener.accept()[0].close()
        listener.settimeout(0)
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_a_service_that_comes_back_is_used_again() -> None:
    sick = [True]

    def take(_: Request) -> Reply:
        if sick:
            sick.clear()
            raise HttpFault(503, "NOT_READY", "in a moment")
        return Reply(201, {})

    with running(application([("POST", "/x", take)], token=None)) as url:
        sender = Sender(lambda _: Endpoint(url), no_embedded)
        assert refused(sender, Row(1)).is_passing
        sender(Row(1))


def test_an_address_that_is_none_is_refused_for_good() -> None:
    assert refused(Sender(lambda _: Endpoint("ftp://x"), no_embedded), Row(1)).is_passing is False


def test_the_configuration_says_where_and_the_environment_with_which_token() -> None:
    told = {"telemetry": {"endpoint_url": "https://t:1", "auth_token_env": "TOKEN"}}

    assert endpoint_of(told, {"TOKEN": "s"}, TokenGrants("TOKEN=t")) == Endpoint("https://t:1", "s")
    assert endpoint_of(told, {}, TokenGrants("TOKEN=t")) == Endpoint("https://t:1")
    assert endpoint_of(None, {}) == Endpoint("embedded:")


# --- with the real store ---


CONFIG = {"product_slug": "tablekit", "telemetry": {"endpoint_url": "embedded:", "project": "p"}}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    made = RunStore(f"sqlite:///{tmp_path / 'runs.sqlite'}")
    yield made
    made.close()


def owe(store: RunStore, config: dict[str, Any]) -> None:
    store.create_run(RUN, config, "c" * 64, now=datetime.now(UTC))
    with store.change(RUN) as change:
        item = change.queue_item("section_writer", "docs", 1, {})
        change.start_item(item, "me", 1)
        change.finish_item(item, {})
    delivered = {row.path for row in store.outbox(1000)}
    with store.change(RUN) as change:
        for event in store.events(RUN):
            for call in calls_for(event.document(), config):
                if call.path not in delivered:  # a store that owes them by itself has them already
                    change.telemetry(*call)


def test_what_a_run_owes_arrives_in_the_service_of_the_workspace(store: RunStore, tmp_path: Path) -> None:
    owe(store, CONFIG)
    embedded = EmbeddedTelemetry(tmp_path / "services" / "telemetry.sqlite")
    delivery = make_delivery(store, embedded)
    try:
        assert delivery.flush(10)
    finally:
        delivery.stop()
        embedded.close()

    assert store.outbox(10) == []
    with TelemetryService(tmp_path / "services" / "telemetry.sqlite") as service:
        picture = service.picture(RUN)
    assert picture is not None
    assert [one["job_type"] for one in picture["children"]] == ["worker"]
    assert [one["type"] for one in picture["events"]][:2] == ["RUN_CREATED", "WORK_ITEM_QUEUED"]


def test_a_dead_service_costs_a_run_nothing_and_keeps_what_is_owed(store: RunStore, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    owe(store, {**CONFIG, "telemetry": {"endpoint_url": url, "project": "p"}})
    delivery = make_delivery(store, EmbeddedTelemetry(tmp_path / "t.sqlite"))

    assert delivery.flush(10)
    delivery.stop()

    assert store.outbox(10) == []  # nothing is due
    later = store.outbox(10, now=datetime(2100, 1, 1, tzinfo=UTC))
    assert later[0].attempts == 1
    assert "cannot be reached" in (later[0].error or "")
