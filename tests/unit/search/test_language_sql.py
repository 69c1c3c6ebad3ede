"""SQL: what its labelled samples do not show; dialects, broken files, one test per odd rule."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rows import each_row
from tests.unit.search.extracted import definitions_of

from holdfast.search.extract.code import extract
from holdfast.search.languages import available, fields_of
from holdfast.search.languages.rules.language import words
from holdfast.search.languages.sql import LANGUAGE
from holdfast.search.model import Chunk

PIECES = [*sorted(words("CREATE TABLE a ( ) ; $$ ' \" -- /* BEGIN END CASE FROM IF := , FUNCTION")), "\n"]


def definitions(source: str | bytes) -> list[Chunk]:
    return definitions_of("sql", source)


def names(source: str | bytes) -> list[str]:
    return [f"{found.kind} {found.name}" for found in definitions(source)]


def routine(body: str) -> Chunk:
    return definitions(f"CREATE FUNCTION f(a int) RETURNS int AS $$\nBEGIN\n{body}\nEND $$ LANGUAGE plpgsql;\n")[0]


@each_row(
    ("source", "expected"),
    [
        ('CREATE TABLE "My Table" (a int);', ["table My Table"]),
        ("\ufeffCREATE TABLE a (b int);", ["table a"]),
        ("create table [dbo].[A] (a int)\nGO", ["table dbo.A"]),
        ("CREATE TABLE `a`.`b` (c int);", ["table a.b"]),
        ("CREATE GLOBAL TEMPORARY TABLE t (a int);", ["table t"]),
        ("CREATE UNIQUE CLUSTERED INDEX i ON t (a);", ["index i"]),
        ("CREATE INDEX ON t (a);", []),
        ("CREATE TABLE @extschema@.log (a int);", ["table @extschema@.log"]),
        ("CREATE OR REPLACE FORCE VIEW v AS SELECT 1;", ["view v"]),
        ("ALTER PROCEDURE p AS SELECT 1\nGO\n", ["procedure p"]),
        ("CREATE CONSTRAINT TRIGGER t AFTER DELETE ON a EXECUTE PROCEDURE f();", ["trigger t"]),
        ("SELECT 'CREATE TABLE a (b int);';", []),
        ("-- CREATE TABLE a (b int);\n/* CREATE VIEW v */", []),
    ],
)
def test_a_definition_is_what_a_statement_creates(source: str, expected: list[str]) -> None:
    assert names(source) == expected


@each_row(
    "between",
    [
        "FROBNICATE (((;\n",
        "GRANT ALL ON a TO b;\n",
        "SELECT 'never closed;\n",
        "CREATE TABLE half (a int,\n",
        "CREATE FUNCTION broken( RETURNS int AS\n",
        "BEGIN; COMMIT;\n",
        "$$ lonely\n",
        "\x00\x00\n",
    ],
)
def test_what_nobody_knows_costs_only_itself(between: str) -> None:
    found = names(
        f"CREATE TABLE before (a int);\n{between}CREATE TABLE after (a int);\nCREATE VIEW v AS SELECT 1;\n"
    )

    assert found[0] == "table before"
    assert found[-2:] == ["table after", "view v"]


def test_statements_in_a_body_end_neither_it_nor_define_anything() -> None:
    body = "  CREATE TEMP TABLE t (a int);\n  SELECT ';';\n  CASE WHEN a THEN b END CASE;\n  RETURN 1;"
    function = f"CREATE FUNCTION f() RETURNS int AS $x$\nBEGIN\n{body}\nEND $x$ LANGUAGE plpgsql;"
    source = f"{function}\nCREATE TABLE z (a int);"

    assert [(found.name, found.end_line) for found in definitions(source)] == [("f", 7), ("z", 8)]


@each_row(
    ("statement", "fact", "expected"),
    [
        ("SELECT * FROM a, b x, c AS y JOIN d ON true;", "reads", ["a", "b", "c", "d"]),
        ("SELECT extract(year FROM born), trim(both FROM n) FROM p;", "reads", ["p"]),
        ("SELECT 1 WHERE x IS NOT DISTINCT FROM y;", "reads", []),
        ("SELECT * FROM generate_series(1, 2) g;", "reads", []),
        ("SELECT * FROM (SELECT * FROM inner_one) q;", "reads", ["inner_one"]),
        ("WITH RECURSIVE w (n) AS (SELECT 1 FROM t) SELECT * FROM w;", "reads", ["t"]),
        ("INSERT IGNORE INTO a VALUES (1);", "writes", ["a"]),
        ("UPDATE a\nSET b = 1, c = 2;", "writes", ["a"]),
        ("SELECT 1 FROM a FOR UPDATE;", "writes", []),
        ("INSERT INTO a VALUES (1) ON CONFLICT DO UPDATE SET b = 2;", "writes", ["a"]),
        ("SELECT x INTO n FROM a;", "writes", ["n"]),
        ("DROP TABLE IF EXISTS a;", "mutations", ["a"]),
        ("DELETE FROM ONLY a;", "mutations", ["a"]),
    ],
)
def test_a_table_is_read_written_or_changed_by_the_word_before_it(
    statement: str, fact: str, expected: list[str]
) -> None:
    assert routine(statement).facts.get(fact, []) == expected


@each_row(
    ("statement", "calls"),
    [
        ("PERFORM a.b(1);", ["a.b"]),
        ("CALL p(1);", ["p"]),
        ("EXEC dbo.p @a = 1;", ["dbo.p"]),
        ("EXECUTE 'SELECT 1' USING x;", []),
        ("SELECT x::varchar(20), CAST(y AS decimal(1, 2)) FROM t WHERE a IN (1);", ["CAST"]),
        ("INSERT INTO t (a) VALUES (f(1));", ["f"]),
    ],
)
def test_a_call_is_a_name_before_a_bracket_that_is_no_word_of_a_statement(
    statement: str, calls: list[str]
) -> None:
    assert routine(statement).facts.get("calls", []) == calls


def test_call_sites_and_assignments_hold_what_they_are_given() -> None:
    source = (
        "CREATE FUNCTION f(a int) RETURNS int AS $$\nBEGIN\nq := 'x' || a;\nEXECUTE format(q, g(a));\nEND $$;\n"
    )
    found = definitions(source)[0]

    assert [(site.callee, source[site.start : site.end]) for site in found.call_sites] == [
        ("format", "(q, g(a))"),
        ("g", "(a)"),
    ]
    assert [(write.target, source[write.start : write.end]) for write in found.written] == [("q", "'x' || a")]


@each_row(
    ("parameters", "expected"),
    [
        ("(a int, OUT b text)", ["a: int", "b: text"]),
        ("(a IN OUT NOCOPY number)", ["a: NOCOPY number"]),
        ("(a numeric(10, 2) = 1.5)", ["a: numeric(10, 2)"]),
        ("(int, text)", []),
        ("()", []),
    ],
)
def test_a_parameter_has_a_name_and_a_type_in_any_order_of_its_words(parameters: str, expected: list[str]) -> None:
    found = definitions(f"CREATE FUNCTION f{parameters} RETURNS int AS $$ SELECT 1 $$;")[0]

    assert found.facts.get("param_types", []) == expected


@each_row(
    ("line", "expected"),
    [
        ("\\i a/b.sql", ["a/b.sql"]),
        ("\\ir b.sql", ["b.sql"]),
        ("@@c.sql", ["c.sql"]),
        ("@ c.sql", ["c.sql"]),
        ("source d.sql;", ["d.sql"]),
        ("CREATE TABLE a (\n  source TEXT,\n  source shop.status);", []),
    ],
)
def test_another_script_is_imported_by_the_command_that_runs_it(line: str, expected: list[str]) -> None:
    scanned = LANGUAGE.scan(line.encode()) if LANGUAGE.scan is not None else {}

    assert [LANGUAGE.imports(line[start:end])[0].module for start, end in scanned["import"]] == expected


def test_line_ends_of_windows_and_names_outside_of_ascii_change_nothing() -> None:
    source = "-- Größen, alle.\r\nCREATE TABLE größe (\r\n  äöü int,\r\n  b text\r\n);\r\n".encode()
    (found,) = definitions(source)

    assert (found.name, found.doc) == ("größe", "Größen, alle.")
    assert found.facts["inferred_types"] == ["äöü: int", "b: text"]


def test_a_backslash_escapes_only_where_names_are_quoted_with_backticks() -> None:
    assert names("INSERT INTO `a` VALUES ('it\\'s');\nCREATE TABLE b (c int);") == ["table b"]
    assert names("INSERT INTO a VALUES ('C:\\');\nCREATE TABLE b (c int);") == ["table b"]


@pytest.mark.parametrize("sign", ["(", "begin ", "case ", "'", "/*", "$$", "[", "a.", "é", "@"])
def test_deep_nesting_and_open_ends_take_no_time_and_lose_no_line(sign: str) -> None:
    source = "CREATE TABLE a (b int);\n" + sign * 3_000 + "\nlast line\n"
    covered = {
        line
        for chunk in extract("sql", "a.sql", source.encode()).chunks
        for line in range(chunk.start_line, chunk.end_line + 1)
    }

    assert covered == {1, 2, 3}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(PIECES)))
def test_any_order_of_words_is_understood_somehow(pieces: list[str]) -> None:
    source = " ".join(pieces).encode()

    assert all(0 <= chunk.start < chunk.end <= len(source) for chunk in extract("sql", "a.sql", source).chunks)


def test_sql_needs_no_grammar_and_has_neither_visibility_nor_exports() -> None:
    assert available("sql") is not None
    assert {"reads", "writes", "mutations", "params", "complexity"} <= fields_of("sql")
    assert not {"visibility", "exports", "decorators", "awaits", "async", "generator"} & fields_of("sql")


def test_columns_right_behind_a_table_do_not_make_it_a_call() -> None:
    found = routine("INSERT INTO log(a, b) SELECT x, 1 FROM rows_of(a);")

    assert found.facts["writes"] == ["log"]
    assert found.facts["calls"] == ["rows_of"]
    assert "reads" not in found.facts
