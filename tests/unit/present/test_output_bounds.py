"""Results held to their limits: never over, never invalid, JSON never cut, and always said what is missing."""

import json
import re
import unicodedata
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.present.output_bounds import Verdict, cut_content, judge, output_link, size_and_kind, whole_of
from holdfast.present.output_cost import Limits, is_json, most_of, sum_within
from holdfast.present.tokens import estimated_tokens

URI = "holdfast://output/01234567.0123456789abcdef0123456789abcdef"
WHERE = f"the whole: {URI}"
LINK = output_link(URI, 10**7)
MARKER = re.compile(
    r"… (?:[\d,]+ line\(s\), )?(?:[\d,]+ item\(s\), )?[\d,]+ bytes omitted; the whole: holdfast://\S+"
)

TEXTS = st.one_of(
    st.text(max_size=4000),
    st.builds(lambda line, count: "\n".join([line] * count), st.text(max_size=60), st.integers(1, 400)),
    st.builds(
        lambda part, count: part * count,
        st.sampled_from(["é", "👩‍👩‍👧", "🇩🇪", "한", "x", " \n", "a\u0301"]),
        st.integers(1, 4000),
    ),
    st.builds(json.dumps, st.lists(st.integers(), max_size=600)),
)
ITEMS = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, TEXTS),
    st.builds(
        lambda size, kind: {"type": kind, "data": "QUJD" * size, "mimeType": f"{kind}/x"},
        st.integers(0, 600),
        st.sampled_from(["image", "audio"]),
    ),
    st.builds(lambda text: {"type": "resource", "resource": {"uri": "x:y", "text": text}}, st.text(max_size=2000)),
    st.just({"type": "resource_link", "uri": "x:z", "name": "z"}),
    st.just({"type": "of tomorrow", "text": 5}),
)
LIMITS = st.one_of(
    st.builds(Limits, st.integers(1024, 5000), st.just(0)),
    st.builds(Limits, st.just(0), st.integers(256, 2000)),
    st.builds(Limits, st.integers(1024, 5000), st.integers(256, 2000)),
)


def text(value: str) -> dict[str, Any]:
    """A result of one text."""
    return {"content": [{"type": "text", "text": value}]}


def cut(value: str, limit: int, *, is_error: bool = False) -> str:
    """What is left of a text."""
    content = cut_content(text(value)["content"], Limits(limit), WHERE, None, is_error=is_error)
    assert len(content) == 1
    return str(content[0]["text"])


@pytest.mark.requirement("OURS-14c-json")
@settings(max_examples=50, deadline=None)
@given(st.lists(ITEMS, min_size=1, max_size=6), LIMITS, st.booleans(), st.booleans())
def test_what_is_left_is_never_over_its_limits_and_json_is_whole(
    content: list[dict[str, Any]], limits: Limits, is_error: bool, has_link: bool
) -> None:
    link = LINK if has_link else None
    verdict = judge({"content": content}, limits, WHERE, link)
    if verdict is not Verdict.CUTTABLE:
        return
    left = cut_content(content, limits, WHERE, link, is_error=is_error)
    assert sum_within(left, limits, most_of(limits)) is not None
    assert len([item for item in left if item["type"] == "text" and MARKER.search(item["text"])]) == 1
    documents = [item for item in content if item["type"] == "text" and is_json(str(item["text"]))]
    assert [item for item in left if item in documents] == documents
    others = [item for item in left if item["type"] != "text" and item is not link and item != LINK]
    assert all(item in content for item in others)


@pytest.mark.requirement("OURS-14c-text")
@settings(max_examples=40, deadline=None)
@given(TEXTS.filter(lambda value: not is_json(value)), st.integers(1024, 3000))
def test_a_text_is_cut_at_a_line_and_the_beginning_is_the_beginning(value: str, limit: int) -> None:
    if len(value.encode()) <= limit:
        return
    shown, _, marker = cut(value, limit).rpartition("\n")
    assert MARKER.fullmatch(marker)
    assert value.startswith(shown)
    if "\n" in value and len(max(value.split("\n"), key=len).encode()) < limit // 2:
        assert shown == "" or value[len(shown)] in "\r\n"


