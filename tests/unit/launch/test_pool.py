"""A pool of machines as processes of their own: what the scheduler does not do for us, and what nobody may notice.

The traps are those of DBOS 3.3: nothing of a dead peer is recovered; under one executor id what still runs is
started a second time; to cancel does not stop a step; a changed version leaves everything behind; tables may go.
"""

import asyncio
import base64
import json
import os
import pickle
import secrets
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from time import monotonic

import psutil
import psycopg
import pytest
from dbos import DBOSPortableJSONSerializer
from dbos._serialization import deserialize_args
from tests.launch.pools import Machine, Pool, new_pool
from tests.launch.postgres import fresh_schema
from tests.launch.products import make_site, run_config
from tests.launch.stages import until

from holdfast.launch import pruning
from holdfast.launch.documents import encode, sha256
from holdfast.launch.engine import pool_executor, pool_member
from holdfast.launch.engine.dbos_queue import VERSION, DbosQueue, QueueLostError
from holdfast.launch.engine.pool_member import Conditions, PoolMember
from holdfast.launch.engine.tree_mark import TreeMark
from holdfast.launch.run_changes import changes_of_run, site_of_run
from holdfast.launch.service import RunService
from holdfast.launch.store.pool_store import PoolStore

pytestmark = [pytest.mark.xdist_group("launch-pool"), pytest.mark.timeout(180)]


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory, postgres_server: str) -> Iterator[Pool]:
    with new_pool(tmp_path_factory.mktemp("pool"), postgres_server) as made:
        yield made


@pytest.fixture(scope="module")
def service(pool: Pool) -> Iterator[RunService]:
    with pool.service() as made:
        yield made


@pytest.fixture(scope="module")
def bob(pool: Pool) -> Machine:
    """The machine that is there for all tests but the last ones."""
    return pool.machine("bob", "--concurrency", "2")


def state(service: RunService, run_id: str) -> str:
    return service.run(run_id).state


def until_in(service: RunService, pool: Pool, run_id: str, wanted: str) -> None:
    until(lambda: state(service, run_id) == wanted and service.run(run_id).holder is None, pool.said())


def attempts(service: RunService, run_id: str, worker: str) -> list[tuple[str, str | None]]:
    items = [item for item in service.store.items(run_id) if item.worker == worker]
    return [(item.status, (item.error or {}).get("code")) for item in items]


def test_a_run_of_a_machine_that_died_is_gone_on_with_by_another_and_never_done_twice_at_once(
    pool: Pool, service: RunService, request: pytest.FixtureRequest
) -> None:
    pool.order("validator", "wait", "fine")
    run_id = pool.ready(service, "r_of_the_dead")
    ann = pool.machine("ann")
    service.engine.begin("drive", run_id)
    worker = pool.waits("validator")
    bob: Machine = request.getfixturevalue("bob")
    until(lambda: bob.said("join"), "another machine")
    _impersonate(pool, service, run_id)

    ann.kill()
    pool.declare_dead(ann)
    until_in(service, pool, run_id, "READY_FOR_PR")
    assert pool.twice() == []
    assert not psutil.pid_exists(worker)
    assert attempts(service, run_id, "validator") == [("failed", "INTERRUPTED"), ("finished", None)]
    assert attempts(service, run_id, "tree_keeper") == [("finished", None), ("finished", None)]  # once on each
    assert bob.said("freed") == [f"{run_id} was held by a machine that is gone"]
    assert service.replay(run_id)[1] == []
    assert {row[0] for row in pool.queue_rows("application_version")} == {VERSION}
    assert {row[0] for row in pool.queue_rows("serialization")} == {"portable_json"}


