"""Hot paths: a snapshot every so many calls, the top of it, and a memory that no client can make grow."""

from holdfast.observe.hot_paths import SHOWN, HotPathWatch
from holdfast.observe.ledger import Ledger
from holdfast.vocabulary.events import CallEnded, HotPaths


def call(path: str | None = None, tool: str = "read", ms: float = 1.0, outcome: str = "ok") -> CallEnded:
    return CallEnded(1, "1.1", tool, outcome, ms, method="tools/call", ended_by="worker", attempts=1, path=path)


def told(watch: HotPathWatch, *calls: CallEnded) -> list[HotPaths]:
    ledger = Ledger()
    snapshots = []
    for event in calls:
        ledger.take(event)
        snapshots.append(watch.take(event, ledger.tools))
    return [snapshot for snapshot in snapshots if snapshot is not None]


def test_a_snapshot_comes_every_so_many_calls_with_figures_of_paths_and_tools() -> None:
    (snapshot,) = told(
        HotPathWatch(every=3), call("a.py", ms=2.0), call("a.py", ms=4.0, outcome="error"), call("b.py", ms=9.0)
    )

    assert snapshot.calls == 3
    assert snapshot.hottest_paths == (
        {"name": "a.py", "calls": 2, "errors": 1, "avg_ms": 3.0, "max_ms": 4.0},
        {"name": "b.py", "calls": 1, "errors": 0, "avg_ms": 9.0, "max_ms": 9.0},
    )
    assert [row["name"] for row in snapshot.slowest_paths] == ["b.py", "a.py"]
    assert snapshot.hottest_tools == snapshot.slowest_tools
    assert snapshot.hottest_tools[0]["calls"] == 3


def test_equal_ones_are_in_the_order_of_their_names_and_only_the_top_is_told() -> None:
    names = [f"{number:02}.py" for number in range(40)]
    (snapshot,) = told(HotPathWatch(every=40), *map(call, reversed(names)))

    assert [row["name"] for row in snapshot.hottest_paths] == names[:SHOWN]
    assert [row["name"] for row in snapshot.slowest_paths] == names[:SHOWN]


def test_what_is_hot_outlives_a_flood_of_paths_that_are_asked_for_once() -> None:
    watch = HotPathWatch(every=5010, max_paths=16)
    flood = [call(f"made up {number}") for number in range(5000)]
    (snapshot,) = told(watch, *(call("hot.py") for _ in range(10)), *flood)

    assert len(watch._paths) <= 16
    assert snapshot.hottest_paths[0] == {"name": "hot.py", "calls": 10, "errors": 0, "avg_ms": 1.0, "max_ms": 1.0}


def test_calls_without_a_path_count_for_their_tool_alone() -> None:
    (snapshot,) = told(HotPathWatch(every=2), call(), call(tool="write"))

    assert (snapshot.hottest_paths, snapshot.slowest_paths) == ((), ())
    assert [row["name"] for row in snapshot.hottest_tools] == ["read", "write"]
