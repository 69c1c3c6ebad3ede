"""A configuration in JSON, edited as text: only our entry changes, and taking it out gives the same text."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.setup.json_text import JsonText
from holdfast.setup.text_refused import TextRefused

ENTRY = {"command": "/opt/bin/holdfast", "args": ["serve", "search"]}
COMMENTED = """\
// what the team uses
{
    "inputs": [], /* none */
    "servers": {
        // the first
        "a": { "command": "x // not a comment" }, // behind a
        "b": { "url": "http://b" } // behind b, and the last
    },
}
"""


def servers(text: str, *, lenient: bool = False) -> JsonText:
    return JsonText(text, "servers", lenient=lenient)


def test_an_empty_file_becomes_a_document_that_people_can_read() -> None:
    text = servers("").put("search", ENTRY).text
    assert text == json.dumps({"servers": {"search": ENTRY}}, indent=2) + "\n"


def test_comments_and_commas_at_the_end_are_kept_byte_for_byte() -> None:
    text = servers(COMMENTED, lenient=True).put("search", ENTRY).text
    assert '"b": { "url": "http://b" }, // behind b, and the last\n        "search": {' in text
    for line in COMMENTED.splitlines()[:6]:
        assert line in text


def test_taking_the_entry_out_of_a_file_with_comments_gives_the_same_file() -> None:
    document = servers(COMMENTED, lenient=True)
    assert document.put("search", ENTRY).drop("search").text == COMMENTED


@pytest.mark.parametrize("name", ["a", "b", "c"])
def test_any_one_of_three_entries_can_be_taken_out(name: str) -> None:
    text = '{\n\t"servers": {\n\t\t"a": {}, // a\n\t\t"b": {"x": 1},\n\t\t"c": [1, {"}": "]"}],\n\t}\n}'
    left = servers(text, lenient=True).drop(name)
    assert set(left.servers) == {"a", "b", "c"} - {name}
    assert "// a" in left.text


def test_a_file_that_a_program_wrote_on_one_line_stays_on_one_line() -> None:
    text = '{"numStartups":12345678901234567890,"servers":{"a":{"command":"x"}},"z":1e999}'
    edited = servers(text).put("search", ENTRY)
    assert edited.text == text.replace('"x"}}', '"x"},"search":' + json.dumps(ENTRY, separators=(",", ":")) + "}")
    assert edited.drop("search").text == text


def test_windows_line_ends_and_tabs_are_those_of_the_file() -> None:
    text = '{\r\n\t"servers": {\r\n\t\t"a": {}\r\n\t}\r\n}\r\n'
    edited = servers(text).put("search", ENTRY).text
    assert "\n" not in edited.replace("\r\n", "")
    assert '\r\n\t\t"search": {\r\n\t\t\t"command"' in edited


def test_an_entry_in_the_way_is_replaced_where_it_stands() -> None:
    text = '{"servers": {"search": {"url": 1}, "b": 2}}'
    edited = servers(text).put("search", ENTRY)
    assert list(edited.servers.items()) == [("search", ENTRY), ("b", "2")]


def test_what_somebody_added_to_our_entry_survives_its_update() -> None:
    text = '{\n "servers": {\n  "search": {\n   "command": "old", // mine\n   "disabled": true\n  }\n }\n}\n'
    edited = servers(text, lenient=True).update("search", ENTRY)
    assert edited.servers["search"] == {**ENTRY, "disabled": True}
    assert '"command": "/opt/bin/holdfast", // mine' in edited.text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{\n  "servers": {\n    "a": ,\n}}', "line 3"),
        ('{\n  // no\n  "servers": {}}', "line 2"),
        ("[1]", "no JSON object"),
        ('{"servers": []}', "is no object"),
        ('{"servers": NaN}', "NaN"),
        ("{" * 200_000, "not valid JSON"),
        ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deeply"),
        ('{"servers": {}} x', "line 1"),
        ('{"a": 1,}', "not valid JSON"),
        ("\x00", "not valid JSON"),
    ],
    ids=lambda value: value[:20],
)
def test_a_broken_text_is_refused_with_its_line(text: str, reason: str) -> None:
    with pytest.raises(TextRefused, match=reason):
        servers(text)


@pytest.mark.parametrize(
    "text", ['{"servers": {"x": 1}, "servers": {}}', '{"servers": {"search": 1, "search": 2}}']
)
def test_a_name_that_is_there_twice_is_refused(text: str) -> None:
    with pytest.raises(TextRefused, match="twice"):
        servers(text).put("search", ENTRY)


@pytest.mark.parametrize("text", ["{,}", '{"a": [,]}', '{"a": 1,,}', '{"a": 1 /* , */, // x\n,}'])
def test_a_comma_behind_nothing_is_a_mistake_even_where_comments_are_not(text: str) -> None:
    with pytest.raises(TextRefused, match="not valid JSON"):
        servers(text, lenient=True)


def test_a_comment_without_an_end_is_told_and_takes_no_time() -> None:
    with pytest.raises(TextRefused, match="line 1"):
        servers("{" + "/*" * 500_000, lenient=True)


NAMES = st.text(min_size=1, max_size=5)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
STYLES: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{"indent": 2}, {"indent": "\t"}, {"indent": 4, "ensure_ascii": False}, {}, {"separators": (",", ":")}]
)


@given(st.dictionaries(NAMES, VALUES, max_size=4), st.dictionaries(NAMES, VALUES, min_size=1, max_size=4), STYLES)
def test_whatever_the_file_holds_our_entry_comes_and_goes_without_a_trace(
    rest: dict[str, Any], others: dict[str, Any], style: dict[str, Any]
) -> None:
    others.pop("search", None)
    document = {**rest, "servers": {"other": {}, **others}}
    text = json.dumps(document, **style)
    edited = servers(text).put("search", ENTRY)
    assert json.loads(edited.text) == {**document, "servers": {**document["servers"], "search": ENTRY}}
    assert edited.drop("search").text == text


@given(st.text(alphabet='{}[]",:/*\n \\1a', max_size=40), st.booleans())
def test_no_text_makes_the_editor_fail_in_a_way_of_its_own(text: str, lenient: bool) -> None:
    try:
        edited = servers(text, lenient=lenient).put("search", ENTRY)
    except TextRefused:
        return
    assert edited.servers["search"] == ENTRY
