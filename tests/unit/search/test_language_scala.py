"""Scala: what its labelled sample does not show; awkward forms, one test per odd rule."""

import pytest
from tests.rows import each_row
from tests.unit.search.extracted import definitions_of

from holdfast.search.extract.code import extract
from holdfast.search.languages import fields_of
from holdfast.search.model import Chunk


def first(source: str) -> Chunk:
    """The first definition of a small file."""
    return definitions_of("scala", source, "A.scala")[0]


@each_row(
    ("imported", "modules", "call", "resolved"),
    [
        ("a.b.run", ["a.b.run"], "run", "a.b.run"),
        ("a.b.{C => D, E}", ["a.b"], "D.of", "a.b.C.of"),
        ("a.b.{C as D, given}", ["a.b"], "D.of", "a.b.C.of"),
        ("a.b as c", ["a.b"], "c.of", "a.b.of"),
        ("a.b, c.d.Box", ["a.b", "c.d.Box"], "Box", "c.d.Box"),
    ],
)
def test_calls_are_resolved_by_imports(imported: str, modules: list[str], call: str, resolved: str) -> None:
    found = extract("scala", "A.scala", f"import {imported}\ndef f() = {call}(1)\n".encode())

    assert found.imports == modules
    assert found.chunks[-1].facts["calls"] == [call, resolved]


@each_row("imported", ["a.b._", "a.b.*", "a.b.given", "a.b.{C => _, _}"])
def test_wildcards_and_hidden_names_bind_nothing(imported: str) -> None:
    found = extract("scala", "A.scala", f"import {imported}\ndef f() = C(1)\n".encode())

    assert (found.imports, found.chunks[-1].facts["calls"]) == (["a.b"], ["C"])


@each_row(
    ("body", "reads"),
    [
        ('s"x $a ${b.c} y"', ["a", "b.c"]),
        ('s"x ${f("text", a)}"', ["a"]),
        ('"plain $a"', []),
        ("g(name = a)", ["a"]),
    ],
)
def test_names_in_templates_are_read_and_the_text_around_them_is_not(body: str, reads: list[str]) -> None:
    assert first(f"def f() = {body}\n").facts.get("reads", []) == reads


def test_an_assignment_among_arguments_names_one_and_writes_nothing() -> None:
    found = first("def f() = {\n  g(name = 1)\n  count = 2\n  a.b = 3\n  table(0) = 4\n}\n")

    assert found.facts["writes"] == ["count", "a.b"]
    assert found.facts["mutations"] == ["a.b", "table"]


def test_small_names_in_patterns_are_bound_and_capital_ones_are_compared() -> None:
    found = first("def f(x: Any) = x match {\n  case A(b, C) => b\n  case D => 1\n  case e => e\n}\n")

    assert found.facts["writes"] == ["b", "e"]
    assert {"C", "D"} <= set(found.facts["reads"])
    assert found.counts["branches"] == 3


def test_call_sites_hold_the_arguments_behind_type_arguments() -> None:
    source = "def f() = {\n  g[Int](a)\n  new H[Int](b)\n  c.d(e)(h)\n  xs.map(_.run(i))\n}\n"

    sites = [(site.callee, source[site.start : site.end]) for site in first(source).call_sites]
    assert [*sites[:3], sites[-1]] == [("g", "(a)"), ("H", "(b)"), ("c.d", "(e)"), ("run", "(i)")]


@each_row(
    ("parameters", "expected"),
    [
        ("(a: Map[K, V], b: Int*)", ["a: Map[K, V]", "b: Int*"]),
        ("(f: (A, B) => C = g)", ["f: (A, B) => C"]),
        ("(a: => Int)(using Ctx)", ["a: => Int"]),
        ("(a: Int)(implicit b: B)", ["a: Int", "b: B"]),
    ],
)
def test_all_lists_of_parameters_count(parameters: str, expected: list[str]) -> None:
    assert first(f"def f{parameters} = 1\n").facts["param_types"] == expected


@each_row(("head", "returns"), [("def f(): Unit = 1", False), ("def f() = 1", True), ("def f() { 1 }", False)])
def test_what_is_behind_the_sign_of_equality_is_returned_unless_the_result_is_unit(
    head: str, returns: bool
) -> None:
    assert (first(f"{head}\n").flags == {"returns"}) is returns


def test_braces_and_indentation_give_the_same() -> None:
    braces = first("def f(x: Int): Int = {\n  if (x > 0) { g(x) } else { h(x) }\n}\n")
    indented = first("def f(x: Int): Int =\n  if x > 0 then\n    g(x)\n  else\n    h(x)\n")

    assert (braces.facts, braces.counts) == (indented.facts, indented.counts)


def test_names_outside_of_ascii_and_line_ends_of_windows_are_fine() -> None:
    found = first("def größe(π: Int): Int = {\r\n  val ñ = π\r\n  ñ\r\n}\r\n")

    assert (found.name, found.facts["params"], found.facts["aliases"]) == ("größe", ["π"], ["ñ=π"])


@pytest.mark.parametrize("source", [b"\xef\xbb\xbfdef f() = 1", b"def f() = 1\n\x00\x00", b"def f() = 1\nclass {"])
def test_a_definition_survives_what_is_broken_around_it(source: bytes) -> None:
    assert "f" in {chunk.name for chunk in extract("scala", "A.scala", source).chunks}


def test_scala_has_no_word_for_asynchronous_code() -> None:
    assert {"decorators", "modifiers", "throws", "param_defaults", "returns"} <= fields_of("scala")
    assert not {"awaits", "async", "generator"} & fields_of("scala")
