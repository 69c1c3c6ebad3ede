"""The query language: what belongs together, what must hold, what only ranks, and what is a mistake."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row
from tests.unit.search.work import grows_evenly

from holdfast.errors import ToolError
from holdfast.search.query.parser import parse
from holdfast.search.query.tree import And, Everything, Filter, Node, Not, Or, Parsed, Phrase, Regex, Soft, Word

FIELDS = frozenset({"lang", "path", "file", "type", "calls"})


def parsed(query: str) -> Parsed:
    return parse(query, fields=FIELDS)


def said(node: Node) -> str:
    """The tree in a short form: + and, | or, - not, ~ words that rank, ~? words that only rank."""
    match node:
        case And(parts):
            return "(" + " + ".join(map(said, parts)) + ")"
        case Or(parts):
            return "(" + " | ".join(map(said, parts)) + ")"
        case Soft(parts, optional):
            return f"~{'?' * optional}[{' '.join(map(said, parts))}]"
        case Not(part):
            return "-" + said(part)
        case Phrase(text):
            return f'"{text}"'
        case Regex(pattern, flags):
            return f"/{pattern}/{flags}"
        case Filter(field, value):
            return f"{field}:{value}"
        case Word(text):
            return text
        case Everything():
            return "*"


@pytest.mark.parametrize(
    ("query", "tree"),
    [
        ("retry budget", "~[retry budget]"),
        ("retry", "retry"),
        ("a b AND c OR d", "((~[a b] + c) | d)"),
        ("a OR b c AND d", "(a | (~[b c] + d))"),
        ("NOT a b", "(b + -a)"),
        ("a -b !c", "(a + -b + -c)"),
        ("(a OR b) AND NOT (c d)", "((a | b) + -~[c d])"),
        ("-(a OR b) c", "(c + -(a | b))"),
        ("a AND (b AND c)", "(a + b + c)"),
        ("NOT NOT a", "a"),
        ("a OR NOT b", "(a | (* + -b))"),
        ("NOT (NOT b)", "b"),
        ("a NOT(b)", "(a + -b)"),
    ],
)
def test_every_query_has_one_reading(query: str, tree: str) -> None:
    assert said(parsed(query).tree) == tree


@pytest.mark.parametrize(
    ("query", "tree"),
    [
        ('"retry budget" enforced where', '("retry budget" + ~?[enforced where])'),
        ("/a\\d/i timeout", "(/a\\d/i + ~?[timeout])"),
        ("(a AND b) c", "(a + b + ~?[c])"),
        ('"a" "b"', '("a" + "b")'),
        ("lang:python shell exec", "(lang:python + ~[shell exec])"),
        ("(lang:python OR lang:go) shell", "((lang:python | lang:go) + shell)"),
        ("x -y lang:go", "(lang:go + x + -y)"),
        ("(see RFC 1234) parsing", "~[see RFC 1234 parsing]"),
    ],
)
def test_what_is_written_in_the_language_is_meant_and_words_beside_it_rank(query: str, tree: str) -> None:
    assert said(parsed(query).tree) == tree


@pytest.mark.parametrize(
    ("query", "tree"),
    [
        ("*", "*"),
        ("-x", "(* + -x)"),
        ("* -x", "(* + -x)"),
        ("-a -b", "(* + -a + -b)"),
        ("lang:go -x", "(lang:go + -x)"),
    ],
)
def test_where_nothing_is_asked_for_everything_else_is_found(query: str, tree: str) -> None:
    assert said(parsed(query).tree) == tree


@pytest.mark.parametrize(
    ("query", "words", "operators"),
    [
        ("Logical XOR (exclusive OR) function.", "~[Logical XOR exclusive OR function]", "OR"),
        ("logic gates (AND OR NOT)", "~[logic gates AND OR NOT]", "AND OR NOT"),
        ("gates (AND, OR, NOT)", "~[gates AND OR NOT]", "NOT"),
        ("(AND gate) and (OR gate)", "~[AND gate and OR gate]", "AND OR"),
        ("see f) and (exclusive OR)", "~[see f and exclusive OR]", "OR"),
        ("(x AND NOT)", "~[x AND NOT]", "AND NOT"),
        ("(a OR ==)", "~[a OR]", "OR"),
        ("(inclusive OR) lang:go -x", "(lang:go + ~[inclusive OR] + -x)", "OR"),
    ],
)
def test_an_operator_in_parentheses_with_nothing_on_one_side_is_a_word(
    query: str, words: str, operators: str
) -> None:
    found = parsed(query)

    assert said(found.tree) == words
    assert found.notes[0] == f"In parentheses with nothing on one side, read as text: {operators}."


def test_words_to_highlight_are_those_that_are_asked_for() -> None:
    query = parsed('where "retry budget" -lost NOT (never mind) OR x AND lang:go')
    assert query.words == ("where", "retry budget", "x")


@each_row(
    ("query", "column", "message"),
    [
        ("", 1, "empty"),
        (" \t\n", 1, "empty"),
        ("AND", 1, "AND has nothing to its left"),
        ("a AND", 3, "AND has nothing to its right"),
        ("OR a", 1, "OR has nothing to its left"),
        ("a AND OR b", 3, "AND has nothing to its right"),
        ("a NOT", 3, "NOT has nothing to negate"),
        ("(a OR) AND b", 4, "OR has nothing to its right"),
        ("a AND (OR b)", 8, "OR has nothing to its left"),
        ("(exclusive OR) gate AND", 12, "OR has nothing to its right"),
        ("(a OR ())", 4, "OR has nothing to its right"),
        ("(exclusive OR", 1, "never closed"),
        ("(" + "OR " * 257 + ")", 770, "256 are allowed"),
        ("(a AND b", 1, "never closed"),
        ("a AND b)", 8, "never opened"),
        ("a AND ()", 3, "AND has nothing"),
        ("a OR ==", 3, "OR has nothing"),
        ("NOT ()", 1, "NOT has nothing"),
        ("x /[z-a]/", 5, "bad character range"),
        ("x /(a)(?=b)/", 4, "not supported"),
        ("x" * 4097, 4097, "4,096 are allowed"),
        ("a " * 257, 513, "256 are allowed"),
        ("(" * 65 + "a" + ")" * 65, 65, "64 levels"),
    ],
)
def test_a_mistake_is_told_with_its_column(query: str, column: int, message: str) -> None:
    with pytest.raises(ToolError, match=message) as caught:
        parsed(query)
    assert caught.value.code == "INVALID_REQUEST"
    assert caught.value.details["column"] == column
    assert caught.value.hint
    assert "\n" not in caught.value.message


def test_the_limits_themselves_are_allowed() -> None:
    assert isinstance(parsed("x" * 4096).tree, Regex)  # of a name that long, the index holds nothing
    assert len(parsed("a " * 256).words) == 1
    assert said(parsed("(" * 64 + "a" + ")" * 64).tree) == "a"


PIECES = [
    *(
        "AND",
        "OR",
        "NOT",
        " ",
        " ",
        " ",
        "(",
        ")",
        '"',
        "'",
        "-",
        "!",
        "/",
        "*",
        "\\",
        ":",
        "[",
        "]",
        "+",
        "{",
        "^",
    ),
    *(
        "lang:",
        "path:",
        "a",
        "word",
        "retry_budget",
        "/x/i",
        "é",
        "字",
        "\u0301",
        "\x00",
        "\n",
        "->",
        "1",
        ".",
        "?",
    ),
    *("(?", "(a|b)*", "\ud800", "\u2028", "$", "_", "#", "[]", "[^]", "'s ", ' "'),
]


def normal(node: Node, inside: type[Node] | None = None) -> bool:
    """Whether a tree has the form that is promised to whoever carries it out."""
    match node:
        case And(parts):
            positive = [part for part in parts if not isinstance(part, Not)]
            return inside is not And and len(parts) > 1 and bool(positive) and all(normal(p, And) for p in parts)
        case Or(parts):
            return inside is not Or and len(parts) > 1 and all(normal(part, Or) for part in parts)
        case Not(part):
            return inside is And and not isinstance(part, Not) and normal(part)
        case Soft(parts):
            return bool(parts) and all(isinstance(part, Word) for part in parts)
        case _:
            return True


def outcome(query: str) -> Parsed | ToolError:
    try:
        return parsed(query)
    except ToolError as error:
        return error


def is_sound(query: str) -> bool:
    """Whether a query ends in a tree of the normal form, or in a mistake with a column to point at."""
    result = outcome(query)
    if isinstance(result, Parsed):
        return normal(result.tree)
    column = result.details["column"]
    return result.code == "INVALID_REQUEST" and 1 <= column <= len(query) + 1


def test_random_queries_end_in_a_tree_or_in_a_mistake() -> None:
    chance = random.Random(5)
    for _ in range(2_000):
        query = "".join(chance.choices(PIECES, k=chance.choice((1, 3, 8, 20))))
        assert is_sound(query), query


@each_row(
    "unit",
    [*PIECES, ' "\\"', " /[", " /a[", "'a ", 'lang:"', "-(", "()", "((a)", "NOT ", "a OR ", "'a' ", "/[][", "a)("],
)
def test_the_work_on_a_query_grows_with_its_length(unit: str) -> None:
    assert grows_evenly(lambda length: outcome((unit * length)[:length]), 1024)


@given(st.text(max_size=300))
def test_any_text_ends_in_a_tree_or_in_a_mistake(query: str) -> None:
    assert is_sound(query)


@given(st.lists(st.text(alphabet="abcXYZ09_.,;:'?", min_size=1, max_size=9), min_size=1, max_size=20))
def test_a_sentence_never_fails(words: list[str]) -> None:
    assert isinstance(outcome(" ".join(words)), Parsed)
