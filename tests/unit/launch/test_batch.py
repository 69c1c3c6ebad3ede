"""Many runs from one file: what is read, what is wrong with it, and that nothing is started twice."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.launch import stand_in_workers
from tests.launch.products import run_config
from tests.launch.stage_clients import quicken
from tests.launch.stages import until

from holdfast.errors import UsageError
from holdfast.launch.batch import Batch, Entry, read_entries
from holdfast.launch.service import RunService
from holdfast.launch.workspace import Workspace

CONFIG = run_config(Path("/product"), "a" * 40, Path("/site"), "b" * 40, required_sections=["docs"])


def written(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def config(slug: str, **changes: Any) -> dict[str, Any]:
    return {**CONFIG, "product_slug": slug, **changes}


def problems(entries: list[Entry]) -> dict[int, list[str]]:
    return {entry.number: entry.problems for entry in entries if entry.problems}


# --- reading ---------------------------------------------------------------------------------------------------


def test_a_batch_is_a_list_or_has_an_entry_per_line_and_both_mean_the_same_runs(tmp_path: Path) -> None:
    written(tmp_path, "one.json", config("one"))
    told = ["one.json", config("two"), {"file": "one.json", "key": "my own"}, {"config": config("three")}]
    lines = "\n\n".join(json.dumps(entry) for entry in told)
    batches = [
        read_entries(written(tmp_path, name, content))
        for name, content in (("a.json", told), ("a.yaml", json.dumps(told)), ("a.jsonl", lines))
    ]
    assert [[entry.name for entry in entries] for entries in batches] == [["one", "two", "one", "three"]] * 3
    assert [problems(entries) for entries in batches] == [{}, {}, {}]
    keys = [[entry.key for entry in entries] for entries in batches]
    assert keys[0] == keys[1] == keys[2]
    assert len(set(keys[0])) == 4
    assert keys[0][2] == "my own"
    labelled = [entry.key for entry in read_entries(tmp_path / "a.json", label="again")]
    assert not set(labelled) & set(keys[0]) - {"my own"}


def test_everything_that_is_wrong_is_told_at_once_each_with_its_entry(tmp_path: Path) -> None:
    written(tmp_path, "bad.yaml", "a: [")
    told = [
        config("fine"), config("bad", github_ref="x", locale=7), "nowhere.yaml", "bad.yaml", 7, None, [], {}, "",
        {"file": 7}, {"config": {}, "key": 7}, {"file": "a", "config": {}}, config("fine"), "a\0b",
        {"file": "a", "keys": "b"}, {"key": "b"},
    ]  # fmt: skip
    entries = read_entries(written(tmp_path, "batch.json", told))
    wrong = problems(entries)
    assert sorted(wrong) == list(range(2, 17))
    assert len(wrong[2]) >= 2
    assert any(problem.startswith("/github_ref: ") for problem in wrong[2])
    assert wrong[3] == ["nowhere.yaml cannot be read: No such file or directory"]
    assert wrong[4][0].startswith("bad.yaml: ")
    assert wrong[10] == ["it holds neither a configuration nor the path of a file"]
    assert wrong[11] == ["its key is no text"]
    assert wrong[12] == wrong[16] == ["it names a file, or holds a config; one of the two"]
    assert wrong[13] == ["it is the same as entry 1, or has its key"]
    assert wrong[14] == ["it is no path of a file"]
    assert wrong[15] == ["beside file it has keys, and only config, file and key are known"]


@pytest.mark.parametrize("key", ["", "x" * 201, "\ud800"])
def test_a_key_that_no_run_can_have_is_told_before_anything_is_started(tmp_path: Path, key: str) -> None:
    (entry,) = read_entries(written(tmp_path, "batch.json", [{"config": config("one"), "key": key}]))
    assert [problem[:20] for problem in entry.problems] == ["an idempotency_key h"]


def test_a_line_ends_where_json_says_and_not_where_unicode_does(tmp_path: Path) -> None:
    told = config("one", product_name="one\u2028and\u0085two")
    lines = "\r\n".join(json.dumps(entry, ensure_ascii=False) for entry in (told, config("two")))
    entries = read_entries(written(tmp_path, "batch.jsonl", lines))
    assert [entry.name for entry in entries] == ["one", "two"]
    plain = read_entries(written(tmp_path, "batch.json", [told]))
    assert problems(entries) == problems(plain)


def test_a_line_that_is_no_json_is_told_with_its_number_and_the_others_are_read(tmp_path: Path) -> None:
    lines = "\n".join([json.dumps(config("one")), "{half", json.dumps(config("two"))])
    entries = read_entries(written(tmp_path, "batch.jsonl", lines))
    assert problems(entries) == {2: ["line 2 is no JSON"]}


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.yaml", "", "is no list"),
        ("a.yaml", "a: 1", "is no list"),
        ("a.json", "[]", "has no entries"),
        ("a.jsonl", "\n\n", "has no entries"),
        ("a.json", "[", "line 1"),
        ("a.jsonl", "1\n" * 10_001, "more than 10000 entries"),
    ],
)
def test_what_is_no_batch_at_all_is_refused(tmp_path: Path, name: str, content: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        read_entries(written(tmp_path, name, content))


def test_what_is_no_file_or_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "binary.jsonl").write_bytes(b"\xff\xfe")
    for name, told in (("missing.yaml", "cannot be read"), ("", "is no file"), ("binary.jsonl", "is not UTF-8")):
        with pytest.raises(UsageError, match=told):
            read_entries(tmp_path / name)
    with pytest.raises(UsageError, match="a label has at most"):
        read_entries(tmp_path / "missing.yaml", label="x" * 61)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["file", "key", "config", "product_slug"]), inner)
    ),
    max_leaves=6,
)


@settings(max_examples=30, deadline=None)
@given(told=ANYTHING)
def test_whatever_stands_in_a_batch_is_an_entry_with_its_problems(
    told: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp()
    (entry,) = read_entries(written(folder, "any.json", [told]))
    assert entry.problems
    assert entry.config is None


# --- starting --------------------------------------------------------------------------------------------------


@pytest.fixture
def service(memory_directory: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunService]:
    orders = memory_directory / "orders"
    orders.mkdir()
    monkeypatch.setenv(stand_in_workers.ORDERS, str(orders))
    quicken(monkeypatch.setattr)
    workspace = Workspace(memory_directory, f"sqlite:///{memory_directory}/runs.db")
    with RunService(workspace) as made:
        yield made


def never() -> bool:
    return False


def test_a_batch_carries_all_runs_to_their_end_and_means_the_same_ones_when_it_is_repeated(
    service: RunService, tmp_path: Path
) -> None:
    path = written(tmp_path, "batch.json", [config("one"), {"config": config("two"), "key": "second"}])
    (service.workspace.root / "orders" / "section_writer").write_text("refuse")
    batch = Batch(service, read_entries(path), open_pr=True)
    counted: list[int] = []
    batch.start(counted.append, never)
    assert counted == [1, 2]
    assert [entry.is_new for entry in batch.entries] == [True, True]
    counts = until(lambda: (c := batch.look()) and not c["executing"] + c["waiting"] and c, "the end of both")
    assert counts == {"FAILED": 2}
    assert not any(entry.is_good for entry in batch.entries)
    assert all(": " in entry.trouble for entry in batch.entries)

    again = Batch(service, read_entries(path), open_pr=True)
    again.start(counted.append, never)
    assert [entry.is_new for entry in again.entries] == [False, False]
    assert [entry.run_id for entry in again.entries] == [entry.run_id for entry in batch.entries]
    assert again.look() == {"FAILED": 2}

    (service.workspace.root / "orders" / "section_writer").unlink()
    other = Batch(
        service, read_entries(written(tmp_path, "other.json", [config("one", family="x")])), open_pr=True
    )
    taken = Batch(
        service, read_entries(written(tmp_path, "taken.json", [{"config": config("x"), "key": "second"}]))
    )
    taken.start(counted.append, never)
    assert taken.entries[0].problems == ["this idempotency_key started a run with another configuration"]
    other.start(counted.append, never)
    counts = until(lambda: (c := other.look()) and not c["executing"] + c["waiting"] and c, "the end of the other")
    assert counts == {"DONE": 1}
    assert other.entries[0].is_good


def followed(batch: Batch) -> dict[str, int]:
    batch.start(lambda _count: None, never)
    return dict(until(lambda: (c := batch.look()) and not c["executing"] + c["waiting"] and c, "the end of all"))


@pytest.mark.parametrize("order", ["busy", "opened"])
def test_what_somebody_else_asked_for_at_the_same_time_is_no_trouble(
    service: RunService, tmp_path: Path, order: str
) -> None:
    (service.workspace.root / "orders" / "pr_manager").write_text(f"{order} fine")
    path = written(tmp_path, "batch.json", [config("one")])
    batch = Batch(service, read_entries(path), open_pr=True)

    assert followed(batch) == {"DONE": 1}
    assert [(entry.is_good, entry.trouble) for entry in batch.entries] == [(True, "")]


def test_a_run_that_changes_nothing_needs_no_attention(service: RunService, tmp_path: Path) -> None:
    (service.workspace.root / "orders" / "pr_manager").write_text("unchanged")
    batch = Batch(service, read_entries(written(tmp_path, "batch.json", [config("one")])), open_pr=True)

    assert followed(batch) == {"READY_FOR_PR": 1}
    assert [(entry.is_good, entry.trouble) for entry in batch.entries] == [(True, "")]


def test_a_forge_that_has_had_enough_is_asked_again_when_it_said_and_not_before(
    service: RunService, tmp_path: Path
) -> None:
    now = [100.0]
    (service.workspace.root / "orders" / "pr_manager").write_text("forge-limited fine")
    path = written(tmp_path, "batch.json", [config("one")])
    batch = Batch(service, read_entries(path), open_pr=True, clock=lambda: now[0])
    batch.start(lambda _count: None, never)
    until(lambda: batch.look() and batch.limit, "the limit")

    assert batch.limit == "the forge wants to be asked again after noon"
    now[0] += 1799
    assert batch.look() == {"READY_FOR_PR": 1, "waiting": 1}
    assert not service.store.requests(state="pending")
    now[0] += 2
    counts = until(lambda: (c := batch.look()) and not c["executing"] + c["waiting"] and c, "the end")
    assert counts == {"DONE": 1}


def test_a_batch_that_is_stopped_while_it_starts_leaves_the_rest_for_the_next_time(
    service: RunService, tmp_path: Path
) -> None:
    path = written(tmp_path, "batch.json", [config("one"), config("two")])
    stops = iter([False, True])
    batch = Batch(service, read_entries(path))
    (service.workspace.root / "orders" / "repo_scout").write_text("refuse")
    batch.start(lambda _count: None, lambda: next(stops))
    assert [bool(entry.run_id) for entry in batch.entries] == [True, False]
    assert len(service.runs()) == 1


def test_a_request_that_is_handed_back_while_we_look_is_still_wanted(
    service: RunService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = Batch(service, read_entries(written(tmp_path, "batch.json", [config("one")])))
    monkeypatch.setattr(service.engine, "wake", lambda: None)  # machines of a pool do the work, and not we
    batch.start(lambda _count: None, never)
    store = service.store
    (asked,) = store.requests()
    assert store.take_request(asked.request_id, "m1")
    look = store.requests

    def handed_back_after_the_first_look(**which: Any) -> Any:
        found = look(**which)
        store._amend(asked.request_id, ("running",), state="pending", owner=None)
        return found

    monkeypatch.setattr(store, "requests", handed_back_after_the_first_look)

    assert batch.look() == {"CREATED": 1, "waiting": 1}
    assert not batch.entries[0].trouble
