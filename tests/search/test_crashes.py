"""A writer that dies at any step leaves an index that answers, and that the next writer brings in order."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.search.home import IndexHome
from holdfast.search.index_writer import settle
from holdfast.search.library import build_index, ensure_index, index_path, open_index
from holdfast.search.repository import Repository
from holdfast.search.request import SearchRequest
from holdfast.search.store.writer import DamagedIndexError

# Dies right before or right after one step of a build or an update. It parses by itself: what is to be seen is the
# writer, and starting parsers would take longer than all the rest.
DYING = """
import importlib, os, sys
from contextlib import nullcontext
from pathlib import Path
from holdfast.search import build, update
from holdfast.search.library import build_index
from holdfast.search.prepare import prepare
from holdfast.search.repository import find_repository
class Here:
    def map(self, items, stop, revise):
        return ((key, prepare(payload)) for key, payload in items)
build.parser_pool = update.parser_pool = lambda files: nullcontext(Here())
root, cache, kind, moment, step = sys.argv[1:]
module, owner, name = step.split(":")
owner = getattr(importlib.import_module(f"holdfast.search.{module}"), owner)
original = getattr(owner, name)
def dying(*arguments, **options):
    if moment == "before":
        os._exit(9)
    original(*arguments, **options)
    os._exit(9)
