"""A caller chooses form and detail; failures read as a few lines that help to recover."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.present.dialects import Dialect, failure
from holdfast.present.normalize import NormalizationError
from holdfast.present.porcelain import Porcelain, SurfaceKind
from holdfast.present.render import (
    DetailLevel,
    Presentation,
    RenderMode,
    failure_text,
    select_presentation,
    text_of,
)
from holdfast.vocabulary.faults import Fault, FaultClass, fault

PORCELAIN = Presentation()
JSON = Presentation(RenderMode.JSON)
FULL = Presentation(detail=DetailLevel.FULL)
ANY_TEXT = st.text(st.characters(), max_size=80)
DETAILS = st.dictionaries(
    ANY_TEXT | st.sampled_from(["stderr", "violations", "retryAfterMs"]),
    st.none() | st.integers() | st.floats() | ANY_TEXT | st.lists(ANY_TEXT, max_size=30) | st.binary(max_size=20),
    max_size=30,
)


@pytest.mark.parametrize(
    ("word", "mode"),
    [("porcelain", "porcelain"), ("Text", "porcelain"), ("plain", "porcelain"), ("plain-text", "porcelain"),
     ("PLAIN TEXT", "porcelain"), ("json", "json"), ("structured", "json")],
)  # fmt: skip
def test_a_form_is_known_by_its_word_and_its_synonyms(word: str, mode: str) -> None:
    assert select_presentation("json", {"render": word}).render is RenderMode(mode)


@pytest.mark.parametrize(
    ("word", "level"),
    [("concise", "concise"), ("summary", "concise"), ("compact", "concise"), ("full", "full"), ("VERBOSE", "full"),
     ("detailed", "full")],
)  # fmt: skip
def test_a_level_is_known_by_its_word_and_its_synonyms(word: str, level: str) -> None:
    assert select_presentation(RenderMode.JSON, {"detail": word}).detail is DetailLevel(level)


def test_nothing_asked_is_the_servers_default() -> None:
    assert select_presentation("json", {"sku": 1}) == Presentation(RenderMode.JSON, DetailLevel.CONCISE)


def test_a_choice_in_meta_carries_the_prefix() -> None:
    meta = {"io.holdfast/render": "porcelain", "render": "html", "progressToken": 1}
    assert select_presentation("json", meta, namespaced=True).render is RenderMode.PORCELAIN
    assert select_presentation("json", {"render": "html"}, namespaced=True).render is RenderMode.JSON


@pytest.mark.parametrize("word", ["html", "", "jso", 5, None, ["json"], {"a": 1}])
def test_an_unknown_word_is_refused_with_the_known_ones(word: Any) -> None:
    with pytest.raises(NormalizationError) as caught:
        select_presentation("json", {"render": word, "detail": "loud"})
    first, second = caught.value.violations
    assert (first["instancePath"], second["instancePath"]) == ("/render", "/detail")
    assert first["params"] == {"allowedValues": ["porcelain", "json"]}


def test_json_is_never_cut() -> None:
    payload = {"rows": [{"n": number, "text": "x" * 50} for number in range(5000)]}
    assert json.loads(text_of(payload, JSON, surface=SurfaceKind.OPS)) == payload


def test_porcelain_is_cut_to_the_bounds_of_the_surface() -> None:
    payload = list(range(100))
    assert len(text_of(payload, PORCELAIN, surface=SurfaceKind.OPS).split("\n")) == 8
    assert len(text_of(payload, FULL, surface=SurfaceKind.READ).split("\n")) == 40


def test_an_authors_own_text_is_bounded_too() -> None:
    text = text_of({}, PORCELAIN, surface=SurfaceKind.OPS, renderer=lambda _, __: "line\n" * 50)
    built = text_of({}, PORCELAIN, renderer=lambda _, shown: Porcelain(f"as {shown.detail.value}"))
    assert text.endswith("… 44 line(s) omitted")
    assert built == "as concise"


def test_a_failure_reads_as_what_happened_its_kind_and_what_to_do() -> None:
    stderr = "\n".join(f"trace {number}" for number in range(50))
    told = fault(
        "TOOL_TIMEOUT",
        "took\ntoo long",
        hint="ask for less",
        timeout_ms=50,
        details={"stage": "read", "stderr": stderr},
    )
    assert failure_text(told, PORCELAIN, Dialect.STATUS).split("\n") == [
        "error TOOL_TIMEOUT: took too long",
        "category: timeout",
        "retry: yes",
        "hint: ask for less",
        "timeout: 50 ms",
        "stage: read",
        "stderr, the last 3 of 50 lines:",
        "  trace 47",
        "  trace 48",
        "  trace 49",
    ]


def test_violations_read_as_one_line_each() -> None:
    wrong = {
        "instancePath": "/sku",
        "schemaPath": "/type",
        "keyword": "type",
        "params": {},
        "message": "is no text",
    }
    told = fault("INVALID_REQUEST", "2 wrong", details={"violations": [wrong, "odd"]})
    lines = failure_text(told, PORCELAIN, Dialect.POC).split("\n")
    assert lines[3:] == ["violations: 2 item(s)", "- /sku: is no text", '- "odd"']


@pytest.mark.parametrize(
    ("retryable", "details", "line"),
    [
        (True, {"retryAfterMs": 250}, "retry: after 250 ms"),
        (True, {}, "retry: yes"),
        (False, {"retryAfterMs": 250}, "retry: no"),
    ],
)
def test_the_retry_line_says_yes_no_or_after(retryable: bool, details: dict[str, Any], line: str) -> None:
    told = fault("NOT_FOUND", "gone", retryable=retryable, details=details)
    assert failure_text(told, PORCELAIN, Dialect.LAUNCH).split("\n")[2] == line


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT, DETAILS, st.sampled_from(Dialect), st.sampled_from([PORCELAIN, FULL]))
def test_any_fault_reads_as_bounded_lines(
    code: str, message: str, hint: str, details: dict[str, Any], dialect: Dialect, shown: Presentation
) -> None:
    told = Fault(FaultClass.PROCESS, code, message, details=details, hint=hint)
    bounds = shown.bounds(SurfaceKind.READ)
    lines = failure_text(told, shown, dialect).splitlines()
    assert lines[0].startswith("error ")
    assert len(lines) <= bounds.lines
    assert all(len(line) <= bounds.width for line in lines)


@given(ANY_TEXT, DETAILS, st.sampled_from(Dialect))
def test_the_json_of_any_fault_is_the_dialects_document(
    message: str, details: dict[str, Any], dialect: Dialect
) -> None:
    told = fault("INTERNAL", message, details=details, fault_id="f-1")
    assert json.loads(failure_text(told, JSON, dialect)) == failure(dialect, told)
