"""The authors of lines, on real repositories: who and how many, kept answers that stay true, and no exception."""

import os
import shutil
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from tests.unit.search.processes import running_git

from holdfast.git import asking
from holdfast.search import blame
from holdfast.search.authors import rows_by_author
from holdfast.search.blame import UNCOMMITTED, BlameCache, authors_of_many, chunk_authors
from holdfast.search.repository import find_repository
from holdfast.search.store.reader import ChunkRow, StoreReader


class Repo:
    """A repository with a few commits by different people."""

    def __init__(self, root: Path) -> None:
        self.root = root
        if root.exists():
            return
        root.mkdir(parents=True)
        self.git("init", "-q", "-b", "main", "--template=")

    def git(self, *arguments: str, who: str = "Ana") -> str:
        person = {"NAME": who, "EMAIL": f"{who.lower()}@example.com"}
        identity = {
            f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in person.items()
        }
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, **identity}
        command = ["git", "-c", "protocol.file.allow=always", "-c", "maintenance.auto=false", *arguments]
        done = subprocess.run(command, cwd=self.root, env=environment, capture_output=True, check=True)
        return done.stdout.decode().strip()

    def commit(self, who: str = "Ana", **files: str) -> None:
        for name, content in files.items():
            (self.root / name).write_text(content)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "change", who=who)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = Repo(tmp_path_factory.mktemp("made") / "repo")
    made.commit(a="one\ntwo\nthree\nfour\n", b="x\n")
    made.commit("Ben", a="one\ntwo\nTHREE\nFOUR\nfive\n")
    return made.root


@pytest.fixture
def repo(tmp_path: Path, made: Path) -> Repo:
    return Repo(Path(shutil.copytree(made, tmp_path / "repo")))


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[BlameCache]:
    with BlameCache(tmp_path / "cache" / "blame.db") as opened:
        yield opened