def _impersonate(pool: Pool, service: RunService, run_id: str) -> None:
    """Be a second process under the executor id of the one that works: DBOS starts the same again."""
    assert isinstance(service.store, PoolStore)
    holder = service.run(run_id).holder
    given: list[bool] = []
    assert holder is not None
    queue = DbosQueue(*service.store.queue_place())
    before = max(row[0] for row in pool.queue_rows("recovery_attempts"))

    def carry_out(request_id: str) -> str:
        given.append(service.store.take_request(request_id, "an impostor"))
        return "taken"

    def is_started_again() -> bool:
        return bool(given) or max(row[0] for row in pool.queue_rows("recovery_attempts")) > before

    queue.open(holder, carry_out)
    try:
        until(is_started_again, "the second start")
    finally:
        queue.close()
    assert True not in given  # the request has one owner, whatever is started
    with pytest.raises(ValueError, match="pickled"):  # a row that says that it is pickled runs nothing
        deserialize_args(
            base64.b64encode(pickle.dumps({"args": (), "kwargs": {}})).decode(),
            "py_pickle",
            DBOSPortableJSONSerializer(),
        )


def test_a_second_machine_in_the_same_directory_is_refused(pool: Pool, bob: Machine) -> None:
    until(lambda: bob.said("join"), "the first one")
    folder = pool.folder / bob.name / "launch"
    guest = pool.machine("guest", "--launch-dir", str(folder))
    assert guest.process.wait(60) == 2
    assert guest.said("join") == []
    assert guest.output.read_text().splitlines() == [
        f"holdfast: another machine of a pool works in {folder}",
        "  try: give this one a --launch-dir of its own",
    ]


def test_a_second_machine_of_the_same_name_is_refused(pool: Pool, bob: Machine, tmp_path: Path) -> None:
    until(lambda: bob.said("join"), "the first one")
    twin = pool.machine(bob.name, "--launch-dir", str(tmp_path))
    assert twin.process.wait(60) == 2
    told = twin.output.read_text()
    assert twin.said("join") == []
    assert f"an executor '{bob.name}' is in the pool already (process {bob.process.pid} on " in told
    assert "try: choose another name (--executor)" in told


def test_a_cancelled_run_ends_at_once_whoever_executes_it_and_its_machine_goes_on(
    pool: Pool, service: RunService, bob: Machine
) -> None:
    assert bob.process.poll() is None
    pool.order("validator", "wait")
    pool.hold()
    run_id = pool.ready(service, "r_cancelled")
    service.engine.begin("drive", run_id)
    worker = pool.waits("validator")

    assert service.cancel(run_id) == "CANCELLED"
    until(lambda: not psutil.pid_exists(worker), "the end of its work")
    pool.order("validator", "fine")
    after = pool.ready(service, "r_after_cancelled")
    assert service.engine.perform("drive", after) == {"state": "READY_FOR_PR"}
    assert state(service, run_id) == "CANCELLED"


def test_losing_all_tables_of_the_queue_loses_nothing(pool: Pool, service: RunService, bob: Machine) -> None:
    pool.order("validator", "wait")
    pool.hold()
    first, second = (pool.ready(service, name) for name in ("r_when_dropped", "r_after_dropped"))
    service.engine.begin("drive", first)
    pool.waits("validator")
    pool.drop_queue()
    service.engine.begin("drive", second)
    pool.let_go()

    for run_id in (first, second):
        until_in(service, pool, run_id, "READY_FOR_PR")
    until(lambda: bob.said("lost"), "that it was noticed")
    assert pool.twice() == []


