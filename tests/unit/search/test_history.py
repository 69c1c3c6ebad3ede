"""The history of files, on real repositories: counts, names, odd clones, broken places, and an end in time."""

import os
import shutil
import subprocess
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.search.processes import running_git

from holdfast.errors import ToolError
from holdfast.git.asking import Git, GitOutput
from holdfast.search.history import (
    FileHistory,
    History,
    from_bytes,
    read_history,
    to_bytes,
    update_history,
)
from holdfast.search.history_reading import HistoryReading
from holdfast.search.repository import find_repository

ANA, BEN = "Ana <ana@example.com>", "Ben <ben@example.com>"


class Repo:
    """A repository whose clock stands at `time` and moves one second per commit."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.time = 1_700_000_000
        root.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main", "--template=")

    def git(self, *arguments: str, who: str = ANA) -> str:
        name, _, mail = who.rstrip(">").partition(" <")
        stamp = f"{self.time} +0000"
        environment = {
            **os.environ,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_AUTHOR_NAME": name,
            "GIT_AUTHOR_EMAIL": mail,
            "GIT_AUTHOR_DATE": stamp,
            "GIT_COMMITTER_NAME": name,
            "GIT_COMMITTER_EMAIL": mail,
            "GIT_COMMITTER_DATE": stamp,
        }
        command = ["git", "-c", "protocol.file.allow=always", "-c", "maintenance.auto=false", *arguments]
        done = subprocess.run(command, cwd=self.root, env=environment, capture_output=True, check=True)
        return done.stdout.decode().strip()

    def commit(self, files: dict[str, str | bytes | None], who: str = ANA) -> None:
        self.time += 1
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if content is None:
                path.unlink()
            else:
                path.write_bytes(content.encode() if isinstance(content, str) else content)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "change", who=who)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "repo")


def lines(count: int, word: str = "line") -> str:
    return "".join(f"{word} {number}\n" for number in range(count))


def test_a_file_tells_its_last_author_its_time_and_its_churn(repo: Repo) -> None:
    repo.commit({"a.py": "one\ntwo\n", "b.py": "x\n"})
    repo.commit({"a.py": "one\nthree\nfour\n"}, who=BEN)

    history = read_history(repo.root)

    assert history.files["a.py"] == FileHistory("Ben", repo.time, 4, 1, 2)
    assert history.files["a.py"].churn == 5
    assert history.files["b.py"] == FileHistory("Ana", repo.time - 1, 1, 0, 1)
    assert (history.head, history.window, history.remarks) == (repo.git("rev-parse", "HEAD"), 2, [])


def test_a_renamed_file_keeps_the_changes_of_its_older_names(repo: Repo) -> None:
    repo.commit({"old.py": lines(20)})
    repo.commit({"old.py": None, "mid.py": lines(20) + "more\n"})
    repo.commit({"mid.py": None, "sub/new.py": lines(20) + "more\n"}, who=BEN)

    history = read_history(repo.root)

    assert list(history.files) == ["sub/new.py"]
    assert history.files["sub/new.py"] == FileHistory("Ben", repo.time, 21, 0, 3)


def test_a_name_that_is_used_again_does_not_inherit_from_the_renamed_file(repo: Repo) -> None:
    repo.commit({"a.py": lines(20)})
    repo.commit({"a.py": None, "b.py": lines(20)})
    repo.commit({"a.py": "another\n"}, who=BEN)

    history = read_history(repo.root)

    assert history.files["a.py"] == FileHistory("Ben", repo.time, 1, 0, 1)
    assert history.files["b.py"].churn == 20


def test_a_deleted_file_is_not_told(repo: Repo) -> None:
    repo.commit({"gone.py": "x\n", "here.py": "y\n"})
    repo.commit({"gone.py": None})

    assert list(read_history(repo.root).files) == ["here.py"]


def test_a_binary_file_has_commits_but_no_lines(repo: Repo) -> None:
    repo.commit({"a.bin": bytes(range(256))})

    assert read_history(repo.root).files["a.bin"] == FileHistory("Ana", repo.time, 0, 0, 1)


@pytest.mark.parametrize(
    "name", ["a b.py", "tab\there", "new\nline", "\x01head", "ä€.py", "-dash", 'q"uote', "\n"]
)
def test_an_odd_file_name_is_told_as_it_is(repo: Repo, name: str) -> None:
    repo.commit({name: lines(20)})
    repo.commit({name: None, f"{name}2": lines(21)})

    assert read_history(repo.root).files[f"{name}2"].churn == 21


def test_a_name_that_is_not_utf8_is_the_name_that_the_system_gives(repo: Repo) -> None:
    path = os.fsencode(repo.root) + b"/caf\xe9.py"
    Path(os.fsdecode(path)).write_bytes(b"x\n")
    repo.commit({})

    history = read_history(repo.root)

    assert list(history.files) == [os.fsdecode(b"caf\xe9.py")]
    assert from_bytes(to_bytes(history)) == history


def test_author_names_follow_the_mailmap(repo: Repo) -> None:
    repo.commit({"a.py": "x\n", ".mailmap": "Anna Real <anna@example.com> Ana <ana@example.com>\n"})

    assert read_history(repo.root).files["a.py"].last_author == "Anna Real"


def test_a_merge_counts_its_commits_once(repo: Repo) -> None:
    repo.commit({"a.py": "x\n"})
    repo.git("checkout", "-q", "-b", "side")
    repo.commit({"b.py": "y\n"}, who=BEN)
    repo.git("checkout", "-q", "main")
    repo.commit({"a.py": "x\nz\n"})
    repo.git("merge", "-q", "--no-edit", "side")

    history = read_history(repo.root)

    assert {path: (known.churn, known.commits) for path, known in history.files.items()} == {
        "a.py": (2, 2),
        "b.py": (1, 1),
    }
    assert history.window == 3


def test_files_older_than_the_window_have_an_author_and_no_churn(repo: Repo) -> None:
    repo.commit({"old.py": "x\n"}, who=BEN)
    old = repo.time
    for number in range(3):
        repo.commit({"new.py": lines(number + 1)})

    history = read_history(repo.root, limit=2)

    assert history.files["old.py"] == FileHistory("Ben", old)
    assert history.files["new.py"].commits == 2


def test_looking_back_ends_when_its_time_is_over_and_says_how_many_files_it_leaves(repo: Repo) -> None:
    repo.commit({"old.py": "x\n"})
    repo.commit({"new.py": "x\n"})

    history = read_history(repo.root, limit=1, look_back=-1.0)

    assert list(history.files) == ["new.py"]
    assert history.remarks == ["git: 1 file older than what was read in -1 s"]


def test_since_limits_the_counts_but_not_the_authors(repo: Repo) -> None:
    repo.commit({"a.py": "x\n"}, who=BEN)
    repo.time += 864_000
    repo.commit({"b.py": "y\n"})

    history = read_history(repo.root, since=f"@{repo.time - 86_400}")

    assert history.files["a.py"].last_author == "Ben"
    assert history.files["a.py"].churn == 0
    assert history.files["b.py"].churn == 1


def test_an_empty_repository_has_no_history_and_says_why(repo: Repo) -> None:
    assert read_history(repo.root) == History(remarks=["git: the repository has no commit yet"])


def test_a_folder_that_is_no_repository_has_no_history_and_says_why(tmp_path: Path) -> None:
    (remark,) = read_history(tmp_path).remarks
    assert "not a git repository" in remark


def test_a_folder_that_does_not_exist_has_no_history_and_says_why(tmp_path: Path) -> None:
    (remark,) = read_history(tmp_path / "none").remarks
    assert "No such file" in remark


def test_without_git_there_is_no_history_and_it_says_why(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit({"a.py": "x\n"})
    monkeypatch.setenv("PATH", "/nowhere")

    history = read_history(repo.root)

    assert history.head == ""
    assert history.remarks[0].startswith("git: git cannot be started")


def test_variables_that_point_git_elsewhere_do_not_mislead(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit({"a.py": "x\n"})
    other = Repo(tmp_path / "other")
    other.commit({"b.py": "x\n"})
    monkeypatch.setenv("GIT_DIR", str(other.root / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.root))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "/bin/false")

    assert list(read_history(repo.root).files) == ["a.py"]


def test_the_users_configuration_changes_nothing(repo: Repo) -> None:
    repo.commit({"a.py": lines(20)})
    repo.commit({"a.py": None, "b.py": lines(20)})
    plain = read_history(repo.root)
    settings = {
        "log.showRoot": "false", "log.showSignature": "true", "diff.renames": "false", "color.ui": "always",
        "diff.external": "/bin/false", "log.follow": "true", "format.pretty": "oneline", "diff.noprefix": "true",
    }  # fmt: skip
    for name, value in settings.items():
        repo.git("config", name, value)

    assert read_history(repo.root) == plain


def test_a_shallow_clone_does_not_blame_its_oldest_commit_for_every_file(repo: Repo, tmp_path: Path) -> None:
    repo.commit({"a.py": "x\n", "b.py": "x\n"})
    repo.commit({"c.py": "x\n"})
    repo.commit({"b.py": "y\n"}, who=BEN)
    clone = tmp_path / "clone"
    repo.git("clone", "-q", "--depth=2", f"file://{repo.root}", str(clone))

    history = read_history(clone)

    assert history.files == {"b.py": FileHistory("Ben", repo.time, 1, 1, 1)}
    assert history.shallow
    assert "shallow" in history.remarks[0]


def test_a_clone_that_is_no_longer_shallow_is_read_again(repo: Repo, tmp_path: Path) -> None:
    repo.commit({"a.py": "x\n"})
    repo.commit({"b.py": "x\n"})
    clone = tmp_path / "clone"
    repo.git("clone", "-q", "--depth=1", f"file://{repo.root}", str(clone))
    shallow = read_history(clone)
    repo.git("-C", str(clone), "fetch", "-q", "--unshallow")

    assert shallow.files == {}
    assert set(update_history(shallow, clone).files) == {"a.py", "b.py"}


def test_a_partial_clone_is_read_without_the_network(repo: Repo, tmp_path: Path) -> None:
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.commit({"a.py": lines(9)})
    repo.commit({"a.py": lines(5, "other"), "b.py": "x\n"}, who=BEN)
    clone = tmp_path / "clone"
    repo.git("clone", "-q", "--filter=blob:none", f"file://{repo.root}", str(clone))

    history = read_history(clone)

    assert {path: known.last_author for path, known in history.files.items()} == {"a.py": "Ben", "b.py": "Ben"}
    assert "the log ends after" in history.remarks[0]


def test_a_submodule_is_no_file_and_has_a_history_of_its_own(repo: Repo, tmp_path: Path) -> None:
    inner = Repo(tmp_path / "inner")
    inner.commit({"deep.py": "x\n"}, who=BEN)
    repo.git("submodule", "--quiet", "add", str(inner.root), "sub")
    repo.commit({"a.py": "x\n"})

    assert set(read_history(repo.root).files) == {".gitmodules", "a.py"}
    assert read_history(repo.root / "sub").files["deep.py"].last_author == "Ben"


def test_a_root_inside_of_the_work_tree_tells_its_own_files_only(repo: Repo) -> None:
    repo.commit({"top.py": "x\n", "pkg/a.py": "x\n", "pkg/b.py": lines(20)})
    repo.commit({"pkg/b.py": None, "pkg/deep/b.py": lines(21)}, who=BEN)

    history = read_history(repo.root / "pkg")

    assert {path: known.churn for path, known in history.files.items()} == {"a.py": 1, "deep/b.py": 21}


def test_a_second_work_tree_has_the_same_history(repo: Repo, tmp_path: Path) -> None:
    repo.commit({"a.py": "x\n"})
    repo.git("worktree", "add", "-q", str(tmp_path / "second"))

    assert read_history(tmp_path / "second") == read_history(repo.root)


def test_without_a_new_commit_the_update_is_the_same_object(repo: Repo) -> None:
    repo.commit({"a.py": "x\n"})
    history = read_history(repo.root)

    assert update_history(history, repo.root) is history


def rename(repo: Repo) -> None:
    repo.commit({"a.py": None, "moved.py": lines(30) + "new\n"}, who=BEN)


def remove(repo: Repo) -> None:
    repo.commit({"b.py": None})


def merge(repo: Repo) -> None:
    repo.git("checkout", "-q", "-b", "side", "HEAD~1")
    repo.time -= 50
    repo.commit({"b.py": "side\nb\n"}, who=BEN)
    repo.time += 100
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-edit", "side")


def rewrite(repo: Repo) -> None:
    repo.git("reset", "-q", "--hard", "HEAD~1")
    repo.commit({"c.py": "c\n"}, who=BEN)


def replace(repo: Repo) -> None:
    repo.commit({"a.py": None, "moved.py": lines(30)})
    repo.commit({"a.py": "another\n"}, who=BEN)


@pytest.mark.parametrize("change", [rename, remove, merge, rewrite, replace])
def test_an_update_tells_the_same_as_reading_everything_again(repo: Repo, change: Callable[[Repo], None]) -> None:
    repo.commit({"a.py": lines(30), "b.py": "b\n"})
    repo.commit({"a.py": lines(31)})
    before = read_history(repo.root)
    change(repo)

    assert update_history(before, repo.root) == read_history(repo.root)


def test_an_update_reads_only_the_new_commits(repo: Repo) -> None:
    repo.commit({"a.py": "x\n"})
    before = read_history(repo.root)
    before.files["a.py"].last_author = "from before"
    repo.commit({"b.py": "x\n"})

    after = update_history(before, repo.root)

    assert after.files["a.py"].last_author == "from before"
    assert (after.head, after.window) == (repo.git("rev-parse", "HEAD"), 2)


def test_a_window_that_has_grown_too_long_is_read_again(repo: Repo) -> None:
    repo.commit({"a.py": "x\n"})
    before = read_history(repo.root, limit=2)
    for number in range(3):
        repo.commit({"a.py": lines(number + 2)})

    after = update_history(before, repo.root)

    assert (after.window, after.files["a.py"].commits) == (2, 2)


def test_a_repository_that_is_gone_leaves_no_history(repo: Repo) -> None:
    repo.commit({"a.py": "x\n"})
    before = read_history(repo.root)
    shutil.rmtree(repo.root / ".git")

    assert update_history(before, repo.root).files == {}


def test_a_damaged_object_is_told_and_ends_nothing_else(repo: Repo) -> None:
    repo.commit({"a.py": lines(20)})
    repo.commit({"b.py": "x\n"})
    blob = repo.git("rev-parse", "HEAD~1:a.py")
    damaged = repo.root / ".git" / "objects" / blob[:2] / blob[2:]
    damaged.chmod(0o644)
    damaged.write_bytes(b"nothing")

    history = read_history(repo.root)

    assert set(history.files) == {"a.py", "b.py"}
    assert "the log ends after" in history.remarks[0]


def test_a_reading_that_is_stopped_has_no_head_and_leaves_no_git(repo: Repo) -> None:
    repo.commit({"a.py": "x\n"})
    history = read_history(repo.root, stop=lambda: True)

    assert history == History(remarks=["git: stopped"])
    assert running_git() == []


def test_an_update_that_is_stopped_is_the_old_history(repo: Repo) -> None:
    repo.commit({"a.py": "x\n"})
    before = read_history(repo.root)
    repo.commit({"a.py": "y\n"})

    assert update_history(before, repo.root, stop=lambda: True) is before


def test_a_log_whose_time_is_over_is_told_as_far_as_it_was_read(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit({"a.py": "x\n"})
    real = Git.start

    def slow(self: Git, *arguments: str, seconds: float = 300.0) -> GitOutput:
        return real(self, *arguments, seconds=-1.0 if "--numstat" in arguments else seconds)

    monkeypatch.setattr(Git, "start", slow)
    history = read_history(repo.root)

    assert history.remarks == ["git: the log ends after 0 commits: out of time"]
    assert history.files["a.py"].last_author == "Ana"


def test_a_reading_beside_the_parsing_is_told_when_it_is_asked_for(repo: Repo) -> None:
    repo.commit({"a.py": "x\n"})

    with HistoryReading(find_repository(repo.root), None) as reading:
        assert reading.result() == read_history(repo.root)


def test_a_reading_beside_the_parsing_hears_a_stop_while_git_hangs(repo: Repo) -> None:
    repo.commit({"a.py": "x\n"})
    os.mkfifo(repo.root / ".git" / "pipe")
    repo.git("config", "include.path", "pipe")
    asked = count()

    with (
        HistoryReading(find_repository(repo.root), None, stop=lambda: next(asked) > 3) as reading,
        pytest.raises(ToolError, match="the old index is untouched") as error,
    ):
        reading.result()
    assert error.value.code == "CANCELLED"
    assert running_git() == []


counts = st.integers(min_value=0, max_value=2**40)
histories = st.builds(
    History,
    files=st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1),
        st.builds(FileHistory, st.text(st.characters(exclude_categories=["Cs"])), counts, counts, counts, counts),
        max_size=20,
    ),
    head=st.just("ab" * 20),
    since=st.none() | st.just("1 year"),
    remarks=st.lists(st.just("git: x"), max_size=2),
)


@given(histories)
def test_a_stored_history_is_the_same_again(history: History) -> None:
    assert from_bytes(to_bytes(history)) == history


@given(st.binary(max_size=200))
def test_bytes_that_are_no_history_are_refused(stored: bytes) -> None:
    with pytest.raises(ValueError, match="not a stored history"):
        from_bytes(stored)


def test_a_history_of_another_format_is_refused() -> None:
    import zlib

    stored = zlib.compress(zlib.decompress(to_bytes(History())).replace(b'"format":1', b'"format":0'))
    with pytest.raises(ValueError, match="another format"):
        from_bytes(stored)
