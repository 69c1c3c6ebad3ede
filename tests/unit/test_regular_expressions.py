"""Every regular expression of the source is pumped with texts made from itself.

Here with short texts, on which those that explode or grow with the cube are found.
tests/hostile/full_expressions.py takes long ones, and lists those that grow with the square with their bounds.
"""

import re
from pathlib import Path

import pytest
from tests.regex_pumps import expressions, slow_text, uncollected

import holdfast

# Expressions of which the source shows nothing where they are compiled, and where they come from.
ELSEWHERE: dict[str, str] = {
    "contract/documents/principles.py: answers": "one of our tables",
    "launch/facts/licenses.py: pattern": "one of our tables",
    "launch/facts/section_kinds.py: '|'.join(words)": "words of a table",
    "launch/facts/usage.py: pattern": "names of the product, escaped",
    "launch/scouting/profile.py: command": "one of our tables",
    "launch/writing/known.py: _other_way(facts.get('distribution', ()))": "names of commands, escaped",
    "present/envelope_schema.py: pattern": "a schema of ours",
    "search/discover/ignore.py: '|'.join((f'(?:{name})' for name in names)) or _NOTHING": "names, escaped",
    "search/discover/ignore.py: first": "a line of an ignore file, translated",
    "search/extract/spelling.py: f'{front}\\\\w+{end}' if separators else '.+'": "a spelling of ours",
    "search/extract/spelling.py: part": "a spelling of ours",
    "search/languages/rules/definitions.py: misleading": "a rule of a language",
    "search/languages/rules/definitions.py: restart": "a rule of a language",
    "search/languages/rules/sql_tokens.py: b'|'.join(groups)": "tokens of a table",
    "search/languages/sql.py: text": "one of our tables",
    "search/risk/loading.py: self.text(key)": "a rule file, ours or the operator's",
    "search/risk/masking.py: b'|'.join(parts)": "parts of a table",
    "search/risk/masking.py: hole": "one of our tables",
    "search/risk/patterns.py: _name_expression(*self.name.rpartition('.')[::2])": "a name of a rule",
    "search/risk/patterns.py: b'`[^`]*`' if self.kind == QUOTED else _text_expression(self.name, self.kind)": (
        "a text of a rule"
    ),
    "search/windows.py: form.head": "one of our tables",
}


def test_every_expression_is_pumped_or_it_is_written_down_where_it_comes_from() -> None:
    assert set(uncollected()) == set(ELSEWHERE)
    for file in Path(holdfast.__file__).parent.rglob("*.py"):
        assert "\nfrom re import" not in file.read_text(encoding="utf-8"), f"{file}: its calls would not be seen"


def test_no_expression_explodes_or_grows_with_the_cube_of_a_short_text() -> None:
    slow = {
        f"{one.file}: {one.place}": slow_text(one.compiled, one.ways, size=600, most=2) for one in expressions()
    }

    assert {place: text for place, text in slow.items() if text} == {}


@pytest.mark.parametrize(
    "pattern", [r"(a+)+b", r"(?:[^\[\]]|\[[^\[\]]*\](?:\([^()]*\))?)*\]", r"x*x*x*x*y", r"^(?:\w+ ?)+:$"]
)
def test_pumping_finds_an_expression_that_explodes_with_a_short_text(pattern: str) -> None:
    assert slow_text(re.compile(pattern), ("search",), size=600, most=6)


@pytest.mark.parametrize("pattern", [r"\s*x", r"(?s)<!--.*?-->", r"\{@code\s+([^}]*)\}", r"(a++)+b"])
def test_pumping_finds_an_expression_that_grows_with_the_square(pattern: str) -> None:
    assert slow_text(re.compile(pattern), ("search",))


@pytest.mark.parametrize("pattern", [r"a+b?", r"(?<!\s)\s*x", r"^\w+\s*:$", r"\[[^\[\]]*+\]"])
def test_pumping_finds_nothing_in_an_expression_that_is_linear(pattern: str) -> None:
    assert slow_text(re.compile(pattern), ("search",)) == ""
