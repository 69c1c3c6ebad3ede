"""Patterns as automata: the same answers as the validator, exact comparisons, and refusals."""

import itertools
import re

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from holdfast.contract.inclusion import Effect, compare_schemas
from holdfast.contract.inclusion.evaluate import matches
from holdfast.contract.inclusion.language import Question, find_text
from holdfast.contract.inclusion.model import Undecided
from holdfast.contract.inclusion.regex import LINE_ENDS, automaton

PATTERNS = [
    "a", "^a", "a$", "^a$", "^$", "", "^", "$", "a|b", "^(a|b)$", "^a|b$", "a*", "^a*$", "^a+$", "^a?$", "^a{2}$",
    "^a{1,3}$", "^a{2,}$", "^(ab)+$", "^(a|ab)(c|bcd)?$", "[ab]", "^[^ab]$", "^[a-c]+$", r"^\d+$", r"^\w+$",
    r"\s", r"^\S$",
    r"^\D$", r"^\.$", ".", "^.$", "^.{2,3}$", r"^[\w.-]+@[\w-]+\.[a-z]{2,}$", "^(?:a|b)*c$", "a$b", "^a^",
    "(^a|b$)", "^a*?b$",
    r"^A$", r"^\x41$", "^[a-]$", "^[-a]$", r"^[\]]$", "^(a?){3}$", "^((a|b)*c)?$", r"^\/x\/$", "]",
    "}", "^[^\\d]+$",
]  # fmt: skip
WORDS = ["".join(letters) for size in range(4) for letters in itertools.product("ab0", repeat=size)]
TEXTS = [
    *WORDS, "A", "]", "}", ".", "-", " ", "\n", "x@y.zz", "abc", "abcd", "abbcd", "ababab", "aaaa", "/x/", "é",
    "😀", "c",
]  # fmt: skip


@each_row("pattern", PATTERNS)
def test_an_automaton_answers_as_the_validator_does(pattern: str) -> None:
    validator = jsonschema_rs.validator_for({"pattern": pattern})
    machine = automaton(pattern)

    assert [machine.matches(text) for text in TEXTS] == [validator.is_valid(text) for text in TEXTS]


REFUSED = [
    r"(a)\1", "(?=a)", "(?!a)", "(?<=a)b", r"\bword\b", r"\p{L}", "(?i)a", "(?<n>a)", "[", "(a", "a)", "*a",
    "a**", "a{3,1}",
    "a{999}", "a{" + "9" * 5_000 + "}", "[b-a]", "[[a]]", "[a&&b]", "[]", "[^]", r"\u00",
    r"\ud800", "\\", "a{", "a{,2}", r"\a",
    "(" * 60 + ")" * 60,
]  # fmt: skip


@each_row("pattern", REFUSED)
def test_what_is_not_regular_or_not_the_same_everywhere_is_refused(pattern: str) -> None:
    with pytest.raises(Undecided):
        automaton(pattern)


COMPARED = [
    ("^a+$", "^a*$", Effect.WIDENS),
    ("^(foo|bar)$", "^(bar|foo)$", Effect.EQUAL),
    ("^[a-z]{1,10}$", "^[a-z]{1,8}$", Effect.NARROWS),
    ("^a", "^b", Effect.INCOMPARABLE),
    ("a", ".*a.*", Effect.EQUAL),
    (r"^\d+$", "^[0-9]+$", Effect.EQUAL),
    (r"^\w+$", "^[a-z]+$", Effect.NARROWS),
    ("^(a|b)*$", "^(a*b*)*$", Effect.EQUAL),
    ("^.*$", "^(.|[\\t ])*$", Effect.EQUAL),
    ("^.{1,10}$", "^.{1,8}$", Effect.NARROWS),
    ("^[0-9]{4}-[0-9]{2}$", r"^\d{4}-(0[1-9]|1[0-2])$", Effect.NARROWS),
]


@pytest.mark.parametrize(("old", "new", "effect"), COMPARED)
def test_changed_patterns_are_compared_as_languages(old: str, new: str, effect: Effect) -> None:
    verdict = compare_schemas({"type": "string", "pattern": old}, {"type": "string", "pattern": new})

    assert verdict.effect is effect
    assert (verdict.witness_lost is not None) is (effect in (Effect.NARROWS, Effect.INCOMPARABLE))


@pytest.mark.parametrize("character", LINE_ENDS)
def test_what_depends_on_whether_a_dot_is_a_line_end_is_not_called_equal(character: str) -> None:
    dot, listed = {"type": "string", "pattern": "^.$"}, {"type": "string", "pattern": r"^[^\n]$"}
    verdict = compare_schemas(listed, dot)

    assert verdict.effect is Effect.NARROWS
    assert "engines disagree" in verdict.reason_unknown
    assert (automaton("^.$").matches(character), matches("^.$", character)) == (True, None)
    assert not automaton("^.$", strict_dot=True).matches(character)


def test_a_pattern_and_a_length_are_seen_together() -> None:
    old = {"type": "string", "pattern": "^a*$", "minLength": 2, "maxLength": 3}

    assert compare_schemas(old, {"enum": ["aa", "aaa"]}).effect is Effect.EQUAL
    assert compare_schemas(old, {"enum": ["aa", "aaa", "aaaa"]}).effect is Effect.WIDENS


ATOMS = st.sampled_from(["a", "b", "[ab]", ".", "c?", "(a|bc)", "a*", "(ab)+", "[^a]"])


@given(st.lists(ATOMS, max_size=4), st.booleans(), st.booleans(), st.text("abc\n", max_size=5))
def test_random_patterns_match_what_python_matches(parts: list[str], first: bool, last: bool, text: str) -> None:
    pattern = f"{'^' if first else ''}{''.join(parts)}{'$' if last else ''}"
    python = re.compile(pattern.replace("$", r"\Z"))

    assert automaton(pattern).matches(text) is (python.search(text) is not None)


@given(st.lists(ATOMS, min_size=1, max_size=3), st.lists(ATOMS, min_size=1, max_size=3))
def test_a_found_text_matches_the_one_and_not_the_other(one: list[str], other: list[str]) -> None:
    first, second = automaton(f"^{''.join(one)}$"), automaton(f"^{''.join(other)}$")
    text = find_text(Question((first,), (second,)), 2_000, lambda _: None)

    if text is None:
        words = ["".join(word) for size in range(4) for word in itertools.product("abc", repeat=size)]
        assert not [word for word in words if first.matches(word) and not second.matches(word)]
    else:
        assert (first.matches(text), second.matches(text)) == (True, False)
