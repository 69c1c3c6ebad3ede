"""Every regular expression of the source can be pumped with texts made from itself.

`python -m benchmarks.regex_pumps` does it for all of them, which takes minutes.
"""

import re

from tests.regex_pumps import slow_text, uncollected

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


def test_pumping_finds_an_expression_that_explodes() -> None:
    for pattern in (r"(a+)+b", r"(?:[^\[\]]|\[[^\[\]]*\](?:\([^()]*\))?)*\]", r"x*x*x*x*y"):
        assert slow_text(re.compile(pattern), ("search",), limit=0.03, size=300), pattern
