"""Whole-payload caps: any value, any kind of surface, any detail stays within lines, width, bytes and tokens."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.present.bounds import Bounds
from holdfast.present.dialects import Dialect
from holdfast.present.payload_cap import PayloadCap, cap_of, rendered_within
from holdfast.present.porcelain import SURFACE_BOUNDS, Porcelain, SurfaceKind
from holdfast.present.render import DetailLevel, Presentation, RenderMode, failure_text, text_of
from holdfast.present.tokens import estimated_tokens
from holdfast.vocabulary.faults import fault

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=20)
    | st.sampled_from(["语" * 400, "😀" * 400, "a\nb\x1b[2K\u2028c", "word " * 200, "f00" * 200])
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=60) | st.dictionaries(st.text(max_size=12), inner, max_size=50),
    max_leaves=80,
)
KINDS = st.sampled_from(SurfaceKind)
DETAILS = st.sampled_from(DetailLevel)


def within(text: str, bounds: Bounds) -> bool:
    lines = text.split("\n")
    no_controls = not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]", text)
    fits = len(lines) <= bounds.lines and max(map(len, lines)) <= bounds.width
    cap = cap_of(bounds)
    small = len(text.encode()) <= cap.bytes and estimated_tokens(text) <= cap.tokens
    return no_controls and fits and small and len(text) <= cap.characters


@given(JSON, KINDS, DETAILS)
def test_any_value_on_any_surface_is_within_its_bounds_and_always_the_same(
    value: Any, kind: SurfaceKind, detail: DetailLevel
) -> None:
    presentation = Presentation(RenderMode.PORCELAIN, detail)
    text = text_of(value, presentation, surface=kind)
    assert within(text, presentation.bounds(kind))
    assert text == text_of(value, presentation, surface=kind)


@given(st.text(max_size=300).map(lambda text: text * 40), KINDS, DETAILS)
def test_what_an_author_renders_is_bounded_like_everything(
    text: str, kind: SurfaceKind, detail: DetailLevel
) -> None:
    presentation = Presentation(RenderMode.PORCELAIN, detail)
    by_hand = Porcelain(text, notes=[text]).field("text", text).items([text] * 50)
    for rendered in (text, by_hand):
        shown = text_of(None, presentation, surface=kind, renderer=lambda *_, rendered=rendered: rendered)
        assert within(shown, presentation.bounds(kind))


@pytest.mark.parametrize("character", ["w", "语", "я", "😀", "7"])
@pytest.mark.parametrize("kind", list(SurfaceKind))
def test_a_list_of_long_rows_counts_exactly_what_it_leaves_out(kind: SurfaceKind, character: str) -> None:
    rows = [character * 500] * 100
    text = text_of(rows, Presentation(), surface=kind)
    marker = re.search(r"… (\d+) item\(s\) omitted$", text)
    assert marker is not None
    assert int(marker[1]) == 100 - len(re.findall(r"^\[\d+\]", text, re.MULTILINE))


def test_ordinary_text_fills_its_page_and_dense_scripts_get_less_of_it() -> None:
    bounds = SURFACE_BOUNDS[SurfaceKind.LIST].concise
    plain = text_of(["ordinary words of some length " * 20] * 100, Presentation(), surface=SurfaceKind.LIST)
    dense = text_of(["语" * 500] * 100, Presentation(), surface=SurfaceKind.LIST)
    assert len(plain.split("\n")) == bounds.lines
    assert len(dense.split("\n")) < bounds.lines


def test_a_failure_is_bounded_too() -> None:
    problem = fault("NOT_FOUND", "语" * 5000, details={str(n): "😀" * 500 for n in range(50)})
    assert within(failure_text(problem, Presentation(), Dialect.STATUS), Presentation().bounds(SurfaceKind.READ))


def test_a_single_line_that_is_too_dear_gets_narrower() -> None:
    bounds = Bounds(8, 160)
    text = rendered_within(lambda within: "\n".join(["😀" * within.width] * within.lines), bounds)
    assert cap_of(bounds).holds(text)
    assert text


@pytest.mark.parametrize(
    ("cap", "holds"),
    [
        (PayloadCap(4, 12, 4), True),
        (PayloadCap(3, 12, 4), False),
        (PayloadCap(4, 11, 4), False),
        (PayloadCap(4, 12, 3), False),
    ],
)
def test_each_of_the_three_measures_counts(cap: PayloadCap, holds: bool) -> None:
    assert cap.holds("语语语语") is holds
