"""The authors of lines, on real repositories: who and how many, kept answers that stay true, and no exception."""

import os
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from holdfast.search import blame
from holdfast.search.blame import UNCOMMITTED, BlameCache, authors_of_many, chunk_authors


class Repo:
    """A repository with a few commits by different people."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str, who: str = "Ana") -> str:
        person = {"NAME": who, "EMAIL": f"{who.lower()}@example.com"}
        identity = {
            f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in person.items()
        }
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, **identity}
        command = ["git", "-c", "protocol.file.allow=always", *arguments]
        done = subprocess.run(command, cwd=self.root, env=environment, capture_output=True, check=True)
        return done.stdout.decode().strip()

    def commit(self, who: str = "Ana", **files: str) -> None:
        for name, content in files.items():
            (self.root / name).write_text(content)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "change", who=who)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo(tmp_path / "repo")
    made.commit(a="one\ntwo\nthree\nfour\n", b="x\n")
    made.commit("Ben", a="one\ntwo\nTHREE\nFOUR\nfive\n")
    return made


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[BlameCache]:
    with BlameCache(tmp_path / "cache" / "blame.db") as opened:
        yield opened


def asked(repo: Repo, cache: BlameCache, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that git is asked about when the authors of all are wanted."""
    files: list[str] = []
    real = blame._blame

    def counted(root: Path, path: str, place: blame._Place, timeout: float) -> blame.Runs:
        files.append(path)
        return real(root, path, place, timeout)

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

    assert chunk_authors(repo.root, "a", [(1, 1)], cache=cache, timeout=-1, reasons=reasons) == []
    assert reasons == {"a": "git: out of time"}
    assert psutil.Process().children() == []
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


def test_an_interrupted_search_leaves_no_git(repo: Repo, tmp_path: Path) -> None:
    class Interrupted(BlameCache):
        def store(self, key: bytes, head: str, runs: blame.Runs) -> None:
            raise KeyboardInterrupt

    with Interrupted(tmp_path / "interrupted.db") as cache, pytest.raises(KeyboardInterrupt):
        authors_of_many(repo.root, {"a": [(1, 1)], "b": [(1, 1)]}, cache=cache)
    assert psutil.Process().children() == []


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
