import os
import resource
import sys
from pathlib import Path

import pytest
from tests.launch.products import commit_all, git, make_repository

from holdfast.errors import ToolError
from holdfast.git.asking import GitError
from holdfast.launch.documents import sha256
from holdfast.launch.patching.engine import apply_bundle
from holdfast.launch.patching.fence import Fence
from holdfast.launch.patching.making import changes, extended
from holdfast.launch.patching.operations import MOST_BYTES
from holdfast.launch.patching.tree import BaseTree, edited, materialise, pictured, read_file, remove_link

FILES = {
    "content/a.md": b"a\n",
    "content/deep/er/b.md": b"b\n",
    "content/é.md": "é".encode(),
    "static/x.bin": b"\xff\0",
    ".gitignore": b"/ignored/\n",
}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    make_repository(tmp_path / "site", FILES)
    return tmp_path / "site"


def head(site: Path) -> str:
    return git(site, "rev-parse", "HEAD")


def test_the_files_of_a_commit_are_read_whatever_the_work_tree_holds(site: Path) -> None:
    tree = BaseTree(site, head(site))
    (site / "content/a.md").write_bytes(b"edited")
    (site / "content/new.md").write_bytes(b"new")
    assert tree.paths() == sorted(FILES)
    tree.load(FILES)
    assert {path: tree.read(path) for path in FILES} == FILES
    assert tree.read("content/new.md") is None
    assert tree.read("content") is None


def test_an_unknown_commit_is_an_error(site: Path) -> None:
    for ref in ("0" * 40, "main", "--help", "HEAD~1", ""):
        with pytest.raises(GitError):
            BaseTree(site, ref)


def test_links_and_huge_files_of_the_commit_cannot_be_read(site: Path) -> None:
    (site / "content/out").symlink_to("/etc")
    (site / "content/pass.md").symlink_to("../../outside.md")
    (site / "content/huge.md").write_bytes(b"x" * (MOST_BYTES + 1))
    tree = BaseTree(site, commit_all(site))
    for path, reason in [("content/out", "link"), ("content/out/x.md", "link"), ("content/pass.md", "link")]:
        with pytest.raises(ToolError) as caught:
            tree.read(path)
        assert (caught.value.code, caught.value.details["reason"]) == ("ALLOWED_PATHS_VIOLATION", reason)
    paths = ["content/out/x.md", "content/huge.md", "content/pass.md"]
    bundle, _ = extended({"patches": []}, (patch for path in paths for patch in changes(path, None, b"new")))
    applied = apply_bundle(bundle, tree.read, Fence(["content"]), tree.paths())
    assert [item["kind"] for item in applied.conflicts] == ["outside_fence", "too_large", "outside_fence"]
    assert pictured(bundle, applied, tree) == {}


def test_files_appear_whole_with_their_folders_and_the_same_again_touches_nothing(site: Path) -> None:
    files = {"content/new/x.md": b"x", "content/a.md": b"A", "content/deep/er/b.md": None, "content/none.md": None}
    materialise(site, files)
    assert (site / "content/new/x.md").read_bytes() == b"x"
    assert (site / "content/a.md").read_bytes() == b"A"
    assert not (site / "content/deep").exists()
    before = (site / "content/a.md").stat()
    materialise(site, files)
    after = (site / "content/a.md").stat()  # reading it may move the time of its last access
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert sorted(path.name for path in (site / "content").iterdir()) == ["a.md", "new", "é.md"]


