"""Where a repository is, what it is called, and which commit it is at; compared with git itself."""

import os
import re
import subprocess
from pathlib import Path

import orjson
import pytest

from holdfast.errors import ToolError
from holdfast.search.config_status import config_status
from holdfast.search.index_state import index_state
from holdfast.search.library import build_index
from holdfast.search.repository import find_repository, head, index_home


@pytest.fixture(autouse=True)
def own_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gitconfig").write_text("[user]\nname=N\nemail=n@example.com\n[protocol.file]\nallow=always\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))


def git(where: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=where, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "My Project (2)!"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / "src" / "deep").mkdir(parents=True)
    (root / "src" / "deep" / "a.py").write_text("x = 1\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "one")
    return root


def test_the_repository_around_a_directory_is_its_git_top_level(repository: Path) -> None:
    found = find_repository(repository / "src" / "deep")

    assert (found.root, found.is_git, found.git_dir) == (repository, True, repository / ".git")
    assert re.fullmatch(r"my-project-2-[0-9a-f]{12}", found.repo_id)
    assert index_home(found, Path("/c")) == Path("/c/search") / found.repo_id


def test_the_default_is_the_repository_around_the_current_directory(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository / "src")

    assert find_repository() == find_repository(str(repository)) == find_repository("deep")


def test_a_link_to_a_repository_is_the_same_repository(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(repository)

    assert find_repository(tmp_path / "link") == find_repository(repository)


@pytest.mark.parametrize("marker", ["holdfast.toml", ".holdfastignore", ".pairofcleats.json"])
def test_without_git_the_nearest_configuration_marks_the_root(tmp_path: Path, marker: str) -> None:
    (tmp_path / "project" / "src" / "deep").mkdir(parents=True)
    (tmp_path / "project" / marker).touch()

    found = find_repository(tmp_path / "project" / "src" / "deep")

    assert (found.root, found.is_git, found.git_dir) == (tmp_path / "project", False, None)
    assert head(found) == (None, None)


def test_a_directory_without_any_mark_is_its_own_repository(tmp_path: Path) -> None:
    (tmp_path / "plain" / ".git").mkdir(parents=True)  # an empty .git is no repository, for git either

    assert find_repository(tmp_path / "plain").root == tmp_path / "plain"
    assert not find_repository(tmp_path / "plain").is_git


@pytest.mark.parametrize("path", ["missing", "file", "file/below", "nul\0l", "x" * 5000, "loop", "", "~nobody"])
def test_a_path_that_is_no_directory_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    Path("loop").symlink_to("loop")

    with pytest.raises(ToolError, match="Repo path not found: ") as caught:
        find_repository(path)

    assert caught.value.code == "NOT_FOUND"


def test_a_current_directory_that_was_removed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()

    with pytest.raises(ToolError, match="the current directory"):
        find_repository()


def test_repositories_of_one_name_have_different_ids_and_every_name_gives_one(tmp_path: Path) -> None:
    ids = []
    for name in ("a/x", "b/x", "c/日本語", "d/" + "long" * 50, "e/..x..", "f/-"):
        (tmp_path / name).mkdir(parents=True)
        ids.append(find_repository(tmp_path / name).repo_id)

    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,23}-[0-9a-f]{12}", repo_id) for repo_id in ids)
    assert find_repository("/").repo_id.startswith("root-") or find_repository("/").is_git


def test_head_is_what_git_says_on_a_branch_packed_or_not(repository: Path) -> None:
    commit = git(repository, "rev-parse", "HEAD")
    git(repository, "checkout", "-qb", "feature/with/slashes")
    assert head(find_repository(repository)) == (commit, "feature/with/slashes")

    git(repository, "pack-refs", "--all")
    assert head(find_repository(repository)) == (commit, "feature/with/slashes")


def test_a_detached_head_has_no_branch_and_a_new_repository_no_commit(repository: Path, tmp_path: Path) -> None:
    commit = git(repository, "rev-parse", "HEAD")
    git(repository, "checkout", "-q", "--detach")
    (tmp_path / "new").mkdir()
    git(tmp_path / "new", "init", "-q", "-b", "trunk")

    assert head(find_repository(repository)) == (commit, None)
    assert head(find_repository(tmp_path / "new")) == (None, "trunk")


def test_a_linked_work_tree_has_its_own_root_and_head(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", "-b", "other", str(tmp_path / "tree"))
    (tmp_path / "tree" / "b.py").touch()
    git(tmp_path / "tree", "add", ".")
    git(tmp_path / "tree", "commit", "-qm", "two")

    found = find_repository(tmp_path / "tree" / "src")

    assert found.root == tmp_path / "tree"
    assert head(found) == (git(tmp_path / "tree", "rev-parse", "HEAD"), "other")
    git(tmp_path / "tree", "pack-refs", "--all")
    assert head(found) == (git(tmp_path / "tree", "rev-parse", "HEAD"), "other")


def test_a_submodule_is_a_repository_of_its_own(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "outer").mkdir()
    git(tmp_path / "outer", "init", "-q")
    git(tmp_path / "outer", "submodule", "--quiet", "add", str(repository), "libs/inner")

    found = find_repository(tmp_path / "outer" / "libs" / "inner" / "src")

    assert found.root == tmp_path / "outer" / "libs" / "inner"
    assert head(found) == (git(repository, "rev-parse", "HEAD"), "main")


@pytest.mark.parametrize(
    "content", ["", "ref: ", "ref: refs/heads/../../../x", "ref: refs/heads/loop", "\0\xff", "0" * 39, "z" * 40]
)
def test_a_head_that_makes_no_sense_gives_no_commit(repository: Path, content: str) -> None:
    (repository / ".git" / "HEAD").write_text(content)
    (repository / ".git" / "refs" / "heads" / "loop").write_text("ref: refs/heads/loop")

    assert head(find_repository(repository))[0] is None


def test_a_pipe_in_the_place_of_head_is_not_waited_for(repository: Path) -> None:
    (repository / ".git" / "HEAD").unlink()
    os.mkfifo(repository / ".git" / "HEAD")

    assert head(find_repository(repository)) == (None, None)


def test_what_is_told_of_a_directory_whose_name_is_not_utf_8_can_be_sent(tmp_path: Path) -> None:
    root = tmp_path / os.fsdecode(b"d\xefr")
    root.mkdir()
    (root / "a.py").write_text("x = 1\n")
    found = find_repository(root)
    build_index(found, tmp_path / "cache")
    status = index_state(found, tmp_path / "cache").status

    assert found.shown == f"{tmp_path}/d\\xefr"
    assert status is not None
    assert orjson.loads(orjson.dumps(status))["repository"] == found.shown
    assert orjson.loads(orjson.dumps(config_status(found, tmp_path / "cache")))["repoPath"] == found.shown
