"""Markers of regions: which lines are markers, which are the owner's text, and when nothing may be written."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.rows import each_row
from tests.unit.contract.documents.surfaces import CLOSE, FIND, stock_room

from holdfast.contract.documents import generate_document, lint_document, parse_document, verify_document
from holdfast.contract.documents.regions import split_regions
from holdfast.errors import UsageError

SURFACE = stock_room(FIND, CLOSE)
TEXT = generate_document(SURFACE)
SHOWN = "<!-- holdfast:begin find_articles/output -->\nmy line\n<!-- holdfast:end find_articles/output -->\n"
AS_TEXT = {
    "a fence": f"```html\n{SHOWN}```\n",
    "a fence of tildes": f"~~~\n{SHOWN}~~~\n",
    "a fence in a fence": f"````\n```\n{SHOWN}```\n````\n",
    "half a pair": "```\n<!-- holdfast:begin find_articles/output -->\n```\n",
    "indented code": "Like so:\n\n" + "".join(f"    {line}\n" for line in SHOWN.splitlines()),
    "preformatted": f"<pre>\n{SHOWN}</pre>\n",
    "a fence in a list": "- one\n\n  ```\n  " + SHOWN.replace("\n", "\n  ").rstrip() + "\n  ```\n",
    "a quotation": "".join(f"> {line}\n" for line in SHOWN.splitlines()),
    "a comment": "<!-- as in\n<!-- holdfast:begin find_articles/output -->\n",
}
OPENED = {"a fence": "```\nopen\n", "tildes": "~~~\nopen\n", "a comment": "<!-- open\n", "a script": "<script>\n"}


def own_text(text: str) -> str:
    return "".join(piece.text for piece in split_regions(text) if piece.id is None)


@each_row("prose", AS_TEXT.values(), ids=AS_TEXT.keys())
@each_row("place", [0, 3, -1], ids=["first", "between", "last"])
def test_a_marker_that_the_owner_shows_as_code_is_text(prose: str, place: int) -> None:
    pieces = [piece.text for piece in split_regions(TEXT)]
    pieces.insert(place if place >= 0 else len(pieces), f"Ours.\n\n{prose}\n")
    existing = "".join(pieces)

    assert generate_document(SURFACE, existing=existing) == existing
    assert verify_document(existing, SURFACE) == []
    assert "spec.marker-broken" not in {one.rule for one in lint_document(parse_document(existing))}


@pytest.mark.parametrize("prose", AS_TEXT.values(), ids=AS_TEXT.keys())
def test_a_file_that_only_shows_markers_keeps_them_and_gets_its_regions(prose: str) -> None:
    existing = f"# Ours\n\n{prose}"
    text = generate_document(SURFACE, existing=existing)

    assert text.startswith(existing)
    assert own_text(text) == existing
    assert generate_document(SURFACE, existing=text) == text


def test_a_region_inside_an_element_is_still_generated() -> None:
    existing = f"# Ours\n\n<details>\n{SHOWN}</details>\n"
    text = generate_document(SURFACE, existing=existing)

    assert "my line" not in text
    assert text.count("holdfast:begin find_articles/output") == 1


@pytest.mark.parametrize(
    ("existing", "words"),
    [
        (TEXT + SHOWN, "find_articles/output stands twice"),
        (TEXT + "<!-- holdfast:begin find_articles/output -->\n", "find_articles/output stands twice"),
        (TEXT + "<!-- holdfast:end close_room/name -->\n", "close_room/name is ended but was not begun"),
        (
            "# Ours\n<!-- holdfast:begin find_articles/name -->\nmine\n",
            "line 2: .*find_articles/name is never ended",
        ),
        ("# Ours\n" + SHOWN * 2, "line 5: .*output stands twice, first on line 2"),
        ("Ours.\n\n```\nopen\n" + TEXT, "begins? in the code that opens on line 3"),
        ("Ours.\n\n~~~\nopen\n" + TEXT, "document stands in the code that opens on line 3 and is never closed"),
        ("Ours.\n\n<!-- open\n" + TEXT, "begins? in the comment that opens on line 3"),
        (TEXT.replace("}\n```\n", "}\n", 1), "in the code that opens on line"),
        ("x\n" * 100_001, "100001 lines; at most 100000"),
    ],
)
def test_a_file_whose_markers_are_ambiguous_is_refused(existing: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as refused:
        generate_document(SURFACE, existing=existing, name="SPEC.md")

    assert "SPEC.md" in str(refused.value)


@pytest.mark.parametrize("opened", OPENED.values(), ids=OPENED.keys())
def test_nothing_is_generated_into_code_or_a_comment_that_is_never_closed(opened: str) -> None:
    with pytest.raises(UsageError, match="opens on line 3 and is never closed"):
        generate_document(SURFACE, existing=f"# Ours\n\n{opened}")

    whole = TEXT + opened
    assert generate_document(SURFACE, existing=whole) == whole


LINES = st.sampled_from(
    ["```", "~~~", "````", "<!--", "-->", "<pre>", "</pre>", "    code", "- item", "> quote", "  ```", "text", "",
     *SHOWN.splitlines(), "<div>", "\t", "- " * 20 + "deep"]
)  # fmt: skip


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(LINES, max_size=8), st.integers(0, 20))
def test_whatever_the_owner_writes_it_is_kept_or_the_file_is_refused(lines: list[str], place: int) -> None:
    pieces = [piece.text for piece in split_regions(TEXT)]
    pieces.insert(min(place, len(pieces)), "".join(f"{line}\n" for line in lines))
    existing = "".join(pieces)
    try:
        text = generate_document(SURFACE, existing=existing)
    except UsageError:
        return
    assert text == existing
    assert not [one for one in verify_document(text, SURFACE) if one.rule == "spec.marker-broken"]


@pytest.mark.parametrize(
    ("prose", "newline"),
    [("# a\r\nb\nc\n", "\n"), ("# a\r\nb\r\nc\n", "\r\n"), ("# a\r\nb\n", "\n"), ("# a\rb\rc\n", "\n")],
)
def test_generated_regions_have_the_line_breaks_of_most_lines(prose: str, newline: str) -> None:
    text = generate_document(SURFACE, existing=prose)

    assert own_text(text) == prose
    assert text == prose + text[len(prose) :].replace("\r\n", "\n").replace("\n", newline)


def test_one_foreign_line_break_in_a_generated_file_changes_nothing_else() -> None:
    existing = TEXT + "Ours.\r\n"

    assert generate_document(SURFACE, existing=existing) == existing
