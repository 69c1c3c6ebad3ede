"""Paths are shown relative inside the root; a URI is a path only where it means one without doubt."""

from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.present.paths import PathStyle, local_path, render_path

SEGMENT = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=8).filter(
    lambda text: text != "."
)


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/work/repo/src/a.py", "src/a.py"),
        ("/work/repo", "."),
        ("/work/repository/a.py", "/work/repository/a.py"),
        ("/work/repo/../secret", "/work/repo/../secret"),
        ("src//./a.py", "src/a.py"),
        ("file:///work/repo/a%20b.py", "a b.py"),
        ("file://other/work/repo/a.py", "file://other/work/repo/a.py"),
        (PurePosixPath("/work/repo/x"), "x"),
    ],
)
def test_a_path_is_shown_relative_to_the_root_only_inside_it(path: str | PurePosixPath, shown: str) -> None:
    assert render_path(path, "/work/repo") == shown


def test_separators_are_shown_as_slashes() -> None:
    assert render_path(PureWindowsPath(r"C:\repo\src\a.py"), PureWindowsPath(r"C:\repo")) == "src/a.py"


def test_a_path_without_a_root_is_shown_whole() -> None:
    assert render_path("/a/b") == "/a/b"


@given(st.lists(SEGMENT, min_size=1, max_size=4))
def test_the_uri_of_any_local_file_is_read_back_as_its_path(segments: list[str]) -> None:
    path = "/" + "/".join(segments)
    assert local_path(Path(path).as_uri()) == str(PurePosixPath(path))


@pytest.mark.parametrize(
    "uri", ["FILE:///a", "file://localhost/a", "file://LocalHost/a", "file:///%61", "file:////a"]
)
def test_spellings_of_a_local_uri_mean_its_path(uri: str) -> None:
    assert local_path(uri).endswith("/a")


@pytest.mark.parametrize(
    "text",
    [
        "file://otherhost/a", "file://", "file://a", "file:///a?b", "file:///a#b", "file:///a%", "file:///a%zz",
        "file:///a%00b", "file:///a%2Fb", "file:///%ff", "file:///%c0%af", "file:///%ed%a0%80", "file:///a ",
        "file:///a\0", " file:///a", "", " ", " a", "a ", "a\n", "a\0b",
    ],
)  # fmt: skip
def test_text_that_is_not_a_path_without_doubt_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^(is|has|holds) "):
        local_path(text)


@pytest.mark.parametrize(
    ("text", "path"),
    [("./a//b/", "a/b"), ("a/../b", "a/../b"), (".", "."), ("a b", "a b"), ("file:x", "file:x"), ("~/x", "~/x")],
)
def test_a_plain_path_is_tidied_and_not_interpreted(text: str, path: str) -> None:
    assert local_path(text) == path


@pytest.mark.parametrize(
    ("style", "text", "path"),
    [
        (PathStyle.ABSOLUTE, "a/b", "/root/a/b"),
        (PathStyle.ABSOLUTE, "/other", "/other"),
        (PathStyle.RELATIVE, "/root/a", "a"),
        (PathStyle.RELATIVE, "/root/../a", "/root/../a"),
        (PathStyle.RELATIVE, "/rootless/a", "/rootless/a"),
        (PathStyle.RELATIVE, "file:///root/a", "a"),
    ],
)
def test_a_style_brings_paths_to_one_form(style: PathStyle, text: str, path: str) -> None:
    assert local_path(text, style=style, root="/root") == path
