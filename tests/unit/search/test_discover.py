"""Discovery in real repositories: what is found, what is skipped, and why."""

import os
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.errors import ToolError
from holdfast.search.discover import Discovery, Limits, discover
from holdfast.search.repository import find_repository

# Directories that other tools leave out because of their names.
COMMON = [
    *("tools", "build", "gen", "dist", "exports", "out", "target", "coverage", "tmp", "temp", "venv", "generated"),
    *("img", "obj", ".vscode", "vendor", "bin", "lib", "node_modules", "__pycache__", "third_party"),
]


@pytest.fixture(autouse=True)
def own_git(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path_factory.mktemp("home")
    (home / "excludes").write_text("*.global\n")
    (home / "gitconfig").write_text(
        f"[user]\nname=N\nemail=n@example.com\n[protocol.file]\nallow=always\n[core]\nexcludesFile={home}/excludes\n"
    )
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / "gitconfig"))
    return home


def git(where: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=where, check=True, capture_output=True)


def put(root: Path, name: str, content: str | bytes = "x = 1\n") -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    root = tmp_path / "plain"
    root.mkdir()
    return root


@pytest.fixture
def tracked(tmp_path: Path) -> Path:
    root = tmp_path / "tracked"
    root.mkdir()
    git(root, "init", "-q", "-b", "main", "--template=")
    return root


@pytest.fixture(params=["git", "plain"])
def root(request: pytest.FixtureRequest) -> Path:
    path: Path = request.getfixturevalue("tracked" if request.param == "git" else "plain")
    return path


def found(root: Path) -> Discovery:
    return discover(find_repository(root))


def paths(discovery: Discovery) -> list[str]:
    return [file.path for file in discovery.files]


def reasons(discovery: Discovery) -> dict[str, str]:
    return {skipped.path: skipped.reason for skipped in discovery.skipped}


def detail(discovery: Discovery, path: str) -> str:
    return next(skipped.detail for skipped in discovery.skipped if skipped.path == path)


# What is found


def test_no_directory_of_a_git_repository_is_skipped_because_of_its_name(tracked: Path) -> None:
    names = [name for common in COMMON for name in (f"{common}/a.py", f"src/{common}/b.py")]
    for name in names:
        put(tracked, name)
    git(tracked, "add", *(f"{common}/a.py" for common in COMMON))

    assert paths(found(tracked)) == sorted(names)


def test_tracked_and_new_files_are_found_and_deleted_ones_are_not(tracked: Path) -> None:
    for name in ("tracked.py", "deleted.py", "renamed.py"):
        put(tracked, name)
    git(tracked, "add", ".")
    put(tracked, "new.py")
    (tracked / "deleted.py").unlink()
    (tracked / "renamed.py").rename(tracked / "other.py")

    assert paths(found(tracked)) == ["new.py", "other.py", "tracked.py"]


def test_a_file_says_where_it_is_how_large_and_what_it_is(root: Path) -> None:
    path = put(root, "src/a b/ü.py", "print()\n")

    (file,) = found(root).files

    assert (file.path, file.size, file.mtime_ns) == ("src/a b/ü.py", 8, path.stat().st_mtime_ns)
    assert (file.mode, file.language) == ("code", "python")


def test_every_directory_is_told_with_its_time_even_an_empty_one(root: Path) -> None:
    put(root, "a/b/c.py")
    (root / "empty").mkdir()

    directories = found(root).directories

    assert set(directories) == {"", "a", "a/b", "empty"}
    assert directories["a/b"] == (root / "a/b").stat().st_mtime_ns


def test_empty_files_and_names_with_strange_characters_are_found(root: Path) -> None:
    names = sorted(
        ["empty.py", "new\nline.py", "tab\t.py", '"quoted".py', "-n.py", "a\\b.py", "'; rm.py", "😀.py"]
    )
    for name in names:
        put(root, name, "")

    assert paths(found(root)) == names


