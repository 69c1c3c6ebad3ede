"""What of a query is language and what is ordinary text, which never fails."""

import pytest

from holdfast.search.query.parser import parse
from holdfast.search.query.tree import And, Everything, Filter, Not, Phrase, Regex, Soft, Word

FIELDS = frozenset({"lang", "path", "file", "type", "calls"})


def words(query: str) -> list[str]:
    """The words of a query that is nothing but words."""
    tree = parse(query, fields=FIELDS).tree
    if isinstance(tree, Word):
        return [tree.text]
    assert isinstance(tree, Soft)
    assert not tree.optional
    return [part.text for part in tree.parts]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://x.org/y?z=1", ["https://x.org/y?z=1"]),
        ("C:\\dir\\x.py", ["C:\\dir\\x.py"]),
        ("std::vector lang::x", ["std::vector", "lang::x"]),
        ("a.b.c foo() x->y", ["a.b.c", "foo", "x->y"]),
        ("foo( foo(a, b) print(x)", ["foo", "foo(a", "b", "print(x"]),
        ("@decorator #include <x> me@x.org C++", ["decorator", "include", "x", "me@x.org", "C"]),
        ("key: value TODO: lang: x", ["key", "value", "TODO", "lang", "x"]),
        ("file:///etc/passwd other:value", ["file:///etc/passwd", "other:value"]),
        ("a-b -> --flag != == -1", ["a-b", "flag", "1"]),
        ("don't users' 'tis rock'n'roll", ["don't", "users", "tis", "rock'n'roll"]),
        (
            "/usr/bin/python /tmp/x and/or /* this */ // that",
            ["usr/bin/python", "tmp/x", "and/or", "this", "that"],
        ),
        ("and or not And", ["and", "or", "not", "And"]),
        ("if (x == 1): (a, b)", ["if", "x", "1", "a", "b"]),
        ('5" x 6" say "hello', ["5", "x", "6", "say", "hello"]),
        (":) (: a) (b", ["a", "b"]),
        ("SELECT * FROM t", ["SELECT", "FROM", "t"]),
        ("a AND_b ORDER NOTE", ["a", "AND_b", "ORDER", "NOTE"]),
        ("検索 cafe\u0301", ["検索", "cafe\u0301"]),
    ],
)
def test_ordinary_text_is_its_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("query", "phrase"),
    [
        ('"retry budget"', "retry budget"),
        ("'retry budget'", "retry budget"),
        ("'don't panic'", "don't panic"),
        (r'"say \"yes\""', 'say "yes"'),
        (r'"C:\dir\"', "C:\\dir\\"),
        ('"a AND (b"', "a AND (b"),
    ],
)
def test_quotes_around_words_make_a_phrase(query: str, phrase: str) -> None:
    assert parse(query, fields=FIELDS).tree == Phrase(phrase, 1)


@pytest.mark.parametrize(
    ("query", "pattern"), [('"->"', r"\->"), ("==", "=="), ("()", r"\(\)"), ("_", "_"), (":)", r":\)")]
)
def test_punctuation_alone_is_looked_for_as_it_stands(query: str, pattern: str) -> None:
    assert parse(query, fields=FIELDS).tree == Regex(pattern, "", 1)


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("path:src/", "src/"),
        ('path:"a b"', "a b"),
        ("path:'a b'", "a b"),
        ("(path:src/)", "src/"),
        ("path:f(x)", "f(x)"),
        ("path:/^src/i", "/^src/i"),
        ("path:a:b", "a:b"),
        ("path:-x", "-x"),
    ],
)
def test_a_known_field_with_a_value_is_a_filter(query: str, value: str) -> None:
    tree = parse(query, fields=FIELDS).tree
    assert isinstance(tree, Filter)
    assert (tree.field, tree.value) == ("path", value)


def test_a_sign_in_front_of_a_term_negates_whatever_the_term_is() -> None:
    tree = parse('-a !"b c" -path:x -/d/ !(e) -AND', fields=FIELDS).tree
    assert isinstance(tree, And)
    assert tree.parts[0] == Everything()
    assert [type(part.part) for part in tree.parts[1:] if isinstance(part, Not)] == [
        Word, Phrase, Filter, Regex, Word, Word,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("query", "pattern", "flags"),
    [
        (r"/def \w+/", r"def \w+", ""),
        ("/a/ims", "a", "ims"),
        ("/[/]x/", "[/]x", ""),
        (r"/a\/b/", r"a\/b", ""),
        ("/a b/i", "a b", "i"),
        ("/[]/]/", "[]/]", ""),
    ],
)
def test_slashes_around_a_term_make_an_expression(query: str, pattern: str, flags: str) -> None:
    assert parse(query, fields=FIELDS).tree == Regex(pattern, flags, 1)


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ('say "hello', "The quote in column 5 is not closed"),
        ("(a b", "parenthesis without a partner"),
        ("a b)", "parenthesis without a partner"),
        ("-(a b", "parenthesis without a partner"),
        ("a == b", "Not searched for: =="),
        ('a ""', 'Not searched for: ""'),
        ("->", "no word in the query"),
    ],
)
def test_what_a_reader_may_not_expect_is_noted(query: str, note: str) -> None:
    (told,) = parse(query, fields=FIELDS).notes
    assert note in told


def test_columns_count_characters_of_the_query_as_it_was_typed() -> None:
    tree = parse("  é @foo lang:go", fields=FIELDS).tree
    assert tree == And((Filter("lang", "go", 10), Soft((Word("é", 3), Word("foo", 6)))))


def test_a_sign_before_an_empty_phrase_does_not_negate_the_next_word() -> None:
    assert words('-"" foo') == ["foo"]
