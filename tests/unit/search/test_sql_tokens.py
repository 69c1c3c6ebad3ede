"""The signs of SQL: what hides what, in which dialect, and that no input makes anybody look twice."""

import signal
import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rows import each_row

from holdfast.search.languages.rules.sql_tokens import read_tokens
from holdfast.search.languages.rules.statements import Text
from holdfast.search.languages.sql import LANGUAGE

SIZE = 250_000
SECONDS = 30.0  # of computing; what is looked for again and again takes minutes

# Each is closed in itself, in PostgreSQL and wherever nobody speaks of MySQL; none defines anything.
CLOSED = [
    "'it''s; create table no (a int)'", "E'it\\'s; create view no'", "'\\'", "\"it's; begin\"", '"a""b\'"',
    "$$don't; create table no (a int)$$", "$q$ $$ ' $q$", "-- it's `a` $$ /* create table no\n", "/* it's */",
    "/* /* ' */ create table no (a int); */", "/* $$ -- `b` */", "q'[it's; create table no]'", "#>> '{a}'", ";",
    "\n#- '{b}'", "tags[1]", "ARRAY['a', 'b']", "case when a then b end", "begin; commit;", "a.\"end\"", "\n",
    "[it's ;]", "f('\ncreate table no (a int);\ninsert ''x''\n')",
]  # fmt: skip
# The same where backticks show that it is MySQL.
CLOSED_IN_MYSQL = [
    "'it\\'s; create table no (a int)'", "'it''s'", "'\\\\'", '"it\\"s; create table no"', "`it's; begin`",
    "-- it's $$\n", "# it's; create table no (a int)\n", "/* it's /* */", "'\\\n'", ";", "\n",
    "a LIKE b ESCAPE '\\'",
]  # fmt: skip
SIGNS = [*"'\"`[]#\\\n;é", "$$", "$a$", "as ", "do ", "--", "/*", "*/", "e'", "q'["]


def seen(source: str) -> str:
    return " ".join(read_tokens(source.encode()).plain.decode().split())


def defined(source: str) -> list[str]:
    raw = source.encode()
    spans = LANGUAGE.scan(raw) if LANGUAGE.scan is not None else {}
    return [raw[start:end].decode() for start, end in spans.get("name", [])]


@each_row(
    ("source", "expected"),
    [
        ("a 'it''s' b", "a b"),
        ("a E'it\\'s' b", "a b"),
        ("a ('x\ncreate y') b", "a ( ) b"),
        ("a 'x\ninsert ''y''' language b 'c'", "a language b"),
        ("a unclosed 'x\ncreate y ('z') b", "a unclosed create y ( ) b"),
        ("a 'x\\' b", "a b"),
        ("a LIKE '!%' ESCAPE '\\' b 'c' d", "a LIKE ESCAPE b d"),
        ("`a` ESCAPE '\\' b 'c' d", "`x` ESCAPE b d"),
        ("`a` 'it\\'s' b", "`x` b"),
        ("a -- `x`\n'\\' b", "a b"),
        ("a '`x` `y`' '\\' b", "a b"),
        ('"it\'s" b', '"xxxx" b'),
        ("[it's] b", "[xxxx] b"),
        ("ARRAY['a', 'b'] b", "ARRAY[ , ] b"),
        ("a[i] b", "a[i] b"),
        ("/* /* */ ' */ b", "b"),
        ("/* src/*.sql */ b /* c */", "b"),
        ("a q'[it's]' b", "a b"),
        ("a $q$don't$q$ b", "a b"),
        ("a $$ lonely b", "a $$ lonely b"),
        ("DO $$ f('x') -- don't\n$$ b", "DO $$ f( ) $$ b"),
        ("DO $$ don't $$ b", "DO $$ don $$ b"),
        ("a $$plsql_unit b $$plsql_line c", "a $$plsql_unit b $$plsql_line c"),
    ],
)
def test_whatever_begins_first_hides_the_signs_in_it(source: str, expected: str) -> None:
    assert seen(source) == expected


