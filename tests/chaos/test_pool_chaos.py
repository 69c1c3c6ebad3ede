"""A slice of `make chaos-pool`: two machines, of which one is killed while runs are queued; a third one joins."""

import random
from collections import Counter
from pathlib import Path

import pytest
from tests.chaos.pool_chaos import Siege
from tests.launch.pools import new_pool
from tests.launch.postgres import is_available, postgres
from tests.launch.stages import until

pytestmark = [pytest.mark.xdist_group("launch-pool"), pytest.mark.timeout(240)]


@pytest.mark.skipif(not is_available(), reason="there is no PostgreSQL")
def test_runs_of_machines_that_are_killed_at_random_all_end_and_none_is_executed_twice_at_once(
    tmp_path: Path,
) -> None:
    with postgres(tmp_path) as server, new_pool(tmp_path, server) as pool, pool.service() as service:
        runs = [pool.ready(service, f"r_besieged_{number}") for number in range(4)]
        siege = Siege(pool, 2, random.Random(3), concurrency=1)
        pool.order("validator", "wait", "fine")
        for run_id in runs:
            service.engine.begin("drive", run_id)
        until(lambda: sum(run.holder is not None for run in service.store.runs()) == 2, "both of them at work")
        pool.declare_dead(siege.kill(0))
        pool.let_go()

        until(lambda: all(service.run(one).state == "READY_FOR_PR" for one in runs), f"the end: {pool.said()}")
        assert pool.twice() == []
        assert all(service.replay(run_id)[1] == [] for run_id in runs)
        finished = Counter(
            one for one in runs for item in service.store.items(one)
            if (item.worker, item.status) == ("validator", "finished")
        )  # fmt: skip
        assert finished == dict.fromkeys(runs, 1)
