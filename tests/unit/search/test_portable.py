"""The portable file is made, brought up to date, compacted and copied; whatever fails leaves the old one alone."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import ToolError
from holdfast.search.answers.portable import CompactedPortable, PortableIndex
from holdfast.search.engine.portable_file import seal
from holdfast.search.home import IndexBusyError, IndexHome
from holdfast.search.library import SearchIndex, build_index, compact_index, open_index
from holdfast.search.portable import build_portable, compact_portable
from holdfast.search.repository import Repository, find_repository, index_home
from holdfast.search.request import SearchRequest
from holdfast.search.store.database import connect

FILES = {
    "src/budget.py": "import os\n\n\nclass RetryBudget:\n    # a comment on budgets\n"
    "    def enforce(self, cost):\n        if cost:\n            return os.path\n",
    "src/spend.py": "def spend(cost):\n    return cost\n",
    "README.md": "# Budgets\n\nHow retries are limited.\n",
    "run.log": '{"level": "error", "message": "budget exhausted"}\n',
}


HOW = "run `holdfast index build --backend {}`, or call build_sqlite_index"


@dataclass(frozen=True)
class Project:
    """A small repository with an index."""

    repository: Repository
    cache: Path

    @property
    def home(self) -> IndexHome:
        return IndexHome(index_home(self.repository, self.cache))

    @property
    def file(self) -> Path:
        return self.home.portable

    def write(self, name: str, text: str) -> None:
        (self.repository.root / name).write_text(text)
        build_index(self.repository, self.cache)

    def build(self, **options: Any) -> dict[str, Any]:
        quiet = {"progress": lambda *_: None, "stop": lambda: False}
        return build_portable(self.repository, self.cache, **{**quiet, **options})

    def compact(self, **options: Any) -> dict[str, Any]:
        quiet = {"progress": lambda *_: None, "stop": lambda: False}
        return compact_portable(self.repository, self.cache, **{**quiet, **options})

    def search(self, query: str, **arguments: Any) -> dict[str, Any]:
        with open_index(self.repository, self.cache) as index:
            return ask(index, query, **arguments)


def ask(index: SearchIndex, query: str, **arguments: Any) -> dict[str, Any]:
    return index.search(SearchRequest.from_arguments({"query": query, "backend": "sqlite-fts", **arguments}))


def identity(path: Path) -> tuple[int, int, int]:
    """Another one as soon as the file is written or replaced."""
    status = path.stat()
    return status.st_ino, status.st_mtime_ns, status.st_size


def refused(action: Callable[..., object], *arguments: Any, **options: Any) -> ToolError:
    with pytest.raises(ToolError) as caught:
        action(*arguments, **options)
    assert caught.value.code != "INTERNAL"
    return caught.value


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Project:
    place = tmp_path_factory.mktemp("portable")
    for name, text in FILES.items():
        (place / "repo" / name).parent.mkdir(parents=True, exist_ok=True)
        (place / "repo" / name).write_text(text)
    project = Project(find_repository(place / "repo"), place / "cache")
    build_index(project.repository, project.cache)
    project.build()
    return project


@pytest.fixture
def project(original: Project, tmp_path: Path) -> Iterator[Project]:
    """The same with a cache of its own, and its files put back afterwards."""
    shutil.copytree(original.cache, tmp_path / "cache")
    yield Project(original.repository, tmp_path / "cache")
    for name, text in FILES.items():
        if (original.repository.root / name).read_text() != text:
            (original.repository.root / name).write_text(text)


# What is made.


def test_the_answer_of_a_build_says_what_is_in_the_file(project: Project) -> None:
    made = project.build()
    answer = PortableIndex.model_validate(made)
    assert (answer.path, answer.bytes) == (str(project.file), project.file.stat().st_size)
    assert (answer.mode, answer.incremental, answer.unchanged, answer.warnings) == ("all", False, False, [])
    assert set(answer.chunks) == {"code", "prose", "extracted-prose", "records"}
    assert min(answer.chunks.values()) > 0


def test_the_file_can_be_queried_with_any_sqlite(project: Project) -> None:
    connection = sqlite3.connect(f"file:{project.file}?mode=ro", uri=True)
    query = "SELECT name FROM chunks WHERE id IN (SELECT rowid FROM words WHERE words MATCH 'name : spend')"
    assert connection.execute(query).fetchall() == [("spend",)]
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


@pytest.mark.parametrize("mode", ["records", "", "ALL", "extracted-prose"])
def test_an_unknown_mode_is_refused(project: Project, mode: str) -> None:
    assert refused(project.build, mode=mode).code == "INVALID_REQUEST"
    assert refused(project.compact, mode=mode).code == "INVALID_REQUEST"


def test_a_search_in_a_mode_that_the_file_lacks_names_the_mode(project: Project) -> None:
    project.build(mode="code")
    assert project.search("enforce", mode="code")["total"]["code"]
    error = refused(project.search, "enforce")
    assert error.code == "NO_INDEX"
    assert "prose" in error.message
    assert "mode all" in (error.hint or "")


def test_without_an_index_there_is_nothing_to_build_from(tmp_path: Path) -> None:
    project = Project(find_repository(tmp_path), tmp_path / "cache")
    searching = refused(open_index, project.repository, project.cache)
    for error in (refused(project.build), refused(project.compact), searching):
        assert error.code == "NO_INDEX"
        assert str(tmp_path) not in error.message
    assert not (tmp_path / "cache").exists()


def test_an_empty_repository_has_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "repo").mkdir()
    project = Project(find_repository(tmp_path / "repo"), tmp_path / "cache")
    build_index(project.repository, project.cache)
    assert sum(project.build()["chunks"].values()) == 0
    assert project.search("* OR budget", mode="all")["total"]["code"] == 0
    assert project.build(incremental=True)["unchanged"]


# Following the index.


def test_without_the_file_the_hint_says_how_to_make_it(project: Project) -> None:
    project.file.unlink()
    for backend in ("sqlite", "sqlite-fts"):
        error = refused(project.search, "budget", backend=backend)
        assert (error.code, error.hint) == ("NO_INDEX", HOW.format(backend))
        assert f"there is no {backend} index" in error.message


def test_an_open_index_follows_the_file(project: Project) -> None:
    with open_index(project.repository, project.cache) as index:
        assert not ask(index, "newcomer")["total"]["code"]
        project.write("src/spend.py", "def newcomer():\n    return 1\n")
        assert not ask(index, "newcomer")["total"]["code"]
        project.build(incremental=True)
        assert ask(index, "newcomer")["total"]["code"] == 1
        project.file.unlink()
        assert refused(ask, index, "newcomer").code == "NO_INDEX"


def test_an_older_file_answers_at_its_own_generation_and_says_so(project: Project) -> None:
    project.write("src/spend.py", "def newcomer():\n    return 1\n")
    payload = project.search("spend")
    assert (payload["index"]["generation"], payload["total"]["code"]) == (1, 1)
    assert "older than the default one" in payload["warnings"][-1]["message"]
    assert payload["warnings"][-1]["code"] == "stale"


def test_the_file_survives_a_full_build_of_the_index(project: Project) -> None:
    build_index(project.repository, project.cache, full=True)
    assert "stale" in [warning["code"] for warning in project.search("budget")["warnings"]]
    made = project.build(incremental=True)
    assert not made["incremental"]
    assert "another build" in made["warnings"][0]["message"]


def test_only_what_changed_is_written(project: Project) -> None:
    project.write("src/spend.py", "def newcomer():\n    return 1\n")
    seen: list[str] = []
    made = project.build(incremental=True, progress=lambda _stage, _done, _total, path: seen.append(path))
    assert (made["incremental"], made["unchanged"], made["generation"]) == (True, False, 2)
    assert seen.count("src/spend.py") == 2
    assert "src/budget.py" not in seen
    assert project.search("newcomer")["total"]["code"] == 1


def test_a_file_that_says_everything_is_left_alone(project: Project) -> None:
    before = identity(project.file)
    made = project.build(incremental=True)
    assert (made["incremental"], made["unchanged"]) == (True, True)
    assert identity(project.file) == before


def test_a_change_of_times_alone_is_taken_over(project: Project) -> None:
    os.utime(project.repository.root / "src/spend.py", (1, 1))
    build_index(project.repository, project.cache)
    made = project.build(incremental=True)
    assert (made["unchanged"], project.search("budget")["index"]["changedFiles"]) == (False, 0)


def test_figures_that_a_compacted_index_has_anew_are_taken_over(project: Project) -> None:
    project.write("src/spend.py", "def newcomer():\n    return 1\n")
    project.build(incremental=True)
    compact_index(project.repository, project.cache)
    project.build(incremental=True)
    with open_index(project.repository, project.cache) as index:
        default = index.search(SearchRequest(query="budget"))["code"]
        assert default == ask(index, "budget")["code"]


def test_another_mode_is_written_in_full(project: Project) -> None:
    made = project.build(incremental=True, mode="code")
    assert (made["incremental"], list(made["chunks"])) == (False, ["code"])
    assert made["warnings"][0]["code"] == "full"


# Copies.


def test_a_copy_goes_where_the_caller_wants_it(project: Project, tmp_path: Path) -> None:
    made = project.build(out=tmp_path / "copy.db")
    assert made["path"] == str(tmp_path / "copy.db")
    assert (tmp_path / "copy.db").read_bytes() == project.file.read_bytes()
    (tmp_path / "copy.db").write_bytes(project.file.read_bytes()[:5000])  # half of one of ours may be replaced
    project.build(incremental=True, out=tmp_path / "copy.db")
    assert (tmp_path / "copy.db").read_bytes() == project.file.read_bytes()


@pytest.mark.parametrize("content", [b"", b"precious", b"SQLite format 3\0" + b"x" * 200])
def test_a_file_of_somebody_else_is_never_replaced(project: Project, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "mine").write_bytes(content)
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    before = identity(project.file)
    for name in ("mine", "link"):
        error = refused(project.build, out=tmp_path / name)
        assert error.code == "FORBIDDEN"
        assert str(tmp_path) not in error.message
    assert (tmp_path / "mine").read_bytes() == content
    assert identity(project.file) == before


@pytest.mark.parametrize("out", ["", "nowhere/copy.db", "src"])
def test_a_copy_needs_a_place(project: Project, out: str) -> None:
    assert refused(project.build, out=Path(out)).code == "INVALID_REQUEST"


def test_the_file_itself_can_be_named_as_the_copy(project: Project) -> None:
    assert project.build(out=project.file)["path"] == str(project.file)


# Compacting.


def grown(project: Project) -> None:
    text = "".join(f"def grown_{n}(budget):\n    return budget\n\n\n" for n in range(150))
    project.write("src/spend.py", text)
    project.build(incremental=True)
    project.write("src/spend.py", "def spend(cost):\n    return cost\n")
    project.build(incremental=True)


def test_compacting_gives_space_back_and_changes_no_answer(project: Project) -> None:
    grown(project)
    before = project.search("budget", top=50)
    done = CompactedPortable.model_validate(project.compact())
    after = project.search("budget", top=50)
    assert done.freed_bytes == done.bytes_before - done.bytes > 0
    assert done.bytes == project.file.stat().st_size
    assert before["code"] == after["code"]
    assert str(done.freed_bytes) in done.output


def test_a_dry_run_tells_the_same_figures_and_touches_nothing(project: Project) -> None:
    grown(project)
    before, files = identity(project.file), sorted(project.home.directory.iterdir())
    planned = project.compact(dry_run=True, keep_backup=True)
    assert (identity(project.file), sorted(project.home.directory.iterdir())) == (before, files)
    assert planned["backup"] is None
    assert project.compact()["bytes"] == planned["bytes"]


def test_a_backup_is_the_file_as_it_was(project: Project) -> None:
    content = project.file.read_bytes()
    done = project.compact(keep_backup=True)
    assert Path(done["backup"]).read_bytes() == content


def test_an_update_can_be_compacted_at_once(project: Project) -> None:
    grown(project)
    before = project.file.stat().st_size
    made = project.build(incremental=True, compact=True)
    assert (made["incremental"], made["compacted"]) == (True, True)
    assert made["bytes"] < before


def test_what_is_not_there_cannot_be_compacted(project: Project) -> None:
    assert refused(project.compact, mode="code").code == "NO_INDEX"
    project.file.unlink()
    assert refused(project.compact).code == "NO_INDEX"


# What goes wrong.


def damaged(project: Project, kind: str) -> None:
    data = bytearray(project.file.read_bytes())
    if kind == "torn":
        del data[len(data) // 2 :]
    elif kind == "zeros":
        data[8192:] = bytes(len(data) - 8192)
    elif kind == "noise":
        data[4096:] = os.urandom(len(data) - 4096)
    elif kind == "other format":
        data[71] = 99
    else:
        data[:] = b"nothing of ours"
    project.file.write_bytes(data)


@pytest.mark.parametrize("kind", ["torn", "zeros", "noise", "other format", "foreign"])
def test_a_damaged_file_is_no_index_until_it_is_built_again(project: Project, kind: str) -> None:
    damaged(project, kind)
    for backend in ("sqlite", "sqlite-fts"):
        error = refused(project.search, "budget", backend=backend)
        assert (error.code, error.hint) == ("NO_INDEX", HOW.format(backend))
    assert refused(project.compact).code == "NO_INDEX"
    made = project.build(incremental=True)
    assert not made["incremental"]
    assert project.search("budget")["total"]["code"]


@pytest.mark.parametrize("table", ["chunks", "portable", "words", "frequencies", "facts_of_index", "postings"])
def test_a_file_without_one_of_its_tables_is_no_index(project: Project, table: str) -> None:
    connection = sqlite3.connect(project.file)
    connection.execute(f"DROP TABLE {table}")
    connection.close()
    seal(project.file)
    assert refused(project.search, "budget").code == "NO_INDEX"
    project.build()
    assert project.search("budget")["total"]["code"]


def test_a_single_changed_byte_is_noticed(project: Project) -> None:
    data = bytearray(project.file.read_bytes())
    data[len(data) // 2] ^= 1
    project.file.write_bytes(data)
    assert "checksum" in refused(project.search, "budget").message


def test_a_damaged_index_is_said_to_be_the_reason(project: Project) -> None:
    build = project.home.current()
    assert build is not None
    data = bytearray(build.store.read_bytes())
    data[8192:] = bytes(len(data) - 8192)
    build.store.write_bytes(data)
    before = project.file.read_bytes()
    error = refused(project.build)
    assert (error.code, "damaged" in error.message) == ("NO_INDEX", True)
    assert project.file.read_bytes() == before


@pytest.mark.parametrize("after", [0, 1, 3])
def test_a_stopped_build_leaves_the_old_file(project: Project, after: int) -> None:
    asked = iter(range(10_000))
    before = project.file.read_bytes()
    error = refused(project.build, stop=lambda: next(asked) >= after)
    assert error.code == "CANCELLED"
    assert project.file.read_bytes() == before
    assert not list(project.home.directory.glob("*.draft"))


def test_compacting_can_be_stopped(project: Project) -> None:
    before = project.file.read_bytes()
    assert refused(project.compact, stop=lambda: True).code == "CANCELLED"
    assert project.file.read_bytes() == before


def test_somebody_else_who_writes_is_named(project: Project) -> None:
    ready, done = threading.Event(), threading.Event()

    def hold() -> None:
        with project.home.writing():
            ready.set()
            done.wait(20)

    holder = threading.Thread(target=hold)
    holder.start()
    ready.wait(20)
    with pytest.raises(IndexBusyError):
        project.build()
    done.set()
    holder.join()


RUN = """
import os, resource, signal, sys
from pathlib import Path
from holdfast.errors import ToolError
from holdfast.search.portable import build_portable
from holdfast.search.repository import find_repository
root, cache, kind = sys.argv[1:]
def progress(stage, done, total, detail):
    if kind == "killed" and done == 2:
        os.kill(os.getpid(), signal.SIGKILL)
