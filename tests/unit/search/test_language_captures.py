"""The captures are the whole interface of a language: each that a query uses is explained, and each is used."""

import re

import pytest

from holdfast.search.languages import LANGUAGES, described
from holdfast.search.languages.rules import language

_NAME = re.compile(r"@([a-z]+(?:\.[a-zA-Z]+)*)")
_FAMILIES = ("def", "flag", "access", "section", "named", "said")
EXPLAINED = set(_NAME.findall(language.__doc__ or ""))


def family(capture: str) -> str:
    """`def.function` is one of `def.KIND`."""
    return capture.partition(".")[0] if capture.partition(".")[0] in _FAMILIES else capture


def captures_of(name: str) -> set[str]:
    rules = described(name)
    assert rules is not None
    without_comments = re.sub(r"^\s*;.*$", "", rules.query, flags=re.MULTILINE)
    return {family(capture) for capture in _NAME.findall(re.sub(r'"[^"\n]*"', "", without_comments))}


@pytest.mark.parametrize("name", sorted(LANGUAGES))
def test_a_query_uses_no_capture_that_nobody_has_explained(name: str) -> None:
    assert captures_of(name) <= {family(capture) for capture in EXPLAINED}


def test_every_capture_that_is_explained_is_used_by_some_language() -> None:
    used = {capture for name in LANGUAGES for capture in captures_of(name)}
    spoken_by_scanners = {"said"}

    assert {family(capture) for capture in EXPLAINED} - used <= spoken_by_scanners
