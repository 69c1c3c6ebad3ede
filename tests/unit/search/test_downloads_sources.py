"""What is a source and what is not; what of it is shown."""

import string
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.rows import each_row

from holdfast.errors import ToolError
from holdfast.search.downloads.sources import Source, checked_sha256, configured, parse_source


@pytest.mark.parametrize(
    ("text", "location", "member"),
    [
        ("https://host/a/b.zip#in/side.txt", "https://host/a/b.zip", "in/side.txt"),
        ("HTTP://Host:81", "http://host:81/", None),
        ("https://host/with space/ü?q=a b", "https://host/with%20space/%C3%BC?q=a%20b", None),
        ("https://[::1]:8/x", "https://[::1]:8/x", None),
        ("https://bücher.example/x", "https://xn--bcher-kva.example/x", None),
    ],
)
def test_a_url_is_brought_into_its_one_form(text: str, location: str, member: str | None) -> None:
    assert parse_source(text) == Source("web", location, member)


def test_a_wheel_has_a_name_and_a_version() -> None:
    source = parse_source("pypi:sqlite-vec==0.1.9#sqlite_vec/vec0.so")
    assert source == Source("pypi", "sqlite-vec==0.1.9", "sqlite_vec/vec0.so")
    assert source.text == "pypi:sqlite-vec==0.1.9#sqlite_vec/vec0.so"


@each_row(
    "text",
    ["", None, 3, "ftp://host/x", "data:,x", "https://", "https:///x", "http://host:99999/", "http://[bad/x",
     "file://host/x", "file:x", "pypi:x", "pypi:x>=1", "pypi:-r==1", "pypi:x==1 --index-url y", "pypi:x==1;y",
     "pypi:x @ https://host/x", "a\nb", "a\0b", "x" * 5000, "http://a..b/", "file:///a%00b"],
)  # fmt: skip
def test_everything_else_is_refused(text: object) -> None:
    with pytest.raises(ToolError) as caught:
        parse_source(text)
    assert caught.value.code == "INVALID_REQUEST"


def test_neither_a_note_nor_a_message_shows_credentials() -> None:
    source = parse_source("https://ana:s%40cret@host/x?signature=hidden")
    assert source.credentials == ("ana", "s@cret")
    assert source.text == "https://host/x?signature=hidden"
    assert source.shown == "https://host/x"
    assert "cret" not in repr(source)


def test_a_path_is_absolute_without_links_and_shown_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    source = parse_source(str(tmp_path / "link" / "x.zip#a/b"))
    assert source == Source("file", str(tmp_path / "real" / "x.zip"), "a/b")
    assert source.shown == "x.zip"


@given(st.text(st.characters(codec=None) | st.sampled_from(string.punctuation), max_size=60))
@example("~0")
@example("x" * 300 + "#y")
def test_any_text_is_a_source_or_refused(text: str) -> None:
    for prefix in ("", "http://", "file:", "pypi:"):
        with suppress(ToolError):
            source = parse_source(prefix + text)
            assert isinstance(source.shown + source.name + source.text, str)


@pytest.mark.parametrize("text", ["", "xyz", "0" * 63, "g" * 64, 5, ["0" * 64]])
def test_a_hash_that_is_none_is_refused(text: object) -> None:
    with pytest.raises(ToolError, match="64 hexadecimal digits"):
        checked_sha256(text)


def test_a_hash_has_one_form() -> None:
    assert checked_sha256(f"SHA256:{'AB' * 32} ") == "ab" * 32
    assert checked_sha256(None) is None


def test_a_configured_source_without_one_is_told() -> None:
    assert configured(None, "x") is None
    assert configured({"x": {"source": "pypi:a==1", "sha256": None}}, "x") == (Source("pypi", "a==1"), None)
    with pytest.raises(ToolError, match="the configured source of x"):
        configured({"x": {"sha256": "0" * 64}}, "x")
