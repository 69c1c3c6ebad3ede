"""Ignore files mean what they mean to git: every case is compared with git itself."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.search.discover import discover
from holdfast.search.discover.ignore import IgnoreFile
from holdfast.search.repository import Repository

NAMES = ["a", "b", "ab", "a.c", "b.py", "x y", "#c", "!d", "[e", "é"]
FOLDERS = ["", "foo/", "foo/bar/", "foo/bar/foo/", "x/", "x/foo/"]
PARTS = st.sampled_from(
    ["a", "b", "foo", "bar", "x", "*", "**", "***", "*.c", "*.py", "?", "??", "a*", "*b", "a**b", "[ab]", "[!a]",
     "[^a-b]*", "x y", "x\\ y", "\\a", "a\\", "[", "[a", "[]", "[]a]", "[[:alpha:]]", "[[:nope:]]", "[a-]",
     "[z-a]", "é", "[a/b]", "[é]", "?*.?*"]
)  # fmt: skip
LINES = st.one_of(
    st.builds(
        lambda parts, start, end, negation, space: negation + start + "/".join(parts) + end + space,
        st.lists(PARTS, min_size=1, max_size=3),
        st.sampled_from(["", "", "/"]),
        st.sampled_from(["", "", "/"]),
        st.sampled_from(["", "", "!"]),
        st.sampled_from(["", "", " ", "\\ ", "\r"]),
    ),
    st.sampled_from(["", "#c", "\\#c", "\\!d", "!", "/", "//", "!/", " ", "\\", "**/", "/**", "\ufeff*.c"]),
)
FILES = st.lists(LINES, max_size=5).map("\n".join)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for folder in FOLDERS:
        (root / folder).mkdir(exist_ok=True)
        for name in NAMES:
            (root / folder / name).touch()
    return root


def listed_by_git(root: Path) -> list[str]:
    command = ["git", "ls-files", "-z", "--others", "--exclude-standard"]
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    done = subprocess.run(command, cwd=root, check=True, capture_output=True, env=environment)
    return sorted(os.fsdecode(done.stdout).split("\0")[:-1])


@given(files=st.lists(FILES, min_size=1, max_size=3))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_ignore_files_leave_out_what_git_leaves_out(tree: Path, files: list[str]) -> None:
    for place in ("", "foo", "foo/bar"):
        (tree / place / ".gitignore").unlink(missing_ok=True)
    for place, text in zip(("", "foo", "foo/bar"), files, strict=False):
        (tree / place / ".gitignore").write_text(text, newline="")

    found = discover(Repository(tree, is_git=False, git_dir=None, repo_id="r"))

    assert [file.path for file in found.files] == listed_by_git(tree)


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("*a" * 60 + "*b", "a" * 250),
        ("**/a/" * 60 + "b", "a/" * 1500 + "a"),
        ("[" * 5000, "["),
        ("[a-" * 3000 + "]", "a"),
        ("?*" * 100, "x" * 250),
    ],
)
def test_a_hostile_pattern_comes_to_a_verdict(line: str, path: str) -> None:
    # Going back and forth in these would take a lifetime.
    verdict = IgnoreFile(line.encode()).verdict(path, path.rpartition("/")[2], is_directory=False)

    assert verdict in {True, None}


@given(st.binary(max_size=200), st.text(st.characters(codec="utf-8"), min_size=1, max_size=30))
def test_no_content_is_too_strange_for_an_ignore_file(content: bytes, name: str) -> None:
    assert IgnoreFile(content).verdict(name, name, is_directory=False) in {True, False, None}