def test_progress_is_told_and_may_end_the_walk(root: Path) -> None:
    for number in range(5):
        put(root, f"d{number}/a.py")
    told: list[int] = []

    discover(find_repository(root), on_progress=told.append)

    assert told == sorted(told)
    assert told[-1] == 5
    with pytest.raises(KeyboardInterrupt):
        discover(find_repository(root), on_progress=interrupt)


def interrupt(_: int) -> None:
    raise KeyboardInterrupt


def test_a_root_that_is_gone_is_an_error_and_not_an_empty_repository(plain: Path) -> None:
    repository = find_repository(plain)
    plain.rmdir()

    with pytest.raises(ToolError, match="Repo path not found"):
        discover(repository)


# What is ignored


def test_all_sources_of_ignore_rules_count_in_a_git_repository(tracked: Path) -> None:
    put(tracked, ".gitignore", "/out/\n*.tmp\n")
    put(tracked, "src/.gitignore", "!keep.tmp\nlocal.py\n")
    put(tracked, ".git/info/exclude", "private.py\n")
    for name in ("out/a.py", "a.tmp", "src/keep.tmp", "src/local.py", "private.py", "x.global", "src/out/b.py"):
        put(tracked, name)

    discovery = found(tracked)

    assert paths(discovery) == [".gitignore", "src/.gitignore", "src/keep.tmp", "src/out/b.py"]
    ignored = {"out/", "a.tmp", "src/local.py", "private.py", "x.global"}
    assert reasons(discovery) == dict.fromkeys(ignored, "ignored")


def test_nested_ignore_files_count_without_git(plain: Path) -> None:
    put(plain, ".gitignore", "/out/\n*.tmp\n")
    put(plain, "src/.gitignore", "!keep.tmp\nlocal.py\n")
    for name in ("out/a.py", "a.tmp", "src/keep.tmp", "src/local.py", "src/out/b.py"):
        put(plain, name)

    discovery = found(plain)

    assert paths(discovery) == [".gitignore", "src/.gitignore", "src/keep.tmp", "src/out/b.py"]
    assert reasons(discovery) == dict.fromkeys({"out/", "a.tmp", "src/local.py"}, "ignored")


def test_a_tracked_file_is_found_even_when_an_ignore_rule_matches(tracked: Path) -> None:
    put(tracked, "build/kept.py")
    git(tracked, "add", ".")
    put(tracked, ".gitignore", "build/\n")
    put(tracked, "build/product.py")

    discovery = found(tracked)

    assert paths(discovery) == [".gitignore", "build/kept.py"]
    assert reasons(discovery) == {"build/product.py": "ignored"}


def test_a_directory_with_only_ignored_files_is_reported_once_and_still_watched(tracked: Path) -> None:
    put(tracked, ".gitignore", "*.pyc\ndeep/\n")
    for name in ("cache/a.pyc", "cache/b.pyc", "cache/inner/c.pyc", "x/deep/d.py"):
        put(tracked, name)

    discovery = found(tracked)

    assert reasons(discovery) == {"cache/": "ignored", "x/": "ignored"}
    assert set(discovery.directories) == {"", "cache", "cache/inner", "x"}


def test_holdfastignore_leaves_out_tracked_files_too_and_is_nested(root: Path) -> None:
    for name in ("vendored/a.py", "src/a.py", "src/a.gen.py", "src/b.gen.py", "other/a.gen.py"):
        put(root, name)
    if (root / ".git").exists():
        git(root, "add", ".")
    put(root, ".holdfastignore", "/vendored/\n*.gen.py\n")
    put(root, "src/.holdfastignore", "!b.gen.py\n")

    discovery = found(root)

    assert paths(discovery) == [".holdfastignore", "src/.holdfastignore", "src/a.py", "src/b.gen.py"]
    left_out = {"vendored/", "src/a.gen.py", "other/a.gen.py"}
    assert reasons(discovery) == dict.fromkeys(left_out, "holdfastignore")