if kind == "full":
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))
try:
    build_portable(find_repository(root), Path(cache), progress=progress, stop=lambda: False)
except ToolError as error:
    print(error.code, error.message)
"""


def run(project: Project, kind: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", RUN, str(project.repository.root), str(project.cache), kind]
    return subprocess.run(command, check=False, timeout=50, capture_output=True, text=True)


def test_a_killed_build_leaves_the_old_file_and_the_next_one_cleans_up(project: Project) -> None:
    before = project.file.read_bytes()
    assert run(project, "killed").returncode == -signal.SIGKILL
    assert project.file.read_bytes() == before
    assert list(project.home.directory.glob(".sqlite-fts.*"))
    project.build()
    assert not list(project.home.directory.glob(".sqlite-fts.*"))


def test_a_full_disk_is_told_and_leaves_the_old_file(project: Project) -> None:
    before = project.file.read_bytes()
    ended = run(project, "full")
    assert ended.stdout.startswith("CAPABILITY_MISSING sqlite-fts.db cannot be written"), ended.stderr
    assert project.file.read_bytes() == before
    assert not list(project.home.directory.glob(".sqlite-fts.*"))


def test_removing_an_index_removes_its_portable_file(project: Project) -> None:
    project.compact(keep_backup=True)
    with project.home.writing():
        assert project.home.remove()
    assert not project.home.directory.exists()


def test_a_reader_of_the_old_file_is_not_disturbed_by_a_new_one(project: Project) -> None:
    with open_index(project.repository, project.cache) as index:
        held = ask(index, "budget")
        reading = connect(project.file)
        project.build()
        assert reading.execute("SELECT count(*) FROM chunks").fetchone()[0]
        reading.close()
        assert ask(index, "budget")["code"] == held["code"]
