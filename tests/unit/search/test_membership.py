"""One path is judged as the walk over the whole tree judges it."""

import subprocess
from pathlib import Path

import pytest

from holdfast.errors import ToolError
from holdfast.search.configuration import load_configuration
from holdfast.search.discover import discover
from holdfast.search.membership import why_left_out
from holdfast.search.repository import Repository, find_repository
from holdfast.search.show_file import show_file

RULES = {
    ".gitignore": "*.log\nout/\n[ab]?.x\n",
    ".holdfastignore": "*.md\n!read.md\nsub/lib\n",
    "lib/.gitignore": "*.tmp\n!important.log\n",
    "lib/.holdfastignore": "local.py\n",
}
NAMES = [
    *("a.py", "b.log", "out/c.py", "d.md", "read.md", "out/forced.py", "ab.x", "cb.x", "w*ld.py", "été/ñ.py"),
    *("sub/new.py", "sub/x.gen", "sub/lib/e.py", "sub/f.log", "node_modules/m.js", "lib/a.tmp", "lib/local.py"),
    *("lib/important.log", "lib/read.md", "lib/deep/out/z.py", "lib/deep/a.tmp"),
]


def git(where: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=N", "-c", "user.email=n@example.com", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *identity, *arguments], cwd=where, check=True, capture_output=True)


def put(root: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)


def new_repository(root: Path) -> Repository:
    root.mkdir()
    git(root, "init", "-q", "-b", "main", "--template=")
    return find_repository(root)


def belonging(repository: Repository) -> set[str]:
    """Every file of the tree that belongs, asked one by one."""
    root = repository.root
    names = [
        str(path.relative_to(root)) for path in root.rglob("*") if path.is_file() and ".git" not in path.parts
    ]
    return {name for name in names if why_left_out(repository, name) is None}


@pytest.fixture
def tracked(tmp_path: Path) -> Repository:
    """A repository with a submodule, a nested repository, rules of every kind, and a file that was forced in."""
    inner = new_repository(tmp_path / "inner").root
    put(inner, {"kept.py": "x\n", ".gitignore": "*.gen\n"})
    git(inner, "add", ".")
    git(inner, "commit", "-qm", "one")
    repository = new_repository(tmp_path / "tracked")
    git(repository.root, "submodule", "add", "-q", str(inner), "sub")
    put(repository.root, {**dict.fromkeys(NAMES, "x\n"), **RULES})
    git(repository.root, "add", "-f", "out/forced.py")
    git(repository.root, "clone", "-q", str(inner), "nested")
    return repository


CONFIGURED = '{"indexing": {"ignore": ["lib/deep/", "w\\\\*ld.py", "*.md", "!/lib/read.md", "sub/k*"]}}'


def as_configured(repository: Repository) -> set[str]:
    ignore = load_configuration(repository).indexing.ignore_file()
    return {file.path for file in discover(repository, ignore=ignore).files}


def test_what_the_configuration_ignores_does_not_belong_in_git_and_without(
    tracked: Repository, tmp_path: Path
) -> None:
    plain = tmp_path / "plain"
    put(plain, {**dict.fromkeys([*NAMES, "sub/kept.py"], "x\n"), **RULES})
    for repository in (tracked, find_repository(plain)):
        put(repository.root, {".pairofcleats.json": CONFIGURED})

        assert belonging(repository) == as_configured(repository)
        assert "lib/read.md" in belonging(repository)
        for name in ("lib/deep/out/z.py", "w*ld.py", "sub/kept.py"):
            assert why_left_out(repository, name) == "configured"


def test_a_file_that_the_configuration_ignores_is_not_shown(tracked: Repository) -> None:
    put(tracked.root, {".pairofcleats.json": CONFIGURED})

    with pytest.raises(ToolError, match=r"the configuration of the repository leaves it out") as found:
        show_file(tracked, path="lib/deep/out/z.py")
    assert found.value.code == "FORBIDDEN"


def test_while_the_configuration_is_broken_nothing_is_told(tracked: Repository) -> None:
    put(tracked.root, {"holdfast.toml": "[search"})

    with pytest.raises(ToolError) as found:
        why_left_out(tracked, "a.py")
    assert found.value.code == "INVALID_REQUEST"


def test_in_a_git_repository_it_is_what_discovery_finds(tracked: Repository) -> None:
    assert belonging(tracked) == {file.path for file in discover(tracked).files}
    assert {"out/forced.py", "sub/kept.py", "lib/important.log"} <= belonging(tracked)
    assert why_left_out(tracked, "nested/kept.py") == "nested-repository"
    assert why_left_out(tracked, "sub/x.gen") == "ignored"


def test_where_git_cannot_be_asked_it_is_still_what_discovery_finds(
    tracked: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")

    assert belonging(tracked) == {file.path for file in discover(tracked).files}


def test_in_a_plain_directory_it_is_what_discovery_finds(tmp_path: Path) -> None:
    put(
        tmp_path, {**dict.fromkeys(NAMES, "x\n"), **RULES, "env/pyvenv.cfg": "home = /usr\n", "env/site.py": "x\n"}
    )
    put(tmp_path, {".hg/store": "x\n", "lib/__pycache__/x.txt": "x\n"})
    repository = find_repository(tmp_path)

    assert belonging(repository) == {file.path for file in discover(repository).files}
    assert why_left_out(repository, "env/site.py") == "dependencies"


def test_a_pipe_in_the_place_of_an_ignore_file_is_not_waited_for(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / ".holdfastignore")

    assert why_left_out(find_repository(tmp_path), "a.py") is None