def test_a_machine_that_is_told_to_leave_hands_over_after_its_step_and_the_pool_keeps_its_bound(
    pool: Pool, service: RunService, bob: Machine
) -> None:
    service.bound_pool(1)
    pool.order("validator", "wait")
    pool.hold()
    until(lambda: (1,) in pool.queue_bounds(), "that the bound is known")
    runs = [pool.ready(service, f"r_handed_over_{number}") for number in range(3)]
    for run_id in runs:
        service.engine.begin("drive", run_id)
    pool.waits("validator")  # one of them is executed
    until(lambda: [row[0] for row in pool.queue_rows("status")].count("ENQUEUED") == 2, "the others in the queue")
    assert sum(service.run(run_id).holder is not None for run_id in runs) == 1
    bob.process.terminate()
    until(lambda: bob.said("leave"), "that it was heard")
    pool.let_go()
    assert bob.process.wait(60) == 0
    assert not any(service.run(run_id).holder for run_id in runs)
    done = [run_id for run_id in runs if attempts(service, run_id, "validator") == [("finished", None)]]
    assert len(done) == 1
    assert state(service, done[0]) == "LINKING"

    carl = pool.machine("carl", "--drain", "--concurrency", "2")
    assert carl.process.wait(60) == 0, pool.said()
    for run_id in runs:
        assert state(service, run_id) == "READY_FOR_PR"
        assert attempts(service, run_id, "validator") == [("finished", None)]  # what was done is not done again
    assert (len(carl.said("begin")), _most_at_once(carl)) == (3, 1)
    assert pool.twice() == []


def _most_at_once(machine: Machine) -> int:
    """How many requests the machine carried out at the same time, at most."""
    now = most = 0
    for line in machine.output.read_text().splitlines():
        now += ('"kind": "begin"' in line) - ('"kind": "end"' in line)
        most = max(most, now)
    return most


def test_what_is_asked_of_a_pool_without_machines_is_refused_with_what_to_do(
    pool: Pool, service: RunService, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from holdfast.errors import ToolError
    from holdfast.launch.engine import pool as pool_engine

    monkeypatch.setattr(pool_engine, "_NOBODY", 0.3)
    monkeypatch.setattr(pool_engine, "_SIGN", 0.1)
    run_id = pool.ready(service, "r_of_nobody")
    assert service.members() == []
    with pytest.raises(ToolError, match="no machine works in the pool") as refused:
        service.validate(run_id)
    assert refused.value.retryable
    assert refused.value.hint == "on a machine of the pool: `holdfast launch work`"
    assert [one.state for one in service.store.requests(run_id=run_id)][-1] == "cancelled"


def test_a_request_that_several_machines_put_into_the_queue_stands_there_once(
    pool: Pool, service: RunService
) -> None:
    assert isinstance(service.store, PoolStore)
    run_id = pool.ready(service, "r_queued_by_all")
    service.store.ask("by all", run_id, "drive", service.engine.identity)
    request = service.store.request("by all")
    queue, may_end = DbosQueue(*service.store.queue_place()), threading.Event()
    assert request is not None

    def carry_out(request_id: str) -> str:
        may_end.wait(60)
        return request_id

    queue.open("a machine", carry_out)
    try:
        bounds: dict[str, int] = {"per_member": 1, "in_all": 0}
        assert [queue.arrange([request], {"a machine"}, **bounds) for _ in range(2)] == [1, 0]
        queue._enqueue(request)  # as one does that has looked before the other put it there
        assert [row[0] for row in pool.queue_rows("deduplication_id")].count("by all") == 1
    finally:
        may_end.set()
        queue.close()
    service.store.cancel_request("by all")


def test_whoever_only_asks_the_pool_starts_no_scheduler(pool: Pool) -> None:
    code = "import sys; from holdfast.cli.app import main; main(['launch', 'list']); print('dbos' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], env=pool.environment("client"), capture_output=True, text=True, check=False,
        timeout=60,
    )  # fmt: skip
    assert (done.stdout.splitlines()[-1:], done.stderr) == (["False"], "")