@each_row(
    ("source", "expected"),
    [
        ("SELECT a\n#>> '{b}' c", "SELECT a #>> c"),
        ("SELECT `a`\n#>> '{b}' c", "SELECT `x` #>> c"),
        ("SELECT `a`\n#- '{b}' c", "SELECT `x` #- c"),
        ("CREATE TABLE\n#t (a int)", "CREATE TABLE #t (a int)"),
        ("`a`;\nCREATE TABLE\n#t (a int)", "`x`; CREATE TABLE #t (a int)"),
        ("# it's one\nCREATE TABLE a", "CREATE TABLE a"),
        ("SELECT 1;\n#it's one\nCREATE TABLE a", "SELECT 1; CREATE TABLE a"),
        ("a int AUTO_INCREMENT, # it's one\nb", "a int AUTO_INCREMENT, b"),
        ("SELECT obj# FROM `a`", "SELECT obj# FROM `x`"),
    ],
)
def test_a_hash_is_a_comment_of_mysql_and_of_nobody_else(source: str, expected: str) -> None:
    assert seen(source) == expected


@each_row(
    ("source", "expected"),
    [
        ("DO $$ BEGIN CREATE TABLE a (x int); CREATE TABLE b (x int); END $$;", ["a", "b"]),
        ("DO $$ BEGIN\nCREATE TABLE a (x int);CREATE VIEW v AS SELECT 1 END $$; CREATE TYPE t;", ["a", "v", "t"]),
        ("DO $$ CREATE FUNCTION f() AS $f$ BEGIN CREATE TABLE no (); END $f$; CREATE TYPE t; $$", ["f", "t"]),
        ("DO LANGUAGE plpgsql $x$ CREATE TABLE a (b int) $x$; CREATE TABLE c (d int);", ["a", "c"]),
        ("SELECT lives_ok($$ CREATE TABLE no (a int); $$); CREATE TABLE c (d int);", ["c"]),
        ("CREATE TABLE\n#t2 (a int)\nSELECT 1", ["#t2"]),
        ('CREATE TABLE a ("end" int, "begin" int); CREATE TABLE b (c int);', ["a", "b"]),
        ("CREATE FUNCTION f() AS BEGIN SELECT [Case]; END; CREATE TABLE b (c int);", ["f", "b"]),
    ],
)  # fmt: skip
def test_a_statement_ends_where_its_quote_does_or_before(source: str, expected: list[str]) -> None:
    assert defined(source) == expected


def test_a_statement_in_a_body_has_its_own_end_there() -> None:
    source = b"DO $$ BEGIN CREATE TABLE a (x int); CREATE TABLE b (y int) $$; SELECT 1;"
    text = Text(source)
    ends = [text.end(source.index(sign), is_routine=False) for sign in (b"CREATE TABLE a", b"CREATE TABLE b")]

    assert [source[:end].rpartition(b"CREATE ")[2] for end in ends] == [b"TABLE a (x int)", b"TABLE b (y int)"]


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from([("SELECT", CLOSED), ("SELECT `a`", CLOSED_IN_MYSQL)]).flatmap(
        lambda dialect: st.tuples(st.just(dialect[0]), st.lists(st.sampled_from([*dialect[1], "CREATE"])))
    )
)
def test_nothing_that_is_closed_hides_a_definition_or_becomes_one(written: tuple[str, list[str]]) -> None:
    text, wanted = written[0], []
    for number, piece in enumerate(written[1]):
        if piece == "CREATE":
            wanted.append(f"t{number}")
        text += f"; CREATE TABLE t{number} (a int);" if piece == "CREATE" else f" {piece}"

    assert defined(text) == wanted


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from([*SIGNS, "create table a (b int);", "begin ", "end ", "x"]), max_size=60))
def test_what_is_read_is_in_order_and_hides_nothing_else(pieces: list[str]) -> None:
    source = "".join(pieces).encode()
    found = read_tokens(source)
    hidden = sorted(found.comments + found.strings)

    assert len(found.plain) == len(source)
    assert [offset for offset in range(len(source)) if found.plain[offset] == 10] == [
        offset for offset in range(len(source)) if source[offset] == 10
    ]
    assert all(start < end for start, end in hidden)
    assert all(before[1] <= after[0] for before, after in pairwise(hidden))
    assert all(before[0] <= after[0] for before, after in pairwise(found.owners))
    assert all(body.start < body.first <= body.last < body.end for body in found.bodies)


