"""The store of a pool: who is in it, what the dead leave, and contents that every machine can have."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.launch.postgres import fresh_schema
from tests.launch.stores import NOW, RUN, made_run, tamper

from holdfast.errors import UsageError
from holdfast.launch.documents import sha256
from holdfast.launch.engine.asking import INTERRUPTED
from holdfast.launch.service import RunService
from holdfast.launch.store.pool_store import PoolStore
from holdfast.launch.store.refusals import Busy, LeaseLost, ObjectLost
from holdfast.launch.store.run_store import RunStore
from holdfast.launch.store.shared_objects import SharedObjects
from holdfast.launch.workspace import Workspace

LONG, OVER = 600.0, 0.0  # leases: one that outlasts a test, and one that is over at once


@pytest.fixture(scope="module")
def pool_url(postgres_server: str) -> Iterator[str]:
    with fresh_schema(postgres_server) as url:
        yield url


@pytest.fixture(scope="module")
def store_of_all(pool_url: str) -> Iterator[PoolStore]:
    with closing(PoolStore(pool_url)) as store:
        yield store


@pytest.fixture
def pool(store_of_all: PoolStore, pool_url: str) -> PoolStore:
    """The store with one run and nothing else; its tables are made once for all tests."""
    tables = ("runs", "requests", "outbox", "members", "objects")
    tamper(pool_url, f"TRUNCATE {', '.join(f'launch_{name}' for name in tables)} CASCADE")
    store_of_all.delivers_as = None
    made_run(store_of_all)
    return store_of_all


def join(pool: PoolStore, name: str, lease: float = LONG) -> str:
    identity = f"{name}:1"
    pool.join(identity, name, host="here", pid=7, concurrency=2, lease=lease)
    return identity


def states(pool: PoolStore) -> dict[str, tuple[str, str | None]]:
    return {one.request_id: (one.state, one.owner) for one in pool.requests()}


# --- who is there ----------------------------------------------------------------------------------------------


def test_a_member_is_there_as_long_as_it_gives_signs_of_life(pool: PoolStore) -> None:
    ann, bob = join(pool, "ann"), join(pool, "bob", OVER)
    assert [(one.name, one.host, one.concurrency) for one in pool.members()] == [("ann", "here", 2)]

    assert pool.free_the_dead(INTERRUPTED).members == (bob,)
    assert (pool.beat(ann), pool.beat(bob)) == (True, False)
    pool.leave(ann)
    assert (pool.members(), pool.beat(ann)) == ([], False)


def test_a_name_belongs_to_one_living_member(pool: PoolStore) -> None:
    join(pool, "ann")
    with pytest.raises(UsageError, match=r"'ann' is in the pool already \(process 7 on here\)"):
        pool.join("ann:2", "ann", host="there", pid=8, concurrency=1, lease=LONG)

    join(pool, "bob", OVER)
    pool.join("bob:2", "bob", host="there", pid=8, concurrency=1, lease=LONG)
    assert [one.identity for one in pool.members()] == ["ann:1", "bob:2"]


def test_whoever_only_waits_for_an_answer_is_no_member(pool: PoolStore) -> None:
    for _ in range(2):
        pool.wait_here("client", host="here", pid=1, lease=LONG)
    assert pool.members() == []
    assert pool.beat("client")


def test_the_bound_of_the_pool_is_remembered(pool: PoolStore, pool_url: str) -> None:
    assert pool.bound() == 0
    pool.set_bound(7)
    pool.set_bound(5)
    with closing(PoolStore(pool_url)) as other:
        assert other.bound() == 5


# --- what the dead leave ---------------------------------------------------------------------------------------


def test_the_runs_of_the_dead_are_free_and_their_tokens_void(pool: PoolStore) -> None:
    ann, bob = join(pool, "ann", OVER), join(pool, "bob")
    lost = pool.claim(RUN, ann)
    with pytest.raises(Busy):
        pool.claim(RUN, bob)

    assert pool.free_the_dead(INTERRUPTED).runs == (RUN,)
    with pytest.raises(LeaseLost), pool.change(RUN, token=lost) as change:
        change.event("LATE", {})
    token = pool.claim(RUN, bob)
    assert token > lost
    assert pool.free_the_dead(INTERRUPTED).runs == ()
    with pool.change(RUN, token=token) as change:
        change.event("IN_TIME", {})
    assert [event.type for event in pool.events(RUN)] == ["RUN_CREATED", "IN_TIME"]


def test_one_that_was_given_up_claims_nothing_and_answers_nothing(pool: PoolStore) -> None:
    ann, bob = join(pool, "ann", OVER), join(pool, "bob")
    pool.ask("q", RUN, "drive", "client", NOW)
    assert pool.take_request("q", ann)
    pool.free_the_dead(INTERRUPTED)
    assert pool.take_request("q", bob)

    with pytest.raises(LeaseLost):
        pool.claim(RUN, ann)
    pool.answer_request("q", {"done": "by ann"}, owner=ann)
    pool.hand_back("q", ann)
    assert states(pool) == {"q": ("running", bob)}
    pool.answer_request("q", {"done": "by bob"}, owner=bob)
    request = pool.request("q")
    assert request is not None
    assert request.outcome == {"done": "by bob"}


def test_what_the_dead_were_asked_for_goes_on_unless_it_was_for_somebody_who_waits(pool: PoolStore) -> None:
    ann = join(pool, "ann", OVER)
    pool.wait_here("client", host="here", pid=1, lease=LONG)
    for request, kind, asker in (
        ("lasting", "drive", "gone"),
        ("waited-for", "fix", "client"),
        ("unwanted", "drive", "client"),
        ("not-begun", "validate", "client"),
        ("forsaken", "open_pr", "gone"),
    ):
        pool.ask(request, RUN, kind, asker, NOW)
    for request in ("lasting", "waited-for", "unwanted"):
        assert pool.take_request(request, ann)
    pool.cancel_request("unwanted")

    assert pool.free_the_dead(INTERRUPTED).requests == 4
    assert {name: state for name, (state, _) in states(pool).items()} == {
        "lasting": "pending",
        "waited-for": "done",
        "unwanted": "cancelled",
        "not-begun": "pending",
        "forsaken": "done",
    }
    outcomes = [one.outcome for one in pool.requests() if one.state == "done"]
    assert outcomes == [INTERRUPTED, INTERRUPTED]
    assert pool.free_the_dead(INTERRUPTED).requests == 0


def test_what_is_handed_back_is_pending_again_or_over(pool: PoolStore) -> None:
    ann = join(pool, "ann")
    for request in ("q1", "q2"):
        pool.ask(request, RUN, "drive", "client", NOW)
        assert pool.take_request(request, ann)
    pool.cancel_request("q2")
    for request in ("q1", "q2"):
        pool.hand_back(request, ann)
    assert states(pool) == {"q1": ("pending", None), "q2": ("cancelled", ann)}


def test_runs_that_nobody_has_asked_for_are_known(pool: PoolStore) -> None:
    ann = join(pool, "ann")
    assert pool.unattended() == [RUN]
    pool.ask("q", RUN, "drive", ann, NOW)
    assert pool.unattended() == []
    pool.answer_request("q", {"done": {}})
    token = pool.claim(RUN, ann)
    assert pool.unattended() == []
    with pool.change(RUN, token=token) as change:
        change.move("CANCELLED")
    pool.release(RUN, token)
    assert pool.unattended() == []


def test_one_member_delivers_what_telemetry_is_owed(pool: PoolStore, pool_url: str) -> None:
    pool.owe("POST", "/x", {})
    assert pool.outbox() == []  # whoever only asks delivers nothing
    with closing(PoolStore(pool_url)) as other:
        pool.delivers_as, other.delivers_as = join(pool, "bob"), join(other, "ann")
        assert (len(pool.outbox()), len(other.outbox())) == (1, 0)
        pool.leave(pool.delivers_as)
        assert (len(pool.outbox()), len(other.outbox())) == (0, 1)


def test_the_whereabouts_of_many_runs_are_told_at_once(store: RunStore) -> None:
    made_run(store)
    made_run(store, "r_another_run")
    store.claim(RUN, "ann")
    where = store.whereabouts([RUN, "r_another_run", *(f"r_unknown_{number}" for number in range(1200))])
    assert where == {RUN: ("CREATED", True), "r_another_run": ("CREATED", False)}


# --- contents --------------------------------------------------------------------------------------------------


def test_what_one_machine_keeps_every_machine_can_have(pool: PoolStore, tmp_path: Path) -> None:
    here, there = SharedObjects(tmp_path / "here", pool), SharedObjects(tmp_path / "there", pool)
    source = tmp_path / "source"
    source.write_bytes(b"\0\xff" * 100_000)
    digests = [here.put(b"text"), here.put(b""), here.put(source)]

    assert [there.has(digest) for digest in digests] == [True, True, True]
    assert [there.read(digest) for digest in digests] == [b"text", b"", b"\0\xff" * 100_000]
    path = there.here(digests[0])
    assert path.read_bytes() == b"text"
    path.unlink()
    path.write_bytes(b"damaged")
    assert there.here(digests[0]).read_bytes() == b"text"
    assert there.put(b"text") == digests[0]


def test_an_object_that_no_machine_has_or_that_was_changed_is_lost(pool: PoolStore, tmp_path: Path) -> None:
    objects = SharedObjects(tmp_path / "objects", pool)
    with pytest.raises(ObjectLost, match="is not there"):
        objects.here("a" * 64)
    pool.keep_object(sha256(b"x"), b"y")
    with pytest.raises(ObjectLost, match="is not what was kept"):
        objects.read(sha256(b"x"))


# --- which store -----------------------------------------------------------------------------------------------


def test_a_pool_in_sqlite_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"needs PostgreSQL.*HOLDFAST_LAUNCH_STORE=postgresql://"):
        PoolStore(f"sqlite:///{tmp_path}/runs.db")


def test_the_store_of_a_pool_is_shared_by_all_directories_and_by_no_single_one(
    postgres_url: str, tmp_path: Path
) -> None:
    for name in ("ann", "bob"):
        RunService(Workspace(tmp_path / name, postgres_url, is_pool=True)).close()
    with pytest.raises(UsageError, match=r"belongs to a pool.*--launch-engine dbos"):
        RunService(Workspace(tmp_path / "ann", postgres_url))


def test_the_store_of_one_directory_is_not_taken_by_a_pool(postgres_url: str, tmp_path: Path) -> None:
    RunService(Workspace(tmp_path / "ann", postgres_url)).close()
    with pytest.raises(UsageError, match=r"belongs to another launch directory.*another database for the pool"):
        RunService(Workspace(tmp_path / "ann", postgres_url, is_pool=True))
