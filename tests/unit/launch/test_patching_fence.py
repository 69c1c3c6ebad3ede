import posixpath
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from holdfast.errors import ToolError
from holdfast.launch.patching.fence import Fence, Names

ALLOWED = ["content/docs/note/", "content/blog/**", "data/one.yaml", "content/größe"]
FENCE = Fence(ALLOWED)

INSIDE = [
    "content/docs/note/x.md",
    "content/docs/note/a/b/c.md",
    "content/blog/2024.md",
    "data/one.yaml",
    "content/docs/note/été.md",
    "content/größe/x.md",
    "content/docs/note/.hidden",
    "content/docs/note/a b.md",
    "content/docs/note/.github/x.md",
    "content/docs/note/console.md",
    "content/docs/note/．．/x.md",
]
OUTSIDE = [
    "",
    "/",
    "/etc/passwd",
    "/content/docs/note/x.md",
    "//content/docs/note/x.md",
    "content/docs/notebook/x.md",
    "content/docs/note/../x.md",
    "content/docs/note/../../../../outside.md",
    "content/docs/note/./x.md",
    "content/docs/note//x.md",
    "content/docs/note/x.md/",
    "./content/docs/note/x.md",
    "../content/docs/note/x.md",
    "content\\docs\\note\\x.md",
    "content/docs/note\\..\\..\\x.md",
    "C:content/docs/note/x.md",
    "C:/x",
    "c:\\x",
    "content/docs/note/x.md:stream",
    "content/docs/note/x\0.md",
    "content/docs/note/x\n.md",
    "content/docs/note/\x7f",
    "content/docs/note/\u202eexe.md",
    "content/docs/note/a\u200bb.md",
    "content/docs/note/\ud800.md",
    "content/docs/note/.git/config",
    "content/docs/note/.GIT/hooks/x",
    "content/docs/note/.Git",
    ".git/config",
    "content/docs/note/GIT~1/config",
    "content/docs/note/.g\u200cit/config",
    "content/docs/note/con",
    "content/docs/note/CON.md",
    "content/docs/note/nul .txt",
    "content/docs/note/Lpt1.x.md",
    "content/docs/note/com¹",
    "content/docs/note/x.",
    "content/docs/note/x ",
    "content/docs/note/ x",
    "content/docs/note/.../x",
    "CONTENT/docs/note/x.md",
    "content/Docs/note/x.md",
    "content/docs/note/e\u0301.md",
    "content/gro\u0308ße/x.md",
    "ｃontent/docs/note/x.md",
    "сontent/docs/note/x.md",
    "content∕docs∕note∕x.md",
    "data/one.yaml.bak",
    "data/two.yaml",
    "content/docs",
    "content",
    "content/docs/note/" + "x" * 256,
    "content/docs/note/" + "é" * 128,
    "content/docs/note/" + "a/" * 600 + "x",
    "content/docs/note/a*b",
    "content/docs/note/a?b",
    "content/docs/note/<x>",
    "content/docs/note/aux/x.md",
    "~/x",
    "*",
    "**",
]


@pytest.mark.parametrize("path", INSIDE)
def test_a_path_below_an_allowed_folder_is_accepted_as_it_is_written(path: str) -> None:
    assert FENCE.check(path) == path
    assert FENCE.allows(path)


@pytest.mark.requirement("OURS-25-fence")
@each_row("path", OUTSIDE)
def test_any_other_path_is_refused_and_the_refusal_is_printable(path: str) -> None:
    assert not FENCE.allows(path)
    with pytest.raises(ToolError) as caught:
        FENCE.check(path)
    assert caught.value.code == "ALLOWED_PATHS_VIOLATION"
    assert caught.value.details["reason"] == "outside_fence"
    assert caught.value.message.isprintable()


def test_an_empty_list_allows_nothing() -> None:
    assert not Fence([]).allows("content/x.md")


@pytest.mark.parametrize(
    "entry", ["", "/", "**", "*", ".", "..", "../x", "/content", "content/../..", "a//b", ".git", "C:/x"]
)
def test_an_allowed_path_that_is_no_folder_of_the_site_is_invalid_input(entry: str) -> None:
    with pytest.raises(ToolError) as caught:
        Fence([entry])
    assert caught.value.code == "INVALID_INPUT"
    assert caught.value.details["reason"] == "bad_allowed_path"


@pytest.mark.parametrize(
    ("existing", "path"),
    [
        ("content/blog/Post.md", "content/blog/post.md"),
        ("content/blog/New/x.md", "content/blog/new/y.md"),
        ("content/blog/STRASSE.md", "content/blog/straße.md"),
        ("content/blog/e\u0301te\u0301.md", "content/blog/été.md"),
        ("content/blog/É.md", "content/blog/é.md"),
    ],
)
def test_a_name_that_differs_from_an_existing_one_only_by_case_is_refused(existing: str, path: str) -> None:
    FENCE.check(path)
    with pytest.raises(ToolError, match="differs only by case"):
        FENCE.check(path, existing=[existing])
    with pytest.raises(ToolError):
        FENCE.check(path, existing=Names([existing]))


def test_a_name_that_is_there_already_is_accepted_even_beside_its_twin() -> None:
    names = Names(["content/blog/A.md", "content/blog/a.md"])
    assert FENCE.check("content/blog/a.md", names) == "content/blog/a.md"
    assert FENCE.check("content/blog/b.md", names) == "content/blog/b.md"


PIECES = st.sampled_from(
    [
        "content",
        "docs",
        "note",
        "blog",
        "..",
        ".",
        "",
        "/",
        "\\",
        "x.md",
        "\0",
        "Content",
        ".git",
        "ö",
        "o\u0308",
        "~",
        "C:",
    ]
)
PATHS = st.one_of(
    st.lists(PIECES, max_size=8).map("/".join), st.lists(PIECES, max_size=8).map("".join), st.text(max_size=40)
)


@pytest.mark.requirement("OURS-25-fence")
@given(PATHS, st.booleans())
def test_nothing_that_is_accepted_leads_out_of_the_allowed_folders(path: str, is_prefixed: bool) -> None:
    path = f"content/blog/{path}" if is_prefixed else path
    if not FENCE.allows(path):
        return
    resolved = posixpath.normpath(posixpath.join("/site", path))
    assert resolved == f"/site/{path}"
    folders = ("content/docs/note", "content/blog", "data/one.yaml", "content/größe")
    assert any(f"{resolved}/".startswith(f"/site/{folder}/") for folder in folders)
    assert unicodedata.normalize("NFC", path) == path