@pytest.mark.parametrize("part", ["👩‍👩‍👧", "🇩🇪", "a\u0301", "👍🏽", "각", "é", "\u1112\u1161\u11ab"])
def test_a_line_that_is_too_long_is_never_cut_inside_a_character_as_readers_see_it(part: str) -> None:
    for limit in range(1024, 1024 + 2 * len(part.encode())):
        shown = cut(part * 1000, limit).partition("\n")[0]
        assert shown == part * (len(shown) // len(part))
        assert shown


def test_the_marker_says_what_is_missing() -> None:
    value = "\n".join(f"line {number:04}" for number in range(1000))

    shown = cut(value, 1024).split("\n")

    left = 1000 - (len(shown) - 1)
    assert shown[-1] == f"… {left} line(s), {left * 10:,} bytes omitted; {WHERE}"
    assert shown[:2] == ["line 0000", "line 0001"]


def test_of_a_failure_both_ends_are_kept() -> None:
    trace = "Error: it broke\n" + "\n".join(f"  frame {number}" for number in range(5000)) + "\nValueError: why"

    shown = cut(trace, 2000, is_error=True).split("\n")

    assert (shown[0], shown[-1]) == ("Error: it broke", "ValueError: why")
    assert sum(MARKER.fullmatch(line) is not None for line in shown) == 1


@pytest.mark.parametrize("after", [[], ["", " \n"]])
def test_of_a_failure_in_several_texts_the_end_of_the_last_one_is_kept(after: list[str]) -> None:
    texts = ["it failed", "first\n" + "more\n" * 900, "step\n" * 900, "why it\nfailed", *after]
    content = [{"type": "text", "text": one} for one in texts]
    left = cut_content(content, Limits(2000), WHERE, None, is_error=True)

    lines = [line for item in left for line in item["text"].split("\n")]
    assert lines[:2] == ["it failed", "first"]
    assert lines[-2:] == ["why it", "failed"]
    shown = [line for line in lines if not MARKER.fullmatch(line)]
    omitted = "\n".join(texts).count("\n") + 1 - len(shown)
    assert f"… {omitted:,} line(s)" in "\n".join(lines)


def test_a_failure_in_one_endless_line_shows_both_its_ends() -> None:
    shown = cut("<" + "x" * 9000 + ">", 1500, is_error=True).split("\n")

    assert (shown[0][0], shown[-1][-1], len(shown)) == ("<", ">", 3)


def test_an_image_that_is_too_large_is_left_out_and_the_text_stays() -> None:
    image = {"type": "image", "data": "A" * 5000, "mimeType": "image/png"}
    content = [{"type": "text", "text": "a picture"}, image]

    left = cut_content(content, Limits(1024), WHERE, LINK)

    assert left[0] == {"type": "text", "text": "a picture"}
    assert str(left[1]["text"]).startswith("… 1 item(s), 5,0")
    assert left[2] == LINK


def test_a_small_image_goes_before_a_text_that_has_no_end() -> None:
    image = {"type": "image", "data": "A" * 100, "mimeType": "image/png"}

    left = cut_content([{"type": "text", "text": "x\n" * 9000}, image], Limits(1024), WHERE, None)

    assert left[1] == image


@pytest.mark.parametrize(
    ("value", "expected"),
    [('{"a": 1}', True), ("[]", True), (' [1,\n 2] \n', True), ("[1, 2", False), ("[info] started [ok]", False),
     ("{NaN}", False), ('{"a": NaN}', True), ('"text"', False), ("12", False), ("", False), ("[" * 9, False),
     ("[" * 100_000 + "]" * 100_000, True), ('{"a":1,"a":2}', True), ('["\\ud800"]', True)],
)  # fmt: skip
def test_what_counts_as_json(value: str, expected: bool) -> None:
    assert is_json(value) is expected


@pytest.mark.parametrize(
    ("result", "verdict"),
    [
        (text("x" * 1024), Verdict.WITHIN),
        (text("x" * 1025), Verdict.CUTTABLE),
        (text(json.dumps(["x" * 1024])), Verdict.JSON),
        ({**text("short"), "structuredContent": {"a": "x" * 1024}}, Verdict.JSON),
        ({**text("short"), "structuredContent": {"a": "x"}}, Verdict.WITHIN),
        ({"content": "x" * 9000}, Verdict.WITHIN),
        ({"content": ["x" * 9000]}, Verdict.WITHIN),
        ({}, Verdict.WITHIN),
        ({"content": [{"type": "text", "text": ""}] * 9000}, Verdict.CUTTABLE),
    ],
    ids=str,
)
def test_what_is_to_be_done_about_a_result(result: dict[str, Any], verdict: Verdict) -> None:
    assert judge(result, Limits(1024), WHERE, LINK) is verdict


def test_many_empty_items_are_cut_too() -> None:
    left = cut_content([{"type": "text", "text": ""}] * 9000, Limits(1024), WHERE, None)

    assert len(left) <= 1024


def test_the_whole_has_every_item_as_it_was() -> None:
    content = [
        {"type": "text", "text": "é\ud800"},
        {"type": "image", "data": "QUJD", "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "file:///x", "blob": "QUJD"}},
        {"type": "resource_link", "uri": "x:z", "name": "z"},
        {"type": "text", "text": '{"a":1}'},
    ]

    contents = whole_of({"content": content}, URI)

    assert contents[0] == {"uri": URI, "mimeType": "text/plain", "text": "é\ud800"}
    assert contents[1] == {"uri": URI, "mimeType": "image/png", "blob": "QUJD"}
    assert contents[2] == {"uri": "file:///x", "blob": "QUJD"}
    assert json.loads(contents[3]["text"]) == content[3]
    assert contents[4] == {"uri": URI, "mimeType": "application/json", "text": '{"a":1}'}
    assert size_and_kind(contents)[1] == "application/octet-stream"


def test_structured_content_stands_for_its_text() -> None:
    contents = whole_of({"content": text('{"a":1}')["content"]}, URI, '{"a": 1e0}')

    assert contents == [{"uri": URI, "mimeType": "application/json", "text": '{"a": 1e0}'}]


@given(st.text(max_size=300))
def test_a_message_that_is_small_enough_cannot_hold_more_tokens(value: str) -> None:
    payload = json.dumps({"text": value}, ensure_ascii=False).encode("utf-8", "surrogatepass")
    limit = estimated_tokens(value) - 1

    assert limit < 1 or Limits(0, limit).could_be_over(len(payload))


def test_a_text_of_marks_alone_is_cut_all_the_same() -> None:
    marks = "\u0301" * 5000
    assert unicodedata.category(marks[0]) == "Mn"

    assert len(cut(marks, 1024).encode()) <= 1024