setattr(owner, name, dying)
build_index(find_repository(root), Path(cache), full=kind == "full")
"""
STEPS = [
    "store.writer:StoreWriter:add",
    "store.writer:StoreWriter:prepare",
    "engine.tantivy_writer:TermWriter:commit",
    "store.writer:StoreWriter:publish",
]
# Right after one step is right before the next one; only what is added is not all that will be.
CASES = [("update", "before", STEPS[0]), *(("update", "after", step) for step in STEPS)]
CASES += [("full", moment, "home:IndexHome:promote") for moment in ("before", "after")]


def waves(repository: Repository, cache: Path) -> set[str]:
    """Which waves are found; each is 20 functions and has to be there as a whole."""
    with open_index(repository, cache) as index:
        payload = index.search(SearchRequest.from_arguments({"query": "*", "mode": "code", "top": 1000}))
    assert payload["total"]["code"] == len(payload["code"])
    assert all(hit["snippet"]["lines"] for hit in payload["code"])
    names = [hit["name"].rpartition("_")[0] for hit in payload["code"] if hit["name"].startswith("wave_")]
    assert all(names.count(name) == 20 for name in names)
    return set(names)


def write_wave(repository: Repository, number: int) -> None:
    text = "".join(f"def wave_{number}_{one}():\n    return 1\n\n\n" for one in range(20))
    (repository.root / "src/waves.py").write_text(text)


@pytest.mark.parametrize(("kind", "moment", "step"), CASES, ids=lambda value: value.rpartition(":")[2])
def test_a_writer_that_dies_leaves_an_index_that_the_next_one_completes(
    repository: Repository, cache: Path, kind: str, moment: str, step: str
) -> None:
    write_wave(repository, 1)
    build_index(repository, cache)
    write_wave(repository, 2)
    run = [sys.executable, "-c", DYING, str(repository.root), str(cache), kind, moment, step]
    assert subprocess.run(run, check=False, timeout=50).returncode == 9
    assert waves(repository, cache) in ({"wave_1"}, {"wave_2"})
    ensure_index(repository, cache).close()
    assert waves(repository, cache) == {"wave_2"}
    with open_index(repository, cache) as index:
        assert not index.is_stale()
    build_index(repository, cache)
    assert len(list((index_path(repository, cache) / "builds").iterdir())) == 1


KILLED = """
import os, signal, sys, threading
from pathlib import Path
from holdfast.search.library import build_index
from holdfast.search.repository import find_repository
threading.Timer(float(sys.argv[3]), lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
build_index(find_repository(sys.argv[1]), Path(sys.argv[2]), full=sys.argv[4] == "full")
"""


def test_builds_that_are_killed_at_random_moments_never_harm_the_index(
    repository: Repository, cache: Path
) -> None:
    build_index(repository, cache)
    ends = set()
    for number in range(6):
        write_wave(repository, number)
        kind = "full" if number % 2 else "update"
        run = [sys.executable, "-c", KILLED, str(repository.root), str(cache), f"{0.2 + number * 0.05:.2f}", kind]
        ends.add(subprocess.run(run, check=False, timeout=50).returncode)
        assert len(waves(repository, cache)) <= 1
    assert -signal.SIGKILL in ends
    ensure_index(repository, cache).close()
    assert waves(repository, cache) == {"wave_5"}


def test_a_store_that_is_older_than_the_terms_is_noticed_and_built_anew(
    repository: Repository, cache: Path
) -> None:
    write_wave(repository, 1)
    build_index(repository, cache)
    build = next((index_path(repository, cache) / "builds").iterdir())
    older = (build / "store.db").read_bytes()
    write_wave(repository, 2)
    build_index(repository, cache)
    for name in ("store.db-wal", "store.db-shm"):
        (build / name).unlink(missing_ok=True)
    (build / "store.db").write_bytes(older)
    with pytest.raises(DamagedIndexError):
        settle(_build(build))
    notes: list[str] = []
    with ensure_index(repository, cache, progress=lambda *said: notes.append(said[3])) as index:
        assert index.search(SearchRequest(query="wave_2_3"))["total"]["code"]
    assert "the index is damaged and is built anew" in notes


def _build(directory: Path) -> Any:
    from holdfast.search.home import Build

    return Build(directory)


def spoil(build: Path, what: str) -> None:
    if what == "terms":
        (build / "terms" / "meta.json").write_text("garbage")
    elif what == "gone":
        for path in (build / "terms").iterdir():
            path.unlink()
    else:
        size = (build / "store.db").stat().st_size
        data = {"empty": b"", "random": b"\x07" * size, "half": (build / "store.db").read_bytes()[: size // 2]}
        (build / "store.db").write_bytes(data[what])


@pytest.mark.parametrize("what", ["terms", "gone", "empty", "random", "half"])
def test_a_damaged_index_is_built_anew_with_a_line_that_says_so(
    repository: Repository, cache: Path, what: str
) -> None:
    build_index(repository, cache)
    spoil(next((index_path(repository, cache) / "builds").iterdir()), what)
    notes: list[str] = []
    with ensure_index(repository, cache, progress=lambda *said: notes.append(said[3])) as index:
        assert index.search(SearchRequest(query="RetryBudget"))["total"]["code"]
    assert "the index is damaged and is built anew" in notes


def test_an_index_is_searched_where_nothing_can_be_written(repository: Repository, cache: Path) -> None:
    build_index(repository, cache)
    write_wave(repository, 1)
    build_index(repository, cache)
    build = next((index_path(repository, cache) / "builds").iterdir())
    (build / "readers.lock").unlink(missing_ok=True)
    script = (
        "import sqlite3, sys; from pathlib import Path; from holdfast.search.library import open_index;"
        "from holdfast.search.repository import find_repository;"
        "from holdfast.search.request import SearchRequest;"
        "import resource; sys.dont_write_bytecode = True; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0));"
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "index = open_index(find_repository(sys.argv[1]), Path(sys.argv[2]));"
        "print(index.search(SearchRequest(query='wave_1_3'))['total']['code'] > 0)"
    )
    run = [sys.executable, "-c", script, str(repository.root), str(cache)]
    done = subprocess.run(run, check=False, timeout=50, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_what_a_writer_left_of_an_unfinished_commit_is_in_nobodys_way(repository: Repository, cache: Path) -> None:
    build_index(repository, cache)
    build = IndexHome(index_path(repository, cache)).current()
    assert build is not None
    terms = build.terms
    noted = json.loads((terms / "meta.json").read_bytes())
    for segment in noted["segments"]:
        for number in range(
            noted["opstamp"], noted["opstamp"] + 100
        ):  # one of them will be that of the next commit
            (terms / f"{segment['segment_id'].replace('-', '')}.{number}.del").write_bytes(b"half a list")
    (repository.root / "src/errors.py").write_text("def zebra_crossing():\n    return 1\n")

    assert build_index(repository, cache)["action"] == "updated"
    with open_index(repository, cache) as index:
        found = index.search(SearchRequest.from_arguments({"query": "zebra crossing"}))
    assert [hit["file"] for hit in found["code"]][:1] == ["src/errors.py"]
