"""Three versions of a page, in small: what people did stays, what is new comes, and nothing else happens."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.launch.front_matter import FrontMatterError
from holdfast.launch.updating.page_merge import Merged, is_untouched, merged_page
from holdfast.launch.updating.page_parts import parts_of
from holdfast.launch.updating.record import RECORD, PageRecord, Records
from holdfast.launch.updating.site_records import is_of_this_run, records_of

PAGE = """\
---
title: Install it
weight: 20
tags:
  - kit
---

It reads files.

## Needs

- Python 3.10
- git

## Steps

| step | what |
| --- | --- |
| 1 | get it |

```shell
pip install kit
```

## More

See the guide.
"""


def merge(before: str, ours: str, theirs: str) -> Merged:
    return merged_page(PageRecord.of(parts_of(before)), ours, theirs)


def edited(text: str, *pairs: tuple[str, str]) -> str:
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


def test_two_edits_of_neighbouring_lines_are_both_there() -> None:
    ours, theirs = edited(PAGE, ("- git", "- git, or a friend")), edited(PAGE, ("3.10", "3.11"))
    assert merge(PAGE, ours, theirs) == (edited(ours, ("3.10", "3.11")), [])


def test_of_two_edits_of_one_line_the_persons_stays_and_the_other_is_told() -> None:
    ours, theirs = edited(PAGE, ("Python 3.10", "Python 3.10, mostly")), edited(PAGE, ("3.10", "3.11"))
    result = merge(PAGE, ours, theirs)
    assert result.text == ours
    assert [tuple(kept) for kept in result.kept] == [("text", "Needs", "- Python 3.10, mostly", "- Python 3.11")]


def test_the_same_edit_by_both_is_none() -> None:
    ours = edited(PAGE, ("3.10", "3.11"))
    assert merge(PAGE, ours, ours) == (ours, [])


def test_both_add_at_the_end_of_a_list() -> None:
    ours, theirs = edited(PAGE, ("- git\n", "- git\n- tea\n")), edited(PAGE, ("- git\n", "- git\n- curl\n"))
    assert merge(PAGE, ours, theirs).text == edited(PAGE, ("- git\n", "- git\n- curl\n- tea\n"))


def test_a_table_grows_on_both_sides_and_stays_one_table() -> None:
    row = "| 1 | get it |\n"
    ours, theirs = edited(PAGE, (row, row + "| 2 | rest |\n")), edited(PAGE, (row, row + "| 2 | run it |\n"))
    assert merge(PAGE, ours, theirs).text == edited(PAGE, (row, row + "| 2 | run it |\n| 2 | rest |\n"))


def test_a_block_of_code_is_one_thing() -> None:
    ours, theirs = (
        edited(PAGE, ("pip install kit", "pipx install kit")),
        edited(PAGE, ("install kit", "install -U kit")),
    )
    result = merge(PAGE, ours, theirs)
    assert result.text == ours
    assert result.kept[0].new == "```shell\npip install -U kit\n```"


def test_a_section_that_moved_is_updated_where_it_is_now() -> None:
    needs = "## Needs\n\n- Python 3.10\n- git\n\n"
    ours = edited(PAGE, (needs, ""), ("## More", needs + "## More"))
    result = merge(PAGE, ours, edited(PAGE, ("3.10", "3.11")))
    assert result == (edited(ours, ("3.10", "3.11")), [])


def test_a_section_with_another_heading_is_still_the_same_section() -> None:
    ours = edited(PAGE, ("## Needs", "## What you need"))
    assert merge(PAGE, ours, edited(PAGE, ("- git\n", "- git\n- curl\n"))).text == edited(
        ours, ("- git\n", "- git\n- curl\n")
    )


def test_a_section_that_people_deleted_stays_deleted_and_its_news_is_told() -> None:
    ours = edited(PAGE, ("## Needs\n\n- Python 3.10\n- git\n\n", ""))
    assert merge(PAGE, ours, PAGE) == (ours, [])
    result = merge(PAGE, ours, edited(PAGE, ("3.10", "3.11")))
    assert result.text == ours
    assert "- Python 3.11" in result.kept[0].new


def test_a_section_that_the_new_version_drops_goes_unless_people_touched_it() -> None:
    theirs = edited(PAGE, ("\n## More\n\nSee the guide.\n", ""))
    assert merge(PAGE, PAGE, theirs).text == theirs
    for touched in (("See the guide.", "See the book."), ("guide.\n", "guide.\n\n### Ours\n\nText.\n")):
        ours = edited(PAGE, touched)
        result = merge(PAGE, ours, theirs)
        assert result.text == ours
        assert result.kept[0].new == ""


def test_a_new_section_comes_where_the_new_version_has_it() -> None:
    theirs = edited(PAGE, ("## Steps", "## Extras\n\nNone.\n\n## Steps"))
    ours = edited(PAGE, ("## Steps", "## By us\n\nText.\n\n## Steps"))
    assert merge(PAGE, ours, theirs).text == edited(
        PAGE, ("## Steps", "## By us\n\nText.\n\n## Extras\n\nNone.\n\n## Steps")
    )


def test_keys_are_merged_each_for_itself_and_comments_stay() -> None:
    ours = edited(PAGE, ("title: Install it", "# ours\ntitle: Install it"), ("weight: 20", "weight: 5 # first"))
    ours = edited(ours, ("  - kit\n", "  - kit\nowner: ana\n"))
    theirs = edited(
        PAGE, ("Install it", "Install kit"), ("weight: 20", "weight: 30"), ("  - kit", "  - kit\n  - new")
    )
    theirs = edited(theirs, ("---\n\nIt", "lang: en\n---\n\nIt"))
    result = merge(PAGE, ours, theirs)
    assert result.text.startswith(
        "---\n# ours\ntitle: Install kit\nweight: 5 # first\ntags:\n  - kit\n  - new\nowner: ana\nlang: en\n---\n"
    )
    assert [tuple(kept) for kept in result.kept] == [
        ("front_matter", "weight", "weight: 5 # first\n", "weight: 30\n")
    ]


def test_a_key_that_people_removed_stays_away_and_one_that_is_not_needed_goes() -> None:
    ours = edited(PAGE, ("weight: 20\n", ""))
    assert merge(PAGE, ours, edited(PAGE, ("Install it", "Get it"))).text == edited(ours, ("Install it", "Get it"))
    assert merge(PAGE, PAGE, edited(PAGE, ("weight: 20\n", ""))).text == edited(PAGE, ("weight: 20\n", ""))


@pytest.mark.parametrize(
    ("before", "new"),
    [
        ('+++\ntitle = "A"\nweight = 1\n+++\n\nText.\n', '+++\ntitle = "A"\nweight = 2\n+++\n\nText.\n'),
        ('{\n  "title": "A"\n}\n\nText.\n', '{\n  "title": "B"\n}\n\nText.\n'),
        ("Only text.\n", "Only text.\n\n## And more\n"),
    ],
    ids=["toml", "json", "none"],
)
def test_every_kind_of_front_matter_is_updated(before: str, new: str) -> None:
    assert merge(before, before, new) == (new, [])
    ours = before + "\nBy people.\n"
    assert "\nBy people.\n" in merge(before, ours, new).text


def test_a_front_matter_of_another_kind_is_left_to_the_person_who_chose_it() -> None:
    ours = edited(PAGE, ("---\ntitle: Install it\nweight: 20\ntags:\n  - kit\n---", '+++\ntitle = "Mine"\n+++'))
    result = merge(PAGE, ours, edited(PAGE, ("weight: 20", "weight: 30"), ("3.10", "3.11")))
    assert result.text == edited(ours, ("3.10", "3.11"))
    assert [kept.where for kept in result.kept] == ["weight"]


def test_a_page_whose_front_matter_nobody_can_read_is_not_merged() -> None:
    with pytest.raises(FrontMatterError):
        merge(PAGE, "---\ntitle: [\n---\n" + PAGE, edited(PAGE, ("3.10", "3.11")))


def test_another_day_alone_is_no_change_of_a_page() -> None:
    before = edited(PAGE, ("weight: 20", "date: 2024-01-01"))
    assert merge(before, before, edited(before, ("2024-01-01", "2024-02-02"))).text == before
    theirs = edited(before, ("2024-01-01", "2024-02-02"), ("3.10", "3.11"))
    assert merge(before, before, theirs).text == theirs


@pytest.mark.parametrize("ending", ["\r\n", "\n"])
def test_lines_end_as_those_of_the_page_do(ending: str) -> None:
    ours = edited(PAGE, ("- git", "- git!")).replace("\n", ending)
    result = merge(PAGE, ours, edited(PAGE, ("3.10", "3.11"), ("pip install", "pip3 install")))
    assert result.text == edited(ours, ("3.10", "3.11"), ("pip install", "pip3 install"))


def test_a_last_line_without_an_end_keeps_it_that_way() -> None:
    ours = PAGE.rstrip("\n")
    assert merge(PAGE, ours, edited(PAGE, ("3.10", "3.11"))).text == edited(ours, ("3.10", "3.11"))
    more = merge(PAGE, ours, PAGE + "\n## Last\n\nLine.\n").text
    assert more == PAGE + "\n## Last\n\nLine.\n"


def test_whether_a_page_was_touched_is_told_by_anything_that_was_written() -> None:
    record = PageRecord.of(parts_of(PAGE))
    assert is_untouched(record, PAGE)
    for change in (("20", "21"), ("- git", "- Git"), ("pip", "pipx"), ("## More", "## Else")):
        assert not is_untouched(record, edited(PAGE, change))


def test_a_huge_section_is_merged_in_no_time_and_nothing_of_it_is_lost() -> None:
    before = "## Log\n\n" + "- same\n" * 20_000
    ours, theirs = before + "- by people\n", before.replace("## Log\n", "## Log\n\nNew.\n")
    result = merge(before, ours, theirs)
    assert result.text.endswith("- same\n- by people\n")
    assert len(result.kept) == 1


# --- any three versions ----------------------------------------------------------------------------------------

WORDS = st.sampled_from([
    "- a", "- b", "- c", "text", "more text", "| x | y |", "```\ncode\n```", "## One", "## Two", "### Deep", "",
    "", "# Top", "> said", "```", "~~~", "    indented", "1. first", "text\r", "<!-- said -->", "{{< note >}}",
])  # fmt: skip
MADE = ("", "---\ntitle: a\n---\n", "---\ntitle: b\nweight: 1\n---\n")
BY_PEOPLE = ("---\ntitle: b\nweight: 1 # c\n---\n", "---\n# c\ntitle: a\n---\n", "---\n# c\n---\n")
BODIES = st.lists(WORDS, max_size=12).map(lambda lines: "".join(f"{line}\n" for line in lines))
WRITTEN = st.builds(str.__add__, st.sampled_from(MADE), BODIES)
EDITED = st.builds(str.__add__, st.sampled_from(MADE + BY_PEOPLE), BODIES)


def lines(text: str) -> Counter[str]:
    return Counter(line.rstrip("\r") for line in text.split("\n") if line.strip())


@settings(max_examples=150, deadline=None)
@given(WRITTEN, EDITED, WRITTEN)
def test_no_line_of_a_person_is_ever_lost_and_a_merge_is_its_own_end(before: str, ours: str, theirs: str) -> None:
    result = merge(before, ours, theirs)
    assert lines(ours) - lines(before) <= lines(result.text)
    assert set(lines(result.text)) <= set(lines(ours)) | set(lines(theirs))
    assert merge(before, before, theirs).text == theirs or lines(theirs) == lines(
        merge(before, before, theirs).text
    )
    assert merge(before, ours, before) == (ours, [])
    assert merge(theirs, result.text, theirs) == (result.text, [])


# --- the record ------------------------------------------------------------------------------------------------


def test_a_record_is_read_as_it_was_written_and_has_a_line_for_each_page() -> None:
    records = Records({})
    records.put("content/docs/kit/a.md", PageRecord.of(parts_of(PAGE)))
    records.put("content/docs/kit/b.md", PageRecord.of(parts_of("Text.\n")))
    (path, content) = next(iter(records.files().items()))
    assert path == f"content/docs/kit/{RECORD}"
    assert content is not None
    assert content.count(b"\n") == 8
    again = Records({path: content})
    assert again.pages() == ["content/docs/kit/a.md", "content/docs/kit/b.md"]
    assert again.get("content/docs/kit/a.md") == PageRecord.of(parts_of(PAGE))
    assert again.files() == {path: content}
    again.remove("content/docs/kit/a.md")
    again.remove("content/docs/kit/b.md")
    assert again.files() == {path: None}


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff", b"[]", b"null", b'{"schema_version": "2.0", "pages": {}}', b'{"schema_version": "1.0"}',
     b'{"schema_version": "1.0", "pages": {"a.md": 1}}', b'{"schema_version": "1.0", "pages": []}',
     b'{"schema_version": "1.0", "pages": {"../a.md": {"front_matter": {}, "sections": ""}}}',
     b'{"schema_version": "1.0", "pages": {"a.md": {"front_matter": {"k": "short"}, "sections": ""}}}',
     b'{"schema_version": "1.0", "pages": {"a.md": {"front_matter": {}, "sections": "abc"}}}',
     b"<<<<<<< HEAD\n", b"[" * 100_000],
)  # fmt: skip
def test_a_record_that_cannot_be_read_tells_nothing_and_is_named(content: bytes) -> None:
    records = Records({f"content/docs/{RECORD}": content})
    assert records.pages() == []
    assert records.broken == [f"content/docs/{RECORD}"]


@pytest.mark.parametrize(
    ("mode", "folder", "others"),
    [
        ("none", "content/docs/kit", True),
        ("dir", "content/docs/en/kit", True),
        ("filename", "content/docs/kit", False),
    ],
)
def test_records_lie_beside_the_pages_of_each_language(mode: str, folder: str, others: bool) -> None:
    layout = {
        "subdomain_roots": {"docs": "content/docs"}, "localization": {"mode_by_section": {"docs": mode}},
    }  # fmt: skip
    config = {"product_slug": "kit", "locale": "en", "site_layout": layout, "required_sections": ["docs"]}
    hugo = {"default_language": "en"}
    asked: list[str] = []
    records_of(config, hugo, asked.append)
    assert asked == [f"{folder}/{RECORD}"]
    assert is_of_this_run(f"{folder}/a.en.md", config, hugo)
    assert is_of_this_run(f"{folder}/a.de.md", config, hugo) is others