def asked(repo: Repo, cache: BlameCache, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that git is asked about when the authors of all are wanted."""
    files: list[str] = []
    real = blame._blame

    def counted(path: str, place: blame._Place) -> blame.Runs:
        files.append(path)
        return real(path, place)

    with monkeypatch.context() as patch:
        patch.setattr(blame, "_blame", counted)
        authors_of_many(repo.root, {"a": [(1, 9)], "b": [(1, 9)]}, cache=cache)
    return sorted(files)


def test_authors_come_with_most_lines_first(repo: Repo, cache: BlameCache) -> None:
    ranges = [(1, 5), (1, 2), (2, 3), (5, 99), (7, 9), (3, 2)]

    assert chunk_authors(repo.root, "a", ranges, cache=cache) == [
        ["Ben", "Ana"],
        ["Ana"],
        ["Ana", "Ben"],
        ["Ben"],
        [],
        [],
    ]


def test_lines_that_are_not_committed_say_so(repo: Repo, cache: BlameCache) -> None:
    (repo.root / "b").write_text("x\nnew\n")

    assert chunk_authors(repo.root, "b", [(1, 1), (2, 2)], cache=cache) == [["Ana"], [UNCOMMITTED]]


def test_names_follow_the_mailmap_also_when_it_changes(repo: Repo, cache: BlameCache) -> None:
    assert chunk_authors(repo.root, "b", [(1, 1)], cache=cache) == [["Ana"]]
    (repo.root / ".mailmap").write_text("Anna Real <ana@example.com>\n")

    assert chunk_authors(repo.root, "b", [(1, 1)], cache=cache) == [["Anna Real"]]


def test_an_answer_is_asked_for_once(repo: Repo, cache: BlameCache, monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked(repo, cache, monkeypatch) == ["a", "b"]
    assert asked(repo, cache, monkeypatch) == []


def test_a_commit_to_another_file_keeps_the_answer(
    repo: Repo, cache: BlameCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked(repo, cache, monkeypatch)
    repo.commit("Ben", b="y\n")

    assert asked(repo, cache, monkeypatch) == ["b"]


def test_the_same_content_written_again_by_somebody_else_is_asked_again(repo: Repo, cache: BlameCache) -> None:
    assert chunk_authors(repo.root, "b", [(1, 1)], cache=cache) == [["Ana"]]
    repo.commit(b="other\n")
    repo.commit("Ben", b="x\n")

    assert chunk_authors(repo.root, "b", [(1, 1)], cache=cache) == [["Ben"]]


def test_lines_are_no_longer_uncommitted_when_they_are_committed(repo: Repo, cache: BlameCache) -> None:
    (repo.root / "b").write_text("z\n")
    assert chunk_authors(repo.root, "b", [(1, 1)], cache=cache) == [[UNCOMMITTED]]
    repo.commit("Ben")

    assert chunk_authors(repo.root, "b", [(1, 1)], cache=cache) == [["Ben"]]


def test_a_rewritten_history_is_asked_again(repo: Repo, cache: BlameCache) -> None:
    assert chunk_authors(repo.root, "a", [(5, 5)], cache=cache) == [["Ben"]]
    repo.git("commit", "-q", "--amend", "--no-edit", "--author", "Cy <cy@example.com>")

    assert chunk_authors(repo.root, "a", [(5, 5)], cache=cache) == [["Cy"]]


def test_a_shallow_clone_does_not_name_the_author_of_its_oldest_commit(
    repo: Repo, tmp_path: Path, cache: BlameCache
) -> None:
    repo.commit("Cy", b="x\nnew\n")
    repo.git("clone", "-q", "--depth=2", f"file://{repo.root}", str(tmp_path / "clone"))

    assert chunk_authors(tmp_path / "clone", "b", [(1, 2)], cache=cache) == [["Cy"]]
    assert chunk_authors(tmp_path / "clone", "a", [(1, 5)], cache=cache) == [[]]


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("new", "git: no such path"),
        ("none", "cannot be read"),
        ("folder", "cannot be read"),
        ("../outside", "git: "),
        ("nul\0", "cannot be read"),
    ],
)
def test_a_file_without_an_answer_has_a_reason(repo: Repo, cache: BlameCache, path: str, reason: str) -> None:
    (repo.root / "new").write_text("x\n")
    (repo.root / "folder").mkdir()
    (repo.root.parent / "outside").write_text("x\n")
    reasons: dict[str, str] = {}

    assert chunk_authors(repo.root, path, [(1, 1)], cache=cache, reasons=reasons) == []
    assert reason in reasons[path]


@pytest.mark.parametrize("name", ["-p", "a b", "tab\t", "ä", "new\nline"])
def test_an_odd_name_is_a_name(repo: Repo, cache: BlameCache, name: str) -> None:
    repo.commit("Ben", **{name: "x\n"})

    assert chunk_authors(repo.root, name, [(1, 1)], cache=cache) == [["Ben"]]


def test_a_timeout_is_a_reason_and_leaves_no_git(repo: Repo, cache: BlameCache) -> None:
    reasons: dict[str, str] = {}

    assert chunk_authors(repo.root, "a", [(1, 1)], cache=cache, seconds=-1, reasons=reasons) == []
    assert reasons == {"a": "git: out of time"}
    assert running_git() == []
    assert chunk_authors(repo.root, "a", [(1, 1)], cache=cache) == [["Ana"]]


def test_a_folder_that_is_no_repository_is_a_reason(tmp_path: Path, cache: BlameCache) -> None:
    (tmp_path / "a").write_text("x\n")
    reasons: dict[str, str] = {}

    assert authors_of_many(tmp_path, {"a": [(1, 1)]}, cache=cache, reasons=reasons) == {"a": []}
    assert "not a git repository" in reasons["a"]


def test_without_git_there_is_a_reason(repo: Repo, cache: BlameCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    reasons: dict[str, str] = {}

    assert chunk_authors(repo.root, "a", [(1, 1)], cache=cache, reasons=reasons) == []
    assert "cannot be started" in reasons["a"]


def test_being_stopped_is_a_reason(repo: Repo, cache: BlameCache) -> None:
    stopped = threading.Event()
    stopped.set()
    reasons: dict[str, str] = {}

    said = authors_of_many(repo.root, {"a": [(1, 1)]}, cache=cache, stop=stopped.is_set, reasons=reasons)

    assert (said, reasons) == ({"a": []}, {"a": "git: stopped"})


def test_the_time_is_for_all_files_together_and_the_rest_has_reasons(
    repo: Repo, cache: BlameCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = count()  # each look at it takes a second
    monkeypatch.setattr(asking, "monotonic", lambda: float(next(clock)))
    monkeypatch.setattr(blame, "monotonic", lambda: 0.0)
    names = [f"file{number}" for number in range(200)]
    for name in names:
        (repo.root / name).write_text("x\n")
    reasons: dict[str, str] = {}

    authors_of_many(repo.root, {name: [] for name in names}, cache=cache, seconds=100.0, reasons=reasons)

    assert set(reasons) == set(names)
    assert reasons["file199"] == "git: out of time"
    assert running_git() == []


def test_a_stop_in_the_middle_leaves_the_rest_with_reasons(repo: Repo, cache: BlameCache) -> None:
    asked = count()
    names = [f"none{number}" for number in range(200)]
    reasons: dict[str, str] = {}

    authors_of_many(
        repo.root, {name: [] for name in names}, cache=cache, stop=lambda: next(asked) > 100, reasons=reasons
    )

    assert (reasons["none0"], reasons["none199"]) == ("the file cannot be read", "git: stopped")


@pytest.mark.parametrize("name", ["pipe", "link", "large"])
def test_what_is_no_file_of_a_fair_size_is_not_read(
    repo: Repo, cache: BlameCache, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(blame, "_LARGEST_FILE", 100)
    os.mkfifo(repo.root / "pipe")
    (repo.root / "link").symlink_to("a")
    (repo.root / "large").write_text("x" * 101)
    reasons: dict[str, str] = {}

    assert chunk_authors(repo.root, name, [(1, 1)], cache=cache, reasons=reasons) == []
    assert reasons[name] == ("the file is too large" if name == "large" else "the file cannot be read")


def test_an_interrupted_search_leaves_no_git(repo: Repo, tmp_path: Path) -> None:
    class Interrupted(BlameCache):
        def store(self, key: bytes, head: str, runs: blame.Runs) -> None:
            raise KeyboardInterrupt

    with Interrupted(tmp_path / "interrupted.db") as cache, pytest.raises(KeyboardInterrupt):
        authors_of_many(repo.root, {"a": [(1, 1)], "b": [(1, 1)]}, cache=cache)
    assert running_git() == []


def test_many_files_are_answered_each_with_its_own_authors(repo: Repo, cache: BlameCache) -> None:
    names = [f"file{number}" for number in range(12)]
    for number, name in enumerate(names):
        repo.commit(f"Author{number}", **{name: f"{number}\n"})

    said = authors_of_many(repo.root, {name: [(1, 1)] for name in names}, cache=cache)

    assert said == {name: [[f"Author{number}"]] for number, name in enumerate(names)}


def test_a_root_inside_of_the_work_tree_is_asked_by_its_own_paths(repo: Repo, cache: BlameCache) -> None:
    (repo.root / "pkg").mkdir()
    repo.commit("Ben", **{"pkg/c": "x\n"})
    root = repo.root / "pkg"
    assert chunk_authors(root, "c", [(1, 1)], cache=cache) == [["Ben"]]
    repo.commit("Cy", **{"pkg/c": "y\n"})
    repo.commit("Dee", **{"pkg/c": "x\n"})

    assert chunk_authors(root, "c", [(1, 1)], cache=cache) == [["Dee"]]


def test_the_oldest_answers_make_room(repo: Repo, tmp_path: Path) -> None:
    with BlameCache(tmp_path / "small.db", most=3) as small:
        for number in range(10):
            small.store(bytes([number]), "head", [(1, 1, "Ana")])

        kept = [number for number in range(10) if small.load(bytes([number])) is not None]

    assert kept == [7, 8, 9]


def test_the_answers_take_no_more_than_their_share_of_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "small.db"
    runs = [(number, 1, os.urandom(8).hex()) for number in range(1000)]
    with BlameCache(path, most_bytes=200_000) as small:
        for number in range(50):
            small.store(bytes([number]), "head", runs)
        kept = [number for number in range(50) if small.load(bytes([number])) is not None]

    assert path.stat().st_size < 300_000
    assert kept
    assert kept == list(range(kept[0], 50))


def test_a_single_answer_that_is_too_large_is_no_endless_task(tmp_path: Path) -> None:
    with BlameCache(tmp_path / "tiny.db", most_bytes=1) as tiny:
        tiny.store(b"1", "head", [(1, 1, "Ana")])
        tiny.store(b"2", "head", [(1, 1, "Ben")])

        assert (tiny.load(b"1"), tiny.load(b"2")) == (None, ("head", [(1, 1, "Ben")]))


def test_a_file_that_is_no_cache_is_replaced(repo: Repo, tmp_path: Path) -> None:
    path = tmp_path / "broken.db"
    path.write_bytes(b"no database, but long enough to look at" * 100)
    with BlameCache(path) as replaced:
        assert chunk_authors(repo.root, "b", [(1, 1)], cache=replaced) == [["Ana"]]

    with sqlite3.connect(path) as database:
        rows = database.execute("SELECT count(*) FROM blame").fetchone()
    database.close()
    assert rows == (1,)


def test_a_broken_row_is_like_none(repo: Repo, tmp_path: Path) -> None:
    with BlameCache(tmp_path / "rows.db") as rows:
        chunk_authors(repo.root, "b", [(1, 1)], cache=rows)
        with sqlite3.connect(tmp_path / "rows.db") as database:
            database.execute("UPDATE blame SET runs = ?", (b"nothing",))
        database.close()

        assert chunk_authors(repo.root, "b", [(1, 1)], cache=rows) == [["Ana"]]


def test_where_nothing_can_be_kept_the_answers_still_come(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with BlameCache(tmp_path / "file" / "below.db") as useless:
        assert chunk_authors(repo.root, "b", [(1, 1)], cache=useless) == [["Ana"]]


def test_a_cache_that_somebody_else_has_locked_is_done_without(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blame, "_BUSY_SECONDS", 0.05)
    path = tmp_path / "locked.db"
    with BlameCache(path) as locked, sqlite3.connect(path) as database:
        database.execute("BEGIN EXCLUSIVE")
        assert chunk_authors(repo.root, "b", [(1, 1)], cache=locked) == [["Ana"]]
    database.close()


# The filter `chunkAuthor`


class Files:
    """The part of the store that the filter asks: the files that are still there."""

    def __init__(self, *paths: str) -> None:
        self._paths = paths

    def file_rows(self, numbers: set[int]) -> dict[int, SimpleNamespace]:
        rows = enumerate(self._paths)
        return {n: SimpleNamespace(path=path, author="Last") for n, path in rows if n in numbers}


def by_author(repo: Repo, files: Files, rows: list[ChunkRow], author: str) -> tuple[list[int], list[str]]:
    cache = repo.root.parent / "authors.db"
    kept, reasons = rows_by_author(find_repository(repo.root), cast("StoreReader", files), cache, rows, author)
    return [row.id for row in kept], reasons


def row(number: int, file: int, start: int, end: int) -> ChunkRow:
    return ChunkRow(number, file, "code", "function", "f", 0, 0, start, end, b"")


def test_chunks_are_kept_in_their_order_by_who_wrote_a_line_of_them(repo: Repo) -> None:
    rows = [row(9, 1, 1, 1), row(1, 0, 1, 2), row(5, 0, 3, 5), row(2, 0, 2, 3)]

    assert by_author(repo, Files("a", "b"), rows, "ANA") == ([9, 1, 2], [])
    assert by_author(repo, Files("a", "b"), rows, "be") == ([5, 2], [])


def test_chunks_that_vanished_meanwhile_are_left_out_and_told(repo: Repo) -> None:
    rows = [row(1, 0, 1, 1), row(2, 7, 1, 1), row(3, 8, 1, 1)]

    said = by_author(repo, Files("a"), rows, "ana")

    assert said == ([1], ["2 chunks went from the index since the search began"])
    assert by_author(repo, Files(), [], "ana") == ([], [])


def test_without_an_answer_the_last_author_counts_and_each_reason_is_told_once(repo: Repo) -> None:
    for name in ("new", "newer"):
        (repo.root / name).write_text("x\n")

    kept, reasons = by_author(repo, Files("new", "newer"), [row(1, 0, 1, 1), row(2, 1, 1, 1)], "last")

    assert kept == [1, 2]
    assert reasons == ["the last author stands for the lines of 2 files: git: no such path in HEAD"]


def test_where_there_is_no_git_the_last_author_counts_and_it_is_told(tmp_path: Path) -> None:
    plain = cast("Repo", SimpleNamespace(root=tmp_path / "plain"))
    plain.root.mkdir()

    kept, reasons = by_author(plain, Files("a"), [row(1, 0, 1, 1)], "last")

    assert kept == [1]
    assert "no git repository" in reasons[0]
