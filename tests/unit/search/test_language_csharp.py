"""C#: what its labelled sample does not show."""

import pytest
from tests.rows import each_row

from holdfast.search.extract.code import extract
from holdfast.search.model import Chunk


def chunks_of(source: str) -> list[Chunk]:
    return extract("csharp", "a.cs", source.encode()).chunks


def inside(body: str, head: str = "") -> Chunk:
    """A method with this body."""
    found = chunks_of(f"{head}\nclass A {{ public void F() {{ {body} }} }}\n")
    return next(item for item in found if item.name == "A.F")


@each_row(
    ("using", "imports", "call", "resolved"),
    [
        ("using System;", ["System"], "Console.Write", "Console.Write"),
        ("using static System.Math;", ["System.Math"], "Abs", "Abs"),
        ("using Json = System.Text.Json;", ["System.Text.Json"], "Json.Read", "System.Text.Json.Read"),
        ("global using X.Y;", ["X.Y"], "Y.Go", "Y.Go"),
        ("using Pair = (int, int);", [], "Pair.Go", "(int,int).Go"),
    ],
)
def test_aliases_resolve_what_is_called(using: str, imports: list[str], call: str, resolved: str) -> None:
    found = extract("csharp", "a.cs", f"{using}\nclass A {{ void F() {{ {call}(1); }} }}\n".encode())
    chunk = next(item for item in found.chunks if item.name == "A.F")

    assert found.imports == imports
    assert chunk.facts["calls"] == list(dict.fromkeys([call, resolved]))


@each_row(
    ("parameters", "types", "defaults"),
    [
        ("this string s, params int[] more", ["s: string", "more: int[]"], []),
        ("ref Map<string, List<int>>? d, out var_t x", ["d: Map<string, List<int>>?", "x: var_t"], []),
        ("(int a, string b) pair", ["pair: (int a, string b)"], []),
        ("[A(1, \"x, y\")] [B] int @class = default", ["class: int"], ["class=default"]),
        ("string t = \"a, b = c\", char c = ','", ["t: string", "c: char"], ["t=\"a, b = c\"", "c=','"]),
        ("", [], []),
    ],
)  # fmt: skip
def test_parameters_keep_their_types_and_defaults(parameters: str, types: list[str], defaults: list[str]) -> None:
    found = next(item for item in chunks_of(f"class A {{ void F({parameters}) {{ }} }}") if item.name == "A.F")

    assert found.facts.get("param_types", []) == types
    assert found.facts.get("param_defaults", []) == defaults


@each_row(
    ("body", "awaits"),
    [
        ("await client.GetAsync(a);", ["client.GetAsync"]),
        ("await task;", ["task"]),
        ("await a.B(1).C();", ["C"]),
        ("await a.B(1).ConfigureAwait(false);", ["a.B"]),
        ("await foreach (var x in Stream(a)) { }", ["Stream"]),
        ("Run(async () => await Other());", []),
    ],
)
def test_what_is_awaited_is_told_by_its_callee(body: str, awaits: list[str]) -> None:
    assert inside(body).facts.get("awaits", []) == awaits


@each_row(
    ("body", "writes", "mutations"),
    [
        ("this.x = 1; _y = this;", ["this.x", "_y"], ["this.x"]),
        ("a.b[0].c = 1;", [], ["a.b[].c"]),
        ("table[k] = v; items.Add(1);", [], ["table[]", "items.Add()"]),
        ("var i = new Item { Price = 1 };", ["i"], []),
        ("(a, b) = (b, a); var (c, d) = f();", ["a", "b", "c", "d"], []),
        ("if (Try(out var x, out y) && o is Item z) { }", ["y", "x", "z"], []),
        ("while ((line = Read()) != null) { }", ["line"], []),
        ("a ??= b; n++;", ["a", "n"], []),
    ],
)
def test_assignments_are_told_from_initializers(body: str, writes: list[str], mutations: list[str]) -> None:
    facts = inside(body).facts

    assert sorted(facts.get("writes", [])) == sorted(writes)
    assert facts.get("mutations", []) == mutations


@each_row(
    ("body", "sites"),
    [
        ("Run(a, \"b)\");", [("Run", '(a, "b)")')]),
        ("a?.b!.C<int>(1);", [("a.b.C", "(1)")]),
        ("f(1).G(2);", [("f", "(1)"), ("G", "(2)")]),
        ("new Process<int>(x);", [("Process", "(x)")]),
        ("F(nameof(a));", [("F", "(nameof(a))")]),
    ],
)  # fmt: skip
def test_calls_have_the_range_of_their_arguments(body: str, sites: list[tuple[str, str]]) -> None:
    source = f"class A {{ void M() {{ {body} }} }}"
    found = next(item for item in chunks_of(source) if item.name == "A.M")

    sites_found = [(site.callee, source[site.start : site.end]) for site in found.call_sites]
    assert sorted(sites_found) == sorted(sites)


@pytest.mark.parametrize(
    ("source", "name", "visibility"),
    [
        ("class A { void F() {} }", "A.F", "private"),
        ("class A { }", "A", "internal"),
        ("namespace N; struct A { class B { } }", "A.B", "private"),
        ("interface A { void F(); }", "A.F", "public"),
        ("class A { private protected void F() {} }", "A.F", "private"),
        ("class A { void I.F() {} }", "A.F", ""),
    ],
)
def test_what_says_nothing_is_as_visible_as_its_place_makes_it(source: str, name: str, visibility: str) -> None:
    found = next(item for item in chunks_of(source) if item.name == name)

    assert found.visibility == visibility


def test_names_in_interpolated_strings_are_read_and_those_in_other_strings_are_not() -> None:
    found = inside('var s = $@"one {two.Three,10:F2} {{four}}"; var t = """five "six" """; var u = @"se""ven";')

    assert found.facts["reads"] == ["two.Three"]


def test_what_lambdas_and_delegates_return_and_throw_is_their_own() -> None:
    found = inside("Run(x => { return 1; }); Run(delegate (int n) { throw new E(); });")

    assert "throws" not in found.facts
    assert (found.flags, found.counts["returns"]) == (set(), 0)


def test_an_expression_is_returned_unless_the_method_is_void() -> None:
    flags = {item.name: item.flags for item in chunks_of("class A { int F() => 1; void G() => H(); }")}

    assert (flags["A.F"], flags["A.G"]) == ({"returns"}, set())
