"""Rust: what its labelled sample does not show."""

import pytest
from tests.rows import each_row
from tests.unit.search.extracted import definitions_of

from holdfast.search.extract.code import extract
from holdfast.search.languages import fields_of
from holdfast.search.model import Chunk


def definitions(source: str) -> list[Chunk]:
    return definitions_of("rust", source, "a.rs")


def inside(body: str, head: str = "") -> Chunk:
    """A function with this body."""
    return next(found for found in definitions(f"{head}\nfn f() {{ {body} }}\n") if found.name == "f")


@each_row(
    ("tree", "imports", "call", "resolved"),
    [
        ("use std::fs;", ["std::fs"], "fs::read", "std::fs::read"),
        ("use a::{fs, io::{self, Read as R}};", ["a::fs", "a::io", "a::io::Read"], "R::new", "a::io::Read::new"),
        ("use a::b as c;", ["a::b"], "c", "a::b"),
        ("pub(crate) use ::a::b;", ["a::b"], "b::f", "a::b::f"),
        ("use a::{self, b};", ["a", "a::b"], "a::f", "a::f"),
        ("use a::*;", ["a"], "f", "f"),
        ("use a::b as _;", ["a::b"], "b", "b"),
        ("extern crate alloc as heap;", ["alloc"], "heap::f", "alloc::f"),
    ],
)  # fmt: skip
def test_trees_of_uses_resolve_what_is_called(tree: str, imports: list[str], call: str, resolved: str) -> None:
    found = extract("rust", "a.rs", f"{tree}\nfn f() {{ {call}(1); }}\n".encode())
    chunk = next(item for item in found.chunks if item.name == "f")

    assert found.imports == imports
    assert chunk.facts["calls"] == list(dict.fromkeys([call, resolved]))


@pytest.mark.parametrize(
    ("parameters", "names", "types"),
    [
        ("&self, mut a: u8", ["a"], ["a: u8"]),
        ("self: Box<Self>, &b: &u8", ["b"], ["b: &u8"]),
        ("Point { x, y: z }: Point, Some(w): Option<u8>", ["x", "z", "w"], []),
        ("f: impl Fn(u8, u8) -> Map<u8, Vec<u8>>, g: u8", ["f", "g"],
         ["f: impl Fn(u8, u8) -> Map<u8, Vec<u8>>", "g: u8"]),
        ("#[cfg(a)] a: [u8; 3], /* why */ _: a::B,", ["a"], ["a: [u8; 3]"]),
    ],
)  # fmt: skip
def test_parameters_are_names_or_the_names_in_a_pattern(
    parameters: str, names: list[str], types: list[str]
) -> None:
    found = definitions(f"impl A {{ fn f({parameters}) {{}} }}")[1]

    assert found.facts.get("params", []) == names
    assert found.facts.get("param_types", []) == types


@each_row(
    ("body", "calls"),
    [
        ("Vec::<u8>::with_capacity(1);", ["Vec::with_capacity"]),
        ("x.parse::<u8>();", ["x.parse"]),
        ("a().b().c();", ["a", "b", "c"]),
        ("(self.run)(1);", ["self.run"]),
        ("self.0.1.go();", ["self.0.1.go"]),
        ("x.await?.go();", ["go"]),
        ("vec![a.b(c), d::e!(f)];", ["vec", "a.b", "d::e"]),
        ("print!(\"{}\", a(1).b(2));", ["print", "a", "b"]),
        ("Some(Ok(go(1)));", ["go"]),
    ],
)  # fmt: skip
def test_calls_are_found_through_type_arguments_chains_and_macros(body: str, calls: list[str]) -> None:
    assert sorted(inside(body).facts["calls"]) == sorted(calls)


def test_a_method_in_a_macro_is_not_taken_for_an_import_of_its_name() -> None:
    found = inside("log!(a(1).send(2));", head="use net::send;")

    assert set(found.facts["calls"]) == {"log", "a", "send"}


@each_row(
    ("body", "writes", "mutations"),
    [
        ("x.y.z = 1;", ["x.y.z"], ["x.y.z"]),
        ("x[0].y = 1;", [], ["x[].y"]),
        ("*p += 1;", ["p"], ["*p"]),
        ("if let Some(io::Kind::A(b)) = c {}", ["b"], []),
        ("match a { LIMIT => {} None => {} n => {} }", ["n"], []),
        ("a.map(|(k, v)| k);", [], []),
        ("for (i, &x) in a {}", ["i", "x"], []),
        ("let _ = a;", [], []),
        ("std::mem::swap(a, b);", [], []),
    ],
)  # fmt: skip
def test_bindings_and_changes_are_told_from_comparisons(
    body: str, writes: list[str], mutations: list[str]
) -> None:
    facts = inside(body).facts

    assert (facts.get("writes", []), facts.get("mutations", [])) == (writes, mutations)


@each_row(
    ("value", "inferred"),
    [
        ("3", []), ("3u8", ["x: u8"]), ("2.5f32", ["x: f32"]), ('"a"', ["x: &str"]), ('b"a"', ["x: &[u8]"]),
        ("'a'", ["x: char"]), ("true", ["x: bool"]), ("a::Shop::new(1)", ["x: a::Shop"]),
        ("Shop { a }", ["x: Shop"]), ("vec![1]", ["x: Vec"]), ("y as u64", ["x: u64"]), ("make(1)", []),
    ],
)  # fmt: skip
def test_a_type_is_told_only_where_the_value_gives_it_away(value: str, inferred: list[str]) -> None:
    assert inside(f"let x = {value};").facts.get("inferred_types", []) == inferred


def test_ranges_and_raw_strings_hide_no_names_and_show_none() -> None:
    found = inside('let a = r#"not "this" one"#; for i in 0..n.len {} f(1..=last);')

    assert found.facts["reads"] == ["n.len", "last"]


@pytest.mark.parametrize(
    ("implemented", "name"),
    [("u8", "u8"), ("&'a mut Foo<'a>", "Foo"), ("[T]", "[T]"), ("a::B<T>", "a::B"), ("dyn Any", "dyn Any")],
)
def test_implementations_are_called_by_their_type(implemented: str, name: str) -> None:
    found = definitions(f"impl Trait for {implemented} {{ fn f() {{}} }}\n")

    assert [(item.kind, item.name) for item in found] == [("impl", name), ("method", f"{name}.f")]


def test_what_closures_and_async_blocks_do_is_their_own() -> None:
    found = inside("a(|| { return panic!(); }); spawn(async move { b.await; });")

    assert not {"throws", "awaits"} & set(found.facts)
    assert found.counts["returns"] == 0


def test_attributes_of_fields_and_modules_are_not_those_of_definitions() -> None:
    found = definitions("#[cfg(x)]\nmod a {\n#[b]\nstruct S { #[c] x: u8 }\n}\n")

    assert found[0].facts["decorators"] == ["b"]


def test_arguments_of_a_macro_are_a_call_site() -> None:
    source = b'fn f() { sh::run!("rm {}", x); }'
    found = extract("rust", "a.rs", source).chunks[0]

    assert [(site.callee, source[site.start : site.end]) for site in found.call_sites] == [
        ("sh::run", b'("rm {}", x)')
    ]


def test_rust_has_no_generators_and_no_defaults() -> None:
    assert {"calls", "awaits", "async", "decorators", "complexity"} <= fields_of("rust")
    assert not {"generator", "param_defaults"} & fields_of("rust")