def test_a_write_keeps_the_mode_and_does_not_go_through_a_hard_link(site: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.md"
    other.write_bytes(b"kept")
    (site / "content/a.md").unlink()
    os.link(other, site / "content/a.md")
    other.chmod(0o750)
    materialise(site, {"content/a.md": b"new"})
    assert other.read_bytes() == b"kept"
    assert (site / "content/a.md").stat().st_mode & 0o777 == 0o750


@pytest.mark.requirement("OURS-25-fence")
@pytest.mark.parametrize("way", ["folder", "file", "dangling", "loop", "above", "fifo", "directory", "file_above"])
def test_nothing_is_written_at_all_where_a_link_or_another_thing_is_in_the_way(
    site: Path, tmp_path: Path, way: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.md").write_bytes(b"kept")
    target = site / "content/way/x.md"
    if way in ("folder", "above"):
        (site / "content/way").symlink_to(outside)
    elif way == "file_above":
        (site / "content/way").write_bytes(b"")
    else:
        target.parent.mkdir()
    if way in ("file", "dangling", "loop"):
        target.symlink_to({"file": outside / "x.md", "dangling": outside / "none", "loop": target}[way])
    elif way == "fifo":
        os.mkfifo(target)
    elif way == "directory":
        target.mkdir()
    path = "content/way/sub/x.md" if way == "above" else "content/way/x.md"
    for content in (b"new", None):
        with pytest.raises(ToolError) as caught:
            materialise(site, {"content/a.md": b"changed", path: content})
        assert caught.value.code == "ALLOWED_PATHS_VIOLATION"
    assert (site / "content/a.md").read_bytes() == b"a\n"
    assert {path.name: path.read_bytes() for path in outside.iterdir()} == {"x.md": b"kept"}


def test_a_link_can_be_taken_away_without_touching_what_it_leads_to(site: Path, tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"kept")
    (site / "content/l.md").symlink_to(tmp_path / "target")
    for _ in range(2):
        remove_link(site, "content/l.md")
        remove_link(site, "content/a.md")
        remove_link(site, "none/l.md")
    assert not (site / "content/l.md").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"kept"
    assert (site / "content/a.md").exists()


def test_what_a_killed_writer_left_is_no_edit_and_is_removed_by_the_next(site: Path) -> None:
    draft = site / "content" / f".holdfast-{sha256(b'a.md')[:16]}"
    draft.write_bytes(b"half")
    assert edited(site, head(site), {}) == []
    materialise(site, {"content/a.md": b"1"})
    assert not draft.exists()
    assert (site / "content/a.md").read_bytes() == b"1"


def test_a_full_disk_leaves_the_old_file_and_says_so(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
    try:
        with pytest.raises(ToolError) as caught:
            materialise(site, {"content/a.md": b"new" * 100})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (caught.value.details["reason"], caught.value.retryable) == ("cannot_write", True)
    assert (site / "content/a.md").read_bytes() == b"a\n"
    assert edited(site, head(site), {}) == []


def test_edits_of_every_kind_are_found_and_the_work_of_the_run_is_none(site: Path, tmp_path: Path) -> None:
    ref = head(site)
    made: dict[str, bytes | None] = {
        "content/ours.md": b"ours",
        "content/deep/er/b.md": None,
        "ignored/ours.md": b"i",
    }
    materialise(site, made)
    assert edited(site, ref, made) == []
    (site / "content/a.md").write_bytes(b"edited")
    (site / "content/ours.md").write_bytes(b"edited")
    (site / "ignored/ours.md").write_bytes(b"edited")
    (site / "static/x.bin").unlink()
    (site / "new file.md").write_bytes(b"")
    (site / "static/link").symlink_to(tmp_path)
    (site / "content/deep/er").mkdir(parents=True)
    (site / "content/deep/er/b.md").write_bytes(b"b\n")
    assert edited(site, ref, made) == [
        "content/a.md",
        "content/deep/er/b.md",
        "content/ours.md",
        "ignored/ours.md",
        "new file.md",
        "static/link",
        "static/x.bin",
    ]


def test_edits_that_somebody_committed_by_hand_are_found_too(site: Path) -> None:
    ref = head(site)
    (site / "content/a.md").write_bytes(b"edited")
    (site / "content/n.md").write_bytes(b"new")
    commit_all(site, "by hand")
    assert edited(site, ref, {}) == ["content/a.md", "content/n.md"]


def test_a_filter_of_the_repository_is_not_run_when_edits_are_looked_for(site: Path, tmp_path: Path) -> None:
    git(site, "config", "filter.evil.clean", f"touch {tmp_path}/pwned")
    (site / ".gitattributes").write_bytes(b"*.md filter=evil diff=evil\n")
    git(site, "config", "diff.evil.textconv", f"touch {tmp_path}/pwned")
    git(site, "config", "core.fsmonitor", f"touch {tmp_path}/pwned")
    (site / "content/a.md").write_bytes(b"edited")
    assert edited(site, head(site), {}) == [".gitattributes", "content/a.md"]
    assert not (tmp_path / "pwned").exists()


def test_names_that_are_no_text_are_told_and_never_taken_for_another_path(site: Path) -> None:
    bad = os.fsencode(site) + b"/content/\xff.md"
    with open(bad, "wb") as file:
        file.write(b"x")
    assert edited(site, head(site), {}) == ["content/\\xff.md"]
    tree = BaseTree(site, commit_all(site))
    assert "content/\\xff.md" in tree.paths()
    assert read_file(site, "content/a.md") == b"a\n"
    assert not Fence(["content"]).allows("content/\\xff.md")


def test_a_path_that_the_bundle_left_as_it_was_is_pictured_as_at_the_commit(site: Path) -> None:
    tree = BaseTree(site, head(site))
    steps = [
        *changes("content/n.md", None, b"n"),
        *changes("content/n.md", b"n", None),
        *changes("content/a.md", b"a\n", b"b"),
    ]
    bundle, ids = extended({"patches": []}, steps)
    applied = apply_bundle(bundle, tree.read, Fence(["content"]))
    assert ids == ["patch_001", "patch_002", "patch_003"]
    assert applied.files == {"content/a.md": b"b"}
    assert pictured(bundle, applied, tree) == {"content/n.md": None, "content/a.md": b"b"}