def lines_run(source: str) -> int:
    """How many lines of Python a scan takes: the same number on every machine."""
    count = 0

    def trace(_frame: FrameType, event: str, _value: object) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        assert LANGUAGE.scan is not None
        LANGUAGE.scan(source.encode())
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(
    "sign",
    [
        "create function f() begin\n", "create function f() as $$ begin\n", "create table a (\n", "$$ as ",
        "do $x$\ncreate table a\n", "begin\ncreate function f() case end ", "'\ncreate table a (b int)\n",
        "/* /* */ ", "as $$ '",
    ],
)  # fmt: skip
def test_four_times_the_text_takes_four_times_the_steps(sign: str) -> None:
    assert lines_run(sign * 400) <= 5 * lines_run(sign * 100) + 1_000


def test_a_long_body_is_stepped_over_by_every_statement_before_it() -> None:
    def written(count: int) -> str:
        return " create table a (b int);" * count + "create function f() as $$" + "\ninsert into a" * count + "$$;"

    assert lines_run(written(400)) <= 5 * lines_run(written(100))


def test_bodies_in_bodies_take_no_more_steps_than_the_same_side_by_side() -> None:
    tags = [f"$a{number}$" for number in range(300)]
    nested = "".join(f"do {tag} create table a (b int);\n" for tag in tags) + ";".join(reversed(tags))
    beside = "".join(f"do {tag} create table a (b int);\n{tag};" for tag in tags)

    assert defined(nested) == ["a"] * 300
    assert lines_run(nested) <= 2 * lines_run(beside)


@contextmanager
def computing_at_most(seconds: float) -> Iterator[None]:
    """Fails what computes for longer; how long it waits for the processor does not count."""

    def give_up(_number: int, _frame: FrameType | None) -> None:
        raise AssertionError(f"more than {seconds:g} s of computing")

    before = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


# Each of these has a sign whose end, if it were looked for without a bound, is looked for in all the rest.
@pytest.mark.timeout(300)  # on a busy machine
@pytest.mark.parametrize(
    "sign",
    [
        "exit ", "if ", "while ", "create function f begin\n", "create definer=", '`"\\" ', '\\"', "/* /* */ ",
        "q'[ ", "`'\ncreate \\", "as $$ create table b;", "[a ", "a(",
    ],
)  # fmt: skip
def test_a_sign_that_is_never_closed_can_be_repeated_without_end(sign: str) -> None:
    assert LANGUAGE.scan is not None

    with computing_at_most(SECONDS):
        assert "label" in LANGUAGE.scan((sign * SIZE)[:SIZE].encode())


@pytest.mark.timeout(300)  # on a busy machine
@each_row(
    ("before", "behind"),
    [
        ("create function f(a int", "x) returns int as $$ $$;"),
        ("create procedure p @a", "x"),
        ("create function f() as $$ begin a", ":= 1; end $$;"),
    ],
)
def test_a_gap_of_any_width_is_one_gap(before: str, behind: str) -> None:
    with computing_at_most(SECONDS):
        assert defined(before + " " * SIZE + behind) == [before.split()[2].partition("(")[0]]


def test_tags_that_are_all_different_are_looked_up_and_not_searched_for() -> None:
    source = "".join(f"$a{number}$" for number in range(30_000))

    assert read_tokens(source.encode()).bodies == []


def test_a_long_literal_costs_no_memory_per_character() -> None:
    source = b"INSERT INTO `a` VALUES ('" + b"x" * 2_000_000 + b"');\nCREATE TABLE b (c int);"
    tracemalloc.start()
    try:
        found = read_tokens(source)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert len(found.strings) == 1
    assert peak < 8 * len(source)