def test_a_machine_that_did_not_execute_a_run_shows_what_it_changes_all_the_same(
    pool: Pool, service: RunService, tmp_path: Path
) -> None:
    page, text = "content/docs/x/a.md", "---\ntitle: A\n---\n\nText.\n"
    sha = make_site(tmp_path / "site")
    run_id = pool.ready(service, "r_of_others", site_repo_url=str(tmp_path / "site"), site_ref=sha,
                        allowed_paths=["content/docs/x/"],
                        commit_service={"endpoint_url": "embedded:", "github_token_env": "NO_TOKEN"})  # fmt: skip
    patch = {"patch_id": "patch_001", "type": "create_file", "path": page, "new_content": text,
             "content_hash": sha256(text.encode())}  # fmt: skip
    content = encode("patch_bundle", {"schema_version": "1.0", "base_ref": sha, "patches": [patch]})
    digest = service.objects.put(content)
    with service.store.change(run_id) as change:
        change.artifact("patch_bundle.json", digest, "patch_bundle", "test", len(content))
    old = service.workspace.run(run_id) / "work" / "site" / page
    old.parent.mkdir(parents=True)
    old.write_text("of an earlier turn of this machine")
    TreeMark(service.workspace.run(run_id)).write("the bundle of that turn")

    assert changes_of_run(service, run_id).files == {page: (None, text.encode())}
    with site_of_run(service, run_id) as site:
        assert (site / page).read_text() == text
    assert not site.exists()


@pytest.mark.parametrize("hangs", [False, True])
def test_a_machine_without_its_store_ends_only_where_its_work_cannot_be_stopped(
    service: RunService, monkeypatch: pytest.MonkeyPatch, hangs: bool
) -> None:
    assert isinstance(service.store, PoolStore)
    told: list[str] = []
    ended: list[int] = []
    queue = DbosQueue(*service.store.queue_place())
    about = Conditions("zoe", concurrency=2, workers=1, lease=30.0)
    member = PoolMember(
        service.workspace, service.store, service.objects, queue, about, lambda kind, _: told.append(kind)
    )
    monkeypatch.setattr(os, "_exit", ended.append)
    vars(member).update(
        _taken={"a request"}, _running={"a request": None} if hangs else {}, _fenced=monotonic() - 1000
    )
    member._fence(is_silent=True)

    assert (len(ended), told) == ((1, ["lost"]) if hangs else (0, []))


@pytest.mark.parametrize("is_stubborn", [False, True])
def test_a_machine_that_leaves_what_hangs_behind_can_end(
    pool: Pool, service: RunService, monkeypatch: pytest.MonkeyPatch, is_stubborn: bool
) -> None:
    assert isinstance(service.store, PoolStore)
    name, told = f"hangs_{is_stubborn}", list[str]()
    service.store.ask(name, pool.ready(service, f"r_{name}"), "drive", "nobody")
    queue = DbosQueue(*service.store.queue_place())
    about = Conditions("yan", concurrency=1, workers=1, lease=30.0)
    member = PoolMember(
        service.workspace, service.store, service.objects, queue, about, lambda kind, _: told.append(kind)
    )

    async def hang(_: object) -> None:
        told.append("hangs")
        with suppress(asyncio.CancelledError) if is_stubborn else nullcontext():
            await asyncio.Event().wait()
        await asyncio.Event().wait()

    monkeypatch.setattr(pool_member, "_ENDING", 0.1)
    vars(member).update(_loop=asyncio.new_event_loop(), _answered=hang)
    executing = threading.Thread(target=member._execute_all, daemon=True)
    carrying = threading.Thread(target=member._carry_out, args=(name,), daemon=True)
    executing.start()
    carrying.start()
    until(lambda: told == ["hangs"], "the work")
    member._end([executing])
    carrying.join(20)
    executing.join(20)

    assert not carrying.is_alive()
    service.store.answer_request(name, {"done": {}})