def test_an_ignore_file_that_is_a_pipe_or_a_link_gives_no_rules(plain: Path) -> None:
    put(plain, "a.py")
    os.mkfifo(plain / ".gitignore")
    (plain / ".holdfastignore").symlink_to("rules")
    put(plain, "rules", "*")

    assert paths(found(plain)) == ["a.py", "rules"]


def test_without_git_installed_packages_and_other_version_control_are_left_out(plain: Path) -> None:
    for name in ("node_modules/a.js", "x/__pycache__/a.py", ".venv/lib/a.py", ".venv/pyvenv.cfg", ".svn/a.py"):
        put(plain, name)
    put(plain, "build/a.py")

    discovery = found(plain)

    assert paths(discovery) == ["build/a.py"]
    dependencies = dict.fromkeys(["node_modules/", "x/__pycache__/", ".venv/"], "dependencies")
    assert reasons(discovery) == dependencies | {".svn/": "version-control"}


# Repositories in repositories


def test_a_submodule_is_walked_with_its_own_rules(tracked: Path, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    git(inner, "init", "-q", "--template=")
    put(inner, "build/a.py")
    put(inner, ".gitignore", "*.tmp\n")
    git(inner, "add", ".")
    git(inner, "commit", "-qm", "one")
    git(tracked, "submodule", "--quiet", "add", str(inner), "libs/inner")
    put(tracked, "libs/inner/b.tmp")
    put(tracked, "libs/inner/new.py")

    discovery = found(tracked)

    inside = ["libs/inner/.gitignore", "libs/inner/build/a.py", "libs/inner/new.py"]
    assert paths(discovery) == [".gitmodules", *inside]
    assert reasons(discovery) == {"libs/inner/b.tmp": "ignored"}


def test_a_submodule_that_is_not_checked_out_is_told(tracked: Path) -> None:
    git(tracked, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    (tracked / "sub").mkdir()

    assert reasons(found(tracked)) == {"sub/": "submodule"}


def test_another_repository_inside_is_one_skipped_entry(tracked: Path) -> None:
    for inner in (tracked / "clone", tracked / "deep" / "clone"):
        inner.mkdir(parents=True)
        git(inner, "init", "-q", "--template=")
        put(inner, "a.py")

    discovery = found(tracked)

    assert paths(discovery) == []
    assert reasons(discovery) == {"clone/": "nested-repository", "deep/clone/": "nested-repository"}


def test_git_directories_are_never_entered_without_git_either(plain: Path) -> None:
    (plain / "one").mkdir()
    git(plain / "one", "init", "-q")
    put(plain, "one/a.py")
    put(plain, "two/.git", "gitdir: nowhere\n")

    discovery = found(plain)

    assert paths(discovery) == ["one/a.py"]
    assert not [path for path in discovery.directories if ".git" in path]


# Git in trouble


def test_the_environment_of_a_hook_does_not_mislead(
    tracked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tracked, "a.py")
    git(tracked, "add", ".")
    put(tracked, ".gitignore", "a.py\n")  # only the true index can tell that it is tracked
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_CEILING_DIRECTORIES"):
        with monkeypatch.context() as patch:
            patch.setenv(name, str(tmp_path / "elsewhere"))
            discovery = found(tracked)

        assert (paths(discovery), discovery.remarks) == ([".gitignore", "a.py"], [])


@pytest.mark.parametrize("file", [".git/index", ".git/HEAD", ".git/config"])
def test_a_corrupt_repository_is_walked_with_its_ignore_files_and_a_remark(tracked: Path, file: str) -> None:
    put(tracked, "a.py")
    put(tracked, ".gitignore", "*.tmp\n")
    put(tracked, ".git/info/exclude", "*.private\n")
    git(tracked, "add", ".")
    for name in ("b.tmp", "c.private"):
        put(tracked, name)
    put(tracked, file, "nonsense [\n")

    discovery = found(tracked)

    assert paths(discovery) == [".gitignore", "a.py"]
    assert reasons(discovery) == {"b.tmp": "ignored", "c.private": "ignored"}
    assert "git does not list the files (" in discovery.remarks[0]
    assert "\n" not in discovery.remarks[0]


def test_a_broken_repository_inside_of_another_is_not_taken_for_the_outer_one(tracked: Path) -> None:
    put(tracked, ".gitignore", "inner/\n")
    put(tracked, "inner/.git/HEAD", "nonsense")
    put(tracked, "inner/a.py")

    assert paths(found(tracked / "inner")) == ["a.py"]


def test_without_a_git_program_ignore_files_are_read(tracked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tracked, "a.py")
    monkeypatch.setenv("PATH", "/nonexistent")

    discovery = found(tracked)

    assert paths(discovery) == ["a.py"]
    assert "git cannot be started" in discovery.remarks[0]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_a_repository_of_somebody_else_is_walked_with_a_remark(tracked: Path) -> None:
    put(tracked, "a.py")
    for path in (tracked, tracked / ".git"):
        os.chown(path, 12345, 12345)

    discovery = found(tracked)

    assert paths(discovery) == ["a.py"]
    assert "dubious ownership" in discovery.remarks[0]


# Links and special files


def test_links_are_skipped_and_say_where_they_lead(root: Path, tmp_path: Path) -> None:
    put(root, "d/a.py")
    targets = {
        "file": "d/a.py",
        "folder": "d",
        "outside": str(tmp_path),
        "nowhere": "nothing",
        "loop": "loop",
        "up": ".",
    }
    for name, target in targets.items():
        (root / name).symlink_to(target)

    discovery = found(root)

    assert paths(discovery) == ["d/a.py"]
    assert reasons(discovery) == dict.fromkeys(targets, "symlink")
    assert "leaves the repository" in detail(discovery, "outside")
    assert "leads nowhere" in detail(discovery, "loop")


def test_pipes_and_sockets_are_never_opened(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(root, "a.py")
    put(root, "was_a_file.py")
    if (root / ".git").exists():
        git(root, "add", ".")
    (root / "was_a_file.py").unlink()
    os.mkfifo(root / "was_a_file.py")
    monkeypatch.chdir(root)  # the name of a socket may not be long
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.py")

        discovery = found(root)

    assert paths(discovery) == ["a.py"]
    assert reasons(discovery) == {"was_a_file.py": "special", "socket.py": "special"}


def test_a_file_tracked_as_a_link_is_a_link_even_where_the_disk_has_none(tracked: Path) -> None:
    (tracked / "link").symlink_to("a.py")
    put(tracked, "a.py")
    git(tracked, "add", ".")
    (tracked / "link").unlink()
    put(tracked, "link", "a.py")

    assert reasons(found(tracked)) == {"link": "symlink"}


def test_names_that_are_no_unicode_are_skipped_with_their_bytes(root: Path) -> None:
    for name in (b"caf\xe9.py", b"d\xff/a.py"):
        path = os.path.join(os.fsencode(root), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb"):
            pass

    discovery = found(root)

    assert reasons(discovery) == {r"caf\xe9.py": "name", r"d\xff/": "name"}


def test_a_path_longer_than_the_system_allows_is_told(plain: Path) -> None:
    here = os.open(plain, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("x" * 250, dir_fd=here)
        here = replaced(here, os.open("x" * 250, os.O_RDONLY, dir_fd=here))
    os.close(here)

    assert {skipped.reason for skipped in found(plain).skipped} == {"unreadable"}


def replaced(old: int, new: int) -> int:
    os.close(old)
    return new


@contextmanager
def without_privileges() -> Iterator[None]:
    """Root may read everything; for a moment we are somebody else."""
    before = os.geteuid()
    os.seteuid(65534 if before == 0 else before)
    try:
        yield
    finally:
        os.seteuid(before)


def test_what_may_not_be_read_is_told_with_the_reason() -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        root.chmod(0o755)
        put(root, "secret.py").chmod(0)
        put(root, "closed/a.py").parent.chmod(0)
        with without_privileges():
            discovery = found(root)
        (root / "closed").chmod(0o700)

    assert reasons(discovery) == {"secret.py": "unreadable", "closed/": "unreadable"}
    assert detail(discovery, "secret.py") == detail(discovery, "closed/") == "Permission denied"


# Sizes


def test_a_file_above_its_limit_is_skipped_and_its_size_is_told(root: Path) -> None:
    put(root, "a.py", b"x = 1\n" * 1000)
    put(root, "b.log", b"line\n" * 1000)

    discovery = discover(find_repository(root), limits=Limits(code=1000, prose=1000, records=1_000_000))

    assert paths(discovery) == ["b.log"]
    assert reasons(discovery) == {"a.py": "oversized"}
    put(root, "huge.txt", b"word " * 1024**2)
    assert detail(found(root), "huge.txt") == "5.0 MiB; prose may have 4.0 MiB"


# Looking again


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that discovery opens, noted by the real function."""
    from holdfast.search.discover import sniff

    names: list[str] = []
    real = sniff.read_start

    def noted(path: str, limit: int) -> bytes | None:
        names.append(os.path.basename(path))
        return real(path, limit)

    monkeypatch.setattr(sniff, "read_start", noted)
    return names


def test_an_unchanged_file_is_not_opened_again(root: Path, opened: list[str]) -> None:
    put(root, "a.py")
    put(root, "script", "#!/bin/sh\n")
    put(root, "binary", b"\0\1\2")
    put(root, "min.js", "x" * 9000)
    first = found(root)
    opened.clear()

    again = discover(find_repository(root), known=first.known())

    assert opened == []
    assert (again.files, again.skipped, again.directories) == (first.files, first.skipped, first.directories)


def test_a_changed_file_is_looked_at_again(root: Path, opened: list[str]) -> None:
    path = put(root, "script", "#!/bin/sh\n")
    put(root, "other", "#!/bin/sh\n")
    known = found(root).known()
    path.write_text("#!/usr/bin/env python3\n")
    opened.clear()

    again = discover(find_repository(root), known=known)

    assert opened == ["script"]
    assert [file.language for file in again.files] == ["shell", "python"]


def test_a_file_that_could_not_be_read_is_tried_again(root: Path, opened: list[str]) -> None:
    path = put(root, "a.py")
    status = path.stat()
    known = {"a.py": replace(found(root).known()["a.py"], skipped_reason="unreadable")}
    opened.clear()

    again = discover(find_repository(root), known=known)

    assert opened == ["a.py"]
    assert [(file.path, file.mtime_ns) for file in again.files] == [("a.py", status.st_mtime_ns)]


def test_a_file_that_comes_while_the_walk_goes_on_makes_its_directory_look_old(tracked: Path) -> None:
    put(tracked, "d/a.py")

    discovery = discover(find_repository(tracked), on_progress=lambda _: put(tracked, "d/new.py"))

    assert paths(discovery) == ["d/a.py"]
    assert discovery.directories["d"] == -1


def test_a_skipped_file_keeps_its_size_and_time_so_that_a_change_is_seen(root: Path) -> None:
    contents: dict[str, bytes] = {
        "a.png": b"x", "binary": b"\0\1\2", "a.min.js": b"var a;\n", "large.py": b"x = 1\n" * 100,
    }  # fmt: skip
    for name, content in contents.items():
        put(root, name, content)

    skipped = discover(find_repository(root), limits=Limits(code=500)).skipped

    status = {name: (root / name).stat() for name in contents}
    assert {one.path: (one.size, one.mtime_ns) for one in skipped} == {
        name: (known.st_size, known.st_mtime_ns) for name, known in status.items()
    }


def test_a_document_that_cannot_be_read_keeps_its_size_and_time(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    status = put(root, "a.pdf", b"%PDF").stat()

    (one,) = found(root).skipped

    assert (one.reason, one.size, one.mtime_ns) == ("document", 4, status.st_mtime_ns)
