"""What the configuration of a repository leaves out of discovery."""

import subprocess
from pathlib import Path

import pytest

from holdfast.search.discover import Discovery, discover
from holdfast.search.repository import find_repository


def git(where: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=N", "-c", "user.email=n@example.com", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *identity, *arguments], cwd=where, check=True, capture_output=True)


def put(root: Path, name: str, content: str = "x = 1\n") -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(content)


def new_git(root: Path) -> Path:
    root.mkdir()
    git(root, "init", "-q", "-b", "main", "--template=")
    return root


@pytest.fixture(params=["git", "plain"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param == "git":
        return new_git(tmp_path / "tracked")
    (tmp_path / "plain").mkdir()
    return tmp_path / "plain"


def paths(discovery: Discovery) -> list[str]:
    return [file.path for file in discovery.files]


def reasons(discovery: Discovery) -> dict[str, str]:
    return {skipped.path: skipped.reason for skipped in discovery.skipped}


def test_configured_patterns_leave_out_tracked_files_too_and_no_file_takes_them_back(root: Path) -> None:
    for name in ("vendored/a.py", "src/a.py", "src/b.gen.py", "src/kept.gen.py", "src/vendored/c.py"):
        put(root, name)
    if (root / ".git").exists():
        git(root, "add", ".")
    put(root, "src/.holdfastignore", "!b.gen.py\n")

    discovery = discover(find_repository(root), ignore=b"/vendored/\n*.gen.py\n!kept.gen.py\n")

    assert paths(discovery) == ["src/.holdfastignore", "src/a.py", "src/kept.gen.py", "src/vendored/c.py"]
    assert reasons(discovery) == dict.fromkeys(("vendored/", "src/b.gen.py"), "configured")
    assert not discovery.known().keys() & {"vendored/", "src/b.gen.py"}


def test_a_configured_pattern_leaves_out_a_whole_submodule(tmp_path: Path) -> None:
    tracked, inner = new_git(tmp_path / "tracked"), new_git(tmp_path / "inner")
    put(inner, "a.py")
    git(inner, "add", ".")
    git(inner, "commit", "-qm", "one")
    git(tracked, "submodule", "add", "-q", str(inner), "sub")

    discovery = discover(find_repository(tracked), ignore=b"sub\n")

    assert reasons(discovery)["sub/"] == "configured"
    assert "sub/a.py" not in paths(discovery)


def test_hostile_configured_patterns_neither_fail_nor_take_long(root: Path) -> None:
    put(root, "a" * 200 + ".py")
    hostile = b"\n".join([b"*a" * 500 + b"x", b"[" * 1000, b"\\", b"!", b"/", b"**/" * 300 + b"x", b"\xff\xfe"])

    assert len(paths(discover(find_repository(root), ignore=hostile))) == 1