def test_a_prune_keeps_the_pool_away_from_a_run_while_its_files_go(
    pool: Pool, service: RunService, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [pool.ready(service, name) for name in ("r_to_be_pruned", "r_taken_up_again")]
    found = [pruning.Leftover("run", f"runs/{run_id}", 1, run_id, "LINKING") for run_id in runs]
    gone: list[tuple[str, bool]] = []

    def remove(path: Path) -> None:
        gone.append((path.name, service.run(path.name).holder == service.engine.identity))

    monkeypatch.setattr(pruning, "_remove", remove)
    monkeypatch.setattr(pruning, "_still_there", lambda _, chosen: chosen)  # taken up when it had been looked at
    assert isinstance(service.store, PoolStore)
    service.store.wait_here("somebody", host="there", pid=1, lease=600)
    token = service.store.claim(runs[1], "somebody")
    pruning.removed(service, found)
    service.store.release(runs[1], token)
    service.store.leave("somebody")

    assert gone == [(runs[0], True)]
    assert service.run(runs[0]).holder is None


def test_a_batch_that_is_interrupted_leaves_its_runs_to_the_pool(
    pool: Pool, service: RunService, tmp_path: Path
) -> None:
    config = run_config(Path("/product"), "a" * 40, Path("/site"), "b" * 40, product_slug="left-behind")
    (tmp_path / "runs.jsonl").write_text(json.dumps(config))
    person = pool.command("batch", str(tmp_path / "runs.jsonl"), "--label", "for ann", "--open-pr")
    (run,) = until(lambda: service.runs(product_slug="left-behind"), "its run")
    until(lambda: service.store.requests(state="pending", run_id=run["run_id"]), "that it is asked for")
    person.send_signal(signal.SIGINT)
    _, told = person.communicate(timeout=60)

    assert person.returncode == 130
    assert "stopped; 1 of 1 runs do not rest yet, and the pool goes on with them" in told
    again = f"holdfast launch batch {tmp_path / 'runs.jsonl'} --label 'for ann' --open-pr"
    assert f"look again: {again} (starts nothing twice)" in told  # without its label it would start others
    assert [one.kind for one in service.store.requests(state="pending", run_id=run["run_id"])] == ["drive"]
    service.cancel(run["run_id"])


def test_a_user_who_may_not_make_the_queue_is_told_what_right_is_missing(
    postgres_server: str, tmp_path: Path
) -> None:
    name = f"low_{secrets.token_hex(6)}"
    with psycopg.connect(postgres_server, autocommit=True) as connection, fresh_schema(postgres_server) as url:
        schema = url.rpartition("%3D")[2]
        connection.execute(f"CREATE ROLE {name} LOGIN".encode())
        connection.execute(f"GRANT ALL ON SCHEMA {schema} TO {name}".encode())
        try:
            machine = Pool(tmp_path, url.replace("//postgres@", f"//{name}@")).machine("low")
            assert machine.process.wait(60) == 2
        finally:
            connection.execute(f"DROP OWNED BY {name}".encode())
            connection.execute(f"DROP ROLE {name}".encode())
    told = [line for line in machine.output.read_text().splitlines() if not line.startswith("{")]
    assert told == [
        "holdfast: the queue cannot be opened: permission denied for database postgres",
        "  try: give the user of the database the right to make a schema: GRANT CREATE ON DATABASE",
    ]


@pytest.mark.parametrize(("failures", "ends_well"), [(2, True), (3, False)])
def test_a_machine_that_joins_while_the_queue_is_dropped_tries_again_but_not_for_ever(
    service: RunService, monkeypatch: pytest.MonkeyPatch, failures: int, ends_well: bool
) -> None:
    left, really_open = [failures], DbosQueue.open

    def open_at_last(queue: DbosQueue, executor_id: str, carry_out: Callable[[str], str]) -> None:
        if left[0]:
            left[0] -= 1
            raise QueueLostError("it is being dropped", RuntimeError("so it is"))
        really_open(queue, executor_id, carry_out)

    monkeypatch.setattr(DbosQueue, "open", open_at_last)
    monkeypatch.setattr(pool_executor, "_AGAIN", (0.01, 0.02))
    told: list[str] = []
    machine = service.pool_executor(Conditions("dan", 1, 1, 600.0), lambda kind, _text: told.append(kind))
    if ends_well:
        machine.serve(drain=True)
        assert told[:3] == ["lost", "lost", "join"]
    else:
        with pytest.raises(QueueLostError):
            machine.serve(drain=True)
    assert service.members() == []
